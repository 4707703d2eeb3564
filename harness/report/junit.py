"""A report as JUnit XML, as services that run builds read it: one test case for each case and each figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsstore.harness.case import Document, Outcome, Report, Result
from nsstore.harness.comparing import changes
from nsstore.harness.measured import BenchRun
from nsstore.harness.report.plain import escaped
from nsstore.harness.report.saved import Saved
from nsstore.harness.report.verdict import Figure, figures, is_owed

SUITE: Final = "nsstore.isolation"
MARK: Final = f'<testsuites name="{SUITE}">'
"""What tells such a file from any other."""


def junit(one: Saved) -> bytes:
    """The whole report; a case is red in it exactly if the report is red for it.

    A case that was not run is skipped, but for a criterion without which nothing is green: that one is
    an error, since what could not be run has not failed. A half that is missing has no test.
    """
    every: list[str] = []
    if (report := one.report) is not None:
        every += [_case(report.provider, result) for result in report.results]
        every += [_figure(report.provider, figure) for figure in figures(report.metrics)]
    if one.bench is not None:
        every += _budgets(one.bench)
        every += _compared(one.bench, one.against) if one.against is not None else ()
    counts = " ".join(
        f'{name}="{sum(f"<{tag} " in text for text in every)}"'
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    )
    body = "\n".join(every)
    seconds = 0.0 if report is None else report.seconds
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"{MARK}\n"
        f'<testsuite name="{SUITE}" tests="{len(every)}" {counts} time="{seconds:.3f}" '
        f'timestamp="{escaped(one.made_at[:19])}">\n'
        f"<properties>\n{_properties(one)}\n</properties>\n"
        f"{body}\n</testsuite>\n</testsuites>\n"
    )
    return text.encode()


def _properties(one: Saved) -> str:
    verdict = one.verdict
    named = {
        "verdict": verdict.word,
        "isolation": verdict.isolation.word,
        "performance": verdict.performance.word,
        **(_of_report(one.report) if one.report is not None else {}),
    }
    return "\n".join(f'<property name="{name}" value="{escaped(value)}"/>' for name, value in named.items())


def _of_report(report: Report) -> dict[str, str]:
    return {
        "provider": report.provider,
        "suite": report.suite,
        "full": str(report.full).lower(),
        "answers": str(report.metrics.answers),
        "hits": str(report.metrics.hits),
        **{figure.name: figure.value for figure in figures(report.metrics)},
    }


def _case(provider: str, result: Result) -> str:
    case = result.case
    told = ""
    if result.outcome is Outcome.FAILED:
        told = _told("failure", result.seen, _asked(result))
    elif is_owed(result):
        told = _told("error", f"not run: {result.seen}", _asked(result))
    elif result.outcome is Outcome.NOT_RUN:
        told = _told("skipped", f"not run: {result.seen}")
    return _test(
        f"{provider}.{Document(case.document).value}", f"{case.id} {case.title}", result.seconds, told
    )


def _asked(result: Result) -> str:
    return f"{result.case.document}: {result.case.sentence}\nseen: {result.seen}"


def _figure(provider: str, figure: Figure) -> str:
    told = "" if figure.good else _told("failure", figure.told())
    return _test(f"{provider}.figures", figure.name, 0, told)


def _budgets(bench: BenchRun) -> Iterator[str]:
    for one in bench.measured:
        missed = "" if one.met else _slow("failure", f"{one.what}: {one.told()}")
        yield _test("budgets", one.name, 0, missed)
    for name in bench.unmeasured:
        yield _test("budgets", name, 0, _slow("error", "not measured"))
    for at, fault in enumerate(bench.faults, 1):
        yield _test("budgets", f"without a figure {at}", 0, _slow("failure", fault))


def _compared(now: BenchRun, then: BenchRun) -> Iterator[str]:
    found = [one for one in changes(now, then) if one.then is not None]
    room = f"against {then.label}"
    for one in found:
        slower = f"{one.now.what}: {one.now.ratio:.2f}, {one.told(then.label)}"
        yield _test(room, one.now.name, 0, _slow("failure", slower) if one.regressed else "")
    if not found:
        yield _test(room, "compared", 0, _slow("error", "nothing that was measured is in it"))


def _test(room: str, name: str, seconds: float, inside: str) -> str:
    head = f'<testcase classname="{escaped(room)}" name="{escaped(name)}" time="{seconds:.3f}"'
    return f"{head}>{inside}</testcase>" if inside else f"{head}/>"


def _told(tag: str, message: str, body: str = "", *, kind: str = "isolation") -> str:
    of_kind = f' type="{kind}"' if tag != "skipped" else ""
    return f'<{tag} message="{escaped(message)}"{of_kind}>{escaped(body)}</{tag}>'


def _slow(tag: str, message: str) -> str:
    return _told(tag, message, kind="performance")
