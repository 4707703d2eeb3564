"""A store that is dropped without being closed gives back what it held, and loses nothing."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import Who, World
from nsstore import EscapeError, SystemFailure
from nsstore.root import Root, flusher
from nsstore.root.steps import hooked

MANY = 50


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """What is dropped goes with its last reference, or stays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def descriptors() -> int:
    """How many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))


def use(world: World) -> None:
    """Open, write, search and list as everybody does, and drop all of it."""
    session = Who().bind(world.open())
    session.remember("the harbour is closed on Mondays")
    session.state.put("today", "Monday")
    assert session.list().items
    assert session.search("harbour").hits


@pytest.mark.usefixtures("unflushed")
def test_many_dropped_stores_keep_no_descriptor(world: World) -> None:
    """However many stores are dropped, what they held is back once their appends are flushed and kept."""
    use(world)
    flusher.flush()
    before = descriptors()
    for _ in range(MANY):
        use(world)
        flusher.flush()
        for _ in range(200):  # what is kept of a namespace is written by a thread of its own
            if descriptors() == before:
                break
            time.sleep(0.01)
        assert descriptors() == before


@pytest.mark.usefixtures("unflushed")
def test_a_dropped_store_is_flushed_first(world: World) -> None:
    """What was noted beneath a root is made durable after it was dropped; then its descriptor goes."""
    use(world)
    flusher.flush()
    before, seen = descriptors(), list[str]()
    with hooked(seen.append):
        store = world.open()
        seen.clear()
        flusher.note(store.root, "store.json")
        del store
        flusher.flush()
    assert "fsync" in seen
    assert descriptors() == before


@pytest.mark.usefixtures("unflushed")
def test_a_failed_flush_does_not_keep_a_dropped_store(world: World) -> None:
    """A failure goes with the root it belongs to; as long as that is there, it is told once."""
    use(world)
    flusher.flush()
    before = descriptors()

    def fail(call: str) -> None:
        if call == "fsync":
            raise OSError(5, "broken")

    with hooked(fail):
        store = world.open()
        flusher.note(store.root, "store.json")
        flusher.flush_quietly()
        del store
    assert descriptors() == before
    flusher.flush()
    with world.open() as kept, hooked(fail):
        flusher.note(kept.root, "store.json")
        flusher.flush_quietly()
        with pytest.raises(SystemFailure):
            flusher.flush(kept.root)
        flusher.flush(kept.root)


def test_a_descriptor_is_closed_by_its_own_owner_only(tmp_path: Path) -> None:
    """What was closed, or never became a root, closes nothing that got its number later."""
    with Root.make(tmp_path / "root") as root:
        handle = root.top()
        handle.close()
        numbers = [os.open(tmp_path, os.O_RDONLY) for _ in range(4)]
        del handle
        for number in numbers:
            os.fstat(number)
            os.close(number)
    (tmp_path / "root").chmod(0o755)
    (tmp_path / "root" / "something").touch()
    with pytest.raises(EscapeError) as refused:
        Root.open(tmp_path / "root")
    number = os.open(tmp_path, os.O_RDONLY)
    del refused
    gc.collect()
    os.fstat(number)
    os.close(number)


def test_looking_through_the_root_leaves_it_open(tmp_path: Path) -> None:
    """The root's own descriptor is lent for a look and is not closed after it; dropped, it is."""
    before = descriptors()
    root = Root.make(tmp_path / "root")
    root.replace("name", b"raw")
    assert root.read("name", 10) == b"raw"
    assert root.dir("none") is None
    os.fstat(root.fd)
    gone = weakref.ref(root)
    del root
    assert gone() is None
    assert descriptors() == before


@pytest.mark.usefixtures("unflushed")
def test_a_forked_child_closes_only_its_own(world: World) -> None:
    """A child that drops the store it was forked with takes neither lock nor descriptor from its parent."""
    store = world.open()
    session = Who().bind(store)
    session.remember("before")
    pid = os.fork()
    if pid == 0:
        del session, store
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    session.remember("after")
    assert session.list().total == 2
    store.close()


def test_the_end_of_the_interpreter_is_quiet(world: World) -> None:
    """A program that never closes its store ends without a word, and what it wrote is there."""
    code = (
        "from pathlib import Path\n"
        "from bench.world import Who, World\n"
        f"store = World(place=Path({str(world.place)!r})).open()\n"
        "session = Who().bind(store)\n"
        "session.remember('the last word')\n"
        "kept = [store, session, store.root.top(), session.list()]\n"
        "kept.append(kept)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with world.open() as store:
        assert [one.text for one in Who().bind(store).list().items] == ["the last word"]
