"""Death, a full disk, no descriptors, a fork, a truncated file: contained, and mended by the next fold."""

# pyright: reportPrivateUsage=false
# What a view is open on, and where it is kept, can only be seen behind the door.

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from bench.child import KILLED, Child, Counter, Report, die, in_child
from bench.world import Who, World
from nsstore import OpenStore, Session, SystemFailure, WitnessError
from nsstore.root.steps import hooked
from nsstore.search import folder, shelf, tantivy_door
from tests.search.conftest import LEAST, cache, everything, folded, ids, kept, notes, pairs


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folds run in the thread that asks for them, where their steps can be counted."""

    def submit(_: object, job: folder.Job) -> bool:
        job()
        return True

    monkeypatch.setattr(folder.Folder, "submit", submit)


def grown(session: Session, start: int = 100) -> None:
    """Enough new records for another fold."""
    session.remember_many(notes(12, start=start))


@pytest.mark.usefixtures("inline")
def test_killed_at_each_step_of_a_fold(store: OpenStore, world: World) -> None:
    """Wherever a fold is killed, the next process answers alike, and keeps one whole view after its fold."""
    session = folded(store)
    grown(session)
    store.close()
    steps = 0
    while True:

        def task(report: Report, at: int = steps) -> None:
            with world.open() as mine:
                there = Who().bind(mine)
                there.search("unique3")  # opens what is kept, and asks for the fold of the tail
                counter = Counter(at, die)
                with hooked(counter):
                    there.search("common")
                report(b"%d" % counter.met)

        death = in_child(task)
        with world.open() as other:
            there = Who().bind(other)
            assert len(there.search("common", k=1000).hits) == LEAST + 12
            assert len(ids(there.search("unique105"))) == 1
        if death.status != KILLED:
            assert death.status == 0
            break
        steps += 1
    assert steps > 10
    with world.open() as last:
        assert len(kept(last)) == 1
        assert not list(cache(last).glob("open/*/*.idx"))


@pytest.mark.usefixtures("inline")
def test_killed_at_each_step_of_the_first_fold(store: OpenStore, world: World) -> None:
    """BR-58: a first fold that dies leaves nothing that the next one could take for whole."""
    session = Who().bind(store)
    session.remember_many(notes(LEAST))
    store.close()
    steps, met = 0, 0
    while True:

        def task(_: Report, at: int = steps) -> None:
            with world.open() as mine:
                there = Who().bind(mine)
                there.search("common")
                with hooked(Counter(at, die)):
                    there.search("common")

        death = in_child(task)
        met += 1
        if death.status != KILLED:
            assert death.status == 0
            break
        with world.open() as other:
            assert len(Who().bind(other).search("common", k=1000).hits) == LEAST
        steps += 3
    assert met > 5


@pytest.mark.usefixtures("inline")
def test_a_failed_call_at_each_step_costs_no_answer(
    store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full at any step of a fold leaves the view as it was, and searches as good as before."""
    session = folded(store)
    monkeypatch.setattr("nsstore.search.fold.REST_SECONDS", 0.0)
    for at in range(0, 60, 2):
        grown(session, start=100 + 20 * at)

        def full(_: str) -> None:
            raise OSError(28, "no space left")

        armed = _Within(Counter(at, full))
        with monkeypatch.context() as patch:
            patch.setattr(shelf.Shelf, "fold", armed.around(shelf.Shelf.fold))
            assert len(session.search(f"unique{101 + 20 * at}").hits) == 1
    session.search("common")
    before = everything(session)
    store.close()
    with world.open() as other:
        assert everything(Who().bind(other)) == before
        assert len(kept(other)) == 1


class _Within:
    """Hooks steps only while one function runs."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def around(self, function: Callable[..., object]) -> Callable[..., object]:
        def run(*args: object, **kwargs: object) -> object:
            with hooked(self.counter):
                return function(*args, **kwargs)

        return run


def nothing(*_: object) -> None:
    """Do nothing."""


@pytest.mark.parametrize("room", [100, 700])
def test_a_real_full_disk(store: OpenStore, world: World, room: int) -> None:
    """BR-66: where tantivy itself can write no more, the fold fails within seconds and nothing hangs."""
    Who().bind(store).remember_many(notes(LEAST))
    store.close()

    def task(report: Report) -> None:
        with world.open() as mine:
            there = Who().bind(mine)
            there.search("common")
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            before = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
            pair = pairs(mine)[0]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("nsstore.audit.log.AuditLog.append", nothing)  # which is above the limit
                there.search("common")
                assert mine._searcher.views.folder.settle(20)
            assert pair.rests_until > 0
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            pair.rests_until = 0.0
            assert len(there.search("common", k=1000).hits) == LEAST
            mine.settle()
            assert pair.base is not None
            assert pair.base.records == LEAST
            report(b"done")

    death = in_child(task)
    assert (death.status, death.lines) == (0, (b"done",))


def test_a_segment_truncated_under_an_open_reader(store: OpenStore, world: World) -> None:
    """BR-64: truncating every kept file under an open view ends no process and changes no answer."""
    before = everything(folded(store))
    evil = Who(session="evil").bind(store)
    evil.remember_many(notes(LEAST))
    for _ in range(2):
        evil.search("common")
        store.settle()
    store.close()

    def task(report: Report) -> None:
        with world.open() as mine:
            there, other = Who().bind(mine), Who(session="evil").bind(mine)
            assert everything(there) == before
            assert len(other.search("common").hits) == 10
            for generation in kept(mine):
                for path in generation.iterdir():
                    os.truncate(path, 0)
            assert everything(there) == before
            assert len(other.search("common", k=1000).hits) == LEAST
            report(b"alive")

    death = in_child(task)
    assert (death.status, death.lines) == (0, (b"alive",))


def test_a_forked_child_has_views_of_its_own(store: OpenStore) -> None:
    """After a fork both go on searching and folding, whatever the other one's threads were doing."""
    session = folded(store)

    def task(report: Report) -> None:
        assert len(session.search("common", k=1000).hits) == LEAST
        grown(session)
        for _ in range(2):
            session.search("common")
            store.settle()
        assert len(session.search("common", k=1000).hits) == LEAST + 12
        report(b"done")

    death = in_child(task)
    assert (death.status, death.lines) == (0, (b"done",))
    assert len(session.search("common", k=1000).hits) == LEAST + 12


def waiting_folds(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Have folds wait where they write: an event says that one is there, the other lets it go on."""
    inside, go_on = threading.Event(), threading.Event()
    whole = tantivy_door.write_index

    def write(*args: object, **kwargs: object) -> None:
        inside.set()
        assert go_on.wait(20)
        whole(*args, **kwargs)  # type: ignore[arg-type] # passed on as given

    monkeypatch.setattr(shelf, "write_index", write)
    return inside, go_on


def test_a_fork_while_a_fold_runs(store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child forked in the middle of a fold neither waits for it nor breaks it."""
    session = folded(store)
    grown(session)
    inside, go_on = waiting_folds(monkeypatch)
    session.search("common")
    assert inside.wait(20)
    child = Child(lambda report: report(b"%d" % len(session.search("common", k=1000).hits)))
    death = child.end()
    go_on.set()
    store.settle()
    assert (death.status, death.lines) == (0, (b"%d" % (LEAST + 12),))
    assert len(kept(store)) == 1
    assert len(session.search("common", k=1000).hits) == LEAST + 12


def test_a_search_while_a_fold_runs(store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches, writes and supersessions during a fold see everything, and so does the view after it."""
    session = folded(store)
    grown(session)
    inside, go_on = waiting_folds(monkeypatch)
    session.search("common")
    assert inside.wait(20)
    tail, index = session.search("unique105").hits[0], session.search("unique5").hits[0]
    session.remember("during the fold common", supersedes=[tail.record_id, index.record_id])
    assert not session.search("unique105 unique5").hits
    during = everything(session)
    go_on.set()
    store.settle()
    assert everything(session) == during
    assert len(session.search("fold").hits) == 1


def test_no_descriptors_left(store: OpenStore, world: World) -> None:
    """BR-65: where no file can be opened a search fails typed, and answers as ever when one can be again."""
    before = everything(folded(store))
    store.close()

    def task(report: Report) -> None:
        with world.open() as mine:
            there = Who().bind(mine)
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)
            free = os.dup(0)
            os.close(free)
            for room in range(8):
                resource.setrlimit(resource.RLIMIT_NOFILE, (free + room, limit[1]))
                with suppress(SystemFailure, WitnessError):
                    assert len(there.search("common", k=1000).hits) == LEAST
            resource.setrlimit(resource.RLIMIT_NOFILE, limit)
            assert everything(there) == before
            report(b"done")

    death = in_child(task)
    assert (death.status, death.lines) == (0, (b"done",))


@pytest.mark.usefixtures("inline")
def test_no_lock_file_of_a_view_in_use_is_removed(store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """BR-56: tantivy's lock file goes only with a generation that the manifest names no longer."""
    session = folded(store)
    removed: list[tuple[str, bool]] = []
    whole = os.unlink

    def unlink(path: str, *, dir_fd: int | None = None) -> None:
        if str(path).startswith(".tantivy"):
            folder_path = os.readlink(f"/proc/self/fd/{dir_fd}")
            manifest = Path(folder_path).parent / "manifest"
            named = manifest.exists() and Path(folder_path).name.encode() in manifest.read_bytes()
            removed.append((folder_path, named))
        whole(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", unlink)
    for number in range(3):
        grown(session, start=100 + 20 * number)
        session.search("common")
    assert removed
    assert not [folder_path for folder_path, named in removed if named]


def test_threads_are_given_back(store: OpenStore) -> None:
    """A store that is closed leaves no thread that folds, and none of an open index."""
    before = threading.active_count()
    tasks = len(os.listdir("/proc/self/task"))
    folded(store)
    store.close()
    assert threading.active_count() == before
    until = time.monotonic() + 5  # tantivy's thread looks twice a second
    while len(os.listdir("/proc/self/task")) > tasks + 1 and time.monotonic() < until:  # the flusher's
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/task")) <= tasks + 1
