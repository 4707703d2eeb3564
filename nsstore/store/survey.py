"""One look at a namespace, in the readers' order: anchor, ledger, directory."""

from __future__ import annotations

import os
import time
from typing import Final

import msgspec

from nsstore import layout
from nsstore.ledger import Ledger, extend
from nsstore.root import SETTLED_NS, Dir, File, Root
from nsstore.scope import Namespace
from nsstore.trust import Anchor, BadLine, Chain, NoValidSlot, Trust

MAX_LEDGER: Final = 1024 * 1024 * 1024
CHUNK: Final = 1024 * 1024


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a namespace's files are, derived once."""

    ns: Namespace
    chain: Chain
    records: str
    ledger: str
    ledger_folder: str
    ledger_name: str
    lock: str
    anchors: str

    @classmethod
    def of(cls, store_id: bytes, ns: Namespace) -> Place:
        ledger = layout.ledger_path(ns)
        folder, _, name = ledger.rpartition("/")
        return cls(
            ns=ns,
            chain=Chain(store_id, ns.area, ns.dimensions),
            records=layout.record_dir(ns),
            ledger=ledger,
            ledger_folder=folder,
            ledger_name=name,
            lock=layout.lock_path(ns),
            anchors=layout.anchor_path(ns),
        )


class Stamp(msgspec.Struct, frozen=True):
    """What the system says of a file or directory; it changes whenever they do, but for changes in one tick.

    ``settled`` says that it was seen long enough after the last change for equal stamps to mean that
    nothing was changed between.
    """

    inode: int
    size: int
    changed_ns: int
    settled: bool

    @classmethod
    def of(cls, handle: Dir | File) -> Stamp:
        """The stamp of an open file or directory as it is now."""
        found = handle.stat()
        settled = handle.root.exact_times or time.time_ns() - found.st_ctime_ns >= SETTLED_NS
        return cls(found.st_ino, found.st_size, found.st_ctime_ns, settled)

    @classmethod
    def seen(cls, found: tuple[int, ...]) -> Stamp:
        """The stamp of what was seen by :meth:`Root.seen <nsstore.root.Root.seen>`, long enough after."""
        return cls(found[0], found[-2], found[-1], settled=True)

    def proves(self, later: Stamp) -> bool:
        """Whether nothing was changed between this stamp and a later one."""
        return self.settled and (self.inode, self.size, self.changed_ns) == (
            later.inode,
            later.size,
            later.changed_ns,
        )


class Survey(msgspec.Struct, kw_only=True):
    """What one look found; nothing is concluded yet.

    ``broken`` means that a whole line of the ledger is no line of this chain; ``torn`` counts the
    bytes of an unfinished last line; ``names`` is ``None`` where there is no directory.
    """

    anchor: Anchor | None
    anchor_broken: bool
    ledger: Ledger
    ledger_stamp: Stamp | None
    broken: bool
    torn: int
    names: frozenset[str] | None
    dir_stamp: Stamp | None


def look(root: Root, trust: Trust, place: Place, known: Ledger | None = None) -> Survey:
    """Look once. ``known`` is what was verified of this ledger before: only what follows is verified."""
    try:
        anchor, anchor_broken = trust.anchors.read(place.anchors, place.chain), False
    except NoValidSlot:
        anchor, anchor_broken = None, True
    ledger, stamp, broken, torn = read_ledger(root, trust, place, known)
    names: frozenset[str] | None = None
    seen: Stamp | None = None
    directory = root.dir(place.records)
    if directory is not None:
        with directory:
            seen = Stamp.of(directory)
            names = frozenset(directory.names())
    return Survey(
        anchor=anchor,
        anchor_broken=anchor_broken,
        ledger=ledger,
        ledger_stamp=stamp,
        broken=broken,
        torn=torn,
        names=names,
        dir_stamp=seen,
    )


def read_lines(file: File, start: int, size: int) -> bytes:
    """The bytes of a file of lines from ``start`` on; one that no line can be is not read to its end."""
    raw = bytearray()
    while start + len(raw) < size:
        more = file.read_at(start + len(raw), min(CHUNK, size - start - len(raw)))
        raw += more
        if b"\n" not in more:
            break
    return bytes(raw)


def read_ledger(
    root: Root, trust: Trust, place: Place, known: Ledger | None
) -> tuple[Ledger, Stamp | None, bool, int]:
    """The verified ledger, its stamp, whether a line of it is broken, and the size of a torn last line.

    What was verified before must still be there byte for byte; if it is not, all is verified again.
    """
    file = root.open_file(place.ledger)
    if file is None:
        return Ledger(place.chain), None, False, 0
    with file:
        stamp = Stamp.of(file)
        ledger = known if known is not None and known.size <= stamp.size else Ledger(place.chain)
        raw = read_lines(file, 0, min(stamp.size, MAX_LEDGER))
    if not ledger.is_spelled(raw[: ledger.size]):
        ledger = Ledger(place.chain)
    try:
        return ledger, stamp, False, extend(trust.keys, ledger, raw[ledger.size :])
    except BadLine:
        return ledger, stamp, True, 0


def catch_up(trust: Trust, known: Ledger, file: File) -> bool:
    """Take the lines that follow what is known; ``False`` if the file does not simply go on from there."""
    size = file.size
    if size == known.size:
        return True
    try:
        return size > known.size and not extend(trust.keys, known, read_lines(file, known.size, size))
    except BadLine:
        return False


def fetch(root: Root, place: Place, name: str, limit: int) -> bytes | None:
    """The bytes of one name in the namespace's directory, or ``None``; never through a link."""
    return root.read(os.path.join(place.records, name), limit)
