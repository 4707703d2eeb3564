"""Entering a namespace alone: recover what a dead writer left, then append to its chain."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import EscapeError, InvalidInput, NotVisible, Refused, StoreError, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.ledger import (
    Event,
    Genesis,
    Intent,
    Ledger,
    Line,
    Recovered,
    Written,
    framer_of,
    line_under,
    read_intent,
    write_intent,
)
from nsstore.root import RANGES, WRITE, Dir, File, FileLock, flusher
from nsstore.store.erase import erase, finish, tell_forgotten
from nsstore.store.judge import Verdict
from nsstore.store.sealing import Sealer
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
        self.root = store.root
        self.files = leaf.files
        self.sealer = Sealer(store.trust.keys, place.chain)
        self.framer = framer_of(store.trust.keys, place.chain, store.trust.keys.active)
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
        if self.lock.held:
            self.lock.pause()

    def resume(self) -> bool:
        """Hold the namespace again; ``False``, and closed, if it does not go on from what was known."""
        place, root, lock = self.leaf.place, self.root, self.lock
        try:
            # The cell first: who holds it is the only writer, and each name is looked at after that.
            if (
                self.cell is not None
                and self.file is not None
                and lock.file.fd >= 0
                and self.cell.hold_again()
                and root.still(self.file, place.ledger)
                and (root.still_in_place(lock.file, place.lock) if RANGES else lock.resume(place.lock))
                and self.goes_on(read_intent(lock.file, self.intent))
            ):
                return True
            self.close()
        except NoValidSlot:
            self.close()
        except BaseException:
            self.close()
            raise
        return False

    def goes_on(self, intent: Intent | None) -> bool:
        """Whether ledger and cell go on from what this process verified, and no intent is unfinished."""
        known = self.leaf.follow(self.file, self.cell) if self.leaf.entered else None
        if known is None or intent is None or intent.seq + intent.count - 1 > known.seq or known.unfinished:
            return False
        self.ledger = known
        return True

    def intend(self, intent: Intent) -> None:
        """Write down what is about to be done, so that the death of this writer is noticed."""
        self.intent = (write_intent(self.lock.file, intent), intent)

    def directory(self) -> Dir:
        """The directory of the records, still the one that its path names."""
        path, records = self.leaf.place.records, self.records
        if records is not None:
            if self.root.still(records, path):
                return records
            records.close()
        self.records = None
        self.records = self.root.make_dir(path)
        return self.records

    def line(self, event: Event) -> Line:
        """An event as a line under the active key."""
        return line_under(self.framer, event)

    def open_file(self) -> File:
        """The ledger's file, made if it is not there yet."""
        place = self.leaf.place
        with self.root.make_dir(place.ledger_folder) as folder:
            self.file = folder.open_or_make(place.ledger_name)
        return self.file

    def append(self, *lines: Line, flush: bool) -> None:
        """Append whole lines by one write and take them into the ledger; ``flush`` makes them durable."""
        file = self.file or self.open_file()
        file.append(lines[0].raw if len(lines) == 1 else b"".join([line.raw for line in lines]))
        if flush:
            file.flush()
        else:
            flusher.note(*self.files[0])
        for line in lines:
            self.ledger.apply(line)

    def prepare(self, last: Line) -> None:
        """Make ready what :meth:`advance` will write when the head is this line."""
        if self.cell is not None:
            self.cell.prepare(last.event.seq, last.mac)

    def advance(self, *, flush: bool) -> None:
        """Move the anchor up to the ledger's head."""
        cell, ledger = self.cell, self.ledger
        if cell is None:
            raise self.leaf.store.witness.fail(self.leaf.place, IncidentKind.ANCHOR_BROKEN, "advance")
        cell.advance(ledger.seq, ledger.head)
        if flush:
            cell.file.flush()
        else:
            flusher.note(*self.files[1])

    def seal_off(self) -> None:
        """Make the head durable in ledger and anchor, whoever wrote it: nothing takes it back then."""
        if self.file is not None:
            self.file.flush()
        self.advance(flush=True)

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
                nonce=os.urandom(16).hex(),
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
            for incident_id in sorted(set(told.values())):
                group = [name for name, told_as in told.items() if told_as == incident_id]
                # What cannot be moved stays where it is, and is not read there either.
                with suppress(StoreError), store.root.make_dir(f"quarantine/{incident_id}") as aside:
                    for name in group:
                        with suppress(StoreError):
                            directory.move(name, aside, name, flush=False)
                    aside.flush()
            directory.flush()


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


def leave(leaf: Leaf, entry: Entry, seq: int, err: BaseException) -> None:
    """Let go of a hold that ended in an error; ``seq`` is where its chain was on entering.

    A refusal that came before anything was appended changed nothing, and what is known stays known.
    After any other error everything is looked at again.
    """
    if isinstance(err, InvalidInput | NotVisible | Refused) and entry.ledger.seq == seq:
        leaf.keep(entry)
    else:
        leaf.forget()
        entry.close()


def recover(leaf: Leaf) -> None:
    """Do what the next writer would do first, and write nothing of one's own.

    Raises :class:`IntegrityError` for a closed namespace, and what keeps forgotten records from being
    erased.
    """
    with leaf.lock:
        entry = enter(leaf)
        seq = entry.ledger.seq
        try:
            if entry.ledger.unfinished:
                erase(entry)
                _finish(entry)
            leaf.keep(entry)
        except BaseException as err:
            leave(leaf, entry, seq, err)
            raise


def _finish(entry: Entry) -> None:
    """Tell that somebody else's forgetting was finished, and write it down."""
    tell_forgotten(entry.leaf, EventKind.RECOVERED, "forget", None, entry.ledger.unfinished)
    finish(entry)


def _repair(entry: Entry, survey: Survey, verdict: Verdict) -> None:
    """Write again what a dead writer did not come to write, erase what it did not come to erase; tell it.

    What cannot be erased now is no reason not to write: it stays kept out, and to be erased.
    """
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
    if ledger.unfinished:
        entry.seal_off()
        try:
            erase(entry)
        except (EscapeError, SystemFailure):
            pass
        else:
            _finish(entry)
    if recovered or survey.torn:
        records = tuple(line.event.record for line in recovered if isinstance(line.event, Written))
        event = AuditEvent(event=EventKind.RECOVERED, records=records, count=len(records), bytes=survey.torn)
        leaf.store.audit.append(leaf.place.ns.tenant, event)
