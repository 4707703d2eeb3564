"""A writer is killed at each of its system calls; what another process finds afterwards."""

from pathlib import Path
from unittest.mock import Mock, patch

import msgspec
import pytest

from bench.child import KILLED, Counter, Report, die, in_child
from bench.powercut.examine import audit_faults, examine, left_behind
from bench.powercut.operations import BY_NAME, OPERATIONS, Kept, Operation, place_of
from bench.world import Who, World
from nsstore.root import system
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


def cut_everywhere(world: World, operation: Operation, *, drafts: bool = False) -> int:
    """Kill the operation at each step, each time in a place of its own; returns how many steps it has.

    ``drafts`` says that unfinished files have names, in tmp/.
    """
    for at in range(MOST):
        who = place_of(operation, at)
        before = operation.prepare(world, who)
        cut, kept = killed(world, who, operation, at)
        faults = examine(
            world, who, operation.area, [*before, *kept], operation.tried, doomed=operation.doomed
        )
        assert faults == [], f"{operation.name} killed at step {at}"
        if operation.name == "first":
            assert audit_faults(world, who.tenant) == []
        if not cut:
            assert kept, "nothing was cut, so all of it is acknowledged"
            left = [one for one in left_behind(world) if not drafts or "/root/tmp/" not in one]
            assert left == []
            assert audit_faults(world, who.tenant) == []
            return at
    raise AssertionError("an operation without an end")


@pytest.mark.usefixtures("unflushed")
@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_killed_at_each_step(place: Path, operation: Operation) -> None:
    """Whatever the step, what was acknowledged is there, and the rest is there whole or not at all."""
    world = World(place=place)
    world.make().close()
    assert cut_everywhere(world, operation) >= operation.least


@pytest.mark.usefixtures("unflushed")
@pytest.mark.parametrize("name", ["again", "batch"])
def test_killed_on_an_old_kernel(world: World, name: str) -> None:
    """The same without openat2 and unnamed files: a draft may stay in tmp/, which nobody reads."""
    old = patch.multiple(
        system, has_openat2=Mock(return_value=False), has_unnamed_files=Mock(return_value=False)
    )
    with old:
        assert cut_everywhere(world, BY_NAME[name], drafts=True) >= BY_NAME[name].least


def test_the_operations_have_enough_steps() -> None:
    """The smallest numbers of steps that the tests insist on add up to far more than eighty."""
    assert sum(one.least for one in OPERATIONS) >= 250
