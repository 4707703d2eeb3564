"""Forgetting: the one order in which records cease to be, after which nothing brings them back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore.audit import EventKind
from nsstore.errors import StoreError, SystemFailure, WitnessError
from nsstore.ledger import MAX_TOGETHER, Forgotten, Intent, Ledger, Line
from nsstore.record import Header
from nsstore.root import flusher
from nsstore.store.entry import Entry, enter, leave
from nsstore.store.erase import erase, finish, tell_forgotten
from nsstore.store.spent import spent_by, spent_unread

if TYPE_CHECKING:
    from nsstore.store.leaf import Leaf

UNKNOWN: Final = "the outcome is unknown: forget it again, and `not_visible` says that it is gone"
BEGUN: Final = "it is forgotten for good, but not erased yet: the next write or `nsstore check` erases it"
UNTOLD: Final = "it is forgotten for good, but the audit could not take the event"


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Members to be forgotten; ``headers`` holds those that an idempotency key was used for.

    Where it lacks one, nobody could read it: its key is spent for whoever could have used it.
    """

    records: frozenset[str]
    headers: tuple[Header, ...]


Choose = Callable[[Ledger], Chosen]
"""Decides under the lock what is to be forgotten; may refuse, or choose nothing."""


class Forgot(msgspec.Struct, frozen=True, kw_only=True):
    """What one namespace forgot, oldest first, and the last of the ledger lines that say so."""

    records: tuple[str, ...]
    line: Line


def forget(leaf: Leaf, choose: Choose, *, verb: str, scope: Mapping[str, str | None] | None) -> Forgot | None:
    """Forget members for good: when this returns they are gone from disk, chain and views, durably.

    The order: ``forgotten`` line and anchor, each flushed; audit; files removed and the directory
    flushed; views dropped; ``erased`` line. What is cut short behind the anchor is finished by whoever
    holds the namespace next. Raises what ``choose`` raises with nothing forgotten,
    :class:`SystemFailure` (retryable where it can help), :class:`WitnessError`,
    :class:`IntegrityError` for a closed namespace.
    """
    store = leaf.store
    flusher.require_healthy((store.root, leaf.place.ledger), (store.trust.home, leaf.place.anchors))
    store.audit.require_ready(leaf.place.ns.tenant)
    with leaf.lock, store.witness.escapes(leaf.place):
        entry = enter(leaf)
        seq = entry.ledger.seq
        try:
            chosen = choose(entry.ledger)
            forgot = _forget(entry, chosen, verb, scope) if chosen.records else None
            leaf.keep(entry)
        except BaseException as err:
            leave(leaf, entry, seq, err)
            raise
        return forgot


def _forget(entry: Entry, chosen: Chosen, verb: str, scope: Mapping[str, str | None] | None) -> Forgot:
    records = tuple(record for record in entry.ledger.order if record in chosen.records)
    lines = _lines(entry, records, chosen.headers)
    untold = None
    entry.intend(Intent(seq=entry.ledger.seq + 1, first_id=records[0], count=len(lines) + 1))
    try:
        entry.append(*lines, flush=True)
    except StoreError as err:
        if entry.file is not None and entry.file.size > entry.ledger.size:
            raise _failed(UNKNOWN, err) from err  # the line is there, and may or may not last
        raise
    try:
        entry.advance(flush=True)
        try:
            tell_forgotten(entry.leaf, EventKind.FORGOTTEN, verb, scope, records)
        except WitnessError as err:
            untold = err  # what is forgotten is erased all the same
        erase(entry)
        finish(entry)
    except StoreError as err:
        raise _failed(BEGUN, err) from err
    if untold is not None:
        raise WitnessError(UNTOLD) from untold
    return Forgot(records=records, line=lines[-1])


def _lines(entry: Entry, records: Sequence[str], headers: Sequence[Header]) -> list[Line]:
    """The ``forgotten`` lines, oldest records first: of a prefix of them nothing older comes back."""
    keys, chain, ledger = entry.leaf.store.trust.keys, entry.leaf.place.chain, entry.ledger
    seq, prev = ledger.seq, ledger.head
    lines: list[Line] = []
    unread = _keys_of(ledger, {*records}.difference(one.record_id for one in headers))
    for start in range(0, len(records), MAX_TOGETHER):
        some = tuple(records[start : start + MAX_TOGETHER])
        theirs = {*some}
        spent = spent_by(keys, chain, (one for one in headers if one.record_id in theirs))
        also = spent_unread(keys, chain, (idem for one, idem in unread if one in theirs))
        seq += 1
        told = tuple(sorted({*spent, *also}))
        lines.append(entry.line(Forgotten(seq=seq, records=some, spent=told, prev=prev.hex())))
        prev = lines[-1].mac
    return lines


def _keys_of(ledger: Ledger, records: set[str]) -> list[tuple[str, str]]:
    """Which idempotency keys' digests some records were written under, by the ledger alone."""
    if not records:
        return []
    return [(one, idem) for idem, known in ledger.idempotent.items() for one in known if one in records]


def _failed(words: str, err: StoreError) -> StoreError:
    number = err.errno if isinstance(err, SystemFailure) and err.errno else 5
    return SystemFailure(words, OSError(number, os.strerror(number)), retryable=True)
