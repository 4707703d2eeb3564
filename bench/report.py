"""The verdicts of a run, as a table for people and as JSON for a machine."""

from __future__ import annotations

import io
import os
import platform
import re
import sqlite3
import statistics
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from bench.budgets import Budget, Verdict
from nsstore import __version__
from nsstore.clock import utc_now

_THROTTLED: Final = 10
_PROCESSORS: Final = Path("/proc/cpuinfo")


class Machine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the figures come from; without it they mean little. ``load`` is what ran before the run began."""

    file_system: str
    flush_best_us: float
    flush_p50_us: float
    python: str
    kernel: str
    processor: str
    cores: int
    load: float
    sqlite: str
    tantivy: str


class BenchReport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of the benchmarks: ``met`` is true only if every budget was measured and is met.

    ``version`` is what was measured, by its own name.
    """

    format: int = 1
    version: str
    made_at: str
    met: bool
    machine: Machine
    verdicts: tuple[Verdict, ...]
    unmeasured: tuple[str, ...]


def report(
    budgets: Sequence[Budget],
    verdicts: Sequence[Verdict],
    file_system: str,
    flushes: Sequence[float],
    load: float,
) -> BenchReport:
    """Gather a run; ``flushes`` are the probe's, in seconds. A budget without a verdict is unmeasured."""
    measured = {verdict.budget.name for verdict in verdicts}
    unmeasured = tuple(budget.name for budget in budgets if budget.name not in measured)
    return BenchReport(
        version=__version__,
        made_at=utc_now(),
        met=not unmeasured and all(verdict.met for verdict in verdicts),
        machine=Machine(
            file_system=file_system,
            flush_best_us=min(flushes) * 1e6,
            flush_p50_us=statistics.median(flushes) * 1e6,
            python=platform.python_version(),
            kernel=platform.release(),
            processor=processor(),
            cores=os.cpu_count() or 1,
            load=load,
            sqlite=sqlite3.sqlite_version,
            tantivy=version("tantivy"),
        ),
        verdicts=tuple(verdicts),
        unmeasured=unmeasured,
    )


def processor(told: str | None = None) -> str:
    """What the processor is called, as Linux tells it (``told``, read now if left out), else its kind."""
    if told is None:
        told = _PROCESSORS.read_text() if _PROCESSORS.exists() else ""
    named = re.search(r"^model name\s*: (.+)$", told, re.MULTILINE)
    return named[1] if named else platform.machine()


def render(found: BenchReport, *, colour: bool, width: int = 126) -> str:
    """Draw the table: one line per budget, microseconds per record, and the verdict last."""
    where = found.machine
    flush = f"a flush {where.flush_best_us:.0f} µs at best, {where.flush_p50_us:.0f} µs at the median"
    caption = f"Python {where.python}, Linux {where.kernel}; medians of interleaved rounds decide"
    if where.flush_p50_us > _THROTTLED * where.flush_best_us:
        caption += "\n[yellow]the disk was throttled or shared: a ratio near 1 says little about nsstore[/]"
    table = Table(
        title=f"budgets, in µs per record; {where.file_system}, {flush}",
        caption=caption,
    )
    table.add_column("budget", no_wrap=True)
    for heading in ("rounds", "p50", "p99"):
        table.add_column(heading, justify="right")
    table.add_column("baseline", no_wrap=True)
    for heading in ("p50", "p99", "ratio", "at most", "p99/p50"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for one in found.verdicts:
        table.add_row(
            one.budget.name,
            str(one.ours.rounds),
            *(f"{value:.0f}" for value in (one.ours.p50_us, one.ours.p99_us)),
            one.theirs.name,
            *(f"{value:.0f}" for value in (one.theirs.p50_us, one.theirs.p99_us)),
            f"{one.ratio:.2f}",
            f"{one.budget.max_ratio:.2f}",
            f"{one.spread:.1f}",
            "[green]met[/]" if one.met else "[bold red]MISSED[/]",
        )
    for name in found.unmeasured:
        table.add_row(name, *[""] * 9, "[bold red]UNMEASURED[/]")
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, no_color=not colour)
    console.print(table)
    return out.getvalue()
