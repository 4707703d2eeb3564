"""The guard before somebody else's search engine: without scope support it is not asked, and never believed.

An engine gives ids and nothing else. Each is looked up, proven and decided again as any other request's;
one that this scope may not read is told, takes the whole answer with it, and suspends the engine (redline,
"Fallback safety").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import InvalidInput, NotVisible
from nsstore.scope import envelope_fields
from nsstore.search.engine import Answer
from nsstore.session.session import Session
from nsstore.store import Found, Store

NEEDED: Final = frozenset(
    {"tenant", "user", "project", "session", "workspace", "branch", "baseline", "agent"}
)
NOT_PROVEN: Final = "scope_not_proven"
SUSPENDED: Final = "suspended"
FAILED: Final = "failed"


class Declared(Protocol):
    """What an engine declares of its scopes."""

    @property
    def separates(self) -> frozenset[str]:
        """The dimensions by which it keeps records apart."""
        ...

    @property
    def filters_before_ranking(self) -> bool:
        """Whether what an asker may not read is in no ranking, count or statistic."""
        ...


class Engine(Protocol):
    """A search engine that the store does not know."""

    def scope_properties(self) -> Declared | None:
        """What it declares; ``None`` for nothing."""
        ...

    def search(self, query: str, k: int) -> Sequence[str]:
        """The ids of the ``k`` best records, best first."""
        ...


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """What was found through an engine; without one ``fallback`` has the answer, and ``reason`` says why."""

    found: tuple[Found, ...] = ()
    fallback: Answer | None = None
    reason: str | None = None


class Guard:
    """Asks engines for the sessions of one store; one that was found out is not asked again by this guard."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._suspended: list[Engine] = []

    def search(self, session: Session, engine: Engine, text: str, *, k: int = 10) -> Guarded:
        """Search through an engine, or in the same scope without it.

        Raises :class:`InvalidInput`, :class:`Refused`, :class:`IntegrityError`, :class:`WitnessError` as
        :meth:`Session.search`.
        """
        session.require_search()
        if any(one is engine for one in self._suspended):
            return self._without(session, text, k, SUSPENDED)
        try:
            if not _shows_scope(engine.scope_properties()):
                return self._without(session, text, k, NOT_PROVEN)
            ids = tuple(engine.search(text, k))[:k]
        except Exception:  # noqa: BLE001 - whatever it raises, it gave no answer
            return self._without(session, text, k, FAILED)
        found: list[Found] = []
        for record_id in ids:
            try:
                found.append(session.get(record_id))
            except (NotVisible, InvalidInput):
                self._suspended.append(engine)
                self._tell(session, EventKind.OUT_OF_SCOPE_PROVIDER, "not_in_scope", count=len(ids))
                return self._without(session, text, k, SUSPENDED)
        return Guarded(found=tuple(found))

    def _without(self, session: Session, text: str, k: int, reason: str) -> Guarded:
        self._tell(session, EventKind.FALLBACK_DISABLED, reason)
        return Guarded(fallback=session.search(text, k=k), reason=reason)

    def _tell(self, session: Session, event: EventKind, reason: str, count: int | None = None) -> None:
        scope = session.envelope
        told = AuditEvent(
            event=event, verb="search", reason=reason, scope=envelope_fields(scope), count=count
        )
        self._store.audit.append(scope.scope.tenant, told)


def _shows_scope(declared: Declared | None) -> bool:
    """Whether an engine declares every dimension, and that it filters before it ranks."""
    return (
        declared is not None
        and declared.filters_before_ranking is True
        and frozenset(declared.separates) >= NEEDED
    )
