"""Scoped search: readable classes first, then a view of exactly those records, then each hit proven again."""

from __future__ import annotations

import os
from threading import get_ident
from typing import Final

import msgspec

from nsstore.audit import AuditEvent, EventKind, Spelled, event_form, spelled
from nsstore.errors import EscapeError, IntegrityError, InvalidInput, Refused
from nsstore.gate import ALLOWLISTED, GATE_CLOSED, UNTESTED, Gate, State
from nsstore.policy import Decision, Source
from nsstore.scope import Namespace, ScopeEnvelope, Sensitivity, envelope_fields, memory_namespace
from nsstore.search.analyser import query_terms
from nsstore.search.matches import Matched, placed, weighed
from nsstore.search.scoring import Scoring
from nsstore.search.spool import Spool
from nsstore.search.views import Views
from nsstore.search.wide import Part, Wide
from nsstore.search.words import Words
from nsstore.store import ADVISORY, Provenance, Sight, Store, answered, provenance_of
from nsstore.store.proven import Proven

MAX_HITS: Final = 1_000
INCOMPLETE: Final = "a session that is open to this one is damaged or gone, and was left out"


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A record that matched, as its file says now, with its provenance and a score inside the view."""

    record_id: str
    text: str
    title: str | None
    kind: str | None
    tags: tuple[str, ...]
    sensitivity: Sensitivity
    score: float
    created_at: str
    provenance: Provenance


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found: ``hits`` are current; ``stale`` ones are of an allowed other branch or baseline.

    ``notices`` are about the store, never about records the request may not read. ``incomplete`` says
    that a session which rights open to the request is damaged or gone, and was left out.
    """

    hits: tuple[Hit, ...]
    stale: tuple[Hit, ...]
    notices: tuple[str, ...]
    advisory: str
    incomplete: bool = False


class _Looked(msgspec.Struct):
    """What one look at the readable sessions came to."""

    sources: tuple[Source, ...] = ()
    state: State = State.CLOSED
    hits: tuple[Hit, ...] = ()
    stale: tuple[Hit, ...] = ()
    incomplete: bool = False

    def by(self) -> str | None:
        """By which word of the owner search was open, or more than the own session was."""
        numbers = sorted({source.number for source in self.sources})
        grants = f"grant {' '.join(map(str, numbers))}" if numbers else None
        allowed = ALLOWLISTED if self.state is State.ALLOWLIST else None
        return ", ".join(filter(None, (allowed, grants))) or None


class Searcher:
    """Searches for the requests of one store, among views of exactly the records each of them may read."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.views = Views(store)
        self.spool = Spool(store, self.views.home, self.views.folder)
        self.wide = Wide(store, Words(store, self.views.home, self.views.folder), self.spool)
        self.gate = UNTESTED
        self._pid = os.getpid()

    def forget(self, ns: Namespace, record_ids: tuple[str, ...]) -> None:
        """Let go of every view that can hold a forgotten record, on the disk too.

        Raises :class:`StoreError` if something stays.
        """
        self._require_own_process()
        self.store.proven.forget(record_ids)
        self.views.forget(ns)
        self.wide.forget(ns)

    def settle(self) -> None:
        """Wait until everything that is being folded is folded."""
        self._require_own_process()
        self.views.folder.settle()

    def close(self) -> None:
        """Finish what is being folded, and let go of the cache home."""
        self._require_own_process()
        self.views.close()

    def _require_own_process(self) -> None:
        if self._pid != os.getpid():  # a forked child has no thread to release the parent's locks
            self._pid = os.getpid()
            self.views.start_afresh()
            self.wide = self.wide.afresh()
            self.spool.start_afresh()

    def search(self, envelope: ScopeEnvelope, text: str, *, k: int, told: bool) -> Answer:
        """The ``k`` best current records of the envelope's own scope, and the best stale ones apart.

        A record the envelope may not read is in no view that is ranked for it: it changes no score,
        order or count. ``told`` spares notices that this session had. Raises :class:`InvalidInput`,
        :class:`Refused` where the gate is closed to it, :class:`IntegrityError`, :class:`WitnessError`
        (redline, "Query-time ACL", "Runtime Rule").
        """
        if type(k) is not int or not 1 <= k <= MAX_HITS:
            raise InvalidInput(f"k must be an integer from 1 to {MAX_HITS}")
        if type(text) is not str:
            raise InvalidInput("the query must be text")
        self._require_own_process()
        ns, gate = memory_namespace(envelope.scope), self.gate
        leaf = self.store.leaf(ns)
        self.admit(envelope)
        words = query_terms(text)

        def look(sight: Sight) -> _Looked:
            looked = _Looked(state=gate.state(sight.rights, envelope))
            if looked.state is State.CLOSED:  # by what the records say of the time
                return looked
            looked.sources = sight.rights.sessions_of(envelope)
            looked.hits = self._hits(sight, words, k, "current", looked)
            if self._wants_stale(envelope) or sight.rights.opens_stale(envelope):
                looked.stale = self._hits(sight, words, k, "stale", looked)
            return looked

        asking, thread = self.views.folder.asking, get_ident()
        asking.add(thread)
        try:
            looked = answered(leaf, envelope, look)
            if looked.state is State.CLOSED:
                raise self._shut(gate, envelope)
            self.store.audit.append(ns.tenant, _event(envelope, looked))
        finally:
            asking.discard(thread)
        allowed = looked.state is State.ALLOWLIST and not told
        return Answer(
            hits=looked.hits,
            stale=looked.stale,
            notices=(*((gate.notice,) if allowed else ()), *((INCOMPLETE,) if looked.incomplete else ())),
            advisory=ADVISORY,
            incomplete=looked.incomplete,
        )

    def admit(self, envelope: ScopeEnvelope) -> None:
        """Require that search is open to an asker. Raises :class:`Refused`, and :class:`WitnessError`."""
        gate = self.gate
        if not gate.green:
            rights = self.store.rights.current(envelope.scope.tenant)
            if gate.state(rights, envelope) is State.CLOSED:
                raise self._shut(gate, envelope)

    def _shut(self, gate: Gate, envelope: ScopeEnvelope) -> Refused:
        """What an asker is told to whom the gate is closed; audited, durably, before that."""
        event = AuditEvent(
            event=EventKind.REFUSED, verb="search", reason=GATE_CLOSED, scope=envelope_fields(envelope)
        )
        self.store.audit.append(envelope.scope.tenant, event)
        return gate.refusal()

    @staticmethod
    def _wants_stale(envelope: ScopeEnvelope) -> bool:
        return len(envelope.allowed_branches) > 1 or len(envelope.allowed_baselines) > 1

    def _hits(
        self, sight: Sight, words: tuple[str, ...], k: int, part: Part, looked: _Looked
    ) -> tuple[Hit, ...]:
        if not words:
            return ()
        if looked.sources:
            return self._wide_hits(sight, words, k, part, looked)
        readable = sight.readable(stale=part == "stale")
        if not readable:
            return ()
        proofs: dict[str, tuple[Proven, Decision, Matched]] = {}

        def weigh(record_id: str, scoring: Scoring) -> float:
            proven, decision = sight.prove(record_id)
            score, holds = weighed(proven, scoring)
            proofs[record_id] = proven, decision, holds
            return score

        ranked = self.views.of(sight, readable).search(words, sight.ledger, k, weigh)
        self.spool.consider(sight.leaf, sight.ledger)
        found: list[Hit] = []
        for record_id, score in ranked:
            proven, decision, holds = proofs[record_id]
            if decision.allowed:
                found.append(_hit(sight, proven, score, holds))
        return tuple(found)

    def holding(self, sight: Sight, record_id: str) -> Sight:
        """Where a request may look for a record: in its own session, or in one that rights open to it.

        Raises :class:`IntegrityError` if that one is damaged.
        """
        self._require_own_process()
        return self.wide.holder(sight, record_id)

    def sights(self, own: Sight) -> tuple[list[Sight], bool]:
        """The own session and those that rights open to a request, and whether another one is damaged."""
        self._require_own_process()
        others = [sight for _, sight in self.wide.others(own)]
        whole = [sight for sight in others if isinstance(sight, Sight)]
        return [own, *whole], len(whole) < len(others)

    def _wide_hits(
        self, own: Sight, words: tuple[str, ...], k: int, part: Part, looked: _Looked
    ) -> tuple[Hit, ...]:
        """As :meth:`_hits`, from every session that rights open; damage to another one leaves it out."""
        ranked, incomplete = self.wide.search(own, looked.sources, words, k, part)
        looked.incomplete = looked.incomplete or incomplete
        found: list[Hit] = []
        for one in ranked:
            try:
                proven, decision = one.sight.prove(one.record_id)
            except (IntegrityError, EscapeError):
                if one.sight is own:
                    raise
                looked.incomplete = True
                continue
            if decision.allowed:
                found.append(_hit(one.sight, proven, one.score, placed(proven, one.holds)))
        return tuple(found)


def _event(envelope: ScopeEnvelope, looked: _Looked) -> Spelled:
    """What the audit hears; durable if another user's records were open, and by which grants."""
    found = tuple([hit.record_id for hit in (*looked.hits, *looked.stale)])
    if looked.by() is None:
        return event_form(EventKind.SEARCHED, "search", envelope).of(*found)
    event = AuditEvent(
        event=EventKind.SEARCHED,
        verb="search",
        reason=looked.by(),
        scope=envelope_fields(envelope),
        records=found,
        count=len(found),
    )
    shared = any(source.user_id != envelope.scope.user_id for source in looked.sources)
    return spelled(event, durable=shared)


def _hit(sight: Sight, proven: Proven, score: float, found: Matched) -> Hit:
    """A proven and readable record as its reader gets it."""
    header = proven.record.header
    matched_terms, matched_fields = found
    return Hit(
        record_id=header.record_id,
        text=proven.record.text,
        title=header.title,
        kind=header.kind,
        tags=header.tags or (),
        sensitivity=header.sensitivity,
        score=score,
        created_at=header.created_at,
        provenance=provenance_of(
            header,
            scope=proven.scope.copy(),
            path=f"{sight.leaf.place.records}/{header.record_id}.md",
            reason="search",
            matched_terms=matched_terms,
            matched_fields=matched_fields,
        ),
    )
