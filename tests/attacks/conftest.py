"""Whoever can write the root, and nothing else, at work on a furnished store."""

from collections.abc import Iterator

import pytest

from bench.house import House
from bench.world import quick_place, unflushed


@pytest.fixture(autouse=True)
def no_flushes() -> Iterator[None]:
    """No power fails here, so flushes can be left out."""
    with unflushed():
        yield


@pytest.fixture
def house() -> Iterator[House]:
    """A fresh furnished store."""
    with quick_place() as place:
        yield House.build(place)
