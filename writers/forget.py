"""Forgetting by a session: its own records, and what they took the place of; decided under the lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Never

import msgspec

from nsstore.audit import AuditEvent, EventKind
from nsstore.clock import utc_now
from nsstore.errors import NotVisible, Refused
from nsstore.ledger import Ledger
from nsstore.policy import Reason, decide_forget
from nsstore.record import Header
from nsstore.scope import Namespace, ScopeEnvelope, envelope_fields
from nsstore.store import Chosen, Sight, Store, answered, forget, recover
from nsstore.store.rights import NOT_KNOWN
from nsstore.store.sight import CURRENT
from nsstore.writers.memory import Elsewhere

Wanted = Callable[[Sight], Iterable[str]]
"""Which readable records a session wants to be forgotten; empty if there is none."""

WORDS: Final = {
    Reason.LEGAL_HOLD: "a record is held by its retention class and is not forgotten: "
    "only the owner lets it go",
    Reason.HOLDS_UNKNOWN: NOT_KNOWN,
}
BACK: Final = (
    "a newer version stands, and without this one an older one would be current again: forget the newer one,"
    " or this one with the older ones"
)
NOT_OWN: Final = "a record of another {} is not forgotten from this scope"


class ForgetReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """Records are forgotten for good, or would be: oldest first, with those that they took the place of.

    ``back`` are the older versions that stay and are current again, or would be: another session's or
    agent's. ``proof`` is the MAC of the ledger line that says so, by which the owner finds it; ``None``
    of a dry run. No sequence number: it would tell of records that this scope may not read.
    """

    records: tuple[str, ...]
    count: int
    at: str
    proof: str | None
    back: tuple[str, ...] = ()


def forget_wanted(
    store: Store,
    envelope: ScopeEnvelope,
    ns: Namespace,
    wanted: Wanted,
    *,
    asked: str | None,
    verb: str,
    only_these: bool,
    dry_run: bool,
    elsewhere: Elsewhere | None = None,
) -> ForgetReceipt:
    """Forget records of the envelope's own scope, and those they supersede unless ``only_these``.

    ``asked`` is the record id that was asked for, if it was one; ``elsewhere`` finds the versions that
    another namespace holds. Raises :class:`NotVisible` if nothing
    readable is wanted, :class:`Refused` if one of them is held or not the scope's own, or if an older
    version would be current beside a newer one, and as :func:`nsstore.store.forget`.
    """
    leaf = store.leaf(ns)
    forgetting = _Forgetting(store, envelope, wanted, asked, verb, only_these=only_these)
    if leaf.read().unfinished and not dry_run:
        recover(leaf)

    def look(sight: Sight) -> tuple[Chosen, list[str]]:
        chosen = forgetting.choose(sight)
        return chosen, _back_elsewhere(sight, chosen.headers, elsewhere)

    chosen, back = answered(leaf, envelope, look)  # what is refused here takes no lock
    if dry_run:
        records = tuple(one for one in leaf.read().order if one in chosen.records)
        back = [*forgetting.back, *back]
        return ForgetReceipt(records=records, count=len(records), at=utc_now(), proof=None, back=tuple(back))

    def choose(ledger: Ledger) -> Chosen:
        return forgetting.choose(Sight(leaf, envelope, ledger))

    done = forget(leaf, choose, verb=verb, scope=envelope_fields(envelope))
    assert done is not None  # nothing chosen is not visible, and was refused
    records, proof = done.records, done.line.mac.hex()
    back = [*forgetting.back, *back]
    return ForgetReceipt(records=records, count=len(records), at=utc_now(), proof=proof, back=tuple(back))


class _Forgetting:
    """What a session asks to be forgotten, and whether it may."""

    def __init__(
        self,
        store: Store,
        envelope: ScopeEnvelope,
        wanted: Wanted,
        asked: str | None,
        verb: str,
        *,
        only_these: bool,
    ) -> None:
        self.store = store
        self.envelope = envelope
        self.wanted = wanted
        self.asked = asked
        self.verb = verb
        self.only_these = only_these
        self.back: list[str] = []

    def choose(self, sight: Sight) -> Chosen:
        """The records, each proven just now. Raises as :func:`forget_wanted`."""
        asked = frozenset(self.wanted(sight))
        if not asked:
            self._deny(None)
        kept = self.store.kept(self.envelope.scope.tenant)
        waiting, headers = list(asked), dict[str, Header]()
        while waiting:
            record_id = waiting.pop()
            found, seen = sight.read(record_id)
            decision = decide_forget(self.envelope, found.header, kept, sight.rights)
            if record_id in asked and not seen.allowed:
                self._deny(None)
            if decision.allowed:
                headers[record_id] = found.header
                waiting += self._before(sight, found.header, headers)
            elif record_id in asked or decision.reason in WORDS:
                self._deny(decision.reason)
        self.back = _back(sight, headers)
        return Chosen(records=frozenset(headers), headers=tuple(headers.values()))

    def _before(self, sight: Sight, header: Header, known: dict[str, Header]) -> list[str]:
        """What a record took the place of, and is still there."""
        if self.only_these:
            return []
        return [old for old in header.supersedes or () if old in sight.ledger.members and old not in known]

    def _deny(self, reason: Reason | None) -> Never:
        event = AuditEvent(
            event=EventKind.DENIED,
            verb=self.verb,
            reason="not_in_scope" if reason is None else reason.value,
            scope=envelope_fields(self.envelope),
            records=None if self.asked is None else (self.asked,),
        )
        self.store.audit.append(self.envelope.scope.tenant, event)
        if reason is None:
            raise NotVisible(self.asked or "this document")
        another = reason.value.partition("_")[2].replace("_", " ")
        raise Refused(WORDS.get(reason, NOT_OWN.format(another)), reason=reason.value)


def _back(sight: Sight, going: Mapping[str, Header]) -> list[str]:
    """The older versions that stay in this namespace and are current again.

    Refuses to take a version out of a chain whose newer one stays, and would not hide the older one.
    """
    stay = {
        record_id: [
            old for old in header.supersedes or () if old not in going and sight.decision(old).allowed
        ]
        for record_id, header in going.items()
    }
    if not any(stay.values()):
        return []
    hidden: set[str] = set()
    for record_id in sight.ledger.order:
        tagged = sight.tag(record_id)
        seen = sight.decision_of(tagged.readable) if tagged.supersedes and record_id not in going else None
        if seen is not None and seen.allowed and not seen.stale:
            hidden.update(tagged.supersedes)
    if any(record_id in hidden and not hidden.issuperset(older) for record_id, older in stay.items()):
        raise Refused(BACK, reason="superseded")
    older = dict.fromkeys(old for one in stay.values() for old in one)
    return [old for old in older if old not in hidden and sight.decision(old) == CURRENT]


def _back_elsewhere(sight: Sight, going: Iterable[Header], elsewhere: Elsewhere | None) -> list[str]:
    """The older versions that another namespace holds, and that nothing there takes the place of."""
    older = {old for one in going for old in one.supersedes or ()} - sight.ledger.members.keys()
    if elsewhere is None or not older:
        return []
    found: list[str] = []
    for old in sorted(older):
        held = elsewhere(sight, old)
        if held.decision(old) == CURRENT and old not in held.superseded():
            found.append(old)
    return found
