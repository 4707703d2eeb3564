"""A report as one HTML page that needs nothing else: no script, no other file, no request."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from nsstore.harness.case import Outcome, Report, Result
from nsstore.harness.measured import BenchRun
from nsstore.harness.report.charts import charts
from nsstore.harness.report.head import head, title
from nsstore.harness.report.plain import escaped
from nsstore.harness.report.saved import Saved
from nsstore.harness.report.style import style
from nsstore.harness.report.verdict import DOCUMENTS, figures, is_owed, is_red

MARK: Final = '<meta name="generator" content="nsstore accept">'
"""What tells such a page from any other file."""
BADGES: Final = {
    Outcome.PASSED: ("good", "✓", "passed"),
    Outcome.FAILED: ("bad", "✗", "failed"),
    Outcome.NOT_RUN: ("idle", "○", "not run"),
}


def page(one: Saved, again: str) -> bytes:
    """The whole page; ``again`` is the command that runs one case once more, up to its id."""
    sheet = style()
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    allowed = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'{MARK}\n<meta http-equiv="Content-Security-Policy" content="{allowed}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<link rel="icon" href="data:,">',
        f"<title>{title(one)}</title>",
        f"<style>{sheet}</style>\n</head>\n<body>",
        f'<a class="skip" href="#{_first(one)}">Skip to what was found</a>',
        *head(one),
        *_contents(one),
        "<main>",
        *(_report(one.report, again) if one.report is not None else ()),
        *_benches(one.benches, one.against),
        "</main>",
        _FOOT,
        "</body>\n</html>\n",
    ]
    return "\n".join(parts).encode()


def _first(one: Saved) -> str:
    """The section to skip to."""
    return "cases" if one.report is not None else "benchmarks"


def _report(report: Report, again: str) -> Iterator[str]:
    yield from _failures(report)
    yield from _cases(report, again)
    yield from _figures(report)


def _contents(one: Saved) -> Iterator[str]:
    links: list[tuple[str, str]] = []
    if (report := one.report) is not None:
        failed = len(_red(report.results))
        links += [("failed", f"What is red ({failed})")] if failed else []
        links += [("cases", f"Cases ({len(report.results)})"), ("figures", "Figures")]
    links += [("benchmarks", "Benchmarks")] if one.benches else []
    items = "".join(f'<li><a href="#{name}">{words}</a></li>' for name, words in links)
    yield f'<nav aria-label="On this page"><ul>{items}</ul></nav>'


def _red(results: Sequence[Result]) -> list[Result]:
    return [one for one in results if is_red(one)]


def _failures(report: Report) -> Iterator[str]:
    red = _red(report.results)
    if not red:
        return
    yield '<section id="failed" aria-labelledby="failed-h"><h2 id="failed-h">What is red</h2>'
    yield '<ul class="failures">'
    for result in red:
        name = escaped(result.case.id)
        told = "not run" if is_owed(result) else "failed"
        yield (
            f'<li><a href="#{name}"><span class="id">{name}</span> {escaped(result.case.title)}</a> '
            f"({told})</li>"
        )
    yield "</ul></section>"


def _cases(report: Report, again: str) -> Iterator[str]:
    yield '<section id="cases" aria-labelledby="cases-h" tabindex="-1"><h2 id="cases-h">Cases</h2>'
    for document, name in DOCUMENTS.items():
        results = [result for result in report.results if result.case.document is document]
        if results:
            yield f'<h3>{name}</h3>\n<ol class="cases">'
            yield from (_case(result, again) for result in results)
            yield "</ol>"
    yield "</section>"


def _case(result: Result, again: str) -> str:
    case = result.case
    kind, mark, words = BADGES[result.outcome]
    if is_owed(result):
        kind = "bad"
    beneath = [f"{result.seconds * 1000:.0f} ms"]
    if case.needs:
        beneath.append(f"needs: {', '.join(case.needs)}")
    if case.reason is not None:
        beneath.append(f"an audit has to say <code>{escaped(case.reason)}</code>")
    if is_red(result):
        beneath.append(f"again: <code>{escaped(f'{again} {case.id}')}</code>")
    return (
        f'<li id="{escaped(case.id)}"><div class="side"><span class="badge {kind}">'
        f'<span aria-hidden="true">{mark}</span> {words}</span></div>'
        f'<div><h4><span class="id">{escaped(case.id)}</span> {escaped(case.title)}</h4>'
        f'<p class="asked"><q>{escaped(case.sentence)}</q></p>'
        f'<p class="seen">Seen: {escaped(result.seen)}</p>'
        f'<p class="small">{" · ".join(beneath)}</p></div></li>'
    )


def _figures(report: Report) -> Iterator[str]:
    metrics = report.metrics
    yield '<section id="figures" aria-labelledby="figures-h"><h2 id="figures-h">Figures</h2>\n<table>'
    yield f"<caption>Over {metrics.answers} answers with {metrics.hits} hits</caption>"
    yield '<thead><tr><th scope="col">Figure</th><th scope="col" class="number">Measured</th>'
    yield '<th scope="col" class="number">Wanted</th></tr></thead>\n<tbody>'
    for figure in figures(metrics):
        kind, mark, words = ("good", "✓", "good") if figure.good else ("bad", "✗", "not good")
        yield (
            f'<tr><th scope="row">{figure.says}<br><code class="small">{figure.name}</code></th>'
            f'<td class="number">{figure.value}<br><span class="badge {kind}"><span aria-hidden="true">{mark}'
            f'</span> {words}</span></td><td class="number">{figure.wanted}</td></tr>'
        )
    yield "</tbody></table></section>"


def _benches(runs: Sequence[BenchRun], against: BenchRun | None) -> Iterator[str]:
    if not runs:
        return
    newest = runs[-1]
    yield '<section id="benchmarks" aria-labelledby="benchmarks-h" tabindex="-1">'
    yield '<h2 id="benchmarks-h">Benchmarks</h2>'
    yield (
        "<p>Each bar is what something took at the median, as a multiple of its baseline in the same run; "
        "the upright line is its budget. Beneath stand earlier runs, oldest first, the budget dashed.</p>"
    )
    if newest.answers:
        yield (
            f"<p>{newest.answers} timed answers were looked through for what their asker may not read, "
            f"{newest.hits} hits.</p>"
        )
    yield f'<p class="small">{escaped(newest.label)}: {escaped(newest.where())}</p>\n<div class="charts">'
    yield charts(runs, against)
    yield "</div>"
    if newest.faults:
        items = "".join(f"<li>{escaped(fault)}</li>" for fault in newest.faults)
        yield f"<h3>Without a figure</h3>\n<ul>{items}</ul>"
    if newest.unmeasured:
        items = "".join(f"<li><code>{escaped(name)}</code></li>" for name in newest.unmeasured)
        yield f"<h3>Not measured, so not met</h3>\n<ul>{items}</ul>"
    yield "</section>"


_FOOT: Final = """<footer>
<h2>How to read it</h2>
<dl>
<div><dt>Passed</dt><dd>The case was tried just then, and what had to be seen was seen.</dd></div>
<div><dt>Failed</dt><dd>It was tried, and what had to hold could not be shown.
Unproven counts as failed.</dd></div>
<div><dt>Not run</dt><dd>The provider, or the machine, lacks what the case needs. That is no failure and no
proof; of the ten criteria AC01 to AC10 each has to run.</dd></div>
</dl>
<p>Green is one verdict on both halves, isolation and performance. Where one of them is missing there is none.
A green page says that this build, on this machine, did what the cases ask and kept its budgets. It says
nothing about what no case asks.</p>
</footer>"""
