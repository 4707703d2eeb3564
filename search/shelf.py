"""One kept view on the disk: opened only as it was folded, and folded without a reader noticing.

``<cache home>/<store id>/views/<namespace>/<view>/`` holds a ``lock``, a ``manifest``, and the generation
of files that the manifest names. A generation is written once, by whoever holds the lock, and counts from
the moment the manifest names it; a reader takes a verified copy of its files, so that nothing that happens
to them reaches an open view. tantivy's own lock file is left alone as long as its generation stands.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import msgspec

from nsstore import digests
from nsstore.errors import EscapeError, StoreError, SystemFailure
from nsstore.root import Dir, FileLock, Root, trees
from nsstore.root.steps import step
from nsstore.search.home import CacheHome
from nsstore.search.manifest import (
    MAX_BYTES,
    Kept,
    Manifest,
    Unfit,
    decode,
    encode,
    place_of,
    spoken,
)
from nsstore.search.tantivy_door import Reader, Row, write_index
from nsstore.trust import Chain, Keys

MANIFEST: Final = "manifest"
LOCK: Final = "lock"
MAX_FILE: Final = 4 * 1024 * 1024 * 1024
ROOM: Final = 64 * 1024 * 1024  # bytes of disk that a fold leaves free beside what it writes
WRITERS_OWN: Final = ".managed.json"  # which files tantivy may remove one day: no reader looks at it
OPENING: Final = "open"
GONE: Final = "gone-"


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """An open view and the manifest it was opened by."""

    manifest: Manifest
    reader: Reader


class Shelf:
    """Where one view of one namespace is kept."""

    def __init__(self, home: CacheHome, keys: Keys, chain: Chain, name: str) -> None:
        self.home = home
        self.keys = keys
        self.chain = chain
        self.name = name
        self.path = f"views/{place_of(keys, chain)}/{name}"

    def manifest(self) -> Manifest | None:
        """What is kept now, or ``None`` if nothing is. Raises :class:`Unfit`, :class:`StoreError`."""
        root = self.home.open(make=False)
        directory = root.dir(self.path) if root is not None else None
        if directory is None:
            return None
        with directory:
            return self._manifest(directory)

    def open(self, known: Manifest | None = None) -> Opened | None:
        """The view as it was folded, or ``None`` if none is kept that this version can read.

        ``known`` is the manifest, where it was read just now.

        Its files are copied, verified on the way, and the copy has no name by the time this returns.
        Raises :class:`Unfit` for files that are not the ones that were folded, :class:`StoreError` and
        :class:`IndexFailed` for what the system refuses.
        """
        try:
            return self._open(known)
        except Unfit:
            return self._open(None)  # another process may have folded meanwhile; if not, it is so again

    def fold(
        self,
        base: Manifest | None,
        facts: Manifest,
        rows: Iterable[Row],
        *,
        after: str | None,
        count: int,
        still: Callable[[], bool],
    ) -> tuple[Manifest, bool] | None:
        """Add rows to what ``base`` names, or make a view of them; what is kept then, and whether it is this.

        ``facts`` says of what the whole will be made, and ``after`` is the generation it takes the place of,
        gone on from or not. If another process folded since, its manifest is what is kept, and nothing is
        written. ``still`` is asked last: whether all that was written may be kept; if not, or if what was
        gone on from is gone, ``None``. Raises :class:`Unfit`, :class:`StoreError`, :class:`IndexFailed`;
        what was kept before is then kept still.
        """
        root = self._home()
        with root.make_dir(self.path) as directory, FileLock(directory, LOCK):
            found = self._usable(directory)
            if found is not None and found.generation != after:
                return found, False
            if found is None and after is not None:
                return None  # what was to be gone on from was removed: whoever looks for it next begins anew
            self._tidy(directory, found)
            generation = f"g-{os.urandom(8).hex()}"
            directory.make(generation)
            try:
                self._fill(directory, generation, base, rows, count)
                made = msgspec.structs.replace(
                    facts, generation=generation, files=self._seal(directory, generation)
                )
                if not still():
                    trees.remove(directory, generation)
                    return None
                directory.replace(MANIFEST, encode(self.keys, self.chain, made))
            except BaseException:
                with suppress(StoreError):
                    trees.remove(directory, generation)
                raise
            if found is not None:
                with suppress(StoreError):  # what cannot be removed is left to the next fold
                    trees.remove(directory, found.generation)
            return made, True

    def drop(self) -> None:
        """Remove what is kept of this view. Raises :class:`StoreError` if it stays."""
        root = self.home.open(make=False)
        folder, _, name = self.path.rpartition("/")
        above = root.dir(folder) if root is not None else None
        if above is not None:
            with above:
                put_away(above, name)

    def _home(self) -> Root:
        root = self.home.open(make=True)
        if root is None:
            raise SystemFailure("keeping a view", OSError(2, "no cache home"))
        return root

    def _usable(self, directory: Dir) -> Manifest | None:
        """The manifest that is there, if it can be gone on from; one that cannot is written over."""
        try:
            return self._manifest(directory)
        except Unfit:
            return None

    def _manifest(self, directory: Dir) -> Manifest | None:
        raw = directory.read(MANIFEST, MAX_BYTES)
        if raw is None:
            if any(name.startswith("g-") for name in directory.names()):
                raise Unfit("files without a manifest")
            return None
        found = decode(self.keys, self.chain, raw)
        return found if spoken(found) else None

    def _tidy(self, directory: Dir, found: Manifest | None) -> None:
        """Remove what folds that died left, and what a damaged manifest no longer names."""
        kept = {MANIFEST, LOCK, found.generation if found is not None else LOCK}
        for name in directory.names():
            if name not in kept:
                trees.remove(directory, name)

    def _fill(
        self, directory: Dir, generation: str, base: Manifest | None, rows: Iterable[Row], count: int
    ) -> None:
        size = base.size if base is not None else 0
        trees.require_free(directory, 2 * size + ROOM)
        with _required(directory.sub(generation)) as fresh:
            if base is not None:
                with _required(directory.sub(base.generation)) as before:
                    _copy(before, fresh, base.files)
        step("index")
        path = trees.path_of(directory, f"{self.path}/{generation}")
        write_index(path, rows, count=count, fresh=base is None)

    def _seal(self, directory: Dir, generation: str) -> tuple[Kept, ...]:
        """Shut the files of a generation and say what they are; tantivy's lock files do not count."""
        with _required(directory.sub(generation)) as fresh:
            names = [name for name in trees.shut(fresh) if not name.endswith(".lock")]
            return tuple(_kept(fresh, name) for name in names)

    def _open(self, known: Manifest | None) -> Opened | None:
        root = self.home.open(make=False)
        directory = root.dir(self.path) if root is not None else None
        if root is None or directory is None:
            return None
        with directory:
            found = known or self._manifest(directory)
            if found is None:
                return None
            with _required(directory.sub(found.generation)) as files:
                reader = self._reader(files, found, root)
        if reader.records != found.records:
            raise Unfit("an index of other records than the manifest says")
        return Opened(manifest=found, reader=reader)

    def _reader(self, files: Dir, found: Manifest, root: Root) -> Reader:
        """Open a copy of the files, in memory where there is room for it."""
        memory = self.home.memory()
        if memory is not None:
            with suppress(SystemFailure):
                return _opened(files, found, memory)
        return _opened(files, found, root)


def put_away(above: Dir, name: str) -> None:
    """Remove a directory whole, out of everybody's sight first. Raises :class:`StoreError` if it stays.

    Nobody is waited for: what a fold that is under way puts there goes with it, and nothing of such a fold
    is kept once something was forgotten.
    """
    gone = f"{GONE}{os.urandom(8).hex()}"
    with suppress(StoreError):  # it is not there; if it cannot be moved, it is removed where it is
        above.move(name, above, gone, flush=False)
    trees.remove(above, name)
    for left in above.names():
        if left.startswith(GONE):
            trees.remove(above, left)


def _opened(files: Dir, found: Manifest, room: Root) -> Reader:
    """Open a verified copy of the files, which has no name by the time this returns."""
    with room.make_dir(OPENING) as copies:
        trees.require_free(copies, 2 * found.size)
        name = os.urandom(8).hex()
        copies.make(name)
        try:
            with _required(copies.sub(name)) as copy:
                trees.hold(copy)
                _copy(files, copy, [one for one in found.files if one.name != WRITERS_OWN])
                return Reader.open(trees.path_of(copies, f"{OPENING}/{name}"))
        finally:
            with suppress(StoreError):
                trees.remove(copies, name)


def _required(found: Dir | None) -> Dir:
    if found is None:
        raise Unfit("a generation that is gone")
    return found


def _copy(before: Dir, fresh: Dir, files: Iterable[Kept]) -> None:
    """Put the files into another directory, each verified. Raises :class:`Unfit` for any other bytes."""
    for kept in files:
        try:
            raw = before.read(kept.name, kept.size)
        except EscapeError:
            raise Unfit("a file of an index that is none") from None
        if raw is None or len(raw) != kept.size or _digest(raw) != kept.digest:
            raise Unfit("a file of an index that is not as it was folded")
        trees.put(fresh, kept.name, raw)


def _kept(directory: Dir, name: str) -> Kept:
    raw = directory.read(name, MAX_FILE)
    if raw is None:
        raise Unfit("a file of an index that is gone")
    return Kept(name=name, size=len(raw), digest=_digest(raw))


def _digest(raw: bytes) -> str:
    return digests.digest(digests.DIGEST, raw).hex()
