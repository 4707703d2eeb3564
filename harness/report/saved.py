"""A report as JSON, read back by whoever compares two releases; and the results of benchmarks, as given."""

from __future__ import annotations

from typing import Final

import msgspec

from nsstore.errors import InvalidInput
from nsstore.harness.case import Report
from nsstore.harness.measured import BenchRun, Measured, part_ratios
from nsstore.harness.verdict import Verdict, verdict_of

FORMAT: Final = 1
MOST: Final = 16 * 1024 * 1024
"""Bytes that a file of results may hold."""


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """All that one run says: the verdict, both halves as far as they are there, and what they were held to.

    ``benches`` are the results of benchmarks, oldest first; the last are this run's.
    """

    format: int = FORMAT
    verdict: Verdict
    made_at: str
    report: Report | None
    benches: tuple[BenchRun, ...] = ()
    against: BenchRun | None = None

    @property
    def bench(self) -> BenchRun | None:
        """The newest results of benchmarks, if any were given."""
        return self.benches[-1] if self.benches else None


def saved(
    report: Report | None,
    made_at: str,
    benches: tuple[BenchRun, ...] = (),
    against: BenchRun | None = None,
) -> Saved:
    """A report and its benchmarks, with the verdict on both."""
    verdict = verdict_of(report, benches[-1] if benches else None, against)
    return Saved(verdict=verdict, made_at=made_at, report=report, benches=benches, against=against)


def save(one: Saved) -> bytes:
    """A report as JSON, a line to each value."""
    return msgspec.json.format(msgspec.json.encode(one)) + b"\n"


def load(raw: bytes) -> Saved:
    """A saved report. Raises :class:`InvalidInput` for anything else, for a later format, and for a verdict
    that does not follow from what stands beside it.
    """
    try:
        found = msgspec.json.decode(raw, type=Saved)
    except msgspec.DecodeError as err:
        raise InvalidInput(f"no saved report: {err}") from None
    if found.format != FORMAT:
        raise InvalidInput(f"a saved report of format {found.format}; this version reads {FORMAT}")
    follows = verdict_of(found.report, found.bench, found.against)
    if follows.word is not found.verdict.word:
        raise InvalidInput(f"a saved report that says {found.verdict.word} and comes to {follows.word}")
    return found


class _Budget(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    what: str
    baseline: str
    max_ratio: float | None = None
    max_spread: float | None = None


class _Summary(msgspec.Struct, frozen=True, kw_only=True):
    rounds: int = 0
    p50_us: float | None = None
    parts_us: tuple[float, ...] = ()


class _Verdict(msgspec.Struct, frozen=True, kw_only=True):
    budget: _Budget
    ratio: float
    met: bool
    spread: float = 0.0
    ours: _Summary = _Summary()
    theirs: _Summary = _Summary()


class _Bench(msgspec.Struct, frozen=True, kw_only=True):
    """What ``pytest bench --json`` writes, as far as a face shows it."""

    format: int = FORMAT
    met: bool
    verdicts: tuple[_Verdict, ...]
    unmeasured: tuple[str, ...] = ()
    machine: dict[str, str | int | float] = {}
    version: str | None = None
    made_at: str | None = None


def load_bench(raw: bytes, label: str) -> BenchRun:
    """The results of benchmarks, as the benchmarks write them, or the newest of a saved report.

    Raises :class:`InvalidInput`.
    """
    try:
        found = msgspec.json.decode(raw, type=_Bench)
    except msgspec.DecodeError as err:
        within = _within_report(raw)
        if within is None:
            raise InvalidInput(f"{label}: no results of benchmarks: {err}") from None
        return msgspec.structs.replace(within, label=label)
    if found.format != FORMAT:
        raise InvalidInput(f"{label}: results of format {found.format}; this version reads {FORMAT}")
    run = BenchRun(
        label=label,
        machine=found.machine,
        measured=tuple(map(_measured, found.verdicts)),
        unmeasured=found.unmeasured,
        version=found.version,
        made_at=found.made_at,
    )
    if run.met and not found.met:
        return msgspec.structs.replace(run, faults=("The results themselves say that they are not met",))
    return run


def _within_report(raw: bytes) -> BenchRun | None:
    """The newest results of a saved report, if it is one and holds any."""
    try:
        return load(raw).bench
    except InvalidInput:
        return None


def _measured(one: _Verdict) -> Measured:
    budget = one.budget
    return Measured(
        name=budget.name,
        what=budget.what,
        baseline=budget.baseline,
        ratio=one.ratio,
        max_ratio=budget.max_ratio,
        met=one.met and (budget.max_ratio is None or one.ratio <= budget.max_ratio),
        parts=part_ratios(one.ours.parts_us, one.theirs.parts_us),
        rounds=one.ours.rounds,
        ours_us=one.ours.p50_us,
        theirs_us=one.theirs.p50_us,
        spread=one.spread,
        max_spread=budget.max_spread,
    )
