"""What a report comes to in one word, and why; the same for every face of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from nsstore.harness.case import CRITERIA, LEAST_DRIFT, Document, Metrics, Outcome, Report, Result

DOCUMENTS: Final = {
    Document.REDLINE: "User data isolation redline",
    Document.BOUNDARY: "Memory boundary contract v1",
    Document.REPORTS: "Shapes of leaks that users of such stores reported",
}
"""What each document is called."""


class Word(StrEnum):
    """What a run comes to."""

    GREEN = "green"
    RED = "red"
    PARTIAL = "partial"
    """Nothing failed, but only some of it was asked for: no verdict."""
    MISSING = "missing"
    """It was not asked for at all."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a run: how it is written, the only good value, and what it says."""

    name: str
    value: str
    wanted: str
    says: str
    good: bool

    def told(self) -> str:
        """The figure and what it had to be, in words."""
        return f"{self.says}: {self.value}, and only {self.wanted} is good"


def word(report: Report) -> Word:
    """What the whole report comes to; one that lacks a criterion is red or no verdict at all, never green."""
    asked = {one.case.id for one in report.results}.issuperset(CRITERIA)
    if report.green and asked:
        return Word.GREEN
    if asked or report.failed() or bad(report.metrics):
        return Word.RED
    return Word.PARTIAL


def is_owed(result: Result) -> bool:
    """Whether a case that was not run is one without which nothing is green."""
    return result.outcome is Outcome.NOT_RUN and result.case.id in CRITERIA


def is_red(result: Result) -> bool:
    """Whether a case failed, or had to run and could not."""
    return result.outcome is Outcome.FAILED or is_owed(result)


def reasons(report: Report) -> tuple[str, ...]:
    """Why a report is not green, each in one sentence; none for one that is."""
    told: list[str] = []
    if failed := report.failed():
        told.append(f"{len(failed)} of {len(ran(report))} failed: {_ids(failed)}")
    if owed := [one for one in report.results if is_owed(one)]:
        told.append(f"Not run, and nothing is green without it: {_ids(owed)}")
    told += [one.told() for one in bad(report.metrics)]
    if word(report) is Word.PARTIAL:
        told.append("Only some cases were asked for, so there is no verdict")
    elif word(report) is Word.RED and not told:
        told.append("The suite does not call it green")
    return tuple(told)


def summary(report: Report) -> str:
    """The report in one line."""
    not_run = len(report.results) - len(ran(report))
    beside = f", {not_run} not run" if not_run else ""
    return f"{report.passed} passed, {len(report.failed())} failed{beside}"


def ran(report: Report) -> tuple[Result, ...]:
    """The cases that were run."""
    return tuple(one for one in report.results if one.outcome is not Outcome.NOT_RUN)


def figures(metrics: Metrics) -> tuple[Figure, ...]:
    """The figures beside pass and fail, each with the only value that is good."""
    foreign, found = metrics.foreign_rate, metrics.authorised_recall
    return (
        _figure("foreign_rate", foreign, 0, "Foreign hits by hits"),
        _figure("authorised_recall", found, 1, "Found of what had to be found"),
        _figure("hijack_rate", metrics.hijack_rate, 0, "How often a foreign record came first"),
        _figure("drift", metrics.drift, 0, "The largest change of a score by what the asker may not read"),
    )


def _figure(name: str, value: float, wanted: float, says: str) -> Figure:
    """Rounded, but never so that what is not good is written like what is."""
    good = abs(value - wanted) <= (LEAST_DRIFT if name == "drift" else 0)
    shown = f"{wanted if good else value:.4g}"
    if not good and shown == f"{wanted}":
        shown = repr(value)
    return Figure(name=name, value=shown, wanted=f"{wanted}", says=says, good=good)


def bad(metrics: Metrics) -> list[Figure]:
    """The figures that are not good."""
    return [one for one in figures(metrics) if not one.good]


def _ids(results: tuple[Result, ...] | list[Result]) -> str:
    return ", ".join(one.case.id for one in results)
