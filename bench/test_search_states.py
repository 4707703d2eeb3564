"""Searches and writes in the states a store goes through, each against itself in a simpler one."""

# pyright: reportPrivateUsage=false
# Whether a fold is at work can only be seen behind the door.

from __future__ import annotations

import itertools
from pathlib import Path
from time import perf_counter

import pytest

from bench.budgets import Verdict
from bench.contenders import FirstOfTantivy, RawTantivy
from bench.race import Ask, fill, questions, quiet, race, require_ten, settled, some_texts, verdicts_of
from bench.test_writes import require_met
from bench.world import Who, World
from nsstore import OpenStore, Session

pytestmark = pytest.mark.filterwarnings("ignore:the trust home lies:UserWarning")
VIEWS = 16


def full(store: OpenStore, count: int, session: str = "s-1") -> tuple[Session, list[str], list[str]]:
    """A session of so many records whose view is folded, its texts, and its record ids."""
    given = some_texts(count)
    found = Who(session=session).bind(store)
    ids = fill(found, given)
    settled(found, store, questions(given, 1)[0])
    return found, given, ids


def test_first_search(room: Path, world: World, verdicts: list[Verdict]) -> None:
    """The first search of a store that was just opened, its files in the page cache."""
    with world.make() as made:
        _, given, _ = full(made, 1_000)
    contender = FirstOfTantivy(RawTantivy(room / "tantivy", given))
    times: dict[str, list[float]] = {"nsstore": [], contender.name: []}
    with quiet():
        for question in questions(given, 100):
            with world.open() as store:
                session = Who().bind(store)
                start = perf_counter()
                found = session.search(question)
                times["nsstore"].append(perf_counter() - start)
                assert len(found.hits) == 10
            start = perf_counter()
            contender.ask(question)
            times[contender.name].append(perf_counter() - start)
    found_all = verdicts_of("first_search", times)
    verdicts.extend(found_all)
    require_met(found_all)


def test_written_found(store: OpenStore, verdicts: list[Verdict]) -> None:
    """A record is found by its own process at once: both calls together against the write alone."""
    session, _, _ = full(store, 1_000)
    alone = Who(session="s-2").bind(store)
    fill(alone, some_texts(1_000, seed=8))
    texts, times = iter(some_texts(1_000, seed=9)), dict[str, list[float]](nsstore=[], write_alone=[])
    with quiet():
        for number in range(300):
            text = f"canary{number}x {next(texts)}"
            start = perf_counter()
            alone.remember(text)
            times["write_alone"].append(perf_counter() - start)
            start = perf_counter()
            record_id = session.remember(text).record_id
            hits = session.search(f"canary{number}x").hits
            times["nsstore"].append(perf_counter() - start)
            assert [hit.record_id for hit in hits] == [record_id]
    found = verdicts_of("written_found", times)
    verdicts.extend(found)
    require_met(found)


def test_write_with_views(world: World, room: Path, verdicts: list[Verdict]) -> None:
    """A write costs the same whether one view is open in its process or sixteen."""
    others = World(place=room / "one")
    others.place.mkdir()
    with world.make() as many, others.make() as one:
        for number in range(VIEWS):
            full(many, 1_000, session=f"s-{number}")
        full(one, 1_000)
        texts = iter(some_texts(1_200, seed=9))
        first, second = Who().bind(many), Who().bind(one)
        contenders: dict[str, Ask] = {
            "nsstore": lambda _: first.remember(next(texts)),
            "write_one_view": lambda _: second.remember(next(texts)),
        }
        with quiet():
            found = verdicts_of("write_with_views", race(["x"] * 50, contenders, 8))
    verdicts.extend(found)
    require_met(found)


def test_superseded(store: OpenStore, verdicts: list[Verdict]) -> None:
    """The search that follows a supersession against one that follows nothing."""
    session, given, ids = full(store, 10_000)
    times: dict[str, list[float]] = {"nsstore": [], "plain_search": []}
    asked = questions(given, 200)
    require_ten(asked[:20], {"nsstore": session.search})
    with quiet():
        for question, old in zip(asked, ids, strict=False):
            session.search(question)  # takes in what the last supersession left, and reads the records
            start = perf_counter()
            session.search(question)
            times["plain_search"].append(perf_counter() - start)
            session.remember(f"newer {question}", supersedes=[old])
            start = perf_counter()
            session.search(question)
            times["nsstore"].append(perf_counter() - start)
            store.settle()
    found = verdicts_of("superseded", times)
    verdicts.extend(found)
    require_met(found)


def test_while_folding(store: OpenStore, verdicts: list[Verdict]) -> None:
    """A search while the same process folds a tail of a thousand into ten thousand."""
    session, given, _ = full(store, 10_000)
    times: dict[str, list[float]] = {"nsstore": [], "no_fold": []}
    asked = itertools.cycle(questions(given, 50))
    folder = store._searcher.views.folder  # noqa: SLF001 - whether it is at work
    seeds = iter(range(100, 130))
    with quiet():
        while len(times["nsstore"]) < 150:
            fill(session, some_texts(1_000, seed=next(seeds)))
            session.search(next(asked))
            while not folder.settle(0):
                start = perf_counter()
                session.search(next(asked))
                times["nsstore"].append(perf_counter() - start)
        times["nsstore"] = times["nsstore"][:150]
        for _ in range(150):
            start = perf_counter()
            session.search(next(asked))
            times["no_fold"].append(perf_counter() - start)
    found = verdicts_of("while_folding", times)
    verdicts.extend(found)
    require_met(found)
