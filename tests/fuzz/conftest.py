"""Furnished stores that many examples share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.house import House
from bench.world import unflushed


@pytest.fixture(scope="module", autouse=True)
def no_flushes() -> Iterator[None]:
    """No power fails here, so flushes can be left out."""
    with unflushed():
        yield


@pytest.fixture(scope="module")
def house(no_flushes: None) -> Iterator[House]:
    """One furnished store for the examples of a module."""
    assert no_flushes is None
    with tempfile.TemporaryDirectory(prefix="nsstore-fuzz-") as place:
        yield House.build(Path(place))
