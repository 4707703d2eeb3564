"""Scoped search: readable classes first, then a view of exactly those records, then each hit proven again."""

from __future__ import annotations

import os
import threading
from typing import Final, Literal

import msgspec

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import InvalidInput
from nsstore.policy import ReadClass
from nsstore.record import Record
from nsstore.scope import Namespace, ScopeEnvelope, Sensitivity, envelope_fields, memory_namespace
from nsstore.search.analyser import query_terms
from nsstore.search.budget import ViewCache
from nsstore.search.view import Scored, View
from nsstore.store import ADVISORY, Provenance, Sight, Store, provenance_of

MAX_HITS: Final = 1_000
VIEW_BYTES: Final = 256 * 1024 * 1024
NOT_PROVEN: Final = (
    "the isolation acceptance suite has not run for this build: until it is green, treat answers with care"
)
Part = Literal["current", "stale"]


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

    ``notices`` are about the store, never about records the request may not read.
    """

    hits: tuple[Hit, ...]
    stale: tuple[Hit, ...]
    notices: tuple[str, ...]
    advisory: str


class _Followed:
    """A view and how far along the ledger it has come."""

    def __init__(self) -> None:
        self.view = View()
        self.position = 0
        self.last: str | None = None
        self.gone: set[str] = set()
        self.lock = threading.RLock()
        self.whole = True

    def bytes_used(self) -> int:
        return self.view.bytes_used()


class Searcher:
    """Searches for the requests of one store; keeps views in memory, at most 256 MB of them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._views: ViewCache[_Followed] = ViewCache(VIEW_BYTES)
        self._pid = os.getpid()

    def search(self, envelope: ScopeEnvelope, text: str, *, k: int, told: bool) -> Answer:
        """The ``k`` best current records of the envelope's own scope, and the best stale ones apart.

        A record the envelope may not read is in no view that is ranked for it: it changes no score,
        order or count. ``told`` spares notices that this session had. Raises :class:`InvalidInput`,
        :class:`IntegrityError`, :class:`WitnessError` (redline, "Query-time ACL").
        """
        if type(k) is not int or not 1 <= k <= MAX_HITS:
            raise InvalidInput(f"k must be an integer from 1 to {MAX_HITS}")
        if type(text) is not str:
            raise InvalidInput("the query must be text")
        if self._pid != os.getpid():  # a forked child has no thread to release the parent's locks
            self._pid, self._views = os.getpid(), ViewCache(VIEW_BYTES)
        words = query_terms(text)
        ns = memory_namespace(envelope.scope)
        sight = Sight.of(self.store.leaf(ns), envelope)
        hits = self._hits(sight, ns, words, k, "current")
        stale = self._hits(sight, ns, words, k, "stale") if self._wants_stale(envelope) else ()
        found = tuple(hit.record_id for hit in (*hits, *stale))
        self.store.audit.append(
            ns.tenant,
            AuditEvent(
                event=EventKind.SEARCHED,
                verb="search",
                scope=envelope_fields(envelope),
                records=found,
                count=len(found),
            ),
        )
        return Answer(hits=hits, stale=stale, notices=() if told else (NOT_PROVEN,), advisory=ADVISORY)

    @staticmethod
    def _wants_stale(envelope: ScopeEnvelope) -> bool:
        return len(envelope.allowed_branches) > 1 or len(envelope.allowed_baselines) > 1

    def _hits(
        self, sight: Sight, ns: Namespace, words: tuple[str, ...], k: int, part: Part
    ) -> tuple[Hit, ...]:
        if not words:
            return ()
        view = self._view(sight, ns, part)
        hits = (self._hit(sight, ns, scored) for scored in view.search(words, k))
        return tuple(hit for hit in hits if hit is not None)

    def _hit(self, sight: Sight, ns: Namespace, scored: Scored) -> Hit | None:
        found, decision = sight.read(scored.record_id)
        if not decision.allowed:
            return None
        header = found.header
        return Hit(
            record_id=header.record_id,
            text=found.text,
            title=header.title,
            kind=header.kind,
            tags=header.tags or (),
            sensitivity=header.sensitivity,
            score=scored.score,
            created_at=header.created_at,
            provenance=provenance_of(
                ns,
                header,
                reason="search",
                matched_terms=scored.matched_terms,
                matched_fields=scored.matched_fields,
            ),
        )

    def _view(self, sight: Sight, ns: Namespace, part: Part) -> View:
        """The view of the classes that exist and are readable, caught up with the ledger."""
        readable = frozenset(one for one in sight.classes() if self._belongs(sight, one, part))
        key = (ns, readable)
        followed = self._views.get(key)
        if followed is None or not sight.ledger.begins_with(followed.position, followed.last):
            followed = _Followed()
        with followed.lock:
            if not followed.whole:
                followed = _Followed()
            self._catch_up(followed, sight, readable)
        self._views.put(key, followed)
        return followed.view

    @staticmethod
    def _belongs(sight: Sight, readable: ReadClass, part: Part) -> bool:
        decision = sight.decision_of(readable)
        return decision.allowed and decision.stale == (part == "stale")

    @staticmethod
    def _catch_up(followed: _Followed, sight: Sight, readable: frozenset[ReadClass]) -> None:
        """Take in what the ledger has more, each record proven; what is superseded weighs no longer."""
        for record_id in sight.ledger.order[followed.position :]:
            found = sight.read(record_id)[0] if sight.tag(record_id).readable in readable else None
            followed.whole = False  # what is interrupted from here on is not used again
            if found is not None:
                _take_in(followed, found)
            followed.position += 1
            followed.last = record_id
            followed.whole = True


def _take_in(followed: _Followed, found: Record) -> None:
    header = found.header
    for old in header.supersedes or ():
        followed.gone.add(old)
        followed.view.remove(old)
    if header.record_id not in followed.gone:
        followed.view.add(header.record_id, found.text, title=header.title or "", tags=header.tags or ())
