"""Searches in stores of many namespaces: what the others cost the one that is asked, and the process."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest

from bench.budgets import LIMITS, Verdict
from bench.contenders import SharedFts5
from bench.race import Ask, fill, questions, quiet, race, require_ten, settled, some_texts, verdicts_of
from bench.test_writes import require_met
from bench.world import Who, World, unflushed
from nsstore import OpenStore

pytestmark = [
    pytest.mark.filterwarnings("ignore:the trust home lies:UserWarning"),
    pytest.mark.long,
]
MANY = 10_000
FEW = 10
RECORDS = 12


def test_search_shared(room: Path, store: OpenStore, verdicts: list[Verdict]) -> None:
    """A search of one namespace of a hundred against one database of all hundred with a filter."""
    namespaces = [some_texts(1_000, seed=number) for number in range(100)]
    for number, given in enumerate(namespaces):
        fill(Who(session=f"s-{number}").bind(store), given)
    session = Who(session="s-50").bind(store)
    asked = questions(namespaces[50], 30)
    settled(session, store, asked[0])
    contenders: dict[str, Ask] = {
        "nsstore": session.search,
        "fts5_shared": SharedFts5(room / "fts5", namespaces, 50).ask,
    }
    require_ten(asked, contenders)
    with quiet():
        found = verdicts_of("search_shared", race(asked, contenders, 2))
    verdicts.extend(found)
    require_met(found)


def of(number: int, count: int) -> list[str]:
    """The texts of one namespace: short ones, every one of which answers the same question."""
    return [f"alpha beta note{number} of {place} in gamma delta" for place in range(count)]


def made(store: OpenStore, namespaces: int) -> None:
    """Give a store so many namespaces of a few records each."""
    with unflushed():
        for number in range(namespaces):
            who = Who(project=f"p-{number // 100}", session=f"s-{number}").bind(store)
            who.remember_many(of(number, RECORDS))


def asker(store: OpenStore, namespaces: int) -> Ask:
    """Ask a namespace drawn at random from the ten used last, or from all."""
    dice = random.Random(1)
    drawn = [dice.randrange(namespaces) for _ in range(FEW)]
    sessions = [Who(project=f"p-{number // 100}", session=f"s-{number}").bind(store) for number in drawn]
    return lambda question: dice.choice(sessions).search(question)


def test_many_namespaces(world: World, room: Path, verdicts: list[Verdict]) -> None:
    """A search takes as long in a store of ten thousand namespaces as in one of ten, and holds as little."""
    small = World(place=room / "small")
    small.place.mkdir()
    with world.make() as many, small.make() as few:
        made(many, MANY)
        made(few, FEW)
        contenders = {"nsstore": asker(many, MANY), "ten_namespaces": asker(few, FEW)}
        asked = ["alpha gamma note beta"] * 100
        require_ten(asked[:5], contenders)
        with quiet():
            found = verdicts_of("many_namespaces", race(asked, contenders, 6))
        require_bounded(many)
    verdicts.extend(found)
    require_met(found)


def require_bounded(store: OpenStore) -> None:
    """Search every namespace twice in random order; the process keeps within ``LIMITS``."""
    before = resident()
    order = [number for number in range(MANY) for _ in range(2)]
    random.Random(2).shuffle(order)
    for number in order:
        session = Who(project=f"p-{number // 100}", session=f"s-{number}").bind(store)
        assert len(session.search("alpha").hits) == 10
    store.settle()
    used = {
        "threads": len(os.listdir("/proc/self/task")),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "megabytes": (resident() - before) / 1e6,
    }
    print(f"\n{MANY} namespaces searched twice: {used}, {threading.active_count()} Python threads")
    assert {name: value for name, value in used.items() if value > LIMITS[name]} == {}


def resident() -> int:
    """The bytes of memory that the process holds."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
