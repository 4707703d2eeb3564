"""Entering a namespace alone: recover what a dead writer left, then append to its chain."""

from __future__ import annotations

import secrets
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import Refused, StoreError
from nsstore.incident import IncidentKind
from nsstore.ledger import (
    Event,
    Genesis,
    Intent,
    Ledger,
    Line,
    Recovered,
    Written,
    make_line,
    read_intent,
    write_intent,
)
from nsstore.root import RANGES, WRITE, Dir, File, FileLock, flusher
from nsstore.store.judge import Verdict
from nsstore.store.survey import Survey
from nsstore.trust import Cell, NoValidSlot

if TYPE_CHECKING:
    from nsstore.store.leaf import Leaf

ZERO: Final = "0" * 64


class Entry:
    """An exclusive hold on a namespace whose ledger is verified, recovered and at hand.

    Its descriptors are kept from one hold to the next; each is proven again by its name.
    """

    def __init__(self, leaf: Leaf) -> None:
        store, place = leaf.store, leaf.place
        self.leaf: Leaf = weakref.proxy(leaf)  # which keeps this hold between two writes
        self.ledger = Ledger(place.chain)
        self.file: File | None = None
        self.cell: Cell | None = None
        self.records: Dir | None = None
        self.intent: tuple[bytes, Intent] | None = None
        store.root.require_place()
        self.lock = FileLock.at(store.root, place.lock)
        try:
            self.cell = store.trust.anchors.open(place.anchors, place.chain)
            if self.cell is not None:
                self.cell.hold()
            self.file = store.root.open_file(place.ledger, WRITE)
        except NoValidSlot:
            self.close()
            raise store.witness.fail(place, IncidentKind.ANCHOR_BROKEN, "cell") from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the namespace and of every descriptor."""
        for handle in (self.file, self.cell.file if self.cell else None, self.records):
            if handle is not None:
                handle.close()
        self.lock.release()

    def pause(self) -> None:
        """Let the next writer in, and keep the descriptors for :meth:`resume`."""
        if self.cell is not None:
            self.cell.free()
        self.lock.pause()

    def resume(self) -> bool:
        """Hold the namespace again; ``False``, and closed, if it does not go on from what was known."""
        place = self.leaf.place
        try:
            if (
                self._is_where_it_was()
                and (self.lock.still(place.lock) if RANGES else self.lock.resume(place.lock))
                and self.goes_on(read_intent(self.lock.file, self.intent))
            ):
                return True
            self.close()
        except NoValidSlot:
            self.close()
        except BaseException:
            self.close()
            raise
        return False

    def _is_where_it_was(self) -> bool:
        """Hold the cell; whether ledger and anchor are the files that their paths name, and it is proven."""
        if self.cell is None or self.file is None or not self.cell.hold_again():
            return False
        return self.leaf.store.root.still(self.file, self.leaf.place.ledger)

    def goes_on(self, intent: Intent | None) -> bool:
        """Whether ledger and cell go on from what this process verified, and no intent is unfinished."""
        known = self.leaf.follow(self.file, self.cell) if self.leaf.entered else None
        if known is None or intent is None or intent.seq + intent.count - 1 > known.seq:
            return False
        self.ledger = known
        return True

    def intend(self, intent: Intent) -> None:
        """Write down what is about to be done, so that the death of this writer is noticed."""
        self.intent = (write_intent(self.lock.file, intent), intent)

    def directory(self) -> Dir:
        """The directory of the records, still the one that its path names."""
        root, path = self.leaf.store.root, self.leaf.place.records
        if self.records is not None and not root.still(self.records, path):
            self.records.close()
            self.records = None
        if self.records is None:
            self.records = root.make_dir(path)
        return self.records

    def line(self, event: Event) -> Line:
        """An event as a line under the active key."""
        keys = self.leaf.store.trust.keys
        return make_line(keys, self.leaf.place.chain, event, keys.active)

    def append(self, *lines: Line, flush: bool) -> None:
        """Append whole lines by one write and take them into the ledger; ``flush`` makes them durable."""
        if self.file is None:
            place = self.leaf.place
            with self.leaf.store.root.make_dir(place.ledger_folder) as folder:
                self.file = folder.open_or_make(place.ledger_name)
        self.file.append(lines[0].raw if len(lines) == 1 else b"".join([line.raw for line in lines]))
        if flush:
            self.file.flush()
        else:
            flusher.note(self.leaf.store.root, self.leaf.place.ledger)
        for line in lines:
            self.ledger.apply(line)

    def prepare(self, last: Line) -> None:
        """Make ready what :meth:`advance` will write when the head is this line."""
        if self.cell is not None:
            self.cell.prepare(last.event.seq, last.mac)

    def advance(self, *, flush: bool) -> None:
        """Move the anchor up to the ledger's head."""
        trust, place = self.leaf.store.trust, self.leaf.place
        if self.cell is None:
            raise self.leaf.store.witness.fail(place, IncidentKind.ANCHOR_BROKEN, "advance")
        self.cell.advance(self.ledger.seq, self.ledger.head)
        if flush:
            self.cell.file.flush()
        else:
            flusher.note(trust.home, place.anchors)

    def begin(self) -> None:
        """Give the namespace its genesis and its cell if it lacks one, durable with every directory.

        Raises :class:`Refused` (retryable) if another writer began it at the same time: that takes two
        that hold the lock file, one of which somebody took away.
        """
        if self.cell is not None:
            return
        store, place = self.leaf.store, self.leaf.place
        store.root.make_dir(place.ledger_folder, flush=True).close()
        store.root.make_dir(place.records, flush=True).close()
        anchors = store.trust.anchors
        anchors.create(place.anchors, place.chain, self._begin_chain)
        self.cell = anchors.open(place.anchors, place.chain)
        if self.cell is not None:
            self.cell.hold()
        if self.cell is None or self.cell.anchor.head != self.ledger.head:
            raise Refused(
                "another writer began this namespace just now: try again", reason="locked", retryable=True
            )

    def _begin_chain(self) -> tuple[int, bytes]:
        """Write the genesis, unless a writer died behind it, and return the head of the chain."""
        if self.ledger.seq < 0:
            place = self.leaf.place
            event = Genesis(
                seq=0,
                area=place.ns.area,
                ids=place.ns.dimensions,
                nonce=secrets.token_hex(16),
                prev=ZERO,
            )
            self.append(self.line(event), flush=True)
            with self.leaf.store.root.make_dir(place.ledger_folder) as folder:
                folder.flush()
        return self.ledger.seq, self.ledger.head

    def set_aside(self, names: list[str]) -> None:
        """Move names that a dead writer left to the quarantine, bytes and all; each is told first."""
        store, place = self.leaf.store, self.leaf.place
        directory = store.root.dir(place.records)
        if directory is None or not names:
            return
        with directory:
            told = store.witness.tell_all(place, dict.fromkeys(names, IncidentKind.TORN), again=True)
            for name, incident_id in told.items():
                # What cannot be moved stays where it is, and is not read there either.
                with suppress(StoreError), store.root.make_dir(f"quarantine/{incident_id}") as aside:
                    directory.move(name, aside, name)


def enter(leaf: Leaf) -> Entry:
    """Hold the namespace alone, its ledger verified and what a dead writer left recovered.

    For a caller that holds the leaf's own lock. Raises :class:`IntegrityError` for a closed
    namespace, :class:`Refused` after ten seconds; the process then forgets what it knew of it.
    """
    kept, leaf.entry = leaf.entry, None
    try:
        if kept is not None and kept.resume():
            return kept
        entry = Entry(leaf)
    except BaseException:
        leaf.forget()
        raise
    try:
        if not entry.goes_on(read_intent(entry.lock.file)):
            survey, verdict = leaf.look(None)
            verdict.leave_torn()
            leaf.take(survey, verdict)
            entry.ledger = survey.ledger
            _repair(entry, survey, verdict)
            leaf.adopt(entry.ledger)
    except BaseException:
        leaf.forget()
        entry.close()
        raise
    return entry


def recover(leaf: Leaf) -> None:
    """Do what the next writer would do first, and write nothing of one's own.

    Raises :class:`IntegrityError` for a closed namespace.
    """
    with leaf.lock:
        leaf.keep(enter(leaf))


def _repair(entry: Entry, survey: Survey, verdict: Verdict) -> None:
    """Write again what a dead writer did not come to write, and tell it."""
    leaf, ledger = entry.leaf, entry.ledger
    if survey.torn and entry.file is not None:
        entry.file.cut(ledger.size)
    recovered = verdict.recovered
    if recovered:
        first = ledger.seq + 1
        entry.append(*recovered, flush=False)
        told = Recovered(first=first, last=ledger.seq, seq=ledger.seq + 1, prev=ledger.head.hex())
        entry.append(entry.line(told), flush=True)
    if recovered or verdict.behind:
        entry.advance(flush=True)
    entry.set_aside(sorted(verdict.leftovers))
    if recovered or survey.torn:
        records = tuple(line.event.record for line in recovered if isinstance(line.event, Written))
        event = AuditEvent(event=EventKind.RECOVERED, records=records, count=len(records), bytes=survey.torn)
        leaf.store.audit.append(leaf.place.ns.tenant, event)
