"""What others ask and write changes no byte of an answer: not by what is folded, not by what is shared."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Iterator
from unittest.mock import patch

import msgspec
import pytest

from bench.owning import Hand, asker
from bench.world import Who, World
from nsstore import NotVisible, OpenStore, Session, record
from nsstore.policy import Every, Kind, Opens
from nsstore.root.steps import hooked
from nsstore.search import joint, views
from tests.search.conftest import cache

ME = Who()
OTHER = Who(agent="other")
EVERY = Opens(sessions=Every(every="session"))
Bytes = list[bytes]


def vocabulary() -> tuple[random.Random, list[str]]:
    """Words of which few are frequent."""
    dice = random.Random(5)
    return dice, [f"w{int(dice.paretovariate(0.7)) % 400}" for _ in range(3_000)]


def some_texts(count: int) -> list[str]:
    """Texts of very different lengths."""
    dice, words = vocabulary()
    return [" ".join(dice.choices(words, k=dice.randint(5, 120))) for _ in range(count)]


def questions(count: int) -> list[str]:
    """Questions of one to six of the words."""
    dice, words = vocabulary()
    dice.seed(6)
    return [" ".join(dice.choices(words, k=dice.randint(1, 6))) for _ in range(count)]


def answers(session: Session, asked: list[str], k: int = 10) -> Bytes:
    """The whole answers in bytes, but for the notice of a session's first search."""
    session.search("nothing")
    return [msgspec.json.encode(session.search(one, k=k)) for one in asked]


def test_a_fold_that_another_agent_set_off(store: OpenStore, world: World) -> None:
    """A view that was folded early, since another agent of the session asked, answers as one that was not."""
    mine, others = some_texts(160), [f"mine {number}" for number in range(60)]
    ME.bind(store).remember_many(mine[:120])
    OTHER.bind(store).remember_many(others)
    shutil.rmtree(cache(store), ignore_errors=True)
    asked, found = questions(40), list[list[Bytes]]()
    for other in (False, True):
        with world.open() as fresh:
            if other:
                OTHER.bind(fresh).search("mine")
                fresh.settle()
                OTHER.bind(fresh).search("mine")
                fresh.settle()
            me = ME.bind(fresh)
            before = answers(me, asked)
            fresh.settle()
            found.append([before, answers(me, asked)])
        shutil.rmtree(cache(store))
    assert found[0] == found[1]
    assert found[0][0] == found[0][1]


@pytest.mark.parametrize("gone", ["nothing", "long ones"])
def test_where_the_tail_begins(store: OpenStore, world: World, gone: str) -> None:
    """With a tail of long records, or with long ones gone, a kept view answers as one in memory does."""
    session = ME.bind(store)
    session.remember_many(some_texts(80))
    long = [one.record_id for one in session.remember_many(f"long{n} " * 900 for n in range(10))]
    for _ in range(2):
        session.search("common")
        store.settle()
    with patch.object(views, "LEAST_TAIL", 10**6), patch.object(views, "LEAST_GONE", 10**6):
        if gone == "nothing":
            session.remember_many(f"tail{n} w1 " * 300 for n in range(30))
        else:
            for one in long:
                session.remember("newer", supersedes=[one])
        kept = answers(session, questions(60))
    with patch.object(views, "LEAST_KEPT", 10**6), world.open() as fresh:
        assert answers(ME.bind(fresh), questions(60)) == kept


@pytest.fixture
def owned(world: World) -> Iterator[tuple[OpenStore, World]]:
    """A store in which one agent may read all its sessions, and another one three of these."""
    with world.make() as store:
        for number in range(4):
            Who(session=f"s-{number}").bind(store).remember_many(some_texts(60 + number)[number:])
        hand = Hand.of(store)
        hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
        three = tuple(("session", f"s-{number}") for number in range(3))
        hand.grant(
            *(store, Kind.CROSS_AGENT, Kind.CROSS_SESSION),
            opens=Opens(agents=("claude",), sessions=three),
            to=msgspec.structs.replace(asker(), agents=("other",)),
        )
        yield store, world


def test_a_view_that_another_asker_began(
    owned: tuple[OpenStore, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view over several sessions that grew from another asker's answers as one that did not."""
    monkeypatch.setattr(joint, "LEAST_TAIL", 50)
    _, world = owned
    found: list[Bytes] = []
    for other in (False, True, False):
        with world.open() as fresh:
            if other:
                assert Who(session="zz", agent="other").bind(fresh).search("w1", k=50).hits
            found.append(answers(Who(session="s-0").bind(fresh), questions(40), k=50))
    assert found[0] == found[1] == found[2]


def test_another_sessions_clock_ends_nothing(owned: tuple[OpenStore, World]) -> None:
    """An unreadable record that was sealed far ahead ends records of its own session alone, whoever asks."""
    store, _ = owned
    Who(session="s-2").bind(store).remember("fleeting word", ttl=3_600.0)
    s3, s1 = Who(session="s-3").bind(store), Who(session="s-1").bind(store)
    assert len(s3.search("fleeting").hits) == 1
    began = f"{(time.time_ns() // 10**6) + 2 * 3_600_000:012x}"
    ahead = f"{began[:8]}-{began[8:]}-{record.new_record_id()[14:]}"
    with patch.object(record, "new_record_id", return_value=ahead):
        Who(session="s-1", agent="unread").bind(store).remember("sealed two hours ahead")
    for session in (s3, s1, s3):
        assert len(session.search("fleeting").hits) == 1


@pytest.mark.parametrize("verb", ["get", "history"])
def test_a_denied_record_of_another_session_costs_what_none_costs(
    owned: tuple[OpenStore, World], verb: str
) -> None:
    """A fresh process reads the same for an id it may not see in an open session and for none at all."""
    store, world = owned
    hidden = Who(session="s-9", agent="unread").bind(store).remember_many(some_texts(30))[7].record_id
    costs: list[list[str]] = []
    me = threading.get_ident()
    for record_id in (hidden, record.new_record_id()):
        steps: list[str] = []

        def noted(call: str, steps: list[str] = steps) -> None:
            if threading.get_ident() == me:  # what is flushed and kept in the background has its own time
                steps.append(call)

        with world.open() as fresh:
            session = Who(session="s-0").bind(fresh)
            with hooked(noted), pytest.raises(NotVisible):
                getattr(session, verb)(record_id)
        costs.append(steps)
    assert costs[0] == costs[1]
