"""A store for each case, a way to bind it with anything, and views that are soon kept on the disk."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from bench.world import World, unflushed
from nsstore import OpenStore, Session, StoreError
from nsstore.search import views
from tests.cli.conftest import Person

LEAST = 40


@pytest.fixture(autouse=True)
def no_flushes() -> Iterator[None]:
    """No power fails here, so flushes can be left out."""
    with unflushed():
        yield


@pytest.fixture
def kept_views(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache home of its own, in which views are kept from ``LEAST`` records on."""
    for name, value in (("LEAST_KEPT", LEAST), ("LEAST_TAIL", 8), ("LEAST_GONE", 6), ("TAIL_SHARE", 100)):
        monkeypatch.setattr(views, name, value)
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty store."""
    world = World(place=tmp_path)
    world.make().close()
    return world


@pytest.fixture
def store(world: World) -> Iterator[OpenStore]:
    """The store, open."""
    with world.open() as store:
        yield store


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """A person at a terminal, whose store was just made."""
    someone = Person(tmp_path / "person")
    someone.place.mkdir()
    someone.ok("init", str(someone.store))
    return someone


def filled(session: Session, count: int = LEAST) -> list[str]:
    """As many records as a view needs to be kept, all with the word ``common``; their ids."""
    receipts = session.remember_many(f"filler{n} common number{n % 5}" for n in range(count))
    return [one.record_id for one in receipts]


def keep(store: OpenStore, *sessions: Session) -> None:
    """Have the views of sessions folded and kept."""
    before = len(generations())
    for session in sessions:
        for _ in range(2):
            session.search("common")
            store.settle()
    assert len(generations()) >= min(before + len(sessions), 1)


def generations() -> list[Path]:
    """The indexes that are kept on the disk."""
    return sorted(Path(os.environ["NSSTORE_CACHE_HOME"]).glob("*/views/*/*/g-*"))


def error_of(call: Callable[[], object]) -> StoreError | None:
    """What a call raises, if it raises."""
    try:
        call()
    except StoreError as err:
        return err
    return None


def ids(session: Session, words: str, k: int = 1000) -> list[str]:
    """The ids of the hits of a search, in their order."""
    return [hit.record_id for hit in session.search(words, k=k).hits]


@contextmanager
def failing_after(size: int, number: int) -> Generator[None]:
    """A disk that takes this many more bytes and then no more."""
    left = [size]
    real = os.write

    def write(fd: int, raw: bytes) -> int:
        part = raw[: left[0]]
        left[0] -= len(part)
        if not part:
            raise OSError(number, os.strerror(number))
        return real(fd, part)

    with patch.object(os, "write", write):
        yield
