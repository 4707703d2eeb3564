"""Budgets are data, and a verdict is arithmetic on one interleaved run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.baselines import BY_NAME
from bench.budgets import BUDGETS, LIMITS, SEARCHES, Summary, budgets_of, judge, summarize

BENCH = Path(__file__).resolve().parents[2] / "bench"
CONTENDERS = (BENCH / "contenders.py").read_text()


def summary(name: str, p50: float, rounds: int = 100) -> Summary:
    """A contender whose every round took the same time."""
    return Summary(name=name, rounds=rounds, best_us=p50, p50_us=p50, p99_us=2 * p50)


def test_the_limits_are_these() -> None:
    """A budget cannot be loosened in passing: the limits stand here a second time."""
    assert {budget.name: (budget.baseline, budget.max_ratio) for budget in BUDGETS} == {
        "remember_vs_raw": ("raw_one_flush", 1.5),
        "remember_vs_fts5": ("sqlite_fts5_insert", 1.3),
        "remember_many_vs_syncfs": ("raw_syncfs_batch", 1.6),
        "search_100_vs_raw_tantivy": ("raw_tantivy", 5),
        "search_1k_vs_raw_tantivy": ("raw_tantivy", 5),
        "search_10k_vs_raw_tantivy": ("raw_tantivy", 4),
        "search_100k_vs_raw_tantivy": ("raw_tantivy", 2),
        "search_100_vs_fts5_own": ("fts5_own", 1.8),
        "search_1k_vs_fts5_own": ("fts5_own", 0.85),
        "search_10k_vs_fts5_own": ("fts5_own", 0.25),
        "search_100k_vs_fts5_own": ("fts5_own", 0.06),
        "search_shared_vs_fts5_shared": ("fts5_shared", 0.25),
        "many_namespaces_vs_ten_namespaces": ("ten_namespaces", 1.15),
        "first_search_vs_tantivy_open": ("tantivy_open", 4),
        "written_found_vs_write_alone": ("write_alone", 1.2),
        "write_with_views_vs_write_one_view": ("write_one_view", 1.1),
        "superseded_vs_plain_search": ("plain_search", 2),
        "while_folding_vs_no_fold": ("no_fold", 2.5),
        "search_wide_vs_one_namespace": ("one_namespace", 2),
        "mcp_search_vs_empty_call": ("empty_call", 2),
        "hook_start_vs_bare_imports": ("bare_imports", 4),
        "search_process_vs_bare_imports": ("bare_imports", 3),
        "help_process_vs_bare_click": ("bare_click", 2),
    }
    assert {budget.max_spread for budget in SEARCHES} == {6}
    assert LIMITS == {"threads": 40, "descriptors": 200, "megabytes": 300}


def test_every_budget_has_its_baseline_and_its_benchmark() -> None:
    """Each budget names a baseline that exists and a subject that a benchmark measures."""
    measured = "".join(path.read_text() for path in BENCH.glob("test_*.py"))
    for budget in BUDGETS:
        assert budget.baseline in BY_NAME or f'"{budget.baseline}"' in measured + CONTENDERS
        assert f"def test_{budget.subject}(" in measured or f'"{budget.subject}"' in measured
        assert budget in budgets_of(budget.subject)


def test_times_are_reduced_per_record() -> None:
    """Seconds per round become microseconds per record; the 99th of a hundred is the p99."""
    found = summarize("nsstore", [number / 1e4 for number in range(100, 0, -1)], records=100)
    assert found.rounds == 100
    assert found.best_us == pytest.approx(1.0)
    assert found.p50_us == pytest.approx(50.5)
    assert found.p99_us == pytest.approx(99.0)
    assert found.parts_us == pytest.approx([90.5, 70.5, 50.5, 30.5, 10.5])


@pytest.mark.parametrize(("ours", "met"), [(100.0, True), (150.0, True), (150.1, False)])
def test_the_ratio_of_medians_decides(ours: float, met: bool) -> None:  # noqa: FBT001 - a column of the table
    """A budget is met up to its ratio, the limit itself included, and missed above it."""
    found = judge(BUDGETS[0], summary("nsstore", ours), summary("raw_one_flush", 100.0))
    assert found.ratio == pytest.approx(ours / 100)
    assert found.met is met


@pytest.mark.parametrize(("p99", "met"), [(600.0, True), (601.0, False)])
def test_a_bounded_spread_decides_too(p99: float, met: bool) -> None:  # noqa: FBT001 - a column of the table
    """A search whose slowest hundredth is above six times its median misses its budget, however fast."""
    ours = Summary(name="nsstore", rounds=100, best_us=90.0, p50_us=100.0, p99_us=p99)
    assert judge(SEARCHES[0], ours, summary(SEARCHES[0].baseline, 100.0)).met is met


@pytest.mark.parametrize("theirs", [summary("sqlite_fts5_insert", 1.0), summary("raw_one_flush", 1.0, 99)])
def test_what_was_not_run_together_is_not_compared(theirs: Summary) -> None:
    """Another baseline, or rounds that do not match, give no verdict."""
    with pytest.raises(ValueError, match="raw_one_flush"):
        judge(BUDGETS[0], summary("nsstore", 1.0), theirs)
