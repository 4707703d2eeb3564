"""Contenders take turns on the same texts, and a store that cheats meets no budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, sleep

import msgspec
import pytest

from bench.baselines import Baseline, BaselineError, DurableFts5, FlushProbe, OneFlushWrite
from bench.budgets import Verdict
from bench.rounds import WARM_UP, Keep, contest, interleave

ROUNDS = 12


class Rounds(msgspec.Struct):
    """The rounds of a benchmark, under the names pytest-benchmark gives them."""

    data: list[float]

    @property
    def stats(self) -> Rounds:
        """The same, one level down."""
        return self


class Clock:
    """As much of pytest-benchmark's fixture as the rounds use; ``on`` as with timing not disabled."""

    def __init__(self, *, on: bool = True) -> None:
        self.group: str | None = None
        self.extra_info: dict[str, object] = {}
        self.stats: Rounds | None = Rounds([]) if on else None

    def pedantic(
        self,
        target: Keep,
        *,
        setup: Callable[[], tuple[tuple[Sequence[str]], dict[str, object]]],
        rounds: int,
        warmup_rounds: int,
    ) -> object:
        """Time ``rounds`` calls after ``warmup_rounds`` untimed ones, each with its own setup."""
        for number in range(-warmup_rounds, rounds):
            (given,), _ = setup()
            start = perf_counter()
            target(given)
            if self.stats is not None and number >= 0:
                self.stats.data.append(perf_counter() - start)
        return None


def run(keep: Keep, baselines: Sequence[Baseline], disk: Path, clock: Clock | None = None) -> list[Verdict]:
    """A contest of ``remember`` over a few rounds."""
    probe = FlushProbe(disk)
    try:
        return contest(clock or Clock(), "remember", keep, baselines, probe, batch=1, rounds=ROUNDS)
    finally:
        probe.close()
        for baseline in baselines:
            baseline.close()


def both(disk: Path) -> list[Baseline]:
    """The baselines that ``remember`` has budgets against."""
    return [OneFlushWrite(disk / "raw"), DurableFts5(disk / "rows")]


def test_everyone_keeps_the_same_texts_and_takes_turns(disk: Path) -> None:
    """Each round gives every baseline and nsstore one and the same batch, and the first place turns."""
    calls: list[tuple[str, str]] = []

    class Watched(OneFlushWrite):
        def once(self, texts: Sequence[str]) -> None:
            calls.append((self.directory.name, texts[0]))
            super().once(texts)

    class Other(Watched):
        name = "other"

    baselines: list[Baseline] = [Watched(disk / "a"), Other(disk / "b")]
    probe = FlushProbe(disk)
    times = interleave(
        Clock(),
        lambda given: calls.append(("nsstore", given[0])),
        baselines,
        probe,
        batch=1,
        rounds=ROUNDS,
    )
    probe.close()
    for baseline in baselines:
        baseline.close()
    assert {name: len(taken) for name, taken in times.items()} == {
        "nsstore": ROUNDS,
        "raw_one_flush": ROUNDS,
        "other": ROUNDS,
    }
    rounds = [calls[start : start + 3] for start in range(0, len(calls), 3)]
    assert len(rounds) == ROUNDS + WARM_UP
    for number, turn in enumerate(rounds):
        assert [who for who, _ in turn] == [*("ab" if number % 2 == 0 else "ba"), "nsstore"]
        assert len({text for _, text in turn}) == 1


def test_a_store_as_good_as_the_baseline_meets_every_budget(disk: Path) -> None:
    """A store that does what the raw write does is within both budgets, and the JSON holds the contest."""
    store, clock = OneFlushWrite(disk / "store"), Clock()
    verdicts = run(store.once, both(disk), disk, clock)
    store.close()
    assert [verdict.budget.name for verdict in verdicts] == ["remember_vs_raw", "remember_vs_fts5"]
    assert 0.05 < verdicts[0].ratio < 20  # the same act on one disk; only a mistaken unit is further off
    assert set(clock.extra_info) == {"summaries", "verdicts", "flush_floor_us"}


def test_a_slow_store_misses(disk: Path) -> None:
    """A store that takes far longer than its baselines misses both budgets."""
    verdicts = run(lambda _: sleep(0.02), both(disk), disk)
    assert [verdict.met for verdict in verdicts] == [False, False]


def test_a_store_that_does_not_flush_fails(disk: Path) -> None:
    """A store faster than the disk's flush is not durable: no verdict, however good the ratio."""
    with pytest.raises(BaselineError, match="not durable"):
        run(lambda _: None, both(disk), disk)


def test_nothing_timed_is_nothing_proven(disk: Path) -> None:
    """With timing switched off there is no verdict but an error."""
    with pytest.raises(BaselineError, match="benchmark-disable"):
        run(lambda _: None, both(disk), disk, Clock(on=False))
