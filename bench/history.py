"""``python -m bench.history``: the last run beside the last release and the budgets, and one page of all.

Exits 0; with ``--against`` 1 if something is slower than there beyond what noise allows, or if a budget is
missed; 2 if there is nothing to read.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.disk import PROJECT
from nsstore.clock import utc_now
from nsstore.errors import InvalidInput
from nsstore.harness.comparing import Change, changes, other_machine, signed
from nsstore.harness.measured import BenchRun
from nsstore.harness.report.page import page
from nsstore.harness.report.saved import load_bench, saved

RELEASES: Final = PROJECT / "bench" / "releases"
NOW: Final = PROJECT / ".bench" / "now.json"
PAGE: Final = PROJECT / ".bench" / "report.html"


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.history", description=__doc__)
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="results as `just bench --json FILE` writes them, oldest first; the last run if none is given",
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="compare with this one, not the last release, and fail on a regression",
    )
    parser.add_argument("--html", type=Path, default=PAGE, metavar="FILE", help="where the page goes")
    return parser.parse_args(given)


def read(file: Path) -> BenchRun:
    """The results in a file, named as the file is. Raises :class:`InvalidInput`."""
    try:
        return load_bench(file.read_bytes(), file.stem)
    except OSError as err:
        raise InvalidInput(
            f"{file}: {err.strerror}; `just bench` writes {NOW.relative_to(PROJECT)}"
        ) from None


def released(folder: Path) -> list[BenchRun]:
    """The results of every release, by its version, the oldest first."""

    def numbers(file: Path) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", file.stem)]

    return [read(file) for file in sorted(folder.glob("*.json"), key=numbers)]


def render(now: BenchRun, then: BenchRun | None, *, is_asked: bool, colour: bool, width: int = 126) -> str:
    """Draw the table: one line per budget, now and then, and what came of it.

    What is slower than then is red only if that ``is_asked`` for.
    """
    label = "last release" if then is None else then.label
    table = Table(title="budgets, in multiples of their baselines")
    table.add_column("budget", no_wrap=True)
    for heading in ("now", escape(label), "change", "at most"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    compared = {one.now.name: one for one in changes(now, then)} if then is not None else {}
    for one in now.measured:
        change = compared.get(one.name)
        table.add_row(
            escape(one.name),
            f"{one.ratio:.2f}",
            *_then(change),
            "" if one.max_ratio is None else f"{one.max_ratio:.2f}",
            _word(change, is_met=one.met, is_asked=is_asked),
        )
    for name in now.unmeasured:
        table.add_row(escape(name), *[""] * 4, "[bold red]UNMEASURED[/]")
    for one in () if then is None else then.measured:
        if now.of(one.name) is None and one.name not in now.unmeasured:
            table.add_row(escape(one.name), "", f"{one.ratio:.2f}", "", "", "not in this run")
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, no_color=not colour, highlight=False)
    console.print(table)
    for note in _notes(now, then):
        console.print(note)
    return out.getvalue()


def _notes(now: BenchRun, then: BenchRun | None) -> Iterator[str]:
    yield escape(f"{now.label}: {now.where()}")
    if then is None:
        yield "there is no release to compare with: bench/releases holds none"
        return
    if differs := other_machine(now, then):
        yield f"[yellow]another machine than {escape(then.label)}'s: {escape('; '.join(differs))}[/]"
    yield "slower is what grew by more than a third, and lies apart from the noise of both runs"


def _then(change: Change | None) -> tuple[str, str]:
    if change is None or change.then is None or change.change is None:
        return "", ""
    return f"{change.then.ratio:.2f}", signed(change.change)


def _word(change: Change | None, *, is_met: bool, is_asked: bool) -> str:
    word = "[green]met[/]" if is_met else "[bold red]MISSED[/]"
    if change is None or not change.regressed:
        return word
    return f"{word}, [bold red]SLOWER[/]" if is_asked else f"{word}, [yellow]slower[/]"


def main(given: Sequence[str] | None = None) -> int:
    """Read, compare, draw; the exit code."""
    asked = arguments(given)
    try:
        runs = [read(file) for file in asked.files or [NOW]]
        releases = released(RELEASES)
        against = read(asked.against) if asked.against is not None else None
    except InvalidInput as err:
        print(f"bench.history: {err}", file=sys.stderr)
        return 2
    now, before = runs[-1], (*releases, *runs[:-1])
    then = against or (releases[-1] if releases else None)
    is_asked = against is not None
    print(render(now, then, is_asked=is_asked, colour=sys.stdout.isatty()), end="")
    one = saved(None, utc_now(), (*before, now), against)
    asked.html.parent.mkdir(parents=True, exist_ok=True)
    asked.html.write_bytes(page(one, ""))
    print(f"the page: {asked.html}")
    for reason in one.verdict.performance.why if is_asked else ():
        print(f"- {reason}")
    return int(is_asked and one.verdict.fails)


if __name__ == "__main__":
    raise SystemExit(main())
