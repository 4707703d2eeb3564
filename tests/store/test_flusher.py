"""The thread that makes routine appends durable, and what a closing store may rely on."""

import signal
import sys
import threading
from collections.abc import Callable
from unittest.mock import Mock

import pytest

from bench.child import Report, in_child
from bench.world import Who, World
from nsstore import SystemFailure
from nsstore.root import flusher
from nsstore.root.flusher import Flusher
from nsstore.root.steps import hooked


def in_flusher(act: Callable[[], None]) -> Callable[[str], None]:
    """A hook that acts when the flusher's own thread flushes a file."""

    def hook(call: str) -> None:
        if call == "fsync" and threading.current_thread().name == "nsstore-flusher":
            act()

    return hook


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window is over at once."""
    # The package's attribute of this name is the flusher itself, so the module is asked for by its name.
    monkeypatch.setattr(sys.modules[Flusher.__module__], "WINDOW_SECONDS", 0.0)


@pytest.mark.usefixtures("quick")
def test_closing_waits_for_a_flush_under_way(world: World) -> None:
    """A store is closed, and its descriptors gone, only after the flush that another thread has begun."""
    under_way, go_on = threading.Event(), threading.Event()

    def pause() -> None:
        under_way.set()
        assert go_on.wait(20)

    store = world.open()
    closing = threading.Thread(target=store.close)
    with hooked(in_flusher(pause)):
        Who().bind(store).remember("something")
        assert under_way.wait(20), "the thread flushed nothing"
        closing.start()
        closing.join(0.2)
        waited = closing.is_alive()
        go_on.set()
        closing.join(20)
    assert waited
    assert not closing.is_alive()


@pytest.mark.usefixtures("quick")
def test_a_failed_flush_is_told_to_its_own_scope_once(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The next write of that scope fails, the one after it goes on, and nobody else hears of it."""
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise OSError(5, "broken")

    with world.open() as store, World(place=tmp_path_factory.mktemp("other")).make() as other:
        session, neighbour = Who().bind(store), Who().bind(other)
        stranger = Who(tenant="evil").bind(store)
        stranger.remember("of another tenant")
        flusher.flush(store.root, store.trust.home)
        with hooked(in_flusher(fail)):
            session.remember("something")
            assert failed.wait(20)
            flusher.flush(other.root)  # waits for the thread
        neighbour.remember("not concerned")
        stranger.remember("not concerned either")
        with pytest.raises(SystemFailure):
            session.remember("told")
        session.remember("goes on")
        assert {one.text for one in session.list().items} == {"something", "goes on"}


@pytest.mark.usefixtures("quick")
def test_a_fork_takes_nothing_along(world: World) -> None:
    """A child forked in the middle of a flush waits for nobody: it has nothing to flush and no lock."""
    under_way, go_on = threading.Event(), threading.Event()

    def pause() -> None:
        under_way.set()
        assert go_on.wait(20)

    def task(_: Report) -> None:
        signal.alarm(10)
        flusher.flush()
        with hooked(Mock()), world.open() as mine:
            Who(session="of the child").bind(mine).remember("something")

    with world.open() as store, hooked(in_flusher(pause)):
        Who().bind(store).remember("something")
        assert under_way.wait(20)
        ended = in_child(task)
        go_on.set()
    assert ended.status == 0
