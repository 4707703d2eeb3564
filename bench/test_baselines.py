"""Each baseline alone: its figure in the saved JSON shows whether the machine or nsstore moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bench.baselines import ALL, Baseline, FlushProbe, SyncfsBatch
from bench.budgets import BATCH
from bench.rounds import WARM_UP, Benchmark
from nsstore.harness.texts import texts

MakeBaseline = Callable[[str], Baseline]


@pytest.mark.parametrize("name", [kind.name for kind in ALL])
def test_baseline_alone(name: str, benchmark: Benchmark, baseline: MakeBaseline, probe: FlushProbe) -> None:
    """A baseline keeps every text and flushes for real when it runs with nothing beside it."""
    batch, rounds = (BATCH, 40) if name == SyncfsBatch.name else (1, 400)
    benchmark.group = f"baselines alone, {batch} texts a round"
    one, source = baseline(name), texts(batch)

    def setup() -> tuple[tuple[Sequence[str]], dict[str, object]]:
        probe.once()
        return (next(source),), {}

    benchmark.pedantic(one.once, setup=setup, rounds=rounds, warmup_rounds=WARM_UP)
    one.prove(probe.floor)
