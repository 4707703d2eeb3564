"""What a commit descends from, proven by the bytes of each commit on the way.

A commit's id is the digest of its bytes, and its bytes name its parents. So whatever else lies in a
repository (a replaced or grafted history, a false commit graph, an object under another one's name) can
leave ancestors out, but put none in. Not covered are two commits made to have one id: git refuses to take
in what the known way to make such for SHA-1 gives; the digest here does not tell them apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Final

from nsstore.root.programs import Answer, Call

ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST: Final = 64 * 1024 * 1024  # bytes of all commits together
_TREE: Final = b"tree "
_PARENT: Final = b"\nparent "


class History:
    """The newest commits behind HEAD, each proven as git prints it."""

    def __init__(self, most: int) -> None:
        self.parents: dict[str, str | None] = {}
        """The first parent of each proven commit, ``None`` for one that has none, the newest first."""
        self.named: list[str] = []
        """The names of what was printed, as far as it was whole: at last, what was looked up again."""
        self.most = most
        self._reached: set[str] = set()
        self._pieces: list[bytes] = []
        self._length = 0
        self._wanted = 0

    def calls(self, again: Callable[[Sequence[Answer]], bytes]) -> tuple[Call, Call]:
        """What to ask git, as the first two calls.

        Git lists which commits there may be; that each is one is seen from its bytes, which the second call
        prints. What ``again`` says, a name on each line, is looked up after all other calls have ended.
        """
        listing = ("rev-list", f"--max-count={self.most}", "HEAD")
        return (
            Call(listing, most=self.most * 65),
            Call(("cat-file", "--batch", "--buffer"), most=_MOST, fed_by=0, last=again, taken=self.take),
        )

    def take(self, piece: bytes) -> None:
        """Take in some of what ``git cat-file --batch`` prints, and prove what is whole by now."""
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length < self._wanted:
            return
        have, at, self._wanted = b"".join(self._pieces), 0, 0
        while (end := have.find(b"\n", at)) >= 0:
            name, _, size = have[at:end].decode("ascii", "replace").partition(" commit ")
            if size.isdigit():
                until = end + 1 + int(size)
                if until >= len(have):
                    self._wanted = until + 1 - at
                    break
                self._prove(name, have[end + 1 : until])
                end = until
            self.named.append(name)
            at = end + 1
        self._pieces, self._length = [have[at:]], len(have) - at

    def is_whole(self, listed: Answer, again: int) -> bool:
        """Whether all that git listed was proven; ``again`` is how many names were looked up again."""
        asked = self.named[: len(self.named) - again]
        return listed.status == 0 and listed.out.decode("ascii", "replace").split() == asked == [
            *self.parents
        ]

    def _prove(self, name: str, body: bytes) -> None:
        if not self.named:
            self._reached.add(name)  # HEAD; whoever asks compares it
        if name not in self._reached:
            return
        digest = hashlib.sha1 if len(name) == 40 else hashlib.sha256
        made = digest(b"commit %d\0%b" % (len(body), body), usedforsecurity=False)
        if made.hexdigest() == name and body.startswith(_TREE):
            before: list[str] = []
            at = body.find(b"\n")
            while body.startswith(_PARENT, at):
                end = body.find(b"\n", at + 1)
                before.append(body[at + len(_PARENT) : end].decode("ascii", "replace"))
                at = end
            self._reached.update(before)
            self.parents[name] = before[0] if before else None
