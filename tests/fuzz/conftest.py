"""Furnished stores that many examples share."""

from collections.abc import Iterator

import pytest

from bench.house import House
from bench.world import quick_place, unflushed


@pytest.fixture(scope="module", autouse=True)
def no_flushes() -> Iterator[None]:
    """No power fails here, so flushes can be left out."""
    with unflushed():
        yield


@pytest.fixture(scope="module")
def house(no_flushes: None) -> Iterator[House]:
    """One furnished store for the examples of a module."""
    assert no_flushes is None
    with quick_place() as place:
        yield House.build(place)
