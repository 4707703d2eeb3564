"""Writing memory records: the place comes from the envelope, the decision falls under the lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Never

from nsstore import record
from nsstore.audit import AuditEvent, EventKind, Spelled, event_form, spelled
from nsstore.errors import InvalidInput, NotVisible, Refused, StoreError, WitnessError
from nsstore.ledger import Ledger
from nsstore.policy import Reason, decide_write
from nsstore.scope import Area, Namespace, ScopeEnvelope, envelope_fields, memory_namespace
from nsstore.store import MAX_BATCH, Draft, Leaf, Sight, Store, answered, may_be_spent, publish
from nsstore.writers.note import Note, Receipt, draft, repeats

Elsewhere = Callable[[Sight, str], Sight]
"""The namespace that holds a record, among those that rights open to a request; its own if none does."""


def remember(
    store: Store, envelope: ScopeEnvelope, notes: Iterable[Note], elsewhere: Elsewhere | None = None
) -> list[Receipt]:
    """Write notes as durable records of the envelope's own scope, in order; one receipt each.

    Up to 256 notes are one batch, all or nothing but for a power cut, which leaves a prefix; an error
    in a later batch says how many notes are written. Every note is checked before the first is
    written. ``elsewhere`` finds what they supersede and another namespace holds. Raises
    :class:`InvalidInput`, :class:`Refused`, :class:`NotVisible` for what may not be superseded,
    :class:`WitnessError`.
    """
    ns = memory_namespace(envelope.scope)
    drafts = drafts_of(store, envelope, notes, area="memory", key=None)
    receipts: list[Receipt] = []
    for start in range(0, len(drafts), MAX_BATCH):
        try:
            receipts += Writing(
                store, envelope, ns, drafts[start : start + MAX_BATCH], elsewhere=elsewhere
            ).run()
        except StoreError as err:
            if receipts:
                err.args = (f"{err}; the first {len(receipts)} notes are written",)
            raise
    return receipts


def remember_one(
    store: Store, envelope: ScopeEnvelope, ns: Namespace, note: Note, elsewhere: Elsewhere | None = None
) -> Receipt:
    """As :func:`remember`, of one note; ``ns`` is the envelope's own namespace of memory."""
    try:
        one = draft(store, envelope, note, area="memory", key=None)
    except InvalidInput as err:
        _tell_refused(store, envelope, err)
        raise
    return Writing(store, envelope, ns, (one,), elsewhere=elsewhere).run()[0]


def drafts_of(
    store: Store, envelope: ScopeEnvelope, notes: Iterable[Note], *, area: Area, key: str | None
) -> list[Draft]:
    """Every note as a checked draft; a note that may not be written is audited and refuses them all."""
    try:
        return [draft(store, envelope, note, area=area, key=key) for note in notes]
    except InvalidInput as err:
        _tell_refused(store, envelope, err)
        raise


def _tell_refused(store: Store, envelope: ScopeEnvelope, err: InvalidInput) -> None:
    store.leaf(memory_namespace(envelope.scope))  # a closed store refuses for that alone, and audits nothing
    fields = envelope_fields(envelope)
    event = AuditEvent(event=EventKind.REFUSED, verb="remember", reason=str(err), scope=fields)
    store.audit.append(envelope.scope.tenant, event)


class Writing:
    """One batch on its way: what is decided under the lock, and the receipts that come of it."""

    def __init__(
        self,
        store: Store,
        envelope: ScopeEnvelope,
        ns: Namespace,
        drafts: Sequence[Draft],
        *,
        verb: str = "remember",
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.store = store
        self.envelope = envelope
        self.leaf: Leaf = store.leaf(ns)
        self.drafts = drafts
        self.verb = verb
        self.elsewhere = elsewhere
        self.foreign: dict[str, record.Header] = {}
        self.repeated: dict[int, record.Record] = {}
        self.receipts: list[Receipt] = []
        self.event: Spelled

    def run(self) -> list[Receipt]:
        self.look_elsewhere()
        if not publish(self.leaf, self.prepare, self.make_ready):
            self.make_ready()  # nothing was new
        try:
            self.store.audit.append(self.leaf.place.chain.tenant, self.event)
        except WitnessError as err:
            raise WitnessError(KEPT, retryable=err.retryable) from err
        return self.receipts

    def make_ready(self) -> None:
        """Make the receipts and the audit event of what was decided."""
        if len(self.drafts) == 1 and not self.repeated:
            one = self.drafts[0]
            self.receipts = [Receipt(record_id=one.record_id, created_at=one.created_at, replayed=False)]
            self.event = event_form(EventKind.WRITTEN, self.verb, self.envelope).of(one.record_id)
        else:
            self._make_many_ready()
        self.store.audit.prepare(self.leaf.place.chain.tenant, self.event)

    def _make_many_ready(self) -> None:
        self.receipts = [
            receipt_of(self.repeated[index].header, replayed=True)
            if index in self.repeated
            else receipt_of(one, replayed=False)
            for index, one in enumerate(self.drafts)
        ]
        self.event = spelled(
            AuditEvent(
                event=EventKind.WRITTEN,
                verb=self.verb,
                scope=envelope_fields(self.envelope),
                records=tuple([receipt.record_id for receipt in self.receipts]),
                count=len(self.receipts) - len(self.repeated),
            )
        )

    def look_elsewhere(self) -> None:
        """Find what is superseded and lies in another namespace: before the lock, since no one waits for two.

        Raises :class:`IntegrityError` of the namespace that holds it.
        """
        elsewhere = self.elsewhere
        if elsewhere is None or not any(one.tag.supersedes for one in self.drafts):
            return

        def look(own: Sight) -> dict[str, record.Header]:
            wanted = {old for one in self.drafts for old in one.tag.supersedes}
            holders = {old: elsewhere(own, old) for old in wanted - own.ledger.members.keys()}
            readable = {old: sight for old, sight in holders.items() if sight.decision(old).allowed}
            return {old: sight.read(old)[0].header for old, sight in readable.items()}

        self.foreign = answered(self.leaf, self.envelope, look)

    def prepare(self, ledger: Ledger) -> Sequence[Draft]:
        """Decide each draft against the ledger as it is under the lock."""
        self.require_whole()
        if ledger.order and ledger.order[-1] > self.drafts[0].record_id:
            self._watch_clock(ledger)  # ids begin with the time they were made at
        self.repeated = {}
        seen: set[str] = set()
        for index, one in enumerate(self.drafts):
            if one.same_key:
                if not seen.isdisjoint(one.same_key):
                    raise InvalidInput("idempotency_key must not be used twice in one batch")
                seen.update(one.same_key)
            if one.decision is None or not one.decision.allowed:
                self._decide(ledger, one)
            if one.same_key:
                self._repeats(ledger, index, one)
        if not self.repeated:
            return self.drafts
        return [one for index, one in enumerate(self.drafts) if index not in self.repeated]

    def _watch_clock(self, ledger: Ledger) -> None:
        """Tell once that the clock stands behind the newest record; the order is the ledger's either way."""
        if self.leaf.clock_told:
            return
        behind = _milliseconds(ledger.order[-1]) - _milliseconds(self.drafts[0].record_id)
        if behind > CLOCK_SLACK_MS:
            self.leaf.clock_told = True
            event = AuditEvent(event=EventKind.CLOCK_STEPPED, verb=self.verb, count=behind)
            self.store.audit.append(self.envelope.scope.tenant, event)

    def require_whole(self) -> None:
        """Refuse to write into a namespace that lost a record."""
        self.leaf.require_whole()

    def _repeats(self, ledger: Ledger, index: int, one: Draft) -> None:
        """Find the record that an earlier call wrote under the same key, for whoever may read it.

        What was forgotten, or has expired, is not written again.
        """
        sight = Sight(self.leaf, self.envelope, ledger)
        earlier = [record_id for key in one.same_key for record_id in ledger.idempotent.get(key, ())]
        self._require_unspent(ledger, one, earlier)
        for known in earlier:
            if sight.has_expired(known):
                raise Refused(SPENT, reason="forgotten")
            if not sight.decision(known).allowed:
                continue  # who may not read it is not to learn that the key was used, nor for what
            found, decision = sight.read(known)
            if not decision.allowed:
                continue
            if not repeats(self.store, one, found):
                raise InvalidInput("idempotency_key was used before for something else: take a new one")
            self.repeated[index] = found
            return

    def _require_unspent(self, ledger: Ledger, one: Draft, earlier: Iterable[str]) -> None:
        """Refuse a key under which this very scope could have read a record that is forgotten now."""
        if ledger.spent and any(known in ledger.forgotten for known in earlier):
            keys, chain = self.store.trust.keys, self.leaf.place.chain
            if not ledger.spent.isdisjoint(may_be_spent(keys, chain, self.envelope, one.same_key)):
                raise Refused(SPENT, reason="forgotten")

    def _decide(self, ledger: Ledger, one: Draft) -> None:
        ids, decision = one.tag.supersedes, one.decision
        if decision is None:
            sight = Sight(self.leaf, self.envelope, ledger)
            readable = [old for old in ids if sight.decision(old).allowed]
            superseded = [sight.read(old)[0].header for old in readable]
            superseded += [header for old, header in self.foreign.items() if old not in ledger.members]
            decision = decide_write(self.envelope, one.form.header, superseded, sight.rights)
        if not decision.allowed:
            self._deny(decision.reason, ids)

    def _deny(self, reason: Reason, ids: tuple[str, ...]) -> Never:
        event = AuditEvent(
            event=EventKind.DENIED,
            verb=self.verb,
            reason=reason.value,
            scope=envelope_fields(self.envelope),
            records=ids,
        )
        self.store.audit.append(self.envelope.scope.tenant, event)
        if reason is Reason.SUPERSEDES_NOT_VISIBLE:
            raise NotVisible("a record to be superseded")
        raise Refused(REFUSALS.get(reason, "this scope may not write that record"), reason=reason.value)


def _milliseconds(record_id: str) -> int:
    """The time a record id was made at: the first 48 bits of a UUIDv7."""
    return int(record_id[:8] + record_id[9:13], 16)


CLOCK_SLACK_MS: Final = 1_000
SPENT: Final = (
    "what was written under this idempotency_key is forgotten, and is not written again: take a new key"
)
KEPT: Final = (
    "the record is written, but the audit could not take the event: retry with the same idempotency key"
)
REFUSALS: Final = {
    Reason.ABOVE_CLEARANCE: "a record more sensitive than the own clearance is not written: bind with a "
    "higher clearance, or lower the record's sensitivity",
    Reason.LOWERS_SENSITIVITY: "a record may not be less sensitive than one it supersedes",
    Reason.WIDENS_PRIVACY: "a record may not be open to more projects than one it supersedes",
    Reason.PRIVACY_NEEDS_GRANT: "a record open to other projects needs the owner's grant",
    Reason.OTHER_USER: "a record of another user is not superseded",
    Reason.SUPERSEDES_STALE: "a record of another branch or baseline is not superseded from this one",
}


def receipt_of(written: Draft | record.Header, *, replayed: bool) -> Receipt:
    """The receipt of a record that is a member."""
    return Receipt(record_id=written.record_id, created_at=written.created_at, replayed=replayed)
