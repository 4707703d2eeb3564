"""What a kept view over several sessions must not get wrong: each case is one that it once did."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.child import Report, in_child
from bench.house import namespace
from bench.owning import Hand
from bench.world import Who, World
from nsstore import NotVisible, OpenStore, Session
from nsstore.layout import ledger_path, record_path
from nsstore.policy import Every, Kind, Opens
from nsstore.scope import Sensitivity
from nsstore.search import wide

EVERY = Opens(sessions=Every(every="session"))
ME = Who(session="now")
Owned = tuple[OpenStore, Hand, World]


@pytest.fixture
def owned(tmp_path: Path) -> Iterator[Owned]:
    """A store with an owner."""
    world = World(place=tmp_path)
    with world.make() as store:
        yield store, Hand.of(store), world


def found(session: Session, k: int = 100) -> list[str]:
    """The texts that a search finds, best first."""
    return [hit.text for hit in session.search("quartz", k=k).hits]


def elsewhere(world: World, work: Callable[[OpenStore], object]) -> None:
    """Have another process do something with the store."""

    def task(_: Report) -> None:
        with world.open() as store:
            work(store)

    assert in_child(task).status == 0


def test_a_view_that_two_askers_share(owned: Owned) -> None:
    """What one asker's look found changed is in the view that another one gets later."""
    store, hand, world = owned
    old = Who(session="s-1").bind(store).remember("quartz old").record_id
    above = Who(session="s-2", clearance=Sensitivity.CONFIDENTIAL)
    secret = above.bind(store).remember("quartz secret", sensitivity="confidential").record_id
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    low, high = ME.bind(store), Who(session="now", clearance=Sensitivity.CONFIDENTIAL).bind(store)
    assert (set(found(high)), found(low)) == ({"quartz old", "quartz secret"}, ["quartz old"])
    Who(session="s-1").bind(store).remember("quartz new", supersedes=[old])
    assert set(found(high)) == {"quartz new", "quartz secret"}
    elsewhere(world, lambda other: above.bind(other).forget(secret))
    assert found(high) == ["quartz new"]
    assert found(low) == ["quartz new"]


def test_a_ledger_that_was_hidden(owned: Owned) -> None:
    """A session whose ledger was away for one look is found again, and its absence is said."""
    store, hand, world = owned
    for number in (1, 2):
        Who(session=f"s-{number}").bind(store).remember(f"quartz of {number}")
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    ledger = world.root / ledger_path(namespace(Who(session="s-2"), "memory"))
    ledger.rename(ledger.with_suffix(".away"))
    with world.open() as fresh:
        me = ME.bind(fresh)
        assert me.search("quartz").incomplete
        ledger.with_suffix(".away").rename(ledger)
        answer = me.search("quartz")
        assert (len(answer.hits), answer.incomplete) == (2, False)


def test_a_damaged_session_is_tried_again(owned: Owned) -> None:
    """A session that is as it was ranks again at the next call."""
    store, hand, world = owned
    record_id = Who(session="s-2").bind(store).remember("quartz of 2").record_id
    Who(session="s-1").bind(store).remember("quartz of 1")
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    path = world.root / record_path(namespace(Who(session="s-2"), "memory"), record_id)
    path.rename(path.with_suffix(".away"))
    with world.open() as fresh:
        me = ME.bind(fresh)
        assert me.search("quartz").incomplete
        path.with_suffix(".away").rename(path)
        answer = me.search("quartz")
        assert (len(answer.hits), answer.incomplete) == (2, False)


@pytest.mark.parametrize("folded", [False, True])
def test_forgotten_by_another_process(owned: Owned, monkeypatch: pytest.MonkeyPatch, *, folded: bool) -> None:
    """Forgotten alone, an older version is current again; folded or not, nothing raises."""
    store, hand, world = owned
    monkeypatch.setattr("nsstore.search.joint.LEAST_TAIL", 2 if folded else 1_000)
    there = Who(session="s-1")
    old = there.bind(store).remember("quartz old").record_id
    new = there.bind(store).remember("quartz new", supersedes=[old]).record_id
    Who(session="s-2").bind(store).remember_many([f"quartz {number}" for number in range(5)])
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    me = ME.bind(store)
    assert "quartz new" in found(me)

    def work(other: OpenStore) -> None:
        there.bind(other).forget(new, only_this=True)
        Who(session="s-2").bind(other).remember("quartz more")

    elsewhere(world, work)
    for _ in range(2):
        assert set(found(me)) == {"quartz old", "quartz more", *(f"quartz {number}" for number in range(5))}


def test_ties_show_nothing_denied(owned: Owned) -> None:
    """Which of two equal hits comes first hangs on no record that may not be read."""
    store, hand, world = owned
    Who(session="s-2", agent="codex").bind(store).remember("granite that is denied")
    Who(session="s-1").bind(store).remember("quartz one")
    Who(session="s-2").bind(store).remember("quartz two")
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    assert found(ME.bind(store), k=1) == ["quartz one"]
    with world.open() as fresh:
        assert found(ME.bind(fresh), k=1) == ["quartz one"]


def test_sessions_that_are_not_open(owned: Owned) -> None:
    """The loss of a session that is not open is not told; a denied record of a damaged one is as none."""
    store, hand, world = owned
    for number in (2, 9):
        Who(session=f"s-{number}").bind(store).remember(f"quartz of {number}")
    denied = Who(session="s-2", agent="codex").bind(store).remember("quartz of codex").record_id
    hand.grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "s-2"),)))
    (world.root / ledger_path(namespace(Who(session="s-9"), "memory"))).unlink()
    with world.open() as fresh:
        answer = ME.bind(fresh).search("quartz")
        assert ([hit.text for hit in answer.hits], answer.incomplete) == (["quartz of 2"], False)
    path = world.root / record_path(namespace(Who(session="s-2"), "memory"), denied)
    path.unlink()
    with world.open() as fresh, pytest.raises(NotVisible):
        ME.bind(fresh).get(denied)


def test_a_write_between_the_looks(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process writes into the own session right then is in the next answer."""
    store, hand, world = owned
    me = ME.bind(store)
    old = me.remember("quartz mine").record_id
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    assert found(me) == ["quartz mine"]
    real = wide.Wide.search

    def racing(self: wide.Wide, *given: object) -> object:
        monkeypatch.undo()
        elsewhere(world, lambda other: ME.bind(other).remember("quartz anew", supersedes=[old]))
        return real(self, *given)  # type: ignore[arg-type] # pyright: ignore - handed on as it came

    monkeypatch.setattr(wide.Wide, "search", racing)
    found(me)
    assert found(me) == ["quartz anew"]
