"""A forget's receipt is true of the cache homes too, whoever is at work there and whatever stands there."""

from __future__ import annotations

import collections
import fcntl
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.world import Who, World
from nsstore import OpenStore, StoreError, SystemFailure
from nsstore.search.tantivy_door import Reader
from nsstore.search.view import View
from tests.search.conftest import LEAST, cache, folded, kept, notes


def with_two_names(one: Path) -> None:
    """A file that can be reached by another name."""
    one.touch(mode=0o600)
    os.link(one, one.parent / "other")


def open_to_others(one: Path) -> None:
    """A file that everybody may write."""
    one.touch()
    one.chmod(0o666)


WAYS: dict[str, Callable[[Path], object]] = {
    "link": lambda one: one.symlink_to("/nowhere/x"),
    "fifo": lambda one: os.mkfifo(one, 0o600),
    "directory": lambda one: one.mkdir(mode=0o700),
    "two names": with_two_names,
    "open to others": open_to_others,
}


def indexes_of(place: Path, term: str) -> list[Path]:
    """The indexes beneath a directory that hold a term."""
    return [meta.parent for meta in place.rglob("meta.json") if Reader.open(str(meta.parent)).holding(term)]


@pytest.mark.parametrize("way", WAYS)
def test_whatever_stands_in_place_of_a_lock(store: OpenStore, way: str) -> None:
    """BR-25: a forget ends, and nothing of the view stays, whatever its lock file was replaced by."""
    session = folded(store)
    (lock,) = cache(store).glob("views/*/*/lock")
    lock.unlink()
    WAYS[way](lock)
    assert session.forget(session.search("unique3", k=1).hits[0].record_id).count == 1
    assert not kept(store)


def test_a_fold_that_was_stopped(store: OpenStore) -> None:
    """BR-56: a process that is stopped while it folds keeps neither a forget nor a writer."""
    session = folded(store)
    (lock,) = cache(store).glob("views/*/*/lock")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert session.forget(session.search("unique3", k=1).hits[0].record_id).count == 1
        assert session.remember("a writer goes on").record_id
    assert not kept(store)


def test_a_cache_home_that_is_shut(store: OpenStore, world: World) -> None:
    """Where the views cannot be looked at there is no receipt; once they can, the next writer finishes."""
    forgotten = folded(store).search("unique3", k=1).hits[0].record_id
    home = cache(store)
    with world.open() as fresh:
        home.chmod(0o755)
        session = Who().bind(fresh)
        with pytest.raises(SystemFailure):
            session.forget(forgotten)
        assert not session.search("unique3").hits
        home.chmod(0o700)
        session.remember("the next writer")
    assert not indexes_of(home, "unique3")


def test_another_cache_home(store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is forgotten goes from every cache home that a process of this store used."""
    forgotten = folded(store).search("unique3", k=1).hits[0].record_id
    home = cache(store)
    assert indexes_of(home, "unique3")
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(world.place / "another"))
    with world.open() as fresh:
        assert Who().bind(fresh).forget(forgotten).count == 1
    assert not indexes_of(home, "unique3")


def test_a_forget_while_a_fold_begins(store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forget that another thread ends while a fold sets out is not in what that fold keeps."""
    session = Who().bind(store)
    ids = [one.record_id for one in session.remember_many(notes(LEAST))]
    real, done = View, list[int]()

    def forgetting() -> object:
        if not done:
            done.append(0)
            thread = threading.Thread(target=lambda: done.append(session.forget(ids[7]).count))
            thread.start()
            thread.join(20)
        return real()

    monkeypatch.setattr("nsstore.search.fold.View", forgetting)
    for _ in range(2):
        session.search("common")
        store.settle()
    assert done == [0, 1]
    assert not indexes_of(cache(store), "unique7")


@pytest.fixture
def eager() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("eager")
def test_threads_that_write_search_and_forget(store: OpenStore) -> None:
    """BR-60: however many threads write, search, read and forget at once, each is answered."""
    store.proven.max_bytes = 100_000
    session, failed = folded(store), collections.Counter[str]()
    left = [hit.record_id for hit in session.search("common", k=30).hits]

    def work(name: int) -> None:
        other = Who(agent=f"agent-{name % 3}").bind(store)
        for number in range(12):
            try:
                one = session.remember(f"common canary{name}x{number}").record_id
                other.remember("common other")
                other.search("common")
                session.search("common")
                session.get(left[number])
                session.forget(one)
            except (StoreError, RuntimeError, KeyError) as err:
                failed[repr(err)] += 1

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
