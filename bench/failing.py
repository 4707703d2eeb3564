"""A system call that fails, once or from one step on: the hooks under which an operation is tried."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Never

from bench.child import Counter
from bench.powercut.examine import audit_faults, left_behind
from bench.powercut.operations import Kept, Operation, place_of
from bench.world import World
from nsstore import Session, StoreError
from nsstore.root.steps import hooked

FailAt = Callable[[World, Operation, int, Counter], bool]
TAKES_SPACE: Final = ("write", "link", "mkdir", "rename")


class Interrupt(BaseException):
    """What a signal handler may raise anywhere."""


class Failing(Counter):
    """From one step on every call fails, or every one of some kinds."""

    def __init__(self, at: int, number: int, calls: tuple[str, ...] | None) -> None:
        super().__init__(at, lambda _: None)
        self.at = at
        self.number = number
        self.calls = calls

    def __call__(self, call: str) -> None:
        super().__call__(call)
        if self.met > self.at and (self.calls is None or call in self.calls):
            raise OSError(self.number, os.strerror(self.number))


def _raising(error: BaseException) -> Callable[[str], Never]:
    def fail(_: str) -> Never:
        raise error

    return fail


HOOKS: Final[dict[str, Callable[[int], Counter]]] = {
    "ENOSPC": lambda at: Counter(at, _raising(OSError(errno.ENOSPC, "full"))),
    "EIO": lambda at: Counter(at, _raising(OSError(errno.EIO, "broken"))),
    "EMFILE": lambda at: Counter(at, _raising(OSError(errno.EMFILE, "too many"))),
    "full from here on": lambda at: Failing(at, errno.ENOSPC, TAKES_SPACE),
    "dead from here on": lambda at: Failing(at, errno.EIO, None),
    "interrupt": lambda at: Counter(at, _raising(Interrupt())),
}
MOST: Final = 1_000
"""Steps that no operation has."""
LASTING: Final = ("full from here on", "dead from here on", "interrupt")


def attempt(session: Session, operation: Operation, hook: Counter) -> tuple[list[Kept], BaseException | None]:
    """Run the operation under a hook: what it acknowledged, and what it raised."""
    kept: list[Kept] = []
    try:
        with hooked(hook):
            operation.act(session, kept.append)
    except (StoreError, Interrupt) as err:
        return kept, err
    return kept, None


def at_each_step(place: Path, operation: Operation, mode: str, fail_at: FailAt) -> None:
    """Fail an operation at one step after the other, in a store of its own, until it has no such step.

    ``fail_at`` does it once, and says whether there was that step. In the end nothing is left behind,
    and the audit is whole.
    """
    world = World(place=place)
    world.make().close()
    for at in range(MOST):
        try:
            more = fail_at(world, operation, at, HOOKS[mode](at))
        except BaseException as err:
            err.add_note(f"{operation.name}: {mode} at step {at}")
            raise
        if not more:
            assert at >= operation.least
            assert left_behind(world) == []
            assert audit_faults(world, place_of(operation, at).tenant) == []
            return
    raise AssertionError("an operation without an end")
