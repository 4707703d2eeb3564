"""What has expired is forgotten for good, wherever nothing that it took the place of would come back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import msgspec

from nsstore.clock import utc_now
from nsstore.errors import EscapeError, IntegrityError
from nsstore.ledger import Ledger
from nsstore.policy import ReadClass, expiry_clock, is_held
from nsstore.record import Header
from nsstore.scope import Namespace
from nsstore.store.below import Below, Erasure, Look, run
from nsstore.store.forget import Chosen
from nsstore.store.leaf import Leaf
from nsstore.store.namespaces import survey_names
from nsstore.store.reading import Vanished, read_member, tag
from nsstore.store.sealing import Tag
from nsstore.store.store import Store


def expire(store: Store, below: Below, *, dry_run: bool = False) -> tuple[Erasure, ...]:
    """Forget every expired record and the versions it took the place of, but for what is held.

    What took the place of a record that stays, in whichever session that is, is left: without it the
    older text would be current again. Damaged records and closed namespaces are passed over: what is not
    proven has no end either.
    """
    elsewhere = _Elsewhere(store)

    def select(leaf: Leaf, ledger: Ledger) -> Look:
        return _expired(leaf, ledger, below, elsewhere)

    return run(store, below, select, "expire", dry_run=dry_run, leave_held=True, skip=True)


class _Elsewhere:
    """Whether a record still stands in another session of the same user and project.

    Looked at before any lock is taken: under one, what was not looked at counts as standing.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._standing: dict[str, bool] = {}
        self._looked: set[Namespace] = set()

    def of(self, ns: Namespace, record_ids: set[str]) -> set[str]:
        """Those of these that stand in a session beside this one."""
        if ns.area != "memory":
            return set()
        if record_ids and ns not in self._looked:
            self._looked.add(ns)
            self._look(ns, record_ids)
        return {one for one in record_ids if self._standing.get(one, True)}

    def _look(self, ns: Namespace, record_ids: set[str]) -> None:
        found = dict.fromkeys(record_ids, False)
        for other in survey_names(self._store.root, ns.tenant).namespaces:
            if other.area == "memory" and other.dimensions[:3] == ns.dimensions[:3] and other != ns:
                found |= dict.fromkeys(self._of(other, record_ids), True)
        self._standing |= found

    def _of(self, other: Namespace, record_ids: set[str]) -> set[str]:
        """Those that are members there and have not ended; all of them where it is closed."""
        leaf = self._store.leaf(other)
        while True:
            with suppress(Vanished):
                try:
                    ledger = leaf.read()
                    met = {one: tag(leaf, ledger, one) for one in record_ids if one in ledger.members}
                except (IntegrityError, EscapeError):
                    return record_ids
                return met.keys() - _over(leaf, ledger, met)


def _over(leaf: Leaf, ledger: Ledger, tags: Mapping[str, Tag]) -> set[str]:
    """Those whose end has come, by the clock of their namespace."""
    now = expiry_clock(utc_now(), ledger.newest, leaf.store.kept(leaf.place.ns.tenant))
    return {one for one, tagged in tags.items() if tagged.expires_at is not None and tagged.expires_at <= now}


def _expired(leaf: Leaf, ledger: Ledger, below: Below, elsewhere: _Elsewhere) -> Look:
    """The members whose end has come, and what they took the place of, where nothing of that has to stay."""
    kept = leaf.store.kept(leaf.place.ns.tenant)
    tags = {record_id: tag(leaf, ledger, record_id) for record_id in ledger.order}
    over = _over(leaf, ledger, tags)

    def goes_with(record_id: str, old: str) -> bool:
        return old in over or _alike(tags[old].readable, tags[record_id].readable)

    foreign = {one: set(tags[one].supersedes) - tags.keys() for one in over}
    standing = elsewhere.of(leaf.place.ns, set[str]().union(*foreign.values()))
    before = {one: [old for old in tagged.supersedes if old in tags] for one, tagged in tags.items()}
    met = _met(over, lambda one: (old for old in before[one] if goes_with(one, old)))
    headers, held, may, left = dict[str, Header](), 0, set[str](), 0
    for record_id in (one for one in ledger.order if one in met):  # what is superseded comes first
        header = read_member(leaf, ledger, record_id).header
        if not below.holds(header):
            continue
        if is_held(header, kept):
            held += 1
            continue
        headers[record_id] = header
        stays = any(old not in may or not goes_with(record_id, old) for old in before[record_id])
        if not (stays or standing & foreign.get(record_id, set())):
            may.add(record_id)
        elif record_id in over:
            left += 1
    records = _met(over & may, lambda one: before[one])
    spent = tuple(headers[one] for one in records if headers[one].idempotency is not None)
    return Look(chosen=Chosen(records=frozenset(records), headers=spent), held=held, left=left)


def _met(start: Iterable[str], following: Callable[[str], Iterable[str]]) -> set[str]:
    """What is come to from some records, step by step; with these."""
    met, waiting = set(start), list(start)
    while waiting:
        fresh = set(following(waiting.pop())) - met
        met |= fresh
        waiting += fresh
    return met


def _alike(one: ReadClass, other: ReadClass) -> bool:
    """Whether records belong to the same scope, however sensitive they are and at whatever commit.

    The end of a record takes nothing with it that others read, for whom it superseded nothing.
    """
    own = msgspec.structs.replace(one, sensitivity=other.sensitivity, reportable=other.reportable)
    return msgspec.structs.replace(own, commit=other.commit) == other
