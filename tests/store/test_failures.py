"""A system call fails at each step of a write; the same process goes on, and another one agrees."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.child import Counter
from bench.failing import HOOKS, LASTING, Interrupt, at_each_step, attempt
from bench.powercut.examine import examine, texts
from bench.powercut.operations import WRITES, Operation, place_of
from bench.world import Who, World
from nsstore import Session
from nsstore.errors import KINDS

pytestmark = pytest.mark.usefixtures("unflushed")


@contextmanager
def session_of(world: World, who: Who) -> Generator[Session]:
    """A session of a process that goes on after the failure."""
    with world.open() as store:
        yield who.bind(store)


def says_unknown(err: BaseException) -> bool:
    """Whether an error leaves open if the record is there."""
    return "idempotency key" in str(err) or isinstance(err, Interrupt)


def fail_at(world: World, operation: Operation, at: int, hook: Counter) -> bool:
    """Fail one step, look, retry, look again; returns whether the operation had that step."""
    who = place_of(operation, at)
    before = operation.prepare(world, who)
    with session_of(world, who) as session:
        kept, err = attempt(session, operation, hook)
        if err is not None:
            require_honest(world, who, operation, err)
        again, none = attempt(session, operation, Counter(-1, lambda _: None))
        assert none is None, none
        assert again[: len(kept)] == kept
        here = texts(session, operation.area)
        added = [one for one in again if one.text not in {old.text for old in before}]
        assert [text for text in here.values() if text in operation.tried][-len(added) :] == [
            one.text for one in added
        ]
        assert sorted(here.values()) == sorted({*here.values()}), "a record is there twice"
    faults = examine(world, who, operation.area, [*before, *again], operation.tried, doomed=operation.doomed)
    assert faults == []
    return hook.met > at


def require_honest(world: World, who: Who, operation: Operation, err: BaseException) -> None:
    """An error is of a known kind, and unless it says that it does not know, nothing was written."""
    assert type(err) in KINDS or isinstance(err, Interrupt)
    with session_of(world, who) as other:
        there = texts(other, operation.area).values()
    if not says_unknown(err):
        written = [text for text in operation.tried if text in there and not text.startswith("left by")]
        assert written == [], f"{err!r} and yet it is there"


CELLS = [
    pytest.param(one, mode, id=f"{one.name}, {mode}", marks=pytest.mark.long)
    if mode in LASTING and one.name != "again"
    else pytest.param(one, mode, id=f"{one.name}, {mode}")
    for one in WRITES
    for mode in HOOKS
]


@pytest.mark.parametrize(("operation", "mode"), CELLS)
def test_failed_at_each_step(place: Path, operation: Operation, mode: str) -> None:
    """Whatever fails, the error is honest, a retry with the key gives one record, and no other sees harm."""
    at_each_step(place, operation, mode, fail_at)
