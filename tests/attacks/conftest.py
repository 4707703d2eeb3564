"""Whoever can write the root, and nothing else, at work on a furnished store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.house import House
from bench.world import unflushed


@pytest.fixture(autouse=True)
def no_flushes() -> Iterator[None]:
    """No power fails here, so flushes can be left out."""
    with unflushed():
        yield


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A fresh furnished store."""
    return House.build(tmp_path)
