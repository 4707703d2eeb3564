"""The owner is killed at each step of a statement; what every other process then finds."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.child import KILLED, Counter, Report, die, in_child
from bench.owning import Hand, asker
from bench.world import Who, World, quick_place, unflushed
from nsstore import OpenStore, StoreError
from nsstore.policy import Kind, Opens
from nsstore.rights import Assurance, begin
from nsstore.rights.signing import append
from nsstore.root.steps import hooked
from nsstore.trust.signer import Signer

MOST = 200
OPENS = Opens(agents=("codex",))
OTHER = Opens(workspaces=("w-2",))


@pytest.fixture(autouse=True)
def _no_flushes() -> object:
    """A process that dies takes nothing from the page cache with it."""
    with unflushed():
        yield


def killed(world: World, act: Callable[[OpenStore], object], at: int) -> bool:
    """Do something in a process of its own that dies at one step: whether it did."""

    def task(report: Report) -> None:
        with world.open() as store:
            store.rights.standing()
            with hooked(Counter(at, die)):
                act(store)
            report(b"done")

    ended = in_child(task)
    assert ended.status in (0, KILLED), ended
    return ended.status == KILLED


def seen(world: World) -> tuple[bool, bool, bool]:
    """As another process sees it: whether the list is fit, agents are open, and workspaces are."""
    with world.open() as store:
        standing = store.rights.standing()
        mine, opens = Who().bind(store).envelope, standing.rights.grants
        assert all(one.to.is_of(mine) for one in opens)
        return (
            standing.damage is None,
            any(one.opens.agents for one in opens),
            any(one.opens.workspaces for one in opens),
        )


def steps(
    prepare: Callable[[World], Callable[[OpenStore], object]], judge: Callable[[World, bool], None]
) -> int:
    """Kill an act at each of its steps, each time in a store of its own; returns how many it has."""
    for at in range(MOST):
        with quick_place() as place:
            world = World(place=place)
            world.make().close()
            act = prepare(world)
            died = killed(world, act, at)
            judge(world, died)
            if not died:
                return at
    raise AssertionError("an act without an end")


def test_killed_while_granting() -> None:
    """A grant is in force or not, never half; what was open stays open, and the next statement goes on."""
    hands: dict[Path, Hand] = {}
    outcomes: set[tuple[bool, bool, bool]] = set()

    def prepare(world: World) -> Callable[[OpenStore], object]:
        with world.open() as store:
            hand = hands[world.place] = Hand.of(store)
            hand.grant(store, Kind.CROSS_WORKSPACE, opens=OTHER)
        return lambda store: hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)

    def judge(world: World, died: bool) -> None:  # noqa: FBT001 - the one thing that differs
        found = seen(world)
        outcomes.add(found)
        assert found[0]
        assert found[2]
        assert died or found[1]
        with world.open() as store:
            hands[world.place].revoke(store, 1)
            hands[world.place].grant(store, Kind.CROSS_AGENT, opens=OPENS)
        assert seen(world) == (True, True, False)

    assert steps(prepare, judge) >= 10
    assert outcomes == {(True, False, True), (True, True, True)}


def test_killed_while_revoking() -> None:
    """From its line on a revocation counts, whatever the owner did not come to do after it."""
    hands: dict[Path, Hand] = {}
    outcomes: list[bool] = []

    def prepare(world: World) -> Callable[[OpenStore], object]:
        with world.open() as store:
            hand = hands[world.place] = Hand.of(store)
            number = hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
            hand.grant(store, Kind.CROSS_WORKSPACE, opens=OTHER)
        return lambda store: hand.revoke(store, number)

    def judge(world: World, died: bool) -> None:  # noqa: FBT001 - as above
        fit, agents, workspaces = seen(world)
        assert fit
        assert workspaces
        assert died or not agents
        outcomes.append(agents)
        with world.open() as store:
            hands[world.place].revoke(store, 2)
        assert seen(world) == (True, outcomes[-1], False)

    assert steps(prepare, judge) >= 10
    assert outcomes == sorted(outcomes, reverse=True)
    assert len(set(outcomes)) == 2


@pytest.mark.parametrize("anew", [False, True])
def test_killed_while_beginning(anew: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Cut short, nothing is open, the own scope is read, and it can be done again."""

    def prepare(world: World) -> Callable[[OpenStore], object]:
        with world.open() as store:
            Who().bind(store).remember("mine")
            if anew:
                Hand.of(store).grant(store, Kind.CROSS_AGENT, opens=OPENS)
            signer = Signer.new(store.trust.store_id)
        return lambda store: begin(store.rights.listed, signer, "ada", Assurance.CI, why="a test", anew=anew)

    def judge(world: World, died: bool) -> None:  # noqa: FBT001 - as above
        with world.open() as store:
            standing = store.rights.standing()
            assert died or standing.listing.known
            assert Who().bind(store).list().total == 1
            untouched = anew and died and bool(standing.rights.grants)
            if not untouched:
                assert standing.rights.grants == ()
            signer = Signer.new(store.trust.store_id)
            done = bool(standing.listing.known)
            begin(store.rights.listed, signer, "ada", Assurance.CI, why="a test", anew=anew or done)
            Hand(signer).grant(store, Kind.CROSS_AGENT, opens=OPENS)
        assert seen(world) == (True, True, False)

    assert steps(prepare, judge) >= 10


def test_a_disk_that_says_no_at_each_step() -> None:
    """An error leaves the grant in force or not, and says when that is unknown; nothing else is touched."""
    outcomes: set[tuple[bool, bool, bool]] = set()
    for at in range(MOST):
        with quick_place() as place:
            world = World(place=place)
            with world.make() as store:
                hand = Hand.of(store)
                hand.grant(store, Kind.CROSS_WORKSPACE, opens=OTHER)
                said = ""
                with hooked(Counter(at, full)):
                    try:
                        hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
                    except StoreError as err:
                        said = str(err)
                found = seen(world)
                outcomes.add(found)
                assert found[0]
                assert found[2]
                if found[1] and said:
                    assert "unknown" in said or "audit" in said
                hand.revoke(store, 1)
                assert seen(world)[2] is False
            if not said:
                assert found[1]
                assert at >= 10
                break
    assert outcomes == {(True, False, True), (True, True, True)}


def full(_: str) -> None:
    """Fail a system call as a full disk does."""
    raise OSError(errno.ENOSPC, "")


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    """What an owner did not finish writing closes nothing, and is gone with the next statement."""
    world = World(place=tmp_path)
    with world.make() as store:
        hand = Hand.of(store)
        hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
        list_file = world.root / "rights" / "statements.log"
        whole = list_file.read_bytes()
        list_file.write_bytes(whole + b'{"kind":"gra')
        assert seen(world) == (True, True, False)
        hand.grant(store, Kind.CROSS_WORKSPACE, opens=OTHER)
        assert list_file.read_bytes().startswith(whole + b'{"kind":"grant","seq":2,')
        assert seen(world) == (True, True, True)


def test_a_grant_that_the_trust_home_does_not_know_is_pending(tmp_path: Path) -> None:
    """A signed line behind the head opens nothing until the owner's next statement makes it known."""
    world = World(place=tmp_path)
    with world.make() as store:
        hand = Hand.of(store)
        head = store.trust.home.path + "/anchors/rights/statements.anchors"
        before = Path(head).read_bytes()
        hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
        Path(head).write_bytes(before)
        assert seen(world) == (True, False, False)
        hand.grant(store, Kind.CROSS_WORKSPACE, opens=OTHER)
        assert seen(world) == (True, True, True)


def test_another_key_adds_nothing(tmp_path: Path) -> None:
    """Whoever has another key than the owner's cannot append to the list."""
    with World(place=tmp_path).make() as store:
        Hand.of(store)
        stranger = Signer.new(store.trust.store_id)
        from bench.owning import granted
        from nsstore import Refused

        with pytest.raises(Refused, match="not the one of this store's owner"):
            append(store.rights.listed, stranger, granted((Kind.CROSS_AGENT,), asker(), OPENS))
        assert len(store.rights.standing().listing.known) == 1
