"""Area 4 of the public bug reports, BR-15 and BR-64 to BR-66: damaged files, few resources, a full disk."""

import errno
import os
import random
import resource
import shutil
import signal
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from bench.binding import bind
from bench.child import Child, Report, in_child
from bench.powercut.examine import left_behind
from bench.world import World
from nsstore import IntegrityError, OpenStore, StoreError, SystemFailure
from nsstore.audit import read_events
from nsstore.search import tantivy_door
from tests.cases.conftest import LEAST, error_of, filled, generations, ids, keep

pytestmark = pytest.mark.usefixtures("kept_views")


def emptied(path: Path) -> None:
    """Truncate a file to nothing."""
    os.truncate(path, 0)


def halved(path: Path) -> None:
    """Truncate a file to its half."""
    os.truncate(path, path.stat().st_size // 2)


def garbled(path: Path) -> None:
    """Write other bytes of the same size over a file."""
    path.write_bytes(os.urandom(path.stat().st_size))


def removed(path: Path) -> None:
    """Remove a file."""
    path.unlink()


def made_directory(path: Path) -> None:
    """Put a directory in a file's place."""
    path.unlink()
    path.mkdir(mode=0o700)


def linked(path: Path) -> None:
    """Put a link in a file's place."""
    path.unlink()
    path.symlink_to("/etc/passwd")


DAMAGES = [emptied, halved, garbled, removed, made_directory, linked]


@pytest.mark.parametrize("damage", DAMAGES)
def test_br64_a_damaged_index_ends_no_process(
    store: OpenStore, world: World, damage: Callable[[Path], None]
) -> None:
    """One tenant's index is damaged under an open process: both answer, then and afresh, and it is told."""
    acme, evil = bind(store), bind(store, tenant_id="evil")
    mine, theirs = filled(acme), filled(evil)
    keep(store, acme)
    (own,) = generations()
    keep(store, evil)

    def task(report: Report) -> None:
        with world.open() as other:
            there, foreign = bind(other), bind(other, tenant_id="evil")
            assert sorted(ids(there, "common")) == sorted(mine)
            assert sorted(ids(foreign, "common")) == sorted(theirs)
            for generation in generations():
                if generation != own:
                    for path in sorted(generation.iterdir()):
                        damage(path)
            for one, expected in ((there, mine), (foreign, theirs)):
                assert sorted(ids(one, "common")) == sorted(expected)
            foreign.remember_many(["common and more"] * 12)  # asks for a fold onto what is damaged
            assert len(ids(foreign, "common")) == LEAST + 12
            other.settle()
            assert len(ids(foreign, "common")) == LEAST + 12
            report(b"alive")

    ended = in_child(task)
    assert (ended.status, ended.lines) == (0, (b"alive",))
    for _ in range(3):
        with world.open() as fresh:
            assert sorted(ids(bind(fresh), "common")) == sorted(mine)
            assert len(ids(bind(fresh, tenant_id="evil"), "common")) == LEAST + 12
            fresh.settle()
    told = {
        tenant: sum(line.incident is not None for line in read_events(store.audit, ("tenant", tenant)))
        for tenant in ("acme", "evil")
    }
    assert told["acme"] == 0
    assert told["evil"] > 0
    assert own in generations()


@pytest.mark.parametrize("damage", DAMAGES)
def test_br64_a_damaged_record_is_contained(
    store: OpenStore, world: World, damage: Callable[[Path], None]
) -> None:
    """A record's file that is damaged under an open view closes its own tenant, and no process ends."""
    acme, evil = bind(store), bind(store, tenant_id="evil")
    mine = filled(acme)
    theirs = filled(evil)
    keep(store, acme, evil)
    (path,) = (world.root / "memory").rglob(f"{theirs[3]}.md")
    damage(path)
    for process in (store, world.open()):
        with pytest.raises((IntegrityError, StoreError)):
            bind(process, tenant_id="evil").search("filler3", k=1000)
        with pytest.raises((IntegrityError, StoreError)):
            bind(process, tenant_id="evil").get(theirs[3])
        assert sorted(ids(bind(process), "common")) == sorted(mine)
    process.close()


def unreadable(generation: Path) -> None:
    """Make an index one that this version cannot read: a schema of other fields."""
    meta = generation / "meta.json"
    meta.write_bytes(meta.read_bytes().replace(b'"terms"', b'"words"'))


def garbled_all(generation: Path) -> None:
    """Write other bytes over every file of an index."""
    for path in generation.iterdir():
        garbled(path)


BROKEN: dict[str, Callable[[Path], object]] = {
    "absent": lambda one: shutil.rmtree(one.parents[3]),
    "corrupt": garbled_all,
    "no manifest": lambda one: (one.parent / "manifest").unlink(),
    "another manifest": lambda one: (one.parent / "manifest").write_bytes(b"{}\n"),
    "another schema": unreadable,
    "locked": Path.exists,
    "tantivy fails": Path.exists,
}


@pytest.mark.parametrize("way", BROKEN)
def test_br15_a_broken_index_widens_nothing(store: OpenStore, world: World, way: str) -> None:
    """Whatever the index is, a miss stays a miss, what is the scope's own is found, and nothing foreign."""
    for field in ("tenant_id", "user_id", "project_id", "session_id", "agent_id"):
        bind(store, **{field: "elsewhere"}).remember("zq7f3evil common")
    session = bind(store)
    mine = filled(session)
    keep(store, session)
    (generation,) = generations()
    BROKEN[way](generation)

    def hold(report: Report) -> None:
        import fcntl
        import time

        with (generation.parent / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            report(b"held")
            time.sleep(60)

    holder = Child(hold) if way == "locked" else None

    def fail(*_: object) -> None:
        raise tantivy_door.IndexFailed("no")

    with patch.object(
        tantivy_door.Reader, "open", fail if way == "tantivy fails" else tantivy_door.Reader.open
    ):
        for _ in range(2):
            with world.open() as fresh:
                late = bind(fresh)
                answer = late.search("zq7f3evil")
                assert (answer.hits, answer.stale) == ((), ())
                assert sorted(ids(late, "common")) == sorted(mine)
                mine.append(late.remember("common").record_id)
                assert sorted(ids(late, "common")) == sorted(mine)
    if holder is not None:
        holder.kill()
        holder.end()


def test_br65_many_namespaces_few_descriptors(world: World) -> None:
    """Hundreds of namespaces, searched twice in any order, keep threads and descriptors few."""

    def task(report: Report) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        dice = random.Random(65)
        with world.open() as store:
            names = [f"s{number}" for number in range(150)]
            for name in names:
                count = LEAST if name.endswith("7") else 3
                bind(store, session_id=name).remember_many(f"common {name} {n}" for n in range(count))
            for _ in range(2):
                dice.shuffle(names)
                for name in names:
                    session = bind(store, session_id=name)
                    assert len(ids(session, "common")) == (LEAST if name.endswith("7") else 3)
                    assert {hit.text.split()[1] for hit in session.search("common").hits} == {name}
            store.settle()
            threads = len(os.listdir("/proc/self/task"))
            descriptors = len(os.listdir("/proc/self/fd"))
            assert threads < 64, threads
            assert descriptors < 200, descriptors
            assert len(generations()) == 15
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 600_000
        report(b"done")

    ended = in_child(task)
    assert (ended.status, ended.lines) == (0, (b"done",))


def test_br65_no_descriptor_left(world: World) -> None:
    """With every descriptor taken each call fails typed or answers rightly, and nothing half is left."""

    def task(report: Report) -> None:
        with world.open() as store:
            session = bind(store)
            mine = set(filled(session))
            session.search("common")
            taken: list[int] = []
            failed = 0
            for free in (0, 1, 2, 3, 4, 6, 8, 12, 20):
                resource.setrlimit(resource.RLIMIT_NOFILE, (512, 4096))
                with suppress(OSError):
                    while True:
                        taken.append(os.open("/dev/null", os.O_RDONLY))
                for _ in range(free):
                    os.close(taken.pop())
                fresh = bind(store, session_id=f"new{free}")
                calls: list[Callable[[], object]] = [
                    lambda: mine.add(session.remember("common and one more").record_id),
                    partial(fresh.remember, "never begun"),
                    lambda: session.search("common"),
                    lambda: session.forget(session.remember("common to forget").record_id),
                    lambda: session.state.put("plan", "x"),
                    session.list,
                ]
                for call in calls:
                    err = error_of(call)
                    if err is not None:
                        assert err.kind in ("os", "witness"), err
                        assert str(world.place) not in str(err)
                        failed += 1
                while taken:
                    os.close(taken.pop())
                listed = {one.record_id for one in session.list(limit=1000).items}
                assert mine <= listed
                assert set(ids(session, "common")) == listed
            assert failed
            store.settle()
            report(b"done")

    ended = in_child(task)
    assert (ended.status, ended.lines) == (0, (b"done",))
    assert left_behind(world) == []
    with world.open() as store:
        session = bind(store)
        assert set(ids(session, "common")) == {one.record_id for one in session.list(limit=1000).items}


def test_br66_a_full_disk_hangs_nobody(world: World, kept_views: Path) -> None:
    """With no byte to be had each call ends in time and typed; with room again all goes on by itself."""

    def task(report: Report) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        signal.alarm(60)
        with world.open() as store:
            session = bind(store)
            mine = filled(session)
            session.search("common")
            failed = 0
            before = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
            for number in range(100):
                err = error_of(partial(session.remember, f"common {number}"))
                failed += err is not None and err.kind in ("os", "witness")
                with suppress(StoreError):
                    session.search("common")
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            assert failed == 100
            assert sorted(ids(session, "common")) == sorted(mine)
            mine += [one.record_id for one in session.remember_many(["common again"] * 20)]
            assert sorted(ids(session, "common")) == sorted(mine)
            store.settle()
            assert session.list().total == len(mine)
        report(b"done")

    ended = in_child(task)
    assert (ended.status, ended.lines) == (0, (b"done",))
    assert left_behind(world) == []
    with world.open() as fresh:
        assert len(ids(bind(fresh), "common")) == LEAST + 20
    assert all(
        stat.S_IMODE(path.lstat().st_mode) == (0o700 if path.is_dir() else 0o600)
        for path in kept_views.rglob("*")
    )


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EMFILE])
def test_br66_where_the_cache_is_full_nothing_else_is(store: OpenStore, number: int) -> None:
    """A cache home that takes no byte costs no write, no answer and no forget, and nothing waits for it."""
    session = bind(store)
    mine = filled(session)
    fold = patch("nsstore.search.shelf.write_index", side_effect=OSError(number, os.strerror(number)))
    put = patch("nsstore.root.trees.put", side_effect=SystemFailure("x", OSError(number, "x")))
    with fold, put:
        for turn in range(5):
            mine.append(session.remember(f"common {turn}").record_id)
            assert sorted(ids(session, "common")) == sorted(mine)
            session.forget(mine.pop())
            store.settle()
    assert threading.active_count() < 8
    assert sorted(ids(session, "common")) == sorted(mine)
