"""Truth first, memory beneath: what a source says, what one that fails does not, and what memory adds."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench.world import Who, World, unflushed
from nsstore import InvalidInput, OpenStore
from nsstore.session import Given, Statement
from nsstore.session.evidence import MAX_STATEMENT, MAX_STATEMENTS
from nsstore.store import ADVISORY


class Told:
    """A source that says what a test gave it, and keeps what it was asked."""

    def __init__(self, name: str, *said: str, fails: Exception | None = None) -> None:
        self.name = name
        self.said = said
        self.fails = fails
        self.asked: list[str] = []

    def ask(self, topic: str) -> Sequence[Statement]:
        """Say it, or fail."""
        self.asked.append(topic)
        if self.fails is not None:
            raise self.fails
        return [Statement(about="it", text=text) for text in self.said]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenStore]:
    """An empty store."""
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    with unflushed(), World(place=tmp_path).make() as made:
        yield made


def test_truth_and_memory_stand_apart(store: OpenStore) -> None:
    """Sources come in their order with what they said; memory is what search finds, advisory once."""
    session = Who().bind(store)
    kept = session.remember("the train is red")
    sources = (Given("it is blue"), Told("get_baseline", "v2"))
    found = session.evidence("train", sources=sources)
    assert [(one.source, [it.text for it in one.statements]) for one in found.truth] == [
        ("explicit_context", ["it is blue"]),
        ("get_baseline", ["v2"]),
    ]
    assert [hit.record_id for hit in found.memory] == [kept.record_id]
    assert found.memory[0].provenance.matched_terms
    assert found.advisory == ADVISORY
    assert sources[1].asked == ["train"]


def test_a_source_that_fails_is_silent(store: OpenStore) -> None:
    """A failure is named, says nothing, and takes nothing from the others or from memory."""
    session = Who().bind(store)
    session.remember("the train is red")
    found = session.evidence("train", sources=(Told("a", fails=OSError("/secret")), Told("b", "here")))
    assert [(one.source, one.silent, len(one.statements)) for one in found.truth] == [
        ("a", True, 0),
        ("b", False, 1),
    ]
    assert len(found.memory) == 1


def test_nothing_is_made_up(store: OpenStore) -> None:
    """Without sources nothing is said to be so; a source with nothing to say is no failure."""
    session = Who().bind(store)
    assert session.evidence("train").truth == ()
    (one,) = session.evidence("train", sources=(Told("a"),)).truth
    assert (one.silent, one.statements) == (False, ())


def test_statements_have_bounds(store: OpenStore) -> None:
    """A source that says too much is cut, each statement and their number."""
    source = Told("a", *["x" * 10 * MAX_STATEMENT] * (3 * MAX_STATEMENTS))
    (one,) = Who().bind(store).evidence("train", sources=(source,)).truth
    assert [len(it.text) for it in one.statements] == [MAX_STATEMENT] * MAX_STATEMENTS


def test_memory_is_that_of_the_scope(store: OpenStore) -> None:
    """Another session's record is no evidence here."""
    Who(session="s-2").bind(store).remember("the train is red")
    assert Who().bind(store).evidence("train").memory == ()


@pytest.mark.parametrize("topic", ["", " ", None, 7, "x" * 4_001])
def test_a_topic_is_text(store: OpenStore, topic: str) -> None:
    """What is no topic is refused before a source is asked."""
    source = Told("a", "b")
    with pytest.raises(InvalidInput, match="topic"):
        Who().bind(store).evidence(topic, sources=(source,))
    assert source.asked == []
