"""nsstore itself as a provider under test, with every ability: a store that nobody keeps, in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Final, cast

from nsstore.audit import read_events
from nsstore.errors import EscapeError, IntegrityError, InvalidInput, NotVisible, Refused
from nsstore.gate import UNDER_TEST
from nsstore.harness.own_files import every_file, holding, plant
from nsstore.harness.provider import (
    DIMENSIONS,
    Dimension,
    Engine,
    Kept,
    Planted,
    Refusal,
    Scope,
    ScopeProperties,
)
from nsstore.root import Root
from nsstore.scope import memory_namespace
from nsstore.search.engine import Hit
from nsstore.session import Given, OpenStore, Session
from nsstore.session.guarded import Guard
from nsstore.store import Found, Provenance, create_root, open_root
from nsstore.trust import Trust

if TYPE_CHECKING:
    from nsstore.harness.own_rights import Owner

FIELDS: Final[Mapping[Dimension, str]] = {
    "tenant": "tenant_id",
    "user": "user_id",
    "project": "project_id",
    "session": "session_id",
    "workspace": "workspace_id",
    "branch": "branch",
    "baseline": "baseline",
    "agent": "agent_id",
}
TOOL: Final = "nsstore-acceptance"
MOST: Final = 1_000


class ScratchStore(OpenStore):
    """A store that nobody keeps: nothing of it is flushed, and its views lie beside it."""

    def __init__(self, root: Root, trust: Trust, cache: str) -> None:
        super().__init__(root, trust)
        self._searcher.views.home.path = cache
        root.flushes = trust.home.flushes = False
        self.gate = UNDER_TEST


class OwnProvider:
    """A store of its own beneath ``folder``, new where ``new`` says so, else the one that is there."""

    def __init__(self, folder: str | os.PathLike[str], *, new: bool = True) -> None:
        self._folder = os.fspath(folder)
        way = partial(create_root, flushes=False) if new else open_root
        root, trust = way(os.path.join(self._folder, "root"), os.path.join(self._folder, "trust"))
        self._store = ScratchStore(root, trust, os.path.join(self._folder, "cache"))
        self._guard = Guard(self._store)
        self._owner: Owner | None = None
        self._forgotten: dict[str, bytes] = {}
        self._tenants: dict[str, None] = {}
        self._forges = count()

    def scope_properties(self) -> ScopeProperties:
        """Every dimension is kept apart, and what may not be read is in no ranking."""
        return ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=True)

    def remember(self, scope: Scope, text: str) -> str:
        with _refusals():
            return self._bind(scope).remember(text).record_id

    def remember_with(self, scope: Scope, text: str, metadata: Mapping[str, object]) -> str:
        with _refusals():
            return self._bind(scope).remember(text, ext=metadata).record_id

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        with _refusals():
            return [_hit(one) for one in self._bind(scope).search(query, k=k).hits]

    def search_beside(self, scope: Scope, query: str, k: int, beside: Sequence[Scope]) -> Sequence[Kept]:
        with _refusals():
            session = self._bind(
                scope,
                allowed_branches={scope.branch, *(one.branch for one in beside)},
                allowed_baselines={scope.baseline, *(one.baseline for one in beside)},
            )
            answer = session.search(query, k=k)
            current = [_hit(one) for one in answer.hits]
            return [*current, *(_hit(one, stale=True) for one in answer.stale)]

    def get(self, scope: Scope, record_id: str) -> Kept:
        with _refusals():
            return _found(self._bind(scope).get(record_id))

    def list(self, scope: Scope) -> Sequence[Kept]:
        with _refusals():
            return [_found(one) for one in self._bind(scope).list(limit=MOST).items]

    def update(self, scope: Scope, record_id: str, text: str, metadata: Mapping[str, object]) -> str:
        with _refusals():
            said = self._bind(scope).remember(text, supersedes=[record_id], ext=metadata or None)
        return said.record_id

    def forget(self, scope: Scope, record_id: str) -> None:
        with _refusals():
            session = self._bind(scope)
            text = session.get(record_id).text
            raw = holding(self._store.root, text)
            session.forget(record_id)
        self._forgotten[text] = raw

    def share(self, asker: Scope, dimension: Dimension, owner: Scope) -> object:
        from nsstore.harness.own_rights import Owner  # noqa: PLC0415 - signing needs a package of its own

        with _refusals():
            if self._owner is None:
                self._owner = Owner(self._store)
            return self._owner.grant(asker, dimension, owner), asker.tenant

    def revoke(self, token: object) -> None:
        number, tenant = cast("tuple[int, str]", token)
        assert self._owner is not None
        with _refusals():
            self._owner.revoke(number, tenant)

    def evidence(self, scope: Scope, topic: str, now: str) -> Sequence[str | Kept]:
        with _refusals():
            found = self._bind(scope).evidence(topic, sources=[Given(now)])
        said = [one.text for truth in found.truth for one in truth.statements]
        return [*said, *(_hit(one) for one in found.memory), *(_hit(one, stale=True) for one in found.stale)]

    def through(self, scope: Scope, query: str, engine: Engine) -> Sequence[Kept]:
        with _refusals():
            answer = self._guard.search(self._bind(scope), engine, query)
        if answer.fallback is not None:
            return [_hit(one) for one in answer.fallback.hits]
        return [_found(one) for one in answer.found]

    def audited(self) -> Sequence[Mapping[str, object]]:
        events = [one for name in self._tenants for one in read_events(self._store.audit, ("tenant", name))]
        events.sort(key=lambda one: one.at)
        return [
            {"event": one.event.value, "reason": one.reason, "records": one.records, "verb": one.verb}
            for one in events
        ]

    def plant(self, scope: Scope, text: str, kind: Planted) -> None:
        raw = self._forged(scope, text) if kind is Planted.FORGED else self._forgotten.get(text)
        ns = memory_namespace(self._bind(scope).envelope.scope)
        plant(self._store.root, ns, text, kind, raw)

    def files(self) -> Mapping[str, bytes]:
        kept = {f"root/{path}": raw for path, raw in every_file(self._store.root)}
        kept |= {f"trust/{path}": raw for path, raw in every_file(self._store.trust.home)}
        with suppress(FileNotFoundError), Root.open(os.path.join(self._folder, "cache")) as cache:
            kept |= {f"cache/{path}": raw for path, raw in every_file(cache)}
        return kept

    def second(self) -> OwnProvider:
        other = OwnProvider(self._folder, new=False)
        other._tenants |= self._tenants
        return other

    def close(self) -> None:
        self._store.close()

    def _bind(self, scope: Scope, **beside: object) -> Session:
        bind: Callable[..., Session] = self._store.bind
        ids = {field: getattr(scope, dimension) for dimension, field in FIELDS.items()}
        session = bind(**ids, **beside, source_tool=TOOL, purpose="recall")
        self._tenants[scope.tenant] = None
        return session

    def _forged(self, scope: Scope, text: str) -> bytes:
        """A record that says this and is of this scope, by the keys of another store."""
        other = OwnProvider(os.path.join(self._folder, f"forge-{next(self._forges)}"))
        try:
            other.remember(scope, text)
            return holding(other._store.root, text)
        finally:
            other.close()


def makes(folder: str | os.PathLike[str]) -> Callable[[], OwnProvider]:
    """What makes one new provider after the other, each in a folder of its own beneath this one."""
    numbers = count()
    return lambda: OwnProvider(os.path.join(folder, f"store-{next(numbers)}"))


@contextmanager
def _refusals() -> Generator[None]:
    """What the store refuses is a refusal; what it cannot do stays a failure."""
    try:
        yield
    except (InvalidInput, NotVisible, Refused, IntegrityError, EscapeError) as err:
        raise Refusal(str(err)) from err


def _hit(one: Hit, *, stale: bool = False) -> Kept:
    return Kept(
        record_id=one.record_id,
        text=one.text,
        score=one.score,
        stale=stale,
        provenance=_told(one.provenance, (*one.provenance.matched_terms, *one.provenance.matched_fields)),
    )


def _found(one: Found) -> Kept:
    return Kept(record_id=one.record_id, text=one.text, stale=one.stale, provenance=_told(one.provenance, ()))


def _told(given: Provenance, matched: tuple[str, ...]) -> Mapping[str, object]:
    return {
        "record_id": given.record_id,
        "scope": {dimension: given.scope[field] for dimension, field in FIELDS.items()},
        "source": given.path,
        "match_reason": " ".join((given.reason, *matched)),
        "created_at": given.created_at,
    }
