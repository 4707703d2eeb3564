"""A hit says which words of the question it holds, and in which of its fields."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.owning import Hand
from bench.world import Who, World
from nsstore import OpenStore
from nsstore.policy import Every, Kind, Opens


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OpenStore]:
    """A store of three records, one of which has nothing but its text."""
    with World(place=tmp_path).make() as opened:
        session = Who().bind(opened)
        session.remember("alpha beta", title="gamma", tags=["delta", "two words"])
        session.remember("alpha", title="alpha")
        session.remember("epsilon alpha")
        yield opened


@pytest.mark.parametrize("wide", [False, True])
def test_a_hit_says_what_matched_and_where(store: OpenStore, *, wide: bool) -> None:
    """The terms come in the order asked, and only fields that hold one of them, in one session or many."""
    if wide:
        Hand.of(store).grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=Every(every="session")))
    session = Who().bind(store)

    def matched(question: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        return {
            hit.text: (hit.provenance.matched_terms, hit.provenance.matched_fields)
            for hit in session.search(question).hits
        }

    assert matched("words omega beta") == {"alpha beta": (("word", "beta"), ("text", "tags"))}
    assert matched("alpha gamma") == {
        "alpha beta": (("alpha", "gamma"), ("text", "title")),
        "alpha": (("alpha",), ("text", "title")),
        "epsilon alpha": (("alpha",), ("text",)),
    }
