"""Runs the cases against a provider, each within its time and whatever the provider does, and judges it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Final, Self

from nsstore.errors import InvalidInput
from nsstore.harness.case import CRITERIA, Ability, Case, Outcome, Report, Result
from nsstore.harness.cases import CASES
from nsstore.harness.probes import PROBES
from nsstore.harness.provider import Provider
from nsstore.harness.witness import Counts, Unproven
from nsstore.harness.worker import DEADLINE, LATE, Worker, in_words
from nsstore.harness.world import HOME, World, neighbours

SUITE_VERSION: Final = "1"
"""Another one whenever a case is added, changed or taken away."""
Make = Callable[[], Provider]


def cases(*, full: bool = False) -> tuple[Case, ...]:
    """The cases of a quick or of a full run, in the order of their ids."""
    return tuple(one for one in CASES if full or one.quick)


def run(
    make: Make,
    *,
    full: bool = False,
    only: Collection[str] | None = None,
    told: Callable[[Result], object] | None = None,
    deadline: float = DEADLINE,
) -> Report:
    """Try a provider of ``make``, which gives a new and empty one on each call, and judge it.

    ``only`` names the cases that are wanted; without all of ``AC01`` to ``AC10`` a report is not green.
    ``told`` hears each result as it comes. Whatever the provider raises is the failure of a case. Raises
    :class:`InvalidInput` for a case that there is not.
    """
    chosen = cases(full=full or only is not None)
    unknown = set(only or ()) - {one.id for one in chosen}
    if unknown:
        raise InvalidInput(f"there is no such case: {', '.join(sorted(unknown))}")
    began = time.monotonic()
    results: list[Result] = []
    with Suite(make, full=full, deadline=deadline) as suite:
        for case in chosen:
            if only is None or case.id in only:
                results.append(suite.result(case))
                if told is not None:
                    told(results[-1])
        return suite.report(results, time.monotonic() - began)


class Suite:
    """One run: a world that is kept from case to case until one fails in it, and what was counted."""

    def __init__(self, make: Make, *, full: bool = False, deadline: float = DEADLINE) -> None:
        self._make = make
        self._full = full
        self._deadline = deadline
        self._counts = Counts()
        self._worker = Worker()
        self._world: World | None = None
        self._unmade: str | None = None
        self._name = ""
        self._abilities = frozenset[Ability]()

    def result(self, case: Case) -> Result:
        """Try one case."""
        began = time.monotonic()
        outcome, seen = self._tried(case)
        return Result(case=case, outcome=outcome, seen=seen, seconds=time.monotonic() - began)

    def report(self, results: Collection[Result], seconds: float) -> Report:
        """The verdict over some results, which are in the order of their ids."""
        metrics = self._counts.metrics()
        ran = {one.case.id for one in results if one.outcome is not Outcome.NOT_RUN}
        return Report(
            provider=self._name or "not made",
            suite=SUITE_VERSION,
            full=self._full,
            green=ran.issuperset(CRITERIA)
            and not any(one.outcome is Outcome.FAILED for one in results)
            and metrics.foreign_rate == 0.0
            and metrics.authorised_recall == 1.0,
            results=tuple(results),
            metrics=metrics,
            seconds=seconds,
        )

    def close(self) -> None:
        """Let go of the provider, as far as it lets."""
        self._leave()
        self._worker.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tried(self, case: Case) -> tuple[Outcome, str]:
        if self._world is None and self._unmade is None:
            self._unmade = self._attempt(self._enter)
        world = self._world
        if world is None:
            return Outcome.FAILED, f"no provider: {self._unmade}"
        lacks = [one for one in case.needs if one not in self._abilities]
        if lacks:
            return Outcome.NOT_RUN, f"the provider cannot do it: {', '.join(lacks)}"
        seen = ""

        def probe() -> None:
            nonlocal seen
            seen = PROBES[case.probe](world, case)
            _require_declared(world, case)

        failure = self._attempt(probe)
        if self._world is not None:
            ended = self._attempt(world.end_case)
            failure = failure or ended
        if failure is None:
            return Outcome.PASSED, seen
        self._leave()
        return Outcome.FAILED, failure

    def _enter(self) -> None:
        world = World(self._make, full=self._full, counts=self._counts)
        self._name, self._abilities = world.provider.name, world.provider.abilities
        for scope in (HOME, *neighbours()):
            world.say(scope)
        self._world = world

    def _attempt(self, call: Callable[[], None]) -> str | None:
        """What came in the way of a call, in words; ``None`` if nothing did."""
        failure = self._worker.do(call, self._deadline)
        if failure is LATE:
            self._worker, self._world = Worker(), None
        return in_words(failure, self._deadline)

    def _leave(self) -> None:
        world, self._world = self._world, None
        if world is not None and self._worker.do(world.close, self._deadline) is LATE:
            self._worker = Worker()


def _require_declared(world: World, case: Case) -> None:
    """Require that the provider declares to separate what the case is about. Raises :class:`Unproven`."""
    asked = case.given.get("dimensions", "").split()
    declared = world.provider.scope_properties() if asked else None
    missing = [one for one in asked if declared is None or one not in declared.separates]
    if missing:
        raise Unproven(f"not declared to be kept apart: {', '.join(missing)}")
