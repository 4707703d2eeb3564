"""Import: lines or a folder of Markdown into the caller's own scope, each note taken or told why not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, scoped
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import a_file, standard_input
from nsstore.cli.progress import bar, counted, unseen
from nsstore.errors import InvalidInput, StoreError

if TYPE_CHECKING:
    from nsstore.exchange.import_folder import FolderReport, ImportFolder
    from nsstore.exchange.import_lines import Report
    from nsstore.session import OpenStore, Session

STDIN: Final = "-"
SHOWN: Final = 50
KEPT: Final = "what is not taken is kept: the whole front matter is in the record's ext.original, or its text"
ENCODINGS: Final = (
    *("latin-1", "iso-8859-2", "iso-8859-15", "cp1250", "cp1251", "cp1252", "koi8-r", "mac-roman"),
    *("shift_jis", "euc-jp", "euc-kr", "big5", "gb18030", "utf-16-le", "utf-16-be"),
)
"""As nsstore.exchange.decoding has them, which `--help` does not import."""


@click.command("import")
@click.argument("file", metavar="FILE|DIR|-", shell_complete=a_file)
@click.option("--source", metavar="NAME", help="What the source is called; the file's name if not given.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check everything and write no record; what the scope may not write is audited.",
)
@click.option(
    "--update", is_flag=True, help="Of a folder: a changed file takes the place of its version before."
)
@click.option(
    "--encoding",
    type=click.Choice(ENCODINGS),
    metavar="NAME",
    help="Of a folder: what files are in that are not UTF-8.",
)
@click.option(
    "--with-held", is_flag=True, help="Of lines: take what its retention class holds for good as well."
)
@scoped
def import_(
    asker: Asker,
    *,
    file: str,
    source: str | None,
    dry_run: bool,
    update: bool,
    encoding: str | None,
    with_held: bool,
    as_json: bool,
) -> None:
    """Import lines, or a folder of Markdown, into this very scope.

    A line has `text` and may have `kind`, `title`, `tags`, `ext`, `sensitivity`, `privacy`,
    `retention_class`, `expires_at`, `idempotency_key`, and `source` for what its source claimed:
    `created_at`, `record_id`, `item`, `scope` and `front_matter`. An `idempotency_key` is a key of the source
    alone. A line that nobody here could forget, since the owner holds its `retention_class`, is refused
    without --with-held.

    Of a folder (an agent's notes, a vault, a bundle) every file that ends in .md or .markdown is a record,
    with the title, kind and tags of its front matter, which is kept whole: what of these no record can have
    is told by file. Links are not followed. A single file of Markdown is taken as one of its folder.

    Importing again adds only what is not there yet.
    """
    from nsstore.exchange.markdown import is_markdown
    from nsstore.root.named_folder import is_folder

    report: Report | FolderReport
    folder = file != STDIN and is_folder(file)
    if not folder and (file == STDIN or not is_markdown(file)):
        if update or encoding is not None:
            raise InvalidInput("--update and --encoding go with Markdown")
        name = _name(file, source, file)
        with asker.open() as store:
            session = asker.bind(store)
            report = _lines(
                store, session, file, name, dry_run=dry_run, with_held=with_held, shown=not as_json
            )
    else:
        if with_held:
            raise InvalidInput("--with-held goes with lines: a file of Markdown is never held")
        place = os.path.abspath(file)
        place, only = (place, None) if folder else os.path.split(place)
        name = _name(file, source, place)
        with asker.open() as store:
            session = asker.bind(store)
            _require_outside(store, place)
            run = _run_of_folder(store, session, name, dry_run=dry_run, update=update, encoding=encoding)
            report = _folder(run, place, only, shown=not as_json)
    if as_json:
        printing.emit(report)
    else:
        _tell(report)
    if report.refused:
        click.get_current_context().exit(FOUND_WRONG)


def _lines(
    store: OpenStore, session: Session, file: str, name: str, *, dry_run: bool, with_held: bool, shown: bool
) -> Report:
    from nsstore.exchange.import_lines import ImportLines

    run = ImportLines(store, session, name, dry_run=dry_run, with_held=with_held, words=printing.words_of)
    with _reading(file, shown=shown) as (read, progress), _told(lambda: run.report.written, "lines"):
        return run.run(read, progress)


def _run_of_folder(
    store: OpenStore, session: Session, name: str, *, dry_run: bool, update: bool, encoding: str | None
) -> ImportFolder:
    from nsstore.exchange.import_folder import ImportFolder

    return ImportFolder(
        store, session, name, dry_run=dry_run, update=update, encoding=encoding, words=printing.words_of
    )


def _folder(run: ImportFolder, place: str, only: str | None, *, shown: bool) -> FolderReport:
    from nsstore.root.named_folder import NamedFolder

    with (
        NamedFolder(place, printing.named(place, "the folder to import")) as opened,
        counted("importing", shown=shown) as progress,
        _told(lambda: run.report.written, "files"),
    ):
        return run.run(opened, progress, only=only)


def _name(file: str, source: str | None, path: str) -> str:
    """What the source is called. Raises :class:`InvalidInput` if it has no name, or none that is a label."""
    from nsstore.scope import check_label

    if source is None and file == STDIN:
        raise InvalidInput("standard input has no name: give --source")
    return check_label("the name of the source", os.path.basename(path) if source is None else source)


def _require_outside(store: OpenStore, place: str) -> None:
    """Refuse to import a store into itself."""
    from nsstore.root import overlap

    if any(overlap(place, root) for root in (store.root.path, store.trust.home.path)):
        raise InvalidInput("the folder to import must lie apart from the store and its trust home")


@contextmanager
def _told(written: Callable[[], int], what: str) -> Generator[None]:
    """Tell how far it came if something stops it."""
    try:
        yield
    except (StoreError, KeyboardInterrupt):
        printing.note(f"{written()} {what} are in: the same import again goes on from there")
        raise


def _tell(report: Report | FolderReport) -> None:
    from nsstore.exchange.import_lines import Report as OfLines

    would = "would be " if report.dry_run else ""
    if isinstance(report, OfLines):
        read, more = report.lines, f", {report.blank} blank" if report.blank else ""
        refused = [(str(one.line), one.kind, one.reason) for one in report.refused]
    else:
        read, more = report.files, f", {report.updated} of them as a next version" if report.updated else ""
        refused = [(one.item, one.kind, one.reason) for one in report.refused]
    printing.say(
        f"{read} read: {report.written} {would}imported, {report.repeated} there already,"
        f" {len(report.refused)} refused{more}"
    )
    if refused:
        headers = ("line" if isinstance(report, OfLines) else "file", "kind", "reason")
        printing.table(headers, refused[:SHOWN], fold=True)
    if len(refused) > SHOWN:
        printing.note(f"{len(refused) - SHOWN} more refusals: --json has them all")
    if not isinstance(report, OfLines):
        _tell_not_taken(report)
        for reason, number in sorted(Counter(one.reason for one in report.passed_over).items()):
            printing.note(f"{printing.count(number, 'name')} passed over: {reason}")


def _tell_not_taken(report: FolderReport) -> None:
    from nsstore.exchange.concept import ANEW

    for one in report.not_taken[:SHOWN]:
        printing.note(f"{one.item}: {one.field} not taken: {one.reason}")
    if len(report.not_taken) > SHOWN:
        printing.note(f"{len(report.not_taken) - SHOWN} more that are not taken: --json has them all")
    if any(one.field not in ANEW for one in report.not_taken):
        printing.note(KEPT)


@contextmanager
def _reading(file: str, *, shown: bool) -> Generator[tuple[Callable[[int], bytes], Callable[[int], None]]]:
    """A way to read the file, and one to tell how far it was read."""
    if file == STDIN:
        yield standard_input("name a file").read, unseen
        return
    from nsstore.root.named import NamedFile

    with (
        NamedFile(file, printing.named(file, "the file to import")) as opened,
        bar("importing", opened.size, shown=shown) as progress,
    ):
        yield opened.read, progress
