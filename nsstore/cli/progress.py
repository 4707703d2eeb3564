"""How far something long has come, for somebody who waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nsstore.cli import printing

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


def unseen(_: int) -> None:
    """Show nothing."""


@contextmanager
def bar(what: str, total: int | None, *, shown: bool) -> Generator[Callable[[int], None]]:
    """A progress bar on standard error, if that is a terminal; it is told how many bytes are done.

    It is drawn from the first time that it is told: what is asked before stands alone.
    """
    if not _seen(shown=shown):
        yield unseen
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with _drawn(what, *columns) as tell:
        yield lambda done: tell(done, total)


@contextmanager
def counted(what: str, *, shown: bool) -> Generator[Callable[[int, int], None]]:
    """As :func:`bar`, of things that are counted: it is told how many of how many are done."""
    if not _seen(shown=shown):
        yield lambda _done, _total: None
        return
    from rich.progress import Progress

    with _drawn(what, *Progress.get_default_columns()) as tell:
        yield tell


def _seen(*, shown: bool) -> bool:
    return shown and sys.stderr.isatty() and not printing.is_dumb()


@contextmanager
def _drawn(what: str, *columns: str | ProgressColumn) -> Generator[Callable[[int, int | None], None]]:
    from rich.progress import Progress

    progress = Progress(*columns, console=printing.console(stderr=True), transient=True)
    task = progress.add_task(what, total=None)

    def tell(done: int, total: int | None) -> None:
        progress.start()  # does nothing if it was
        progress.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        if progress.live.is_started:
            progress.stop()
