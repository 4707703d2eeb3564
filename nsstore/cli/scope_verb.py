"""Showing who asks: each value of the scope and where it came from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import flagged, scope_flags
from nsstore.cli.flags import BY_NAME

if TYPE_CHECKING:
    from nsstore.host import Inferred, Value

DEFAULT: Final = "default"
NO_BIRTH: Final = (
    "this file system does not tell when a directory was made, so another one that takes the place and the"
    " number of this checkout passes for it: let go of it before you remove it, `nsstore allow --end`"
)
NO_STORE: Final = "no store is known: `nsstore setup` makes one, --store names one"


@click.command("scope")
@scope_flags
def scope(*, as_json: bool, **given: str | None) -> None:
    """Show who asks: each value, and where it came from.

    A flag wins over its variable, that over your own configuration, that over the bound checkout, that
    over git. Branch, baseline and commit are asked of git again on each call. What is missing has to be
    given: nothing is made up.
    """
    from nsstore.host import infer

    inferred = infer(flagged(given), os.environ, None)
    rows = _rows(inferred)
    if as_json:
        told = {name: {"value": value, "source": source} for name, value, source in rows}
        printing.emit({"values": told, "notes": _notes(inferred)})
        return
    printing.table(
        ("dimension", "value", "from"),
        [(name, value or "", source) for name, value, source in rows],
        flexible=(1,),
        fold=True,
    )
    for line in _notes(inferred):
        printing.note(line)


def _rows(inferred: Inferred) -> list[tuple[str, str | None, str]]:
    """Name, value and source, in the order of the flags; of a pair, only the one that is there."""
    rows: list[tuple[str, str | None, str]] = []
    for name, one in inferred.values.items():
        dimension = BY_NAME.get(name)
        if one.value is not None:
            rows.append((name, one.value, one.source))
        elif dimension is None:
            rows.append((name, None, one.source))
        elif dimension.default is not None:
            rows.append((name, dimension.default, DEFAULT))
        elif not dimension.optional and _alone(inferred.values, dimension.other):
            rows.append((name, None, one.source))
    return rows


def _alone(values: Mapping[str, Value], other: str | None) -> bool:
    return other is None or values[other].value is None


def _notes(inferred: Inferred) -> list[str]:
    """What would make more of it known."""
    from nsstore.host.unknown import why_unknown

    if inferred["store"] is None:
        return [NO_STORE]
    why = why_unknown(inferred)
    notes = [] if why is None else [why]
    if inferred.checkout is not None and inferred.checkout.birth is None:
        notes.append(NO_BIRTH)
    return notes
