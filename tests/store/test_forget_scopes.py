"""Forgetting a session, a project, a user at once: exactly what is named, damaged or not."""

from collections.abc import Callable

import msgspec
import pytest

from bench.binding import bind
from bench.world import Who, World
from nsstore import InvalidInput, OpenStore, Session
from nsstore.store import Below, Erasure, forget_below
from tests.store.conftest import CANARY, TENANT, events, left, texts

pytestmark = pytest.mark.usefixtures("unflushed", "cache_beside")


def test_many_at_once(world: World) -> None:
    """Two thousand and more records are forgotten as one, each line of the ledger short enough to be read."""
    with world.open() as store:
        session = bind(store)
        ids = [one.record_id for one in session.remember_many(f"note {n}" for n in range(2_100))]
        (done,) = forget_below(store, Below(tenant=TENANT))
        assert list(done.records) == ids
        assert [one.count for one in events(store)] == [1000, 1000, 100]
        assert session.list().total == 0
    with world.open() as store:
        assert bind(store).list().total == 0
        bind(store).remember("anew")
        assert texts(bind(store)) == ["anew"]


def furnish(world: World) -> dict[tuple[str, str, str, str], list[str]]:
    """Two tenants, two users, two projects, two sessions, each with records and a document of its own."""
    made: dict[tuple[str, str, str, str], list[str]] = {}
    with world.open() as store:
        for tenant in ("acme", "evil"):
            for user in ("alice", "bob"):
                for project in ("shop", "other"):
                    for session in ("s-1", "s-2"):
                        who = (tenant, user, project, session)
                        bound = bound_to(store, who)
                        made[who] = [bound.remember(f"{n} of {who}").record_id for n in range(3)]
                        made[who].append(bound.state.put("plan", f"plan of {who}").record_id)
    return made


def bound_to(store: OpenStore, who: tuple[str, str, str, str]) -> Session:
    """A session of one of these scopes, all in one workspace."""
    return Who(tenant=who[0], user=who[1], project=who[2], session=who[3]).bind(store)


def there(world: World) -> set[str]:
    """The ids of all records that have a file."""
    return {path.stem for path in world.root.rglob("*.md")}


WHOLE: dict[str, tuple[Below, Callable[[tuple[str, str, str, str]], bool]]] = {
    "tenant": (Below(tenant=TENANT), lambda who: who[0] == "acme"),
    "user": (Below(tenant=TENANT, user="alice"), lambda who: who[:2] == ("acme", "alice")),
    "user's project": (
        Below(tenant=TENANT, user="alice", project="shop"), lambda who: who[:3] == ("acme", "alice", "shop")
    ),
    "project": (Below(tenant=TENANT, project="shop"), lambda who: (who[0], who[2]) == ("acme", "shop")),
    "session": (
        Below(tenant=TENANT, user="alice", project="shop", session=("session", "s-1")),
        lambda who: who == ("acme", "alice", "shop", "s-1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("whole", WHOLE)
def test_a_whole_scope_and_nothing_beside_it(world: World, whole: str) -> None:
    """BR-08: exactly what is named is gone, documents too, all else stays; a second time is nothing."""
    made = furnish(world)
    below, is_in = WHOLE[whole]
    gone = {one for who, ids in made.items() if is_in(who) for one in ids}
    with world.open() as store:
        dry = forget_below(store, below, dry_run=True)
        done = forget_below(store, below)
        assert {one for erasure in dry for one in erasure.records} == gone
        assert {one for erasure in done for one in erasure.records} == gone
        assert all(one.seq is not None and one.mac is not None and one.at is not None for one in done)
        assert forget_below(store, below) == ()
    assert there(world) == {one for ids in made.values() for one in ids} - gone
    with world.open() as store:
        for who in made:
            assert bound_to(store, who).list().total == (0 if is_in(who) else 3)
    assert left(world, *(f"of {who}" for who in made if is_in(who))) == []


@pytest.mark.parametrize(
    "named",
    [
        {"tenant": ("user", "alice")},
        {"tenant": ("tenant", "*")},
        {"tenant": ("tenant", "")},
        {"tenant": TENANT, "user": "*"},
        {"tenant": TENANT, "user": ""},
        {"tenant": TENANT, "project": "-"},
        {"tenant": TENANT, "session": ("session", "s-1")},
        {"tenant": TENANT, "user": "a", "project": "p", "session": ("workspace", "w")},
    ],
)
def test_a_scope_that_is_none(named: dict[str, object]) -> None:
    """BR-09: no pattern, empty id or half a session is a scope to forget."""
    with pytest.raises(InvalidInput):
        msgspec.convert(named, Below)


def test_a_damaged_record_among_others(world: World) -> None:
    """It stops a whole scope from being forgotten, unless what cannot be proven is to go as well."""
    with world.open() as store:
        session = bind(store)
        hurt, missing, sound = (session.remember(f"{CANARY} {n}").record_id for n in range(3))
        (path,) = world.root.rglob(f"{hurt}.md")
        path.write_bytes(path.read_bytes() + b"!")
        next(world.root.rglob(f"{missing}.md")).unlink()
    with world.open() as store:
        with pytest.raises(Exception, match="incident"):
            forget_below(store, Below(tenant=TENANT))
        assert path.exists()
        (done,) = forget_below(store, Below(tenant=TENANT), even_damaged=True)
        assert (set(done.records), done.damaged) == ({hurt, missing, sound}, 2)
        bind(store).remember("goes on")
    assert left(world) == []


def test_a_closed_namespace_is_passed_over_and_told(world: World) -> None:
    """Its ledger takes no event, so its records stay, and the owner is told the incident."""
    with world.open() as store:
        bind(store).remember("one")
        bind(store, session_id="s-2").remember("two")
    (ledger,) = world.root.glob("ledger/memory/*/*/*/s-2.log")
    ledger.write_bytes(ledger.read_bytes()[:-3] + b"x\n\n")
    with world.open() as store:
        with pytest.raises(Exception, match="incident"):
            forget_below(store, Below(tenant=TENANT))
        assert bind(store).list().total == 1
        done = forget_below(store, Below(tenant=TENANT), even_damaged=True)
        by_closed: dict[bool, Erasure] = {one.closed is not None: one for one in done}
        assert len(by_closed[False].records) == 1
        assert by_closed[True].records == ()
