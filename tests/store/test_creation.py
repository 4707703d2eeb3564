"""Making a store: cut at each step, failed at each step, and by two processes at once."""

import contextlib
import errno
import os
import resource
import shutil
from pathlib import Path

import pytest

import nsstore
from bench.child import KILLED, Counter, Report, die, in_child
from bench.world import Who, World
from nsstore.errors import KINDS, Refused, SystemFailure
from nsstore.root.steps import hooked
from nsstore.store import move

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

    for back in range(1, count.met + 1):  # the other one comes just before each step
        world = World(place=tmp_path / str(back))
        with hooked(Counter(count.met - back, other)), world.make() as store:
            assert store.store_id == ids[-1]
            assert [one.text for one in Who().bind(store).list().items] == ["of the other"]
        require_usable(world)
    assert len(ids) == count.met >= LEAST


def emptied(world: World) -> None:
    """The root without anything in it."""
    for path in world.root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("how", ["emptied", "removed"])
def test_no_store_in_place_of_one_that_is_gone(tmp_path: Path, how: str) -> None:
    """Where a store was lost none is made, nothing is left by asking, and the way out goes through."""
    world = World(place=tmp_path)
    with world.make() as store:
        receipt = Who().bind(store).remember("not to be lost unnoticed")
        store_id = store.store_id
    shutil.copytree(world.root, tmp_path / "copy")
    emptied(world)
    if how == "removed":
        world.root.rmdir()
    (tmp_path / "link").symlink_to(world.root)
    before = sorted(tmp_path.rglob("*"))
    for path in (world.root, world.root if how == "removed" else tmp_path / "link"):
        with pytest.raises(Refused, match="was bound to this directory and is gone") as told:
            nsstore.open(path, create=True, trust_home=world.trust)
        assert told.value.reason == "binding"
        assert store_id in str(told.value)
        assert str(tmp_path) not in str(told.value)
    assert sorted(tmp_path.rglob("*")) == before

    shutil.copytree(tmp_path / "copy", world.root, dirs_exist_ok=True)
    if how == "removed":
        move(world.root, world.trust)
    with world.make() as store:
        assert Who().bind(store).get(receipt.record_id).text == "not to be lost unnoticed"

    shutil.rmtree(world.root)
    shutil.rmtree(world.trust / store_id)
    require_usable(world)


def test_a_store_that_was_moved_leaves_its_place_free(tmp_path: Path) -> None:
    """Once a moved store is bound to where it is, another one can be made where it was."""
    world = World(place=tmp_path)
    require_usable(world)
    world.root.rename(tmp_path / "moved")
    with pytest.raises(Refused, match="nsstore move"):
        world.make()
    move(tmp_path / "moved", world.trust)
    require_usable(world)


def test_a_store_never_written_to_is_no_loss(tmp_path: Path) -> None:
    """A store that holds nothing may be removed and made again."""
    world = World(place=tmp_path)
    world.make().close()
    shutil.rmtree(world.root)
    require_usable(world)


def test_what_proves_no_loss(tmp_path: Path) -> None:
    """Bindings that cannot be read, or stand under another name than their store's, stop nobody."""
    world = World(place=tmp_path)
    require_usable(world)
    shutil.rmtree(world.root)
    (home,) = world.trust.iterdir()
    (home / "binding.json").write_bytes(b"{")
    shutil.copytree(home, world.trust / "kept")
    (world.trust / "file").write_bytes(b"x")
    (world.trust / "open").mkdir(mode=0o755)
    require_usable(world)


def test_no_descriptor_left(tmp_path: Path) -> None:
    """However few descriptors are left, opening and making a store work or fail as a known kind."""
    world = World(place=tmp_path)
    require_usable(world)

    def task(report: Report) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
        held: list[int] = []
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        for free in range(40):
            fresh = World(place=tmp_path / str(free))
            for way in (world.open, world.make, fresh.make):
                told = b"worked"
                try:
                    way().close()
                except SystemFailure as err:
                    told = f"{err.errno} {err.retryable}".encode()
                report(told)
            os.close(held.pop())

    ended = in_child(task)
    assert ended.status == 0
    failed = f"{errno.EMFILE} True".encode()
    assert set(ended.lines) == {failed, b"worked"}
    assert ended.lines[:3] == (failed,) * 3
    assert ended.lines[-3:] == (b"worked",) * 3
