"""Export: the records of the caller's own scope, as a bundle of Markdown or as JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, scoped
from nsstore.cli.flags import a_file
from nsstore.cli.progress import counted
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.exchange.export import Export, ExportReport

STDOUT: Final = "-"
NAMES: Final = {"okf": "a bundle of the Open Knowledge Format 0.2", "jsonl": "JSON lines"}


@click.command("export")
@click.argument("place", metavar="DIR|FILE|-", shell_complete=a_file)
@click.option(
    "--format",
    "format_",
    type=click.Choice(tuple(NAMES)),
    help="A bundle of Markdown files, or JSON lines; by the name if not given: FILE.jsonl and - are lines.",
)
@click.option("--dry-run", is_flag=True, help="Say how many records would go out, and write nothing.")
@scoped
def export(
    asker: Asker, *, place: str, format_: Literal["okf", "jsonl"] | None, dry_run: bool, as_json: bool
) -> None:
    """Write the current records of this very scope to a new place.

    DIR becomes a bundle of the Open Knowledge Format 0.2: one Markdown file a record, and an index. FILE
    gets one JSON object a line. Neither may be there, unless DIR is empty: nothing is overwritten.
    `nsstore import` takes both, into whatever scope it is run in. What binds a record to its place in the
    store does not go out with it.
    """
    from nsstore.exchange.export import Export
    from nsstore.root.named import require_new, require_outside
    from nsstore.root.named_folder import require_free

    chosen = format_ or ("jsonl" if place == STDOUT or place.endswith(".jsonl") else "okf")
    if place == STDOUT and chosen == "okf":
        raise InvalidInput("a bundle is a directory: name one, or give --format jsonl")
    if place == STDOUT and as_json:
        raise InvalidInput("--json prints a report where the lines would go: name a file")
    with asker.open() as store:
        session = asker.bind(store)
        if place != STDOUT:
            require_outside(place, "the export", store.root.path, store.trust.home.path)
            (require_free if chosen == "okf" else require_new)(place, "the export")
        report = _out(Export(session, chosen, dry_run=dry_run), place, shown=not as_json)
    if as_json:
        printing.emit(report)
        return
    would = "would be " if dry_run else ""
    told = f"{printing.count(report.records, 'record')} {would}exported as {NAMES[report.format]}"
    if place == STDOUT:
        printing.note(told)
    else:
        printing.say(told)
        if not dry_run:
            printing.note("whoever has it can read the records")
    if report.left_out:
        printing.note(f"{report.left_out} of another branch or baseline are left out")


def _out(export: Export, place: str, *, shown: bool) -> ExportReport:
    from nsstore.root.named import NewNamed
    from nsstore.root.named_folder import NewFolder

    if export.report.dry_run:
        return export.report
    with counted("exporting", shown=shown and place != STDOUT) as progress:
        if place == STDOUT:
            return export.lines(lambda raw: click.echo(raw, nl=False), progress)
        if export.report.format == "okf":
            with NewFolder(place, "the export") as folder:
                return export.into(folder, progress)
        with NewNamed(place, "the export") as file:
            report = export.lines(file.write, progress)
            file.finish()
        return report
