"""A search engine of somebody else's: asked only if it shows scope support, and never believed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest

from bench.world import Who, World
from nsstore import OpenStore, Refused, Session
from nsstore.audit import AuditLine, EventKind, read_events
from nsstore.gate import UNTESTED
from nsstore.session.guarded import NEEDED, Engine, Guard

ME = Who()


class Shown(msgspec.Struct, frozen=True):
    """What an engine declares."""

    separates: frozenset[str] = NEEDED
    filters_before_ranking: bool = True


ALL: Final = Shown()


class Playing:
    """An engine that returns what a test wants, and knows how often it was asked."""

    def __init__(self, ids: Sequence[str], declared: Shown | None = ALL, *, fails: bool = False) -> None:
        self.ids = ids
        self.declared = declared
        self.fails = fails
        self.asked = 0

    def scope_properties(self) -> Shown | None:
        return self.declared

    def search(self, query: str, k: int) -> Sequence[str]:
        del query
        self.asked += 1
        if self.fails:
            raise ConnectionError
        return self.ids[:k]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OpenStore]:
    """A store of its own."""
    with World(place=tmp_path).make() as store:
        yield store


@pytest.fixture
def me(store: OpenStore) -> Session:
    """A session with two records."""
    session = ME.bind(store)
    session.remember_many(["granite one", "basalt two"])
    return session


def events(store: OpenStore, kind: EventKind) -> list[AuditLine]:
    """What the tenant's audit has of a kind."""
    return [one for one in read_events(store.audit, ("tenant", ME.tenant)) if one.event is kind]


def test_what_it_finds_is_looked_up(store: OpenStore, me: Session) -> None:
    """Its ids come back in its order, as the records' own files say now."""
    ids = [one.record_id for one in me.list().items]
    answer = Guard(store).search(me, Playing(ids), "granite")
    assert [one.record_id for one in answer.found] == ids
    assert (answer.fallback, answer.reason) == (None, None)
    assert [one.text for one in Guard(store).search(me, Playing(ids), "granite", k=1).found] == ["basalt two"]


@pytest.mark.parametrize(
    "declared",
    [None, Shown(separates=NEEDED - {"agent"}), Shown(filters_before_ranking=False), Shown(frozenset())],
    ids=["nothing", "all but one", "filters later", "no dimension"],
)
def test_what_shows_no_scope_support_is_not_asked(
    store: OpenStore, me: Session, declared: Shown | None
) -> None:
    """It is not asked, the audit says so, and the answer is that of the scope's own search."""
    engine = Playing([], declared)
    answer = Guard(store).search(me, engine, "granite")
    assert engine.asked == 0
    assert answer.reason == "scope_not_proven"
    assert answer.fallback is not None
    assert [hit.text for hit in answer.fallback.hits] == ["granite one"]
    (told,) = events(store, EventKind.FALLBACK_DISABLED)
    assert told.reason == "scope_not_proven"


@pytest.mark.parametrize("foreign", ["project", "agent", "never", "no id"])
def test_one_record_out_of_scope_suspends_it(store: OpenStore, me: Session, foreign: str) -> None:
    """A denied, absent or impossible id takes the whole answer along; the engine is not asked again."""
    ids = {"never": "01934f2e-8b7a-7c3d-9e21-0123456789ab", "no id": "../x"}
    if foreign in ("project", "agent"):
        other = msgspec.structs.replace(ME, **{foreign: "other"}).bind(store)
        ids[foreign] = other.remember("granite of others").record_id
    guard = Guard(store)
    engine = Playing([me.list().items[0].record_id, ids[foreign]])
    for _ in range(3):
        answer = guard.search(me, engine, "granite")
        assert (answer.found, answer.reason) == ((), "suspended")
        assert answer.fallback is not None
        assert [hit.text for hit in answer.fallback.hits] == ["granite one"]
    assert engine.asked == 1
    assert len(events(store, EventKind.OUT_OF_SCOPE_PROVIDER)) == 1
    assert len(events(store, EventKind.FALLBACK_DISABLED)) == 3


def test_one_that_fails_widens_nothing(store: OpenStore, me: Session) -> None:
    """What it would have searched is searched in the scope, without it; it may be asked again."""
    guard, engine = Guard(store), Playing([], fails=True)
    for number in (1, 2):
        assert guard.search(me, engine, "granite").reason == "failed"
        assert engine.asked == number
    engine.fails, engine.ids = False, [me.list().items[0].record_id]
    assert len(guard.search(me, engine, "granite").found) == 1


def test_engines_are_told_apart_as_objects(store: OpenStore, me: Session) -> None:
    """One that calls itself equal to another is another one."""

    class Equal(Playing):
        """Equal to everything, and never hashed."""

        __hash__ = None  # type: ignore[assignment]  # what a mutable class has

        def __eq__(self, other: object) -> bool:
            return True

    guard = Guard(store)
    lying, honest = Equal(["no id"]), Equal([me.list().items[0].record_id])
    engines: list[Engine] = [lying, honest]
    assert [guard.search(me, one, "granite").reason for one in engines] == ["suspended", None]


def test_where_search_is_closed_no_engine_is_asked(store: OpenStore, me: Session) -> None:
    """An answer through an engine is a search: the gate is closed to it as well."""
    engine = Playing([me.list().items[0].record_id])
    store.gate = UNTESTED
    with pytest.raises(Refused) as refused:
        Guard(store).search(me, engine, "granite")
    assert refused.value.reason == "gate_closed"
    assert engine.asked == 0
