"""Publishing: the one order in which a record comes to be, and how it is undone when it fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from nsstore import layout
from nsstore.errors import EscapeError, InvalidInput, StoreError, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.ledger import Intent, Ledger, Line, Void, line_under
from nsstore.root import Dir, NewFile, flusher
from nsstore.root.checks import failure
from nsstore.store.entry import Entry, enter, leave
from nsstore.store.sealing import Draft, Sealed
from nsstore.store.survey import read_ledger

if TYPE_CHECKING:
    from nsstore.store.leaf import Leaf

MAX_BATCH: Final = 256
Prepare = Callable[[Ledger], Sequence[Draft]]
"""Decides under the lock what is to be written; may refuse, or return nothing to write."""
UNKNOWN: Final = "the outcome is unknown: retry with the same idempotency key"


def publish(leaf: Leaf, prepare: Prepare, meanwhile: Callable[[], None] = lambda: None) -> Sequence[Draft]:
    """Make records durable members of a namespace, in order and all or none of what was not linked.

    A batch is cut to a prefix by a power loss, never to a gap; when this returns, every record
    survives one. ``meanwhile`` is called after ``prepare``, while the disk is at work. Raises what
    ``prepare`` raises with nothing written, :class:`SystemFailure` when the disk refuses,
    :class:`IntegrityError` for a closed namespace.
    """
    store, place = leaf.store, leaf.place
    if not leaf.entered:
        layout.check_budget(store.root.path, place.ns)
    if flusher.any_failed:
        flusher.require_healthy(*leaf.files)
    store.audit.require_ready(place.chain.tenant)
    if not leaf.entered and (ledger := leaf.read()).seq < 0:
        prepare(ledger)  # what is refused in a namespace that does not exist leaves nothing behind
    try:
        with leaf.lock:
            return _publish(leaf, prepare, meanwhile)
    except EscapeError as err:
        store.witness.tell(place, IncidentKind.LINKED, str(err))
        raise


def _publish(leaf: Leaf, prepare: Prepare, meanwhile: Callable[[], None]) -> Sequence[Draft]:
    """Decide, then write in a namespace that is held alone; whatever fails there is looked at again."""
    entry = enter(leaf)
    seq = entry.ledger.seq
    try:
        drafts = prepare(entry.ledger)
        if len(drafts) > MAX_BATCH:
            raise InvalidInput(f"at most {MAX_BATCH} records are written together")
        if drafts:
            if entry.cell is None:
                entry.begin()
            if len(drafts) == 1:
                _write_one(entry, drafts[0], meanwhile)
            else:
                _write_many(entry, drafts, meanwhile)
        leaf.keep(entry, drafts)
        leaf.after_write()
    except BaseException as err:
        leave(leaf, entry, seq, err)
        raise
    return drafts


def _write_one(entry: Entry, draft: Draft, meanwhile: Callable[[], None]) -> None:
    """Write one record. Its bytes are on their way to the disk while the rest is made ready."""
    directory, ledger, cell = entry.directory(), entry.ledger, entry.cell
    assert cell is not None  # a namespace that was begun has one
    seq, linked = ledger.seq + 1, list[str]()
    sealed = entry.sealer.seal(draft, seq, ledger.head)
    file = directory.begin(sealed.raw, writeback=True)
    try:
        line = line_under(entry.framer, sealed.event)
        meanwhile()
        cell.prepare(seq, line.mac)
        entry.intend(Intent(seq=seq, first_id=draft.record_id, count=1))
        entry.leaf.before_link(directory)
        _link(directory, file, draft, linked)
        entry.leaf.after_link(directory)
        directory.flush_name(file)
        (entry.file or entry.open_file()).append(line.raw)
        ledger.apply(line)
        entry.leaf.store.proven.sealed(ledger.chain, sealed)
    except BaseException as err:
        _undo(entry, directory, linked, err)
        raise
    finally:
        file.close()
    try:
        cell.advance(seq, line.mac)
    except StoreError as err:
        raise _unknown(err) from err
    finally:
        flusher.note_all(entry.files)


def _write_many(entry: Entry, drafts: Sequence[Draft], meanwhile: Callable[[], None]) -> None:
    """Write a batch: each record is sealed behind the line of the one before, and one flush is for all."""
    directory, sealer, framer = entry.directory(), entry.sealer, entry.framer
    first, head, linked = entry.ledger.seq + 1, entry.ledger.head, list[str]()
    try:
        sealed: list[Sealed] = []
        lines: list[Line] = []
        for seq, draft in enumerate(drafts, first):
            sealed.append(sealer.seal(draft, seq, lines[-1].mac if lines else head))
            lines.append(line_under(framer, sealed[-1].event))
        meanwhile()
        entry.prepare(lines[-1])
        entry.intend(Intent(seq=first, first_id=drafts[0].record_id, count=len(drafts)))
        for one in sealed:
            with directory.begin(one.raw, writeback=False) as file:
                _link(directory, file, one.draft, linked)
        entry.root.sync_all()
        entry.append(*lines, flush=False)
    except BaseException as err:
        _undo(entry, directory, linked, err)
        raise
    try:
        entry.advance(flush=False)
    except StoreError as err:
        raise _unknown(err) from err


def _link(directory: Dir, file: NewFile, draft: Draft, linked: list[str]) -> None:
    linked.append(draft.record_id)
    try:
        file.appear(directory, f"{draft.record_id}.md")
    except FileExistsError as taken:
        linked.pop()
        raise failure("writing a new record", taken) from None
    except StoreError:
        linked.pop()  # it never had a name
        raise


def _undo(entry: Entry, directory: Dir, linked: list[str], cause: BaseException) -> None:
    """Take back the names of records that did not become members, and void them for good.

    Without its void a copy of such a record, put back later, would pass for one whose writer died. If
    that fails too, or they are members already, the outcome is unknown to the caller; an interrupt
    stays the interrupt it is.
    """
    try:
        unknown: BaseException | None = cause if linked and _withdraw(entry, directory, linked) else None
    except StoreError as err:
        unknown = err
    if unknown is not None and isinstance(cause, Exception):
        raise _unknown(unknown) from unknown


def _withdraw(entry: Entry, directory: Dir, linked: list[str]) -> bool:
    """Whether some of the records are members, to stay; the others are voided, their names taken back."""
    place, store = entry.leaf.place, entry.leaf.store
    ledger = read_ledger(store.root, store.trust, place, None)[0]
    gone = tuple(record_id for record_id in linked if record_id not in ledger.members)
    for record_id in gone:
        with suppress(StoreError):
            directory.unlink(f"{record_id}.md")
    if gone:
        entry.ledger = ledger
        void = Void(seq=ledger.seq + 1, records=gone, prev=ledger.head.hex())
        entry.append(entry.line(void), flush=True)
        entry.advance(flush=True)
    return len(gone) < len(linked)


def _unknown(err: BaseException) -> StoreError:
    number = err.errno if isinstance(err, SystemFailure) and err.errno else 5
    return SystemFailure(UNKNOWN, OSError(number, os.strerror(number)), retryable=True)
