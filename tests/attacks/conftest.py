"""Whoever can write the root, and nothing else, at work on a furnished store."""

from collections.abc import Iterator

import pytest

from bench.house import House
from bench.world import quick_place, unflushed
from nsstore.ledger import Ledger
from nsstore.search import spool
from nsstore.store.leaf import Leaf


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


@pytest.fixture(params=["forgetful", "recalling"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether a fresh process goes on from what an earlier one knew, however few records there are."""
    mode: str = request.param
    if mode == "recalling":
        consider = spool.Spool.consider

        def at_once(self: spool.Spool, leaf: Leaf, ledger: Ledger) -> None:
            consider(self, leaf, ledger)
            self.folder.settle()

        monkeypatch.setattr(spool, "LEAST_KNOWN", 1)
        monkeypatch.setattr("nsstore.store.leaf.MANY", 0)
        monkeypatch.setattr(spool.Spool, "consider", at_once)
    return mode
