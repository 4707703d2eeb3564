"""The half of `accept` that is measured: results of benchmarks, from files or timed now."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import click

from nsstore.cli import printing
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsstore.harness.measured import BenchRun, Measured
    from nsstore.harness.report.saved import Saved
    from nsstore.harness.timing import Verb


def limits_of(given: Sequence[str], *, is_timed: bool) -> dict[Verb, float]:
    """The budgets that were given, by verb. Raises :class:`InvalidInput` for anything else."""
    from nsstore.harness.timing import VERBS

    if given and not is_timed:
        raise InvalidInput("--budget is for what --time measures: give both")
    known: dict[str, Verb] = {verb: verb for verb in VERBS}
    found: dict[Verb, float] = {}
    for one in given:
        name, _, value = one.partition("=")
        verb, ratio = known.get(name), _number(value)
        if verb is None or ratio is None or verb in found:
            raise InvalidInput(f"--budget is {' or '.join(f'{verb}=2.5' for verb in VERBS)}, each once")
        found[verb] = ratio
    return found


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


def of_file(path: str, flag: str) -> BenchRun:
    """The results in a file, named as the file is."""
    from nsstore.harness.report import saved
    from nsstore.root.named import NamedFile

    what = printing.named(path, f"the file of {flag}")
    with NamedFile(path, what) as file:
        raw = file.read_all(saved.MOST)
    return saved.load_bench(raw, os.path.basename(path).removesuffix(".json"))


def show(one: Saved, *, verbose: bool) -> None:
    """Print what was measured: all if it was timed now or is asked for, else what is not as it must be."""
    from nsstore.harness.comparing import changes, other_machine

    bench = one.bench
    if bench is None:
        return
    printing.say(f"Performance ({bench.label}: {bench.told()})", bold=True)
    beside = {} if one.against is None else {it.now.name: it for it in changes(bench, one.against)}
    for measured in bench.measured:
        change = beside.get(measured.name)
        slower = change is not None and change.regressed
        if verbose or bench.answers or slower or not measured.met:
            then = "" if change is None or one.against is None else change.told(one.against.label)
            _show_figure(measured, then, slower=slower)
    for name in bench.unmeasured:
        click.echo(f"  {click.style('✗', fg='red')} {printing.one_line(name)} was not measured")
    for fault in bench.faults:
        click.echo(f"  {click.style('✗', fg='red')} {printing.one_line(fault, 2000)}")
    if bench.answers:
        looked = f"{printing.count(bench.answers, 'timed answer')} with {printing.count(bench.hits, 'hit')}"
        printing.say(f"{looked} looked through for what the asker may not read", dim=True, indent=2)
    if one.against is not None and (differs := other_machine(bench, one.against)):
        printing.say(f"another machine than {one.against.label}'s: {'; '.join(differs)}", dim=True, indent=2)
    printing.say()


def _show_figure(one: Measured, then: str, *, slower: bool) -> None:
    mark, colour = ("○", "yellow") if one.max_ratio is None else ("✓", "green")
    if slower or not one.met:
        mark, colour = "✗", "red"
    told = "; ".join(filter(None, (one.told(), then)))
    click.echo(f"  {click.style(mark, fg=colour)} {printing.one_line(f'{one.name}: {told}')}")
    printing.say(printing.one_line(one.what), dim=True, indent=4)
