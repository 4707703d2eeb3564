"""Interleaved rounds: every contender keeps the same texts, one after the other, in one process.

pytest-benchmark times nsstore; the baselines run in each round's untimed ``setup`` and are timed
there, so drift of the machine meets all of them alike and the saved JSON holds the whole contest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final, Protocol

import msgspec

from bench.baselines import Baseline, BaselineError, FlushProbe
from bench.budgets import Subject, Summary, Verdict, budgets_of, judge, summarize
from nsstore.harness.texts import texts

Keep = Callable[[Sequence[str]], object]
WARM_UP: Final = 5
PROBE_EVERY: Final = 10


class Times(Protocol):
    """The rounds of one benchmark, in seconds, in the order they ran."""

    @property
    def data(self) -> list[float]: ...


class Measured(Protocol):
    """What pytest-benchmark keeps of a benchmark that ran."""

    @property
    def stats(self) -> Times: ...


class Benchmark(Protocol):
    """The part of pytest-benchmark's untyped fixture that is used here."""

    group: str | None
    extra_info: dict[str, object]

    @property
    def stats(self) -> Measured | None: ...

    def pedantic(
        self,
        target: Keep,
        *,
        setup: Callable[[], tuple[tuple[Sequence[str]], dict[str, object]]],
        rounds: int,
        warmup_rounds: int,
    ) -> object: ...


def interleave(
    benchmark: Benchmark,
    keep: Keep,
    baselines: Sequence[Baseline],
    probe: FlushProbe,
    *,
    batch: int,
    rounds: int,
) -> dict[str, list[float]]:
    """Time ``keep`` and every baseline on the same batches, round robin; seconds per round by name.

    The baselines' order turns every round, since whoever comes after nsstore may pay for what it
    left unflushed. Raises :class:`BaselineError` if timing is switched off: unproven is not met.
    """
    source = texts(batch)
    times: dict[str, list[float]] = {baseline.name: [] for baseline in baselines}
    order = list(baselines)
    number = itertools.count()

    def setup() -> tuple[tuple[Sequence[str]], dict[str, object]]:
        given = next(source)
        if next(number) % PROBE_EVERY == 0:
            probe.once()
        for baseline in order:
            start = perf_counter()
            baseline.once(given)
            times[baseline.name].append(perf_counter() - start)
        order.append(order.pop(0))
        return (given,), {}

    benchmark.pedantic(keep, setup=setup, rounds=rounds, warmup_rounds=WARM_UP)
    if benchmark.stats is None:
        raise BaselineError("nothing was timed: run without --benchmark-disable")
    ours = list(benchmark.stats.stats.data)
    return {"nsstore": ours} | {name: taken[-len(ours) :] for name, taken in times.items()}


def contest(
    benchmark: Benchmark,
    subject: Subject,
    keep: Keep,
    baselines: Sequence[Baseline],
    probe: FlushProbe,
    *,
    batch: int,
    rounds: int,
) -> list[Verdict]:
    """Judge every budget of ``subject`` from one interleaved run, and keep all in the benchmark's JSON.

    The probe's floor holds for every baseline and for nsstore itself: a store that forgets its flush
    fails here, however well it looks against a budget.
    Raises :class:`BaselineError`.
    """
    benchmark.group = f"{subject}, durable"
    times = interleave(benchmark, keep, baselines, probe, batch=batch, rounds=rounds)
    floor = probe.floor
    for baseline in baselines:
        baseline.prove(floor)
    found: dict[str, Summary] = {name: summarize(name, taken, batch) for name, taken in times.items()}
    if found["nsstore"].p50_us * batch < floor * 1e6:
        raise BaselineError(f"{subject} is faster than this disk can flush: it is not durable")
    verdicts = [judge(budget, found["nsstore"], found[budget.baseline]) for budget in budgets_of(subject)]
    benchmark.extra_info["summaries"] = msgspec.to_builtins(found)
    benchmark.extra_info["verdicts"] = msgspec.to_builtins(verdicts)
    benchmark.extra_info["flush_floor_us"] = floor * 1e6
    return verdicts
