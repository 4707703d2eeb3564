"""The one table of budgets, and the verdict on a run: a budget is data, not a number in a test."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

Subject = Literal["remember", "remember_many"]


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``subject`` may cost at the median, as a multiple of a baseline timed in the same run."""

    name: str
    what: str
    subject: Subject
    baseline: str
    max_ratio: float
    unit: str
    how: str


BATCH: Final = 100
BUDGETS: Final = (
    Budget(
        name="remember_vs_raw",
        what="remember, durable, p50",
        subject="remember",
        baseline="raw_one_flush",
        max_ratio=1.5,
        unit="one text of 1 KB",
        how="round robin in one process, ratio of medians",
    ),
    Budget(
        name="remember_vs_fts5",
        what="remember, durable, p50",
        subject="remember",
        baseline="sqlite_fts5_insert",
        max_ratio=1.3,
        unit="one text of 1 KB",
        how="round robin in one process, ratio of medians",
    ),
    Budget(
        name="remember_many_vs_syncfs",
        what=f"remember_many({BATCH}), durable, p50 per record",
        subject="remember_many",
        baseline="raw_syncfs_batch",
        max_ratio=1.6,
        unit=f"one text of 1 KB in a batch of {BATCH}",
        how="round robin in one process, ratio of medians",
    ),
)


class Summary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Times of one contender, in microseconds per record."""

    name: str
    rounds: int
    best_us: float
    p50_us: float
    p99_us: float


class Verdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one run says about one budget; only the ratio of medians decides, p99 is told."""

    budget: Budget
    ours: Summary
    theirs: Summary
    ratio: float
    p99_ratio: float
    met: bool


def budgets_of(subject: Subject) -> tuple[Budget, ...]:
    """Every budget that one interleaved run of ``subject`` answers, in the table's order."""
    return tuple(budget for budget in BUDGETS if budget.subject == subject)


def summarize(name: str, seconds: Sequence[float], records: int) -> Summary:
    """Reduce the times of one contender's rounds of ``records`` records each; p99 is nearest rank."""
    ordered = sorted(second * 1e6 / records for second in seconds)
    return Summary(
        name=name,
        rounds=len(ordered),
        best_us=ordered[0],
        p50_us=statistics.median(ordered),
        p99_us=ordered[math.ceil(0.99 * len(ordered)) - 1],
    )


def judge(budget: Budget, ours: Summary, theirs: Summary) -> Verdict:
    """Say whether the budget is met by two summaries of the same interleaved rounds.

    Raises ``ValueError`` if the summaries cannot be compared: another baseline, other rounds.
    """
    if theirs.name != budget.baseline or ours.rounds != theirs.rounds:
        raise ValueError(f"{budget.name} needs equal rounds of {budget.baseline}, not {theirs.name}")
    ratio = ours.p50_us / theirs.p50_us
    return Verdict(
        budget=budget,
        ours=ours,
        theirs=theirs,
        ratio=ratio,
        p99_ratio=ours.p99_us / theirs.p99_us,
        met=ratio <= budget.max_ratio,
    )
