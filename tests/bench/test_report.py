"""The table and the JSON say the same, and silence is not success."""

from __future__ import annotations

import platform
import sqlite3

import msgspec
import pytest

import nsstore
from bench.budgets import WRITES as BUDGETS
from bench.budgets import Summary, Verdict, judge
from bench.report import BenchReport, processor, render, report


def verdict(number: int, ratio: float) -> Verdict:
    """A verdict on one budget at some ratio."""
    ours, theirs = (
        Summary(name=name, rounds=9, best_us=p50, p50_us=p50, p99_us=p50)
        for name, p50 in (("nsstore", 100 * ratio), (BUDGETS[number].baseline, 100.0))
    )
    return judge(BUDGETS[number], ours, theirs)


def made(*ratios: float, flushes: tuple[float, ...] = (7e-5, 8e-5)) -> BenchReport:
    """A report on the first budgets, one ratio each."""
    verdicts = [verdict(number, ratio) for number, ratio in enumerate(ratios)]
    return report(BUDGETS, verdicts, "ext4", flushes, 0.5)


@pytest.mark.parametrize(
    ("ratios", "met", "word"),
    [((1.0, 1.0, 1.0), True, "met"), ((1.0, 9.0, 1.0), False, "MISSED"), ((1.0, 1.0), False, "UNMEASURED")],
)
def test_a_run_is_met_only_if_every_budget_was_measured_and_is_met(
    ratios: tuple[float, ...],
    met: bool,  # noqa: FBT001 - a column of the table
    word: str,
) -> None:
    """One missed or unmeasured budget makes the whole run fail, and the table shows which."""
    found = made(*ratios)
    assert found.met is met
    drawn = render(found, colour=False)
    assert word in drawn
    assert all(budget.name in drawn for budget in BUDGETS)


def test_the_json_holds_the_whole_report() -> None:
    """What is written for a machine decodes to the report itself."""
    found = made(1.0, 9.0)
    assert msgspec.json.decode(msgspec.json.encode(found), type=BenchReport) == found


def test_the_json_says_where_and_of_what() -> None:
    """A later run finds the version, the time, and what decides how fast a machine is; no commit."""
    found = made(1.0)
    assert found.version == nsstore.__version__
    assert found.made_at.startswith("20")
    assert found.machine.load == 0.5
    assert found.machine.cores >= 1
    assert found.machine.processor
    assert found.machine.sqlite == sqlite3.sqlite_version
    assert set(msgspec.to_builtins(found)) == {
        "format", "version", "made_at", "met", "machine", "verdicts", "unmeasured"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ("processor : 0\nmodel name\t: AMD EPYC 7R13\nmodel name\t: another\n", "AMD EPYC 7R13"),
        ("", platform.machine()),
    ],
)
def test_a_processor_has_its_name(told: str, named: str) -> None:
    """The processor is called as Linux calls it, or by its kind where Linux does not say."""
    assert processor(told) == named


@pytest.mark.parametrize(("flushes", "told"), [((7e-5, 9e-5, 9e-5), False), ((7e-5, 4e-3, 4e-3), True)])
def test_a_throttled_disk_is_told(
    flushes: tuple[float, ...],
    told: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """Where the usual flush is far slower than the best one, the table says what that does to ratios."""
    assert ("throttled" in render(made(1.0, 1.0, 1.0, flushes=flushes), colour=False)) is told
