"""What expired and took the place of something: it is erased with it, or both stay and neither is served."""

from collections.abc import Callable

import pytest

from bench.binding import bind
from bench.owning import Hand
from bench.world import World
from nsstore import NotVisible, OpenStore, Session
from nsstore.policy import Kind, Opens
from nsstore.store import Below, expire
from tests.store.conftest import texts
from tests.store.test_expiry import FAR, TENANT, at

pytestmark = pytest.mark.usefixtures("unflushed", "cache_beside")
Two = tuple[Callable[[OpenStore], Session], Callable[[OpenStore], Session], str]

STAY: dict[str, Two] = {
    "held": (bind, bind, "legal_hold"),
    "of a task": (bind, lambda store: bind(store, task_id="t"), "standard"),
    "of a tool context": (bind, lambda store: bind(store, tool_context="c"), "standard"),
    "of another agent": (lambda store: bind(store, agent_id="codex"), bind, "standard"),
}  # fmt: skip


def seen(session: Session) -> tuple[list[str], list[str]]:
    """What a scope lists and finds."""
    return texts(session), [hit.text for hit in session.search("quartz").hits]


def files(world: World) -> int:
    """How many records have a file."""
    return len(list(world.root.rglob("*.md")))


def test_versions_of_several_commits(world: World) -> None:
    """A version of another commit is a version all the same: it is erased with the newest one."""
    with world.open() as store:
        older, newer = bind(store, commit="a" * 40), bind(store, commit="b" * 40)
        old = older.remember("quartz old").record_id
        new = newer.remember("quartz new", supersedes=[old], ttl=60).record_id
        older.state.put("plan", "old")
        newer.state.put("plan", "new", ttl=60)
        with at(FAR):
            done = {one.area: one for one in expire(store, TENANT)}
            assert done["memory"].records == (old, new)
            assert [(len(one.records), one.left) for one in done.values()] == [(2, 0), (2, 0)]
            assert seen(newer) == ([], [])
    assert files(world) == 0


@pytest.mark.parametrize("case", STAY)
def test_what_it_took_the_place_of_stays(world: World, case: str) -> None:
    """What superseded a record that stays is left as well, and told; no process serves either of them."""
    older, newer, retention_class = STAY[case]
    with world.open() as store:
        Hand.of(store).grant(store, Kind.CROSS_AGENT, opens=Opens(agents=("codex",)))
        old = older(store).remember("quartz old", retention_class=retention_class).record_id
        newer(store).remember("quartz new", supersedes=[old], ttl=60)
        newer(store).remember("quartz alone", ttl=60)
        with at(FAR):
            (dry,) = expire(store, TENANT, dry_run=True)
            (done,) = expire(store, TENANT)
            assert (len(dry.records), dry.left) == (len(done.records), done.left) == (1, 1)
            assert done.held == (1 if case == "held" else 0)
            for _ in range(2):
                with world.open() as fresh:
                    assert seen(newer(store)) == seen(newer(fresh)) == ([], [])
                assert [(one.records, one.left) for one in expire(store, TENANT)] == [((), 1)]
    assert files(world) == 2


def test_a_document_whose_older_version_stays(world: World) -> None:
    """A document that ended does not come back with a version that is held."""
    with world.open() as store:
        state = bind(store).state
        state.put("plan", "held", retention_class="legal_hold")
        state.put("plan", "new", ttl=60)
        with at(FAR):
            assert [(one.records, one.held, one.left) for one in expire(store, TENANT)] == [((), 1, 1)]
            for ask in (state.get, state.history):
                with pytest.raises(NotVisible):
                    ask("plan")
            assert state.list() == ()


def test_a_chain_of_versions(world: World) -> None:
    """Of a chain whose oldest version stays nothing is erased; of one beside it everything is."""
    with world.open() as store:
        session, ids = bind(store), list[str]()
        for chain, first in (("a", "legal_hold"), ("b", "standard")):
            last: list[str] = []
            for n in range(4):
                held = first if n == 0 else "standard"
                ttl = 60 if n in (1, 3) else None
                last = [
                    session.remember(
                        f"quartz {chain}{n}", retention_class=held, ttl=ttl, supersedes=last
                    ).record_id
                ]
                ids += last
        with at(FAR):
            (done,) = expire(store, TENANT)
            assert done.records == tuple(ids[4:])
            assert (done.held, done.left) == (1, 2)
            assert seen(session) == ([], [])
    assert files(world) == 4


def test_what_stays_no_longer(world: World) -> None:
    """Once its owner forgot the older version, the newer one goes with the next expiry."""
    with world.open() as store:
        old = bind(store).remember("old").record_id
        new = bind(store, task_id="t").remember("new", supersedes=[old], ttl=60).record_id
        with at(FAR):
            assert [one.left for one in expire(store, TENANT)] == [1]
            bind(store).forget(old)
            assert [one.records for one in expire(store, TENANT)] == [(new,)]


def test_a_version_beyond_what_is_named(world: World) -> None:
    """Where only a part is named, what superseded something outside of it is left too."""
    with world.open() as store:
        opens = Opens(state_across_sessions=True)
        Hand.of(store).grant(store, Kind.STATE_ACROSS_SESSIONS, opens=opens)
        bind(store, session_id="s-1").state.put("plan", "old")
        other = bind(store, session_id="s-2").state
        other.put("plan", "new", ttl=60)
        part = Below(tenant=TENANT.tenant, user="alice", project="shop", session=("session", "s-2"))
        with at(FAR):
            assert [(one.records, one.left) for one in expire(store, part)] == [((), 1)]
            with pytest.raises(NotVisible):
                other.get("plan")
