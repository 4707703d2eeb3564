"""Binding a store again that was moved, or put back from a copy of its files."""

from __future__ import annotations

import click

from nsstore.cli import printing
from nsstore.cli.flags import json_option, store_option, store_path


@click.command()
@store_option
@json_option
def move(*, store: str | None, as_json: bool) -> None:
    """Bind a store to where it is now, after it was moved or put back.

    The trust home must be here, and nothing may be left where the store was: a copy does not take
    the place of the store. What was lost on the way shows when it is read, and in `check`.
    """
    from nsstore.store import move as bind_again

    before, now = bind_again(store_path(store))
    if as_json:
        printing.emit({"was": before, "is": now})
    else:
        printing.fields({"was": before or "unknown", "is": now}.items())
        printing.note("`nsstore check` says whether everything came along")
