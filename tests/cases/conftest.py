"""A store for each case, and a way to bind it with anything."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import World, unflushed
from nsstore import OpenStore


@pytest.fixture(autouse=True)
def no_flushes() -> Iterator[None]:
    """No power fails here, so flushes can be left out."""
    with unflushed():
        yield


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
