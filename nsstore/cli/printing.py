"""What a command prints: JSON for programs, lines and tables for a person.

Nothing a record holds can move the cursor, change a colour or reverse a line of somebody's
terminal: control and direction characters come out as escapes.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TextIO

import click

if TYPE_CHECKING:
    from rich.console import OverflowMethod

_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_CONTROL_OR_BREAK: Final = re.compile(f"{_UNPRINTABLE.pattern[:-1]}\t\n]")
MIN_WIDTH: Final = 40
MIN_CELL: Final = 8
GAP: Final = 2


def is_terminal() -> bool:
    """Whether somebody looks at standard output."""
    return sys.stdout.isatty()


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
    import msgspec

    click.echo(_escaped_json(msgspec.json.encode(value).decode()).encode())


def say(line: str = "", *, dim: bool = False, bold: bool = False, indent: int = 0) -> None:
    """Print a line for a person, its words kept whole where a terminal is narrower than the line."""
    shown = _fitted(printable(line), " " * indent, " " * indent)
    click.echo(click.style(shown, dim=True) if dim else click.style(shown, bold=True) if bold else shown)


def body(text: str) -> None:
    """Print a text as it stands: its own lines and spaces are kept, and the terminal breaks long ones."""
    click.echo(printable(text))


def _fitted(line: str, first: str, following: str, stream: TextIO | None = None) -> str:
    if not (stream or sys.stdout).isatty() or len(first) + len(line) < MIN_WIDTH:
        return first + line
    from rich.console import Console

    # Long words stay whole, so that an id or a path can be copied.
    return textwrap.fill(
        line,
        max(MIN_WIDTH, Console().width),
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )


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


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    flexible: Sequence[int] = (-1,),
    fold: bool = False,
) -> None:
    """Print rows: aligned on a terminal, else whole and apart by tabs.

    Only the ``flexible`` columns are fitted to the terminal, cut or with ``fold`` on more lines, so
    that ids can be copied.
    """
    if not is_terminal():
        for row in (headers, *rows):
            click.echo("\t".join(map(one_line, row)))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    lines = [[Text(one_line(excerpt(cell))) for cell in row] for row in rows]
    cut = {index % len(headers) for index in flexible}
    needed = [max(len(name), *(line[at].cell_len for line in lines), 0) for at, name in enumerate(headers)]
    widths = _widths(needed, cut, console.width)
    drawn = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for at, name in enumerate(headers):
        overflow: OverflowMethod = "fold" if fold else "ellipsis"
        drawn.add_column(name, no_wrap=not fold, overflow=overflow, width=widths[at])
    for line in lines:
        drawn.add_row(*line)
    console.print(drawn)


def _widths(needed: list[int], cut: set[int], whole: int) -> dict[int, int]:
    """The width of each column: what is not cut as it needs, the rest shared, the smallest need first."""
    widths = {at: width for at, width in enumerate(needed) if at not in cut}
    left = whole - sum(widths.values()) - GAP * len(needed)
    for place, at in enumerate(sorted(cut, key=needed.__getitem__)):
        widths[at] = max(min(needed[at], left // (len(cut) - place)), MIN_CELL)
        left -= widths[at]
    return widths


def excerpt(text: str) -> str:
    """The text as one paragraph, every run of spaces and line ends as one space."""
    return " ".join(text.split())


def when(time: str, *, seconds: bool = False) -> str:
    """A UTC time to the minute or second on a terminal, and whole where a program may read it."""
    return time[: 19 if seconds else 16].replace("T", " ") + "Z" if is_terminal() else time


def error_json(kind: str, message: str, *, retryable: bool) -> str:
    """The one JSON value that stands for an error."""
    error = {"kind": kind, "message": message, "retryable": retryable}
    return _escaped_json(json.dumps({"error": error}))
