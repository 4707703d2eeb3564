"""Accept: what the isolation suite says of nsstore here, or of somebody's own provider."""

from __future__ import annotations

import contextlib
import shlex
import sys
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import a_file, json_option
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.harness.case import Report, Result
    from nsstore.harness.measured import BenchRun
    from nsstore.harness.report.saved import Saved
    from nsstore.harness.timing import Verb

OWN: Final = "nsstore"
MOST: Final = 64 * 1024 * 1024
"""Bytes of a report that is replaced."""
BENEATH: Final = 8
MARKS: Final = {"passed": ("✓", "green"), "failed": ("✗", "red"), "not_run": ("○", "yellow")}


@click.command()
@click.option(
    "--provider",
    default=OWN,
    metavar="MODULE:FACTORY",
    help="Whose memory: a function that makes an empty one; nsstore itself if not given.",
)
@click.option("--full", is_flag=True, help="Every case, with time for more of each.")
@click.option("--only", multiple=True, metavar="ID", help="This case alone, as AC03; may be given again.")
@click.option(
    "--bench",
    multiple=True,
    metavar="FILE",
    shell_complete=a_file,
    help="Results of benchmarks to judge as well; given again, oldest first, they are the history.",
)
@click.option(
    "--time",
    "is_timed",
    is_flag=True,
    help="Time it now beside a table of SQLite and look each answer through; --bench is then its history.",
)
@click.option(
    "--budget",
    multiple=True,
    metavar="VERB=RATIO",
    help="How many times the table's time a timed verb may take: remember=20 or search=1.5, or both.",
)
@click.option(
    "--against",
    metavar="FILE",
    shell_complete=a_file,
    help="Earlier results: red if something is slower by more than a third, and by more than noise.",
)
@click.option(
    "--html", metavar="FILE", shell_complete=a_file, help="Write one HTML page that needs nothing else."
)
@click.option(
    "--junit", metavar="FILE", shell_complete=a_file, help="Write JUnit XML, as build services read it."
)
@click.option(
    "-v", "--verbose", is_flag=True, help="What was seen in each case, and whose sentence it proves."
)
@json_option
def accept(
    *,
    provider: str,
    full: bool,
    only: tuple[str, ...],
    bench: tuple[str, ...],
    is_timed: bool,
    budget: tuple[str, ...],
    against: str | None,
    html: str | None,
    junit: str | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Judge a memory by the isolation acceptance suite.

    Each case is tried now: the ten criteria of the redline, the rules of its layers, and the shapes of
    leaks that were met elsewhere. With benchmarks, from files or timed now, there is one verdict on both
    halves. The exit code is 1 if it is red: a case failed, a criterion could not be run, or a budget is
    missed. The provider's module is looked for in this directory first.
    """
    from nsstore.cli.accept_bench import limits_of, of_file
    from nsstore.clock import utc_now
    from nsstore.harness.report.saved import saved

    files = _Files(html, junit)
    limits = limits_of(budget, is_timed=is_timed)
    benches = tuple(of_file(path, "--bench") for path in bench)
    if against is not None and not (is_timed or benches):
        raise InvalidInput("--against compares what --time or --bench gives: give one of them as well")
    then = of_file(against, "--against") if against is not None else None
    report, now = _run(provider, only, limits if is_timed else None, full=full, shown=not as_json)
    one = saved(report, utc_now(), benches if now is None else (*benches, now), then)
    named = "" if provider == OWN else f" --provider {shlex.quote(provider)}"
    files.write(one, f"nsstore accept{named} --only")
    if as_json:
        printing.emit(one)
    else:
        _show(one, verbose=verbose)
    if one.verdict.fails:
        click.get_current_context().exit(FOUND_WRONG)


def _run(
    provider: str, only: tuple[str, ...], limits: dict[Verb, float] | None, *, full: bool, shown: bool
) -> tuple[Report, BenchRun | None]:
    """Run the suite, and time the provider if there are ``limits``, if only none; what it prints meanwhile
    is no part of the answer.
    """
    from nsstore.cli.progress import counted
    from nsstore.clock import utc_now
    from nsstore.harness.named import provider_of
    from nsstore.harness.running import cases, run
    from nsstore.root.owned import here

    if provider != OWN:
        sys.path.insert(0, here())
    total = len(set(only)) or len(cases(full=full))
    done = 0
    with contextlib.redirect_stdout(sys.stderr), provider_of(provider) as make:
        with counted("trying", shown=shown) as progress:

            def told(_: Result) -> None:
                nonlocal done
                done += 1
                progress(done, total)

            report = run(make, full=full, only=only or None, told=told)
        if limits is None:
            return report, None
        from nsstore.harness.timing import timed

        with counted("timing", shown=shown) as progress:
            return report, timed(make, limits, made_at=utc_now(), told=progress)


class _Files:
    """The files that a report goes to: new ones, or in the place of an earlier report and of nothing else."""

    def __init__(self, html: str | None, junit: str | None) -> None:
        """Look at the places, before anything is tried. Raises :class:`InvalidInput`."""
        from nsstore.harness.report import junit as xml
        from nsstore.harness.report import page

        self._html, self._junit = html, junit
        self._marks = {"--html": page.MARK, "--junit": xml.MARK}
        for path, flag in ((html, "--html"), (junit, "--junit")):
            if path is not None:
                self._earlier(path, flag)

    def write(self, one: Saved, again: str) -> None:
        """Write what was asked for."""
        from nsstore.harness.report.junit import junit
        from nsstore.harness.report.page import page

        if self._html is not None:
            self._put(self._html, "--html", page(one, again))
        if self._junit is not None:
            self._put(self._junit, "--junit", junit(one))

    def _put(self, path: str, flag: str, raw: bytes) -> None:
        from nsstore.root.owned import replace_owned

        replace_owned(path, raw, self._earlier(path, flag), f"the file of {flag}")

    def _earlier(self, path: str, flag: str) -> bytes | None:
        from nsstore.root.owned import read_owned

        what = f"the file of {flag}"
        found = read_owned(path, MOST, what)
        if found and self._marks[flag].encode() not in found[:4096]:
            raise InvalidInput(f"{what} is there already and is no such report: give another name")
        return found


def _show(one: Saved, *, verbose: bool) -> None:
    from nsstore.cli import accept_bench
    from nsstore.harness.report.verdict import Word

    assert one.report is not None
    _show_report(one.report, verbose=verbose)
    accept_bench.show(one, verbose=verbose)
    click.echo(_verdict(one))
    performance = one.verdict.performance
    for reason in (*one.verdict.isolation.why, *(performance.why if performance.word is Word.RED else ())):
        printing.say(reason, mark="-", indent=2)


def _show_report(report: Report, *, verbose: bool) -> None:
    from nsstore.harness.report.verdict import DOCUMENTS, figures

    for document, name in DOCUMENTS.items():
        results = [result for result in report.results if result.case.document is document]
        if results:
            printing.say(name, bold=True)
            for result in results:
                _show_case(result, verbose=verbose)
            printing.say()
    told = [f"{it.name} {it.value}{'' if it.good else ' ✗'}" for it in figures(report.metrics)]
    hits = printing.count(report.metrics.hits, "hit")
    printing.say(f"{hits} in {report.seconds:.1f} s: {', '.join(told)}", dim=True)


def _show_case(result: Result, *, verbose: bool) -> None:
    outcome, seen = result.outcome.value, printing.one_line(result.seen, 2000)
    mark, colour = MARKS[outcome]
    beside = f" ({seen})" if outcome == "not_run" else ""
    head = f"{result.case.id}  {printing.one_line(result.case.title)}"
    click.echo(f"  {click.style(mark, fg=colour)} {head}{click.style(beside, dim=True)}")
    if verbose:
        printing.say(f"“{result.case.sentence}”", dim=True, indent=BENEATH)
    if outcome == "failed" or (verbose and not beside):
        printing.say(seen, dim=outcome != "failed", indent=BENEATH)


def _verdict(one: Saved) -> str:
    """The last line: the one word, and what each half comes to; green is said of what there is."""
    from nsstore.harness.report.verdict import Word

    word, isolation, performance = one.verdict.word, one.verdict.isolation, one.verdict.performance
    if word is Word.PARTIAL and isolation.word is Word.GREEN:
        told = click.style(f"isolation green: {isolation.told}", fg="green", bold=True)
        return f"{told}; performance{':' if performance.word is Word.PARTIAL else ''} {performance.told}"
    told = isolation.told
    if performance.word is not Word.MISSING:
        told = f"isolation {isolation.word} ({told}), performance {performance.word} ({performance.told})"
    if word is Word.PARTIAL:
        return click.style(f"no verdict: {told}", bold=True)
    return click.style(f"{word}: {told}", fg=word, bold=True)
