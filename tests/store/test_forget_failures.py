"""A system call fails at each step of a forget; the same process goes on, and another one agrees."""

from pathlib import Path

import pytest

from bench.child import Counter
from bench.failing import HOOKS, LASTING, Interrupt, at_each_step, attempt
from bench.powercut.examine import examine, texts
from bench.powercut.operations import FORGETS, Operation, place_of
from bench.world import World
from nsstore.errors import KINDS

pytestmark = pytest.mark.usefixtures("unflushed")


def says_done(err: BaseException) -> bool:
    """Whether an error says that the records are forgotten all the same, or may be."""
    return any(word in str(err) for word in ("for good", "unknown")) or isinstance(err, Interrupt)


def fail_at(world: World, operation: Operation, at: int, hook: Counter) -> bool:
    """Fail one step, look, forget again, look again; returns whether the operation had that step."""
    who = place_of(operation, at)
    before = operation.prepare(world, who)
    with world.open() as store:
        session = who.bind(store)
        all_of_it = {*texts(session, operation.area).values()}
        kept, err = attempt(session, operation, hook)
        if err is not None:
            assert kept == []
            assert type(err) in KINDS or isinstance(err, Interrupt)
            with world.open() as other:
                there = {*texts(who.bind(other), operation.area).values()}
            assert there == {*texts(session, operation.area).values()}, "two processes differ"
            assert there == all_of_it or says_done(err), f"{err!r}, and yet it is gone"
        kept, none = attempt(session, operation, Counter(-1, lambda _: None))
        assert none is None, none
        assert {one.text for one in kept} == {*operation.doomed}
        assert {*texts(session, operation.area).values()} == all_of_it - {*operation.doomed}
    faults = examine(world, who, operation.area, [*before, *kept], (), doomed=operation.doomed)
    assert faults == []
    return hook.met > at


CELLS = [
    pytest.param(one, mode, id=f"{one.name}, {mode}", marks=pytest.mark.long)
    if mode in LASTING and one.name != "forget"
    else pytest.param(one, mode, id=f"{one.name}, {mode}")
    for one in FORGETS
    for mode in HOOKS
]


@pytest.mark.parametrize(("operation", "mode"), CELLS)
def test_failed_at_each_step(place: Path, operation: Operation, mode: str) -> None:
    """Whatever fails, the error is honest, forgetting again is enough, and no byte of the text is left."""
    at_each_step(place, operation, mode, fail_at)
