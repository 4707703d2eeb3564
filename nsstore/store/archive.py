"""The file of a backup: members one after the other, each named, measured and digested, and one proven end.

The first line says whose it is. A member is a line of JSON with its path and size, its bytes and a
newline, and a line with the digest of both. The last line counts them, and is MACed with the digest of
all lines before it under a key of the store (``docs/format.md``, "Backup of a store").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Final, Literal

import msgspec

from nsstore import digests
from nsstore.errors import InvalidInput, Refused
from nsstore.trust import BadLine, Chain, Keys, frame, unframe

MAX_LINE: Final = 16 * 1024
CHUNK: Final = 1024 * 1024
NO_BACKUP: Final = "that file is not a backup of a store"
SHORT: Final = "the backup ends too early: it was cut short, and nothing of it is put back"
CHANGED: Final = "the backup is not as it was written, and nothing of it is put back"
_DIGEST_LINE: Final = 65


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line: the format, whose backup it is, and when it was begun."""

    backup: Literal[1] = 1
    store_id: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    at: Annotated[str, msgspec.Meta(max_length=40)]


class Member(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file: where it was below the root, and how many bytes follow."""

    path: Annotated[str, msgspec.Meta(max_length=4096)]
    size: Annotated[int, msgspec.Meta(ge=0, le=2**48)]


class End(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last line: how many members there are, of how many bytes, and the digest of all their lines."""

    members: int
    bytes: int
    digest: str


def changed() -> Refused:
    """The refusal of a backup that somebody changed."""
    return Refused(CHANGED, reason="backup")


def _chain(store_id: bytes) -> Chain:
    return Chain(store_id, "backup", (("store", store_id.hex()),))


class ArchiveWriter:
    """Writes a backup; what was written since a mark can be taken back."""

    def __init__(self, write: Callable[[bytes], None], store_id: bytes, at: str) -> None:
        self._write = write
        self._store_id = store_id
        self._lines = digests.running(digests.DIGEST)
        self.members = self.bytes = self.size = 0
        self._line(msgspec.json.encode(Head(store_id=store_id.hex(), at=at)) + b"\n")

    def _line(self, raw: bytes) -> None:
        self._lines.update(raw)
        self._put(raw)

    def _put(self, raw: bytes) -> None:
        self._write(raw)
        self.size += len(raw)

    def member(self, path: str, size: int, pieces: Iterable[bytes]) -> None:
        """Add a file of exactly ``size`` bytes."""
        line = msgspec.json.encode(Member(path=path, size=size)) + b"\n"
        digest = digests.running(digests.DIGEST)
        digest.update(line)
        self._line(line)
        for piece in pieces:
            digest.update(piece)
            self._put(piece)
        self._put(b"\n")
        self._line(digest.hexdigest().encode() + b"\n")
        self.members, self.bytes = self.members + 1, self.bytes + size

    def end(self, keys: Keys) -> None:
        """Say that this is all of it."""
        end = End(members=self.members, bytes=self.bytes, digest=self._lines.hexdigest())
        body = msgspec.json.encode(end)
        self._put(frame(keys, _chain(self._store_id), digests.MANIFEST, body, keys.active)[0])

    def mark(self) -> tuple[int, Callable[[], None]]:
        """The size now, and what makes this writer go on from here once the file was cut back to it."""
        lines, members, total, size = self._lines.copy(), self.members, self.bytes, self.size

        def back() -> None:
            self._lines, self.members, self.bytes, self.size = lines, members, total, size

        return size, back


class ArchiveReader:
    """Reads a backup once, from its beginning to its end; nothing in it is believed but what is proven."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        """Read the first line. Raises :class:`InvalidInput` for a file that is no backup."""
        self._read = read
        self._held: bytes = b""
        self._last: bytes = b""
        self._at = 0
        self._lines = digests.running(digests.DIGEST)
        self._members = self._bytes = 0
        self._left = 0
        self._digest = digests.running(digests.DIGEST)
        try:
            self.head = msgspec.json.decode(self._line(), type=Head)
        except (msgspec.MsgspecError, UnicodeDecodeError, Refused):
            raise InvalidInput(NO_BACKUP) from None

    def next(self) -> Member | None:
        """The next member, whose bytes are to be read to their end before another; ``None`` at the end.

        Raises :class:`Refused` for what is neither.
        """
        raw = self._line(keep=False)
        if raw.startswith(b'{"members":'):
            self._last = raw
            return None
        self._lines.update(raw)
        try:
            member = msgspec.json.decode(raw, type=Member)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise changed() from None
        if msgspec.json.encode(member) + b"\n" != raw:
            raise changed()
        self._left, self._digest = member.size, digests.running(digests.DIGEST)
        self._digest.update(raw)
        return member

    def pieces(self) -> Iterator[bytes]:
        """The bytes of the member, in pieces, the last of them given before its digest was compared."""
        while self._left:
            piece = self._take(min(CHUNK, self._left))
            self._left -= len(piece)
            self._digest.update(piece)
            self._bytes += len(piece)
            yield piece
        told = self._digest.hexdigest().encode() + b"\n"
        if self._exactly(1) != b"\n" or self._exactly(_DIGEST_LINE) != told:
            raise changed()
        self._lines.update(told)
        self._members += 1

    def whole(self, limit: int) -> bytes:
        """All bytes of the member. Raises :class:`Refused` for more than ``limit``."""
        if self._left > limit:
            raise changed()
        return b"".join(self.pieces())

    def prove(self, keys: Keys) -> None:
        """Require that these are all the members that were written, and nothing follows them."""
        store_id = bytes.fromhex(self.head.store_id)
        end = End(members=self._members, bytes=self._bytes, digest=self._lines.hexdigest())
        try:
            body = unframe(keys, _chain(store_id), digests.MANIFEST, self._last)[0]
        except BadLine:
            raise changed() from None
        if body != msgspec.json.encode(end) or self._at < len(self._held) or self._read(1):
            raise changed()

    def _line(self, *, keep: bool = True) -> bytes:
        while (end := self._held.find(b"\n", self._at) + 1) == 0:
            if len(self._held) - self._at > MAX_LINE:
                raise changed()
            more = self._read(CHUNK)
            if not more:
                raise Refused(SHORT, reason="backup")
            self._held, self._at = self._held[self._at :] + more, 0
        line, self._at = self._held[self._at : end], end
        if len(line) > MAX_LINE:
            raise changed()
        if keep:
            self._lines.update(line)
        return line

    def _take(self, size: int) -> bytes:
        """Some bytes, at most ``size``."""
        if self._at == len(self._held):
            self._held, self._at = self._read(CHUNK), 0
            if not self._held:
                raise Refused(SHORT, reason="backup")
        piece = self._held[self._at : self._at + size]
        self._at += len(piece)
        return piece

    def _exactly(self, size: int) -> bytes:
        raw = b""
        while len(raw) < size:
            raw += self._take(size - len(raw))
        return raw
