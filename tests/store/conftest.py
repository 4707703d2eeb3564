"""Stores to be cut, without waiting for a disk where nothing is proven by waiting."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import World, quick_place
from bench.world import unflushed as without_flushes
from nsstore import OpenStore, Session
from nsstore.audit import AuditLine, read_events

CANARY = "zanzibar-canary-4711"
TENANT = ("tenant", "acme")


@pytest.fixture
def unflushed() -> Iterator[None]:
    """A process that dies takes nothing from the page cache with it, so flushes can be left out.

    What a power cut takes is the subject of test_flushes.py and of bench/powercut.
    """
    with without_flushes():
        yield


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty store on the disk."""
    world = World(place=tmp_path)
    world.make().close()
    return world


@pytest.fixture
def store(world: World) -> Iterator[OpenStore]:
    """That store, open."""
    with world.open() as store:
        yield store


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory in memory, where there is such a place."""
    with quick_place() as place:
        yield place


def texts(session: Session) -> list[str]:
    """The current texts of a scope, oldest first."""
    return [one.text for one in reversed(session.list().items)]


def left(world: World, *words: str) -> list[Path]:
    """Files of root, trust home and whatever lies beside them that hold one of the words."""
    raws = ((path, path.read_bytes()) for path in world.place.rglob("*") if path.is_file())
    return [path for path, raw in raws if any(word.encode() in raw for word in (CANARY, *words))]


def events(store: OpenStore) -> list[AuditLine]:
    """What the audit says of forgetting."""
    return [one for one in read_events(store.audit, TENANT) if one.event == "forgotten"]


@pytest.fixture
def cache_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views on the disk, if there are any, lie beside the store, where they are searched for what is left."""
    monkeypatch.setenv("NSSTORE_CACHE_HOME", os.fspath(tmp_path / "cache"))
