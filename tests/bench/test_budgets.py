"""Budgets are data, and a verdict is arithmetic on one interleaved run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.baselines import BY_NAME
from bench.budgets import BUDGETS, Summary, budgets_of, judge, summarize

BENCH = Path(__file__).resolve().parents[2] / "bench"


def summary(name: str, p50: float, rounds: int = 100) -> Summary:
    """A contender whose every round took the same time."""
    return Summary(name=name, rounds=rounds, best_us=p50, p50_us=p50, p99_us=2 * p50)


def test_the_limits_are_these() -> None:
    """A budget cannot be loosened in passing: the limits stand here a second time."""
    assert {budget.name: (budget.baseline, budget.max_ratio) for budget in BUDGETS} == {
        "remember_vs_raw": ("raw_one_flush", 1.5),
        "remember_vs_fts5": ("sqlite_fts5_insert", 1.3),
        "remember_many_vs_syncfs": ("raw_syncfs_batch", 1.6),
    }


def test_every_budget_has_its_baseline_and_its_benchmark() -> None:
    """Each budget names a baseline that exists and a subject that a benchmark measures."""
    measured = "".join(path.read_text() for path in BENCH.glob("test_*.py"))
    for budget in BUDGETS:
        assert budget.baseline in BY_NAME
        assert f"def test_{budget.subject}(" in measured
        assert budget in budgets_of(budget.subject)


def test_times_are_reduced_per_record() -> None:
    """Seconds per round become microseconds per record; the 99th of a hundred is the p99."""
    found = summarize("nsstore", [number / 1e4 for number in range(100, 0, -1)], records=100)
    assert found.rounds == 100
    assert found.best_us == pytest.approx(1.0)
    assert found.p50_us == pytest.approx(50.5)
    assert found.p99_us == pytest.approx(99.0)


@pytest.mark.parametrize(("ours", "met"), [(100.0, True), (150.0, True), (150.1, False)])
def test_the_ratio_of_medians_decides(ours: float, met: bool) -> None:  # noqa: FBT001 - a column of the table
    """A budget is met up to its ratio, the limit itself included, and missed above it."""
    found = judge(BUDGETS[0], summary("nsstore", ours), summary("raw_one_flush", 100.0))
    assert found.ratio == pytest.approx(ours / 100)
    assert found.met is met


@pytest.mark.parametrize("theirs", [summary("sqlite_fts5_insert", 1.0), summary("raw_one_flush", 1.0, 99)])
def test_what_was_not_run_together_is_not_compared(theirs: Summary) -> None:
    """Another baseline, or rounds that do not match, give no verdict."""
    with pytest.raises(ValueError, match="raw_one_flush"):
        judge(BUDGETS[0], summary("nsstore", 1.0), theirs)
