"""Import: many lines into the caller's own scope, each taken or refused with its reason."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, scoped
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import a_file, standard_input
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.cli.import_run import Report

STDIN: Final = "-"
SHOWN: Final = 50
Progress = Callable[[int], None]


@click.command("import")
@click.argument("file", metavar="FILE|-", shell_complete=a_file)
@click.option("--source", metavar="NAME", help="What the source is called; the file's name if not given.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check every line and write no record; what the scope may not write is audited.",
)
@scoped
def import_(asker: Asker, *, file: str, source: str | None, dry_run: bool, as_json: bool) -> None:
    """Import JSON lines into this very scope, each as one record.

    A line has `text` and may have `kind`, `title`, `tags`, `ext`, `sensitivity`, `privacy`,
    `retention_class`, `expires_at`, `idempotency_key`, and `source` for what its source claimed:
    `created_at`, `record_id`, `item` and `scope`. Importing a file again adds only what is not there yet.
    """
    from nsstore.cli.import_run import Import

    name = _name(file, source)
    with asker.open() as store, _reading(file, shown=not as_json) as (read, progress):
        report = Import(store, asker.bind(store), name, dry_run=dry_run).run(read, progress)
    if as_json:
        printing.emit(report)
    else:
        _tell(report)
    if report.refused:
        click.get_current_context().exit(FOUND_WRONG)


def _name(file: str, source: str | None) -> str:
    """What the source is called. Raises :class:`InvalidInput` if it has no name, or none that is a label."""
    from nsstore.scope import check_label

    if source is None and file == STDIN:
        raise InvalidInput("standard input has no name: give --source")
    return check_label("the name of the source", os.path.basename(file) if source is None else source)


def _tell(report: Report) -> None:
    would = "would be " if report.dry_run else ""
    printing.say(
        f"{report.lines} read: {report.written} {would}imported, {report.repeated} there already,"
        f" {len(report.refused)} refused{f', {report.blank} blank' if report.blank else ''}"
    )
    if report.refused:
        printing.table(
            ("line", "kind", "reason"),
            [(str(one.line), one.kind, one.reason) for one in report.refused[:SHOWN]],
            fold=True,
        )
    if len(report.refused) > SHOWN:
        printing.note(f"{len(report.refused) - SHOWN} more refusals: --json has them all")


@contextmanager
def _reading(file: str, *, shown: bool) -> Generator[tuple[Callable[[int], bytes], Progress]]:
    """A way to read the file, and one to tell how far it was read."""
    if file == STDIN:
        yield standard_input("name a file").read, _unseen
        return
    from nsstore.root.named import NamedFile

    with (
        NamedFile(file, printing.named(file, "the file to import")) as opened,
        _bar(opened.size, shown=shown) as progress,
    ):
        yield opened.read, progress


def _unseen(_: int) -> None:
    pass


@contextmanager
def _bar(total: int | None, *, shown: bool) -> Generator[Progress]:
    """A progress bar on standard error, if that is a terminal and somebody may be waiting."""
    if not (shown and sys.stderr.isatty()) or printing.is_dumb():
        yield _unseen
        return
    from rich.progress import Progress as Bar

    with Bar(console=printing.console(stderr=True), transient=True) as bar:
        task = bar.add_task("importing", total=total)
        yield lambda done: bar.update(task, completed=done)
