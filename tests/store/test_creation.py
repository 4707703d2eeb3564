"""Making a store: cut at each step, failed at each step, and by two processes at once."""

import contextlib
import errno
from pathlib import Path

import pytest

from bench.child import KILLED, Counter, Report, die, in_child
from bench.world import Who, World
from nsstore.errors import KINDS
from nsstore.root.steps import hooked

pytestmark = pytest.mark.usefixtures("unflushed")
LEAST = 15


def require_usable(world: World) -> None:
    """Asking for a store there gives one, and it keeps what it is given."""
    with world.make() as store:
        receipt = Who().bind(store).remember("a new note")
    with world.open() as store:
        assert Who().bind(store).get(receipt.record_id).text == "a new note"


def test_killed_at_each_step(tmp_path: Path) -> None:
    """Whatever is half made, asking again makes the store or opens it."""
    for at in range(1000):
        world = World(place=tmp_path / str(at))

        def task(_: Report, world: World = world, at: int = at) -> None:
            with hooked(Counter(at, die)):
                world.make().close()

        ended = in_child(task)
        require_usable(world)
        if ended.status != KILLED:
            assert ended.status == 0
            assert at >= LEAST
            return
    raise AssertionError("a store that is never made")


def test_failed_at_each_step(tmp_path: Path) -> None:
    """Each failure is of a known kind, and asking again makes the store."""

    def fail(_: str) -> None:
        raise OSError(errno.ENOSPC, "full")

    for at in range(1000):
        world = World(place=tmp_path / str(at))
        hook = Counter(at, fail)
        with contextlib.suppress(*KINDS), hooked(hook):
            world.make().close()
        require_usable(world)
        if hook.met <= at:
            assert at >= LEAST
            return
    raise AssertionError("a store that is never made")


def test_made_twice_at_once(tmp_path: Path) -> None:
    """Two processes that make a store at the same moment have one store, not each a store of its own."""
    world = World(place=tmp_path)
    count = Counter(-1, lambda _: None)
    with hooked(count):
        World(place=tmp_path / "measured").make().close()
    ids: list[str] = []

    def other(_: str) -> None:
        with world.make() as store:
            ids.append(store.store_id)
            Who().bind(store).remember("of the other")

    for back in range(1, 6):  # the other one comes just before each of the last steps
        world = World(place=tmp_path / str(back))
        with hooked(Counter(count.met - back, other)), world.make() as store:
            assert store.store_id == ids[-1]
            assert [one.text for one in Who().bind(store).list().items] == ["of the other"]
        require_usable(world)
    assert len(ids) == 5
