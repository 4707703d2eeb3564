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


@contextmanager
def counted(what: str, *, shown: bool) -> Generator[Callable[[int, int], None]]:
    """As :func:`bar`, of things that are counted: it is told how many of how many are done."""
    if not (shown and sys.stderr.isatty()) or printing.is_dumb():
        yield lambda _done, _total: None
        return
    from rich.progress import Progress

    with Progress(console=printing.console(stderr=True), transient=True) as shown_bar:
        task = shown_bar.add_task(what, total=None)
        yield lambda done, total: shown_bar.update(task, completed=done, total=total)
