"""A small store whose views are kept from forty records on, so that every fold of a test is quick."""

# pyright: reportPrivateUsage=false
# What a view is open on, and where it is kept, can only be seen behind the door.

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import Who, World, unflushed
from nsstore import Answer, OpenStore, Session
from nsstore.search import views
from nsstore.search.pair import Pair

LEAST = 40


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A place with a cache home of its own, in which nothing is flushed.

    Views are kept from ``LEAST`` records on, and folded again after eight more.
    """
    for name, value in (("LEAST_KEPT", LEAST), ("LEAST_TAIL", 8), ("LEAST_GONE", 6), ("TAIL_SHARE", 100)):
        monkeypatch.setattr(views, name, value)
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    with unflushed():
        yield World(place=tmp_path)


@pytest.fixture
def store(world: World) -> Iterator[OpenStore]:
    """A store in that place."""
    with world.make() as made:
        yield made


def notes(count: int, start: int = 0) -> list[str]:
    """Texts that share words, each with one of its own."""
    return [
        f"unique{number} colour{number % 7} shape{number % 3} common word"
        for number in range(start, start + count)
    ]


def folded(store: OpenStore, count: int = LEAST) -> Session:
    """A session of ``count`` records whose view was folded, and is open in this process."""
    session = Who().bind(store)
    session.remember_many(notes(count))
    for _ in range(2):
        session.search("common")
        store.settle()
    assert kept(store)
    return session


def cache(store: OpenStore) -> Path:
    """The cache home of a store."""
    return Path(store._searcher.views.home.path)


def kept(store: OpenStore) -> list[Path]:
    """The generations that are kept of the store's views."""
    return sorted(cache(store).glob("views/*/*/g-*"))


def pairs(store: OpenStore) -> list[Pair]:
    """Every view that the store has in memory."""
    views_of = store._searcher.views
    return [view for view, _ in views_of._cache._views.values()]


def ids(answer: Answer) -> list[str]:
    """The ids of an answer's hits, in order."""
    return [hit.record_id for hit in answer.hits]


QUESTIONS = ("common", "colour3 shape1", "unique7", "unique33 colour2", "word shape2 colour6", "absent")


def everything(session: Session) -> list[list[tuple[str, float, object]]]:
    """What a session answers to each question: ids, scores up to four digits, and what matched."""
    return [
        [
            (hit.record_id, round(hit.score, 4), hit.provenance.matched_terms)
            for hit in session.search(one, k=12).hits
        ]
        for one in QUESTIONS
    ]
