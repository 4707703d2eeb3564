"""Publishing: the one order in which a record comes to be, and how it is undone when it fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from nsstore import layout
from nsstore.errors import EscapeError, InvalidInput, NotVisible, Refused, StoreError, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.ledger import Intent, Ledger, Void, make_line
from nsstore.root import Dir, NewFile, flusher
from nsstore.root.checks import failure
from nsstore.store.entry import Entry, enter
from nsstore.store.sealing import Draft, seal
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
    store = leaf.store
    if not leaf.entered:
        layout.check_budget(store.root.path, leaf.place.ns)
    flusher.require_healthy((store.root, leaf.place.ledger), (store.trust.home, leaf.place.anchors))
    store.audit.require_ready(leaf.place.ns.tenant)
    if not leaf.entered and (ledger := leaf.read()).seq < 0:
        prepare(ledger)  # what is refused in a namespace that does not exist leaves nothing behind
    try:
        with leaf.lock:
            return _publish(leaf, prepare, meanwhile)
    except EscapeError as err:
        store.witness.tell(leaf.place, IncidentKind.LINKED, str(err))
        raise


def _publish(leaf: Leaf, prepare: Prepare, meanwhile: Callable[[], None]) -> Sequence[Draft]:
    """Decide, then write in a namespace that is held alone; whatever fails there is looked at again."""
    entry = enter(leaf)
    try:
        drafts = prepare(entry.ledger)
        if len(drafts) > MAX_BATCH:
            raise InvalidInput(f"at most {MAX_BATCH} records are written together")
    except (InvalidInput, NotVisible, Refused):
        leaf.keep(entry)  # a refusal changed nothing
        raise
    except BaseException:
        leaf.forget()
        entry.close()
        raise
    try:
        if drafts:
            entry.begin()
            _write(entry, drafts, meanwhile)
    except BaseException:
        leaf.forget()
        entry.close()
        raise
    leaf.keep(entry)
    leaf.remember(drafts)
    return drafts


def _write(entry: Entry, drafts: Sequence[Draft], meanwhile: Callable[[], None]) -> None:
    """Write what was decided. A single record is on its way to the disk while the rest is made ready."""
    root, ledger, place = entry.leaf.store.root, entry.ledger, entry.leaf.place
    keys, directory = entry.leaf.store.trust.keys, entry.directory()
    sealed = [seal(keys, place.chain, drafts[0], ledger.seq + 1, ledger.head)]
    early = directory.begin(sealed[0].raw, writeback=True) if len(drafts) == 1 else None
    linked: list[str] = []
    try:
        lines = [make_line(keys, place.chain, sealed[0].event, keys.active)]
        for draft in drafts[1:]:
            sealed.append(seal(keys, place.chain, draft, sealed[-1].event.seq + 1, lines[-1].mac))
            lines.append(make_line(keys, place.chain, sealed[-1].event, keys.active))
        meanwhile()
        entry.prepare(lines[-1])
        entry.intend(Intent(seq=ledger.seq + 1, first_id=drafts[0].record_id, count=len(drafts)))
        if early is not None:
            _link(directory, early, drafts[0], linked)
            directory.flush_name(early)
        else:
            for one in sealed:
                with directory.begin(one.raw, writeback=False) as file:
                    _link(directory, file, one.draft, linked)
            root.sync_all()
        entry.append(*lines, flush=False)
    except BaseException as err:
        _undo(entry, directory, linked, err)
        raise
    finally:
        if early is not None:
            early.close()
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
