"""Stores to be cut, without waiting for a disk where nothing is proven by waiting."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import World
from bench.world import unflushed as without_flushes


@pytest.fixture
def unflushed() -> Iterator[None]:
    """A process that dies takes nothing from the page cache with it, so flushes can be left out.

    What a power cut takes is the subject of test_flushes.py and of bench/powercut.
    """
    with without_flushes():
        yield


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty store."""
    world = World(place=tmp_path)
    world.make().close()
    return world
