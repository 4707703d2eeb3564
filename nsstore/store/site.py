"""Where a store is restored: a directory held alone and marked until it is a store, or given back.

What others put there is never read as the store's, never replaced and never removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from nsstore.errors import InvalidInput, StoreError
from nsstore.root import Dir, FolderLock, NewFile, Root, holds, is_free, is_there, remove_empty
from nsstore.store.making import RESTORING, STORE_FILE, spelled_claim

CHUNK: Final = 1024 * 1024
DRAFTS: Final = "tmp"
NOT_FREE: Final = (
    "a store is restored into an absent or empty directory, or into one where a restore of the same backup"
    " was cut short, and this one is neither"
)
OTHERS: Final = (
    "the directory holds something that this backup did not put there, or lacks what it did: what is there"
    " stays, and what was put is taken back. Restore into another directory, or remove this one before"
)
Path = str | os.PathLike[str]


def require_site(path: Path) -> None:
    """Require that a store can be restored there, as it looks now. Raises :class:`InvalidInput`."""
    if not is_free(path) and (not holds(path, RESTORING) or holds(path, STORE_FILE)):
        raise InvalidInput(NOT_FREE)


class Site:
    """A directory that becomes the store of a backup; left without that, it gives back what was put there.

    Of two restores into one directory the second is refused. ``restoring.json``, which becomes the claim,
    marks it, so that a restore that was killed can be made again: what it put there is the same, byte for
    byte, or in the way. Raises :class:`InvalidInput`, and :class:`Refused` (retryable).
    """

    def __init__(self, path: Path, store_id: bytes) -> None:
        self._path = None if is_there(path) else path
        self._made: dict[str, int] = {}
        self._names: dict[str, set[str]] = {"": {RESTORING}}
        self._claimed = False
        self.root = Root.make(path)
        try:
            self._lock = FolderLock(self.root)
        except BaseException:
            self.root.close()
            raise
        try:
            self._resumed = self._mark(spelled_claim(store_id))
        except BaseException:
            if self._path is not None:
                remove_empty(self._path)
            self._close()
            raise

    def _mark(self, claim: bytes) -> bool:
        """Mark the directory; whether a restore of the same store had marked it before."""
        with self.root.top() as top:
            names = top.names()
            if RESTORING in names and STORE_FILE not in names and top.read(RESTORING, len(claim)) == claim:
                return True
            if names:
                raise InvalidInput(NOT_FREE)
            with top.publish(RESTORING, claim) as file:
                try:
                    top.flush_name(file)
                except BaseException:
                    top.unlink(RESTORING, flush=False)
                    raise
        return False

    def folder(self, path: str) -> Dir:
        """A directory of the store, made if it is not there."""
        self._expect(path)
        self._names.setdefault(path, set())
        return self.root.make_dir(path)

    def put(self, folder: Dir, path: str, pieces: Iterable[bytes]) -> None:
        """Give a file its name, complete. What has the name already is the same, or :class:`InvalidInput`."""
        rest, name = iter(pieces), path.rpartition("/")[2]
        with folder.begin(next(rest, b""), writeback=False) as new:
            for piece in rest:
                new.append(piece)
            self._made[path] = new.stat().st_ino  # before it has the name, so that it can be taken back
            try:
                new.appear(folder, name)
            except FileExistsError:
                del self._made[path]
                if not _is_same(new, folder, name):
                    raise InvalidInput(OTHERS) from None
        self._expect(path)

    def _expect(self, path: str) -> None:
        while path:
            folder, _, name = path.rpartition("/")
            names = self._names.setdefault(folder, set())
            if name in names:
                return
            names.add(name)
            path = folder

    def require_as_put(self) -> None:
        """Require that the directory holds what was put there and nothing else, name by name."""
        for path, names in self._names.items():
            directory = self.root.dir(path) if path else self.root.top()
            if directory is None:
                raise InvalidInput(OTHERS)
            with directory:
                found = set(directory.names())
            if (found if path else found - {DRAFTS}) != names:
                raise InvalidInput(OTHERS)

    def claim(self) -> None:
        """Make it the store, durably: the mark becomes the claim, and replaces none."""
        with self.root.top() as top:
            try:
                top.move(RESTORING, top, STORE_FILE)
            finally:  # a flush that failed takes no name away
                self._claimed = not self.root.lacks(STORE_FILE) and self.root.lacks(RESTORING)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._claimed:
                self._give_back()
        finally:
            self._close()

    def _give_back(self) -> None:
        """Remove what was put, and the mark, but for one of an earlier restore of which something is left."""
        for path, inode in self._made.items():
            with suppress(StoreError):
                self._take(path, inode)
        for path in sorted(self._names, key=len, reverse=True):
            above, _, name = path.rpartition("/")
            with suppress(StoreError):
                directory = self.root.dir(above) if above else self.root.top()
                if directory is not None:
                    with directory:
                        directory.remove_empty(name)
        with suppress(StoreError), self.root.top() as top:
            top.remove_empty(DRAFTS)
            if not self._resumed or set(top.names()) == {RESTORING}:
                top.unlink(RESTORING)
        if self._path is not None:
            remove_empty(self._path)

    def _take(self, path: str, inode: int) -> None:
        """Take one file back, unless another stands there by now."""
        folder, _, name = path.rpartition("/")
        seen = self.root.seen(path)
        directory = self.root.dir(folder)
        if directory is not None:
            with directory:
                if seen is not None and seen[0] == inode:
                    directory.unlink(name, flush=False)

    def _close(self) -> None:
        self._lock.release()
        self.root.close()


def _is_same(new: NewFile, folder: Dir, name: str) -> bool:
    """Whether what stands under a name has the very bytes of a new file."""
    there = folder.open(name)
    if there is None:
        return False
    with there:
        return there.size == new.size and all(
            there.read_at(at, CHUNK) == new.read_at(at, CHUNK) for at in range(0, new.size, CHUNK)
        )
