"""What a command prints: JSON for programs, lines and tables for a person.

Nothing a record holds can move the cursor, change a colour or reverse a line of somebody's
terminal: control and direction characters come out as escapes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TextIO

import click

from nsstore.errors import IntegrityError, Refused, StoreError

if TYPE_CHECKING:
    from rich.console import Console, OverflowMethod

_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_CONTROL_OR_BREAK: Final = re.compile(f"{_UNPRINTABLE.pattern[:-1]}\t\n]")
ABOVE: Final = "a record more sensitive than the own clearance is not written"
WIDER: Final = (
    "no kind of grant opens a record to other projects in this version, so none is written with it:"
    " leave --privacy out, or give project_only"
)
MIN_WIDTH: Final = 40
MIN_CELL: Final = 8
MAX_WORD: Final = 36  # as long as a record id
GAP: Final = 2
INDENT: Final = "  "
GOES_ON: Final = " \\"


def is_terminal() -> bool:
    """Whether somebody looks at standard output."""
    return sys.stdout.isatty()


def is_plain() -> bool:
    """Whether no colour or style is wanted: NO_COLOR is set and not empty, or the terminal is dumb."""
    return bool(os.environ.get("NO_COLOR")) or is_dumb()


def is_dumb() -> bool:
    """Whether the terminal obeys nothing but characters and line ends."""
    return os.environ.get("TERM") in {"dumb", "unknown"}


def width() -> int:
    """The columns of the terminal that somebody looks at, 80 if it does not say."""
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if columns := os.get_terminal_size(stream.fileno()).columns:
                return columns
    return 80


def console(*, stderr: bool = False) -> Console:
    """The terminal as rich draws on it, in the same width and with as much colour as everything else."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, width=width(), color_system=None if is_plain() else "auto")


def somebody_answers() -> bool:
    """Whether there is somebody to ask: standard input and error are a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def printable(text: str) -> str:
    """The text with every character that a terminal obeys, but line ends and tabs, as an escape."""
    return _UNPRINTABLE.sub(_escape, text)


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one line, cut to ``limit`` characters; line ends and tabs are escapes too."""
    line = _CONTROL_OR_BREAK.sub(_escape, text)
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def _escaped_json(line: str) -> str:
    return _UNPRINTABLE.sub(_escape_in_json, line)


def _escape_in_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def emit(value: object) -> None:
    """Print one JSON value on one line, its texts the same when read, but nothing a terminal obeys in it."""
    click.echo(json_of(value).encode())


def json_of(value: object) -> str:
    """One JSON value on one line, with nothing in it that a terminal obeys."""
    import msgspec

    return _escaped_json(msgspec.json.encode(value).decode())


def say(line: str = "", *, mark: str = "", dim: bool = False, bold: bool = False, indent: int = 0) -> None:
    """Print a line for a person, its words kept whole where a terminal is narrower than the line.

    What does not fit stands below, ``indent`` columns in; so does the beginning, behind its ``mark``.
    """
    shown = _fitted(printable(line), mark.ljust(indent), " " * indent)
    click.echo(click.style(shown, dim=True) if dim else click.style(shown, bold=True) if bold else shown)


def body(text: str) -> None:
    """Print a text as it stands: its own lines and spaces are kept, and the terminal breaks long ones."""
    click.echo(printable(text))


def _fitted(line: str, first: str, following: str, stream: TextIO | None = None) -> str:
    if not (stream or sys.stdout).isatty() or len(first) + len(line) < MIN_WIDTH:
        return first + line
    if not line.isascii():  # by the columns that characters take, and words as they stand in other scripts
        left = max(MIN_WIDTH, width()) - max(len(first), len(following))
        return first + f"\n{following}".join(_wrapped(line, left))
    # Long words stay whole, so that an id or a path can be copied.
    return textwrap.fill(
        line,
        max(MIN_WIDTH, width()),
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _wrapped(line: str, columns: int) -> list[str]:
    """A line broken into as many columns, between words; only what is longer is broken inside."""
    from rich.text import Text

    return [one.plain.rstrip() for one in Text(line).wrap(console(), columns, overflow="fold")]


def note(message: str, word: str = "note") -> None:
    """Tell something beside the answer, on standard error."""
    click.echo(_fitted(one_line(message), f"nsstore: {word}: ", "    ", sys.stderr), err=True)


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 key``, ``2 keys``, ``no keys``."""
    return f"{number or 'no'} {one if number == 1 else many or one + 's'}"


def fields(pairs: Iterable[tuple[str, str | None]]) -> None:
    """Print named values, one a line; what has none is left out."""
    for name, value in pairs:
        if value is not None:
            shown = _fitted(one_line(value), f"{name}: ", "    ")
            click.echo(click.style(f"{name}:", dim=True) + shown[len(name) + 1 :])


def command(parts: Iterable[str]) -> None:
    """Print a command to be pasted: where a terminal is too narrow its lines end as a shell wants them to."""
    line = INDENT
    for part in parts:
        if is_terminal() and line.strip() and len(line) + len(part) + len(GOES_ON) > width():
            click.echo(line.rstrip() + GOES_ON)
            line = INDENT * 2
        line += f"{printable(part)} "
    click.echo(line.rstrip())


def block(cells: Iterable[str], below: Iterable[str]) -> None:
    """Print a row for a person: its cells side by side, and each text below them, its words kept whole."""
    _side_by_side([one_line(cell) for cell in cells])
    for text in filter(None, below):
        click.echo(_fitted(one_line(text), INDENT, INDENT * 2))


def entry(cells: Sequence[str], text: str, limit: int) -> None:
    """Print a row for a person: its cells side by side, and below them its text, in all of the width."""
    _side_by_side([one_line(cell) for cell in cells], dim=True)
    for line in _wrapped(one_line(excerpt(text), limit), max(MIN_CELL, width() - len(INDENT))):
        click.echo(INDENT + line)


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    flexible: Sequence[int] = (-1,),
    fold: bool = False,
) -> None:
    """Print rows: aligned on a terminal, else whole, apart by tabs and without the headings.

    Only the ``flexible`` columns are fitted to the terminal, cut or with ``fold`` on more lines. Where
    it is too narrow for that, each row stands on lines of its own: an id is never cut.
    """
    if not is_terminal():
        for row in rows:
            click.echo("\t".join(map(one_line, row)))
        return
    from rich.table import Table
    from rich.text import Text

    lines = [[Text(one_line(excerpt(cell))) for cell in row] for row in rows]
    if not lines:
        return
    cut = {index % len(headers) for index in flexible}
    needed = [max(len(name), *(line[at].cell_len for line in lines), 0) for at, name in enumerate(headers)]
    least = {at: _least([line[at].plain for line in lines], fold=fold) for at in cut}
    fixed = sum(need for at, need in enumerate(needed) if at not in cut)
    if fixed + sum(least.values()) + GAP * len(needed) > width():
        for line in lines:
            _stacked([cell.plain for cell in line], cut, fold=fold)
        return
    widths = _widths(needed, least, width())
    drawn = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for at, name in enumerate(headers):
        overflow: OverflowMethod = "fold" if fold else "ellipsis"
        drawn.add_column(name, no_wrap=not fold, overflow=overflow, width=widths[at])
    for line in lines:
        drawn.add_row(*line)
    console().print(drawn)


def _least(cells: Iterable[str], *, fold: bool) -> int:
    """The narrowest that a fitted column may be: folded between words, never in one that may be an id."""
    longest = max((len(word) for cell in cells for word in cell.split()), default=0) if fold else 0
    return max(MIN_CELL, min(longest, MAX_WORD))


def _stacked(cells: Sequence[str], cut: set[int], *, fold: bool) -> None:
    """Print one row on as many lines as it needs: whole cells side by side, the fitted ones below them."""
    _side_by_side([cell for at, cell in enumerate(cells) if at not in cut])
    for cell in [cells[at] for at in sorted(cut) if cells[at]]:
        if fold:
            click.echo(_fitted(cell, INDENT, INDENT))
        else:
            from rich.text import Text

            text = Text(cell)
            text.truncate(max(MIN_CELL, width() - len(INDENT)), overflow="ellipsis")
            click.echo(INDENT + text.plain)


def _side_by_side(cells: Iterable[str], *, dim: bool = False) -> None:
    """Print cells on one line, and what does not fit there further in on the next."""
    line = before = ""
    for cell in filter(None, cells):
        if line and len(line) + GAP + len(cell) > width():
            click.echo(click.style(line, dim=True) if dim else line)
            line, before = "", INDENT * 2
        line += f"{' ' * GAP if line else before}{cell}"
    click.echo(click.style(line, dim=True) if dim else line)


def _widths(needed: list[int], least: dict[int, int], whole: int) -> dict[int, int]:
    """The width of each column: what is not cut as it needs, the rest shared, the smallest need first."""
    widths = {at: need for at, need in enumerate(needed) if at not in least}
    left = whole - sum(widths.values()) - GAP * len(needed)
    later = sum(least.values())
    for place, at in enumerate(sorted(least, key=needed.__getitem__)):
        later -= least[at]
        share = min(left // (len(least) - place), left - later)
        widths[at] = max(min(needed[at], share), least[at])
        left -= widths[at]
    return widths


def named(path: str, what: str) -> str:
    """A file or directory as the person who gave it knows it, for errors: never its whole path."""
    return f"{one_line(os.path.basename(path.rstrip('/')) or path, 100)} ({what})"


def excerpt(text: str) -> str:
    """The text as one paragraph, every run of spaces and line ends as one space."""
    return " ".join(text.split())


def when(time: str, *, seconds: bool = False) -> str:
    """A UTC time to the minute or second on a terminal, and whole where a program may read it."""
    return time[: 19 if seconds else 16].replace("T", " ") + "Z" if is_terminal() else time


def words_of(err: StoreError) -> str:
    """What an error says to a person at a terminal: its own words, and what helps here, by flag or verb."""
    if isinstance(err, IntegrityError):
        return f"{err}: `nsstore check` names what to put back"
    if isinstance(err, Refused) and err.reason == "above_clearance":
        return f"{ABOVE}: give a higher --clearance or a lower --sensitivity"
    if isinstance(err, Refused) and err.reason == "privacy_needs_grant":
        return WIDER
    return str(err)


def error_json(kind: str, message: str, *, retryable: bool) -> str:
    """The one JSON value that stands for an error."""
    error = {"kind": kind, "message": message, "retryable": retryable}
    return _escaped_json(json.dumps({"error": error}))
