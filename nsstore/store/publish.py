"""Publishing: the one order in which a record comes to be, and how it is undone when it fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from nsstore import layout
from nsstore.errors import EscapeError, InvalidInput, NotVisible, Refused, StoreError, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.ledger import Intent, Ledger, Void
from nsstore.root import Dir, flusher
from nsstore.root.checks import failure
from nsstore.store.entry import Entry, enter
from nsstore.store.sealing import Draft, Sealed, seal
from nsstore.store.survey import read_ledger

if TYPE_CHECKING:
    from nsstore.store.leaf import Leaf

MAX_BATCH: Final = 256
Prepare = Callable[[Ledger], Sequence[Draft]]
"""Decides under the lock what is to be written; may refuse, or return nothing to write."""
UNKNOWN: Final = "the outcome is unknown: retry with the same idempotency key"


def publish(leaf: Leaf, prepare: Prepare) -> Sequence[Draft]:
    """Make records durable members of a namespace, in order and all or none of what was not linked.

    A batch is cut to a prefix by a power loss, never to a gap; when this returns, every record
    survives one. Raises what ``prepare`` raises with nothing written, :class:`SystemFailure` when
    the disk refuses, :class:`IntegrityError` for a closed namespace.
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
            return _publish(leaf, prepare)
    except EscapeError as err:
        store.witness.tell(leaf.place, IncidentKind.LINKED, str(err))
        raise


def _publish(leaf: Leaf, prepare: Prepare) -> Sequence[Draft]:
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
            _write(entry, _seal_all(entry, drafts))
    except BaseException:
        leaf.forget()
        entry.close()
        raise
    leaf.keep(entry)
    leaf.remember(drafts)
    return drafts


def _seal_all(entry: Entry, drafts: Sequence[Draft]) -> list[Sealed]:
    keys, chain = entry.leaf.store.trust.keys, entry.leaf.place.chain
    seq, head, sealed = entry.ledger.seq + 1, entry.ledger.head, list[Sealed]()
    for draft in drafts:
        one = seal(keys, chain, draft, seq, head)
        sealed.append(one)
        seq, head = seq + 1, one.line.mac
    return sealed


def _write(entry: Entry, sealed: list[Sealed]) -> None:
    store = entry.leaf.store
    intent = Intent(seq=entry.ledger.seq + 1, first_id=sealed[0].draft.record_id, count=len(sealed))
    entry.intend(intent)
    directory = entry.directory()
    linked: list[str] = []
    try:
        _link(directory, sealed, linked)
        if len(sealed) > 1:
            store.root.sync_all()
        entry.append(*[one.line for one in sealed], flush=False)
    except BaseException as err:
        _undo(entry, directory, linked, sealed, err)
        raise
    try:
        entry.advance(flush=False)
    except StoreError as err:
        raise _unknown(err) from err


def _link(directory: Dir, sealed: list[Sealed], linked: list[str]) -> None:
    alone = len(sealed) == 1
    for one in sealed:
        name = one.name
        linked.append(name)
        try:
            file = directory.publish(name, one.raw)
        except FileExistsError as taken:
            linked.pop()
            raise failure("writing a new record", taken) from None
        try:
            if alone:
                directory.flush_name(file)
        finally:
            file.close()


def _undo(
    entry: Entry, directory: Dir, linked: list[str], sealed: list[Sealed], cause: BaseException
) -> None:
    """Take back names of records that did not become members, or void them for good.

    If that fails too, or they are members already, the outcome is unknown to the caller; an
    interrupt stays the interrupt it is.
    """
    try:
        unknown: BaseException | None = cause if _withdraw(entry, directory, linked, sealed) else None
    except StoreError as err:
        unknown = err
    if unknown is not None and isinstance(cause, Exception):
        raise _unknown(unknown) from unknown


def _withdraw(entry: Entry, directory: Dir, linked: list[str], sealed: list[Sealed]) -> bool:
    """Whether some of the records are members, to stay; the names of the others are taken back or voided."""
    place, store = entry.leaf.place, entry.leaf.store
    ledger = read_ledger(store.root, store.trust, place, None)[0]
    joined = {f"{member}.md" for member in ledger.members}
    kept = [name for name in linked if name not in joined and not _take_back(directory, name)]
    if kept:
        records = tuple(one.draft.record_id for one in sealed if one.name in kept)
        entry.ledger = ledger
        entry.append(
            entry.line(Void(seq=ledger.seq + 1, records=records, prev=ledger.head.hex())), flush=True
        )
        entry.advance(flush=True)
    return not joined.isdisjoint(linked)


def _take_back(directory: Dir, name: str) -> bool:
    try:
        directory.unlink(name)
    except StoreError:
        return False
    return True


def _unknown(err: BaseException) -> StoreError:
    number = err.errno if isinstance(err, SystemFailure) and err.errno else 5
    return SystemFailure(UNKNOWN, OSError(number, os.strerror(number)), retryable=True)
