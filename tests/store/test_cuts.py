"""A writer is killed at each of its system calls; what another process finds afterwards."""

import msgspec
import pytest

from bench.child import KILLED, Counter, Report, die, in_child
from bench.powercut.examine import audit_faults, examine, left_behind
from bench.powercut.operations import OPERATIONS, Kept, Operation, place_of
from bench.world import Who, World
from nsstore.root.steps import hooked

MOST = 1000
NAMES = [one.name for one in OPERATIONS]


def killed(world: World, who: Who, operation: Operation, at: int) -> tuple[bool, list[Kept]]:
    """Run the operation in a process of its own that dies at one step: whether it did, and what it kept."""

    def task(report: Report) -> None:
        with world.open() as store:
            session = who.bind(store)
            with hooked(Counter(at, die)):
                operation.act(session, lambda one: report(msgspec.json.encode(one)))

    ended = in_child(task)
    assert ended.status in (0, KILLED), ended
    return ended.status == KILLED, [msgspec.json.decode(line, type=Kept) for line in ended.lines]


def cut_everywhere(world: World, operation: Operation) -> int:
    """Kill the operation at each step, each time in a place of its own; returns how many steps it has."""
    for at in range(MOST):
        who = place_of(operation, at)
        before = operation.prepare(world, who)
        cut, kept = killed(world, who, operation, at)
        faults = examine(world, who, operation.area, [*before, *kept], operation.tried)
        assert faults == [], f"{operation.name} killed at step {at}"
        if operation.name == "first":
            assert audit_faults(world, who.tenant) == []
        if not cut:
            assert kept, "nothing was cut, so all of it is acknowledged"
            assert left_behind(world) == []
            assert audit_faults(world, who.tenant) == []
            return at
    raise AssertionError("an operation without an end")


@pytest.mark.usefixtures("unflushed")
@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_killed_at_each_step(world: World, operation: Operation) -> None:
    """Whatever the step, what was acknowledged is there, and the rest is there whole or not at all."""
    assert cut_everywhere(world, operation) >= operation.least


def test_the_operations_have_enough_steps() -> None:
    """The smallest numbers of steps that the tests insist on add up to far more than eighty."""
    assert sum(one.least for one in OPERATIONS) >= 250
