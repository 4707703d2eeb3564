"""The one table of budgets, and the verdict on a run: a budget is data, not a number in a test."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from nsstore.harness.measured import part_medians

Subject = Literal[
    "remember",
    "remember_many",
    "search_100",
    "search_1k",
    "search_10k",
    "search_100k",
    "search_shared",
    "many_namespaces",
    "first_search",
    "written_found",
    "write_with_views",
    "superseded",
    "while_folding",
    "search_wide",
    "mcp_search",
    "hook_start",
    "search_process",
    "help_process",
]


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``subject`` may cost at the median, as a multiple of a baseline timed in the same run.

    ``max_spread`` bounds its own p99 as a multiple of its own median. A ``long`` one is measured by
    ``just bench-long`` alone.
    """

    name: str
    what: str
    subject: Subject
    baseline: str
    max_ratio: float
    unit: str
    how: str
    max_spread: float | None = None
    long: bool = False


BATCH: Final = 100
WRITES: Final = (
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


SPREAD: Final = 6.0
RAW: Final = "raw_tantivy"
OWN: Final = "fts5_own"


def _search(subject: Subject, baseline: str, max_ratio: float, what: str, *, long: bool = False) -> Budget:
    """A budget of a search by one question that finds ten records of 1 KB."""
    return Budget(
        name=f"{subject}_vs_{baseline}",
        what=what,
        subject=subject,
        baseline=baseline,
        max_ratio=max_ratio,
        unit="one question of eight words",
        how="round robin in one process, ratio of medians",
        max_spread=SPREAD,
        long=long,
    )


_TEN: Final = "search p50 with 10 verified, audited hits"
SEARCHES: Final = (
    _search("search_100", RAW, 5, f"{_TEN}, 100 records"),
    _search("search_1k", RAW, 5, f"{_TEN}, 1,000 records"),
    _search("search_10k", RAW, 4, f"{_TEN}, 10,000 records"),
    _search("search_100k", RAW, 2, f"{_TEN}, 100,000 records", long=True),
    _search("search_100", OWN, 1.8, f"{_TEN}, 100 records"),
    _search("search_1k", OWN, 0.85, f"{_TEN}, 1,000 records"),
    _search("search_10k", OWN, 0.25, f"{_TEN}, 10,000 records"),
    _search("search_100k", OWN, 0.06, f"{_TEN}, 100,000 records", long=True),
    _search("search_shared", "fts5_shared", 0.25, f"{_TEN}, 100 namespaces of 1,000", long=True),
    _search("many_namespaces", "ten_namespaces", 1.15, f"{_TEN}, 10,000 namespaces", long=True),
    _search("first_search", "tantivy_open", 4, "first search after opening, 1,000 records, warm"),
    _search("written_found", "write_alone", 1.2, "a record written and found by its own process"),
    _search("write_with_views", "write_one_view", 1.1, "a write while 16 views are open"),
    _search("superseded", "plain_search", 2, "supersede, then the next search, 10,000 records"),
    _search("while_folding", "no_fold", 2.5, "search while a fold runs, 10,000 records"),
    _search("search_wide", "one_namespace", 2, f"{_TEN}, 1,000 sessions of 20 under one grant"),
)
FACES: Final = (
    Budget(
        name="mcp_search_vs_empty_call",
        what="search through the tools, round trip p50, 1,000 records",
        subject="mcp_search",
        baseline="empty_call",
        max_ratio=2,
        unit="one question of eight words, five hits",
        how="two servers, one client, round robin, ratio of medians",
    ),
    Budget(
        name="hook_start_vs_bare_imports",
        what="the hook of a session's start as a process, p50",
        subject="hook_start",
        baseline="bare_imports",
        max_ratio=4,
        unit="one process",
        how="processes in turn, ratio of medians",
    ),
    Budget(
        name="search_process_vs_bare_imports",
        what="nsstore search as a process, p50, 1,000 records",
        subject="search_process",
        baseline="bare_imports",
        max_ratio=3,
        unit="one process",
        how="processes in turn, ratio of medians",
    ),
    Budget(
        name="help_process_vs_bare_click",
        what="nsstore --help as a process, p50",
        subject="help_process",
        baseline="bare_click",
        max_ratio=2,
        unit="one process",
        how="processes in turn, ratio of medians",
    ),
)
BUDGETS: Final = WRITES + SEARCHES + FACES
LIMITS: Final = {"threads": 40, "descriptors": 200, "megabytes": 300}
"""What 10,000 namespaces may cost that are searched at random twice, in memory as growth."""


class Summary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Times of one contender, in µs per record; ``parts_us`` are the medians of consecutive parts."""

    name: str
    rounds: int
    best_us: float
    p50_us: float
    p99_us: float
    parts_us: tuple[float, ...] = ()


class Verdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one run says about one budget: the ratio of medians decides, and the spread where bounded."""

    budget: Budget
    ours: Summary
    theirs: Summary
    ratio: float
    p99_ratio: float
    met: bool
    spread: float = 0.0


def budgets_of(subject: Subject) -> tuple[Budget, ...]:
    """Every budget that one interleaved run of ``subject`` answers, in the table's order."""
    return tuple(budget for budget in BUDGETS if budget.subject == subject)


def summarize(name: str, seconds: Sequence[float], records: int) -> Summary:
    """Reduce the times of one contender's rounds of ``records`` records each; p99 is nearest rank."""
    times = [second * 1e6 / records for second in seconds]
    ordered = sorted(times)
    return Summary(
        name=name,
        rounds=len(ordered),
        best_us=ordered[0],
        p50_us=statistics.median(ordered),
        p99_us=ordered[math.ceil(0.99 * len(ordered)) - 1],
        parts_us=part_medians(times),
    )


def judge(budget: Budget, ours: Summary, theirs: Summary) -> Verdict:
    """Say whether the budget is met by two summaries of the same interleaved rounds.

    Raises ``ValueError`` if the summaries cannot be compared: another baseline, other rounds.
    """
    if theirs.name != budget.baseline or ours.rounds != theirs.rounds:
        raise ValueError(f"{budget.name} needs equal rounds of {budget.baseline}, not {theirs.name}")
    ratio = ours.p50_us / theirs.p50_us
    spread = ours.p99_us / ours.p50_us
    return Verdict(
        budget=budget,
        ours=ours,
        theirs=theirs,
        ratio=ratio,
        p99_ratio=ours.p99_us / theirs.p99_us,
        met=ratio <= budget.max_ratio and spread <= (budget.max_spread or math.inf),
        spread=spread,
    )
