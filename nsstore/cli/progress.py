"""How far something long has come, for somebody who waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from nsstore.cli import printing


def unseen(_: int) -> None:
    """Show nothing."""


@contextmanager
def bar(what: str, total: int | None, *, shown: bool) -> Generator[Callable[[int], None]]:
    """A progress bar on standard error, if that is a terminal; it is told how many bytes are done."""
    if not (shown and sys.stderr.isatty()) or printing.is_dumb():
        yield unseen
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=printing.console(stderr=True), transient=True) as shown_bar:
        task = shown_bar.add_task(what, total=total)
        yield lambda done: shown_bar.update(task, completed=done)
