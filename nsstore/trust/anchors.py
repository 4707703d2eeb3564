"""Anchors: the newest head of every chain, kept where whoever writes the root cannot reach."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from nsstore.root import READ, WRITE, File, FileLock, RangeLock, Root
from nsstore.trust.cells import (
    CELL,
    SLOT,
    Anchor,
    Chain,
    SlotWriter,
    decode_cell,
    encode_slot,
    name_in_slot,
    require_room,
)
from nsstore.trust.keys import Keys

_PIECE: Final = 1024 * 1024
assert _PIECE % CELL == 0
Ready = tuple[Anchor, int, bytes, bytes]
"""A newer anchor, where its slot goes, the slot, and what the whole cell is then."""


class NoValidSlot(Exception):
    """A cell stands for this chain, but neither of its slots is valid: the chain is closed."""


class Cell:
    """The open cell of one chain: its newest anchor, moved up by whoever holds the chain alone.

    Whoever moves it holds the cell itself besides the chain's lock file, which stands in the root and
    can be taken away there. ``anchor`` is the newest head that was seen. Raises
    :class:`NoValidSlot`, closed, if none is proven.
    """

    def __init__(self, keys: Keys, chain: Chain, file: File, offset: int) -> None:
        self._keys = keys
        self._chain = chain
        self._offset = offset
        self._raw: bytes | None = None
        self._alone: RangeLock | None = None
        self.free: Callable[[], None] = _nothing_held
        """Let the next one hold the cell."""
        self._slots: SlotWriter | None = None
        self._next: Ready | None = None
        self.file = file
        self.anchor = Anchor(generation=0, seq=-1, head=b"")
        self.look()

    def hold_again(self) -> bool:
        """Hold the cell alone as before; ``False`` if its file was closed, or replaced in the trust home."""
        file, alone = self.file, self._alone
        if file.fd < 0 or alone is None:
            return False
        alone.take()
        if file.root.still_reads(file, self._offset, CELL, self._raw):
            return True
        self.look()
        return file.root.still_reads(file, self._offset, CELL, self._raw)

    def hold(self, *, shared: bool = False) -> None:
        """Hold the cell, alone or with other readers, and look at it. Raises :class:`Refused` after 10 s."""
        if self._alone is None:
            self._alone = RangeLock(self.file, self._offset, CELL, shared=shared)
            self.free = self._alone.free
        self._alone.take()
        self.look()

    def look(self) -> None:
        """Read the cell again; bytes that were verified or written last need no second MAC."""
        raw = self.file.read_at(self._offset, CELL)
        if raw == self._raw:
            return
        anchor = decode_cell(self._keys, self._chain, raw)
        if anchor is None:
            self.file.close()
            raise NoValidSlot
        self._raw, self.anchor = raw, anchor

    def prepare(self, seq: int, head: bytes) -> Ready:
        """Make ready for a newer head what :meth:`advance` will write; nothing is written yet."""
        if self._slots is None:
            self._slots = SlotWriter(self._keys, self._chain)
        generation, raw = self.anchor.generation + 1, self._raw
        slot = self._slots.slot(generation, seq, head)
        anchor = Anchor(generation=generation, seq=seq, head=head)
        if raw is None or len(raw) < CELL:
            raw = (raw or b"").ljust(CELL, b"\0")
        at = SLOT * (generation % 2)
        ready = self._next = anchor, self._offset + at, slot, raw[:at] + slot + raw[at + SLOT :]
        return ready

    def advance(self, seq: int, head: bytes) -> None:
        """Move up to a newer head by one write; an anchor that is already as new stays as it is."""
        last, ready = self.anchor, self._next
        if seq > last.seq:
            # Another thread may make something else ready at any moment: what is written is looked at here.
            if ready is None or ready[0].head != head or ready[0].generation != last.generation + 1:
                ready = self.prepare(seq, head)
            anchor, at, slot, raw = ready
            self.file.write_at(at, slot)
            self._raw, self.anchor = raw, anchor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()


class Anchors:
    """Reads and advances the cells of one trust home; a cell never goes back to an older head."""

    def __init__(self, home: Root, keys: Keys) -> None:
        self.home = home
        self.keys = keys
        self._offsets: dict[bytes, int] = {}

    def open(self, path: str, chain: Chain, flags: int = WRITE) -> Cell | None:
        """The cell of a chain, or ``None`` if it never had one.

        Raises :class:`NoValidSlot` if it has one that proves nothing.
        """
        file = self.home.open_file(path, flags)
        if file is None:
            return None
        try:
            offset = self._find(file, chain)
            if offset is not None:
                return Cell(self.keys, chain, file, offset)
        except BaseException:
            file.close()
            raise
        file.close()
        return None

    def read(self, path: str, chain: Chain) -> Anchor | None:
        """The newest anchor of a chain, or ``None`` if it never had one. Raises :class:`NoValidSlot`."""
        cell = self.open(path, chain, READ)
        if cell is None:
            return None
        with cell:
            return cell.anchor

    @contextmanager
    def watched(self, path: str, chain: Chain) -> Generator[None]:
        """Keep writers of a chain out while the block runs, together with other readers; makes nothing.

        Raises :class:`NoValidSlot`, :class:`Refused` after ten seconds.
        """
        cell = self.open(path, chain, READ)
        if cell is None:
            yield
            return
        with cell:
            cell.hold(shared=True)
            yield

    def create(self, path: str, chain: Chain, begin: Callable[[], tuple[int, bytes]]) -> None:
        """Append the first cell of a chain and make it durable, with every directory on the way.

        ``begin`` writes the chain's first events and returns their head. It is called by one process
        only, whatever became of the chain's lock file; where the chain has a cell by then, not at all.
        Raises :class:`Refused` before that if the file has no room for another cell.
        """
        folder, _, name = path.rpartition("/")
        with self.home.make_dir(folder, flush=True) as where:
            with FileLock(where, name) as lock:
                if self._find(lock.file, chain) is None:
                    end = lock.file.stat().st_size // CELL * CELL  # a torn cell at the end is written over
                    require_room(end + CELL)
                    seq, head = begin()
                    anchor = Anchor(generation=1, seq=seq, head=head)
                    lock.file.write_at(end, bytes(SLOT) + encode_slot(self.keys, chain, anchor))
                lock.file.flush()
            where.flush()

    def _find(self, file: File, chain: Chain) -> int | None:
        """Where the chain's cell begins; a place is kept, and searched for again if another file is there."""
        known = self._offsets.get(chain.name)
        if known is not None and _is_of(chain, file.read_at(known, CELL)):
            return known
        start = 0
        while raw := file.read_at(start, _PIECE):
            whole, at = len(raw) // CELL * CELL, -1
            while 0 <= (at := raw.find(chain.name, at + 1)) < whole:
                offset = at // CELL * CELL
                if _is_of(chain, raw[offset : offset + CELL]):
                    self._offsets[chain.name] = start + offset
                    return start + offset
            start += _PIECE
        return None


def cells_by_name(raw: bytes) -> dict[bytes, bytes]:
    """The cells of an anchor file by the names of the chains that claim them."""
    found: dict[bytes, bytes] = {}
    for offset in range(0, len(raw) // CELL * CELL, CELL):
        cell = raw[offset : offset + CELL]
        name = max(name_in_slot(cell[:SLOT]), name_in_slot(cell[SLOT:]))
        if any(name):
            found.setdefault(name, cell)
    return found


def _nothing_held() -> None:
    """Let go of a cell that was never held."""


def _is_of(chain: Chain, cell: bytes) -> bool:
    return chain.name in (name_in_slot(cell[:SLOT]), name_in_slot(cell[SLOT:]))
