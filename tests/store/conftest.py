"""Stores to be cut, without waiting for a disk where nothing is proven by waiting."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import World, quick_place
from bench.world import unflushed as without_flushes
from nsstore import OpenStore


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
