"""Showing who asks: each value of the scope and where it came from."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import flagged, scope_flags
from nsstore.cli.flags import BY_NAME

if TYPE_CHECKING:
    from nsstore.host import Inferred, Value

DEFAULT: Final = "default"
UNBOUND: Final = "this directory is bound to no project: `nsstore allow` binds it"
MOVED: Final = "this checkout was moved here from {}: `nsstore allow --same-as {}` binds it again"
OTHER: Final = "the checkout here is bound to another project, and says nothing about this one"
NO_FACTS: Final = "git tells nothing here yet: no commit, no git, or a repository that git holds unsafe"
NO_BASELINE: Final = "no tag is reachable and the first commit is not here: give the baseline"


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
    store = inferred["store"]
    if store is None:
        return ["no store is known: `nsstore setup` makes one, --store names one"]
    if inferred.checkout is None:
        return [_unbound(store, inferred)]
    if inferred.facts is None and inferred.checkout.versioned:
        return [NO_FACTS]
    return [NO_BASELINE] if inferred["baseline"] is None else []


def _unbound(store: str, inferred: Inferred) -> str:
    from nsstore.host.checkouts import checkouts_of
    from nsstore.host.inference import moved_from

    with checkouts_of(store) as checkouts:
        if checkouts.find(inferred.directory) is not None:
            return OTHER
    moved = moved_from(store, inferred.directory)
    return UNBOUND if moved is None else MOVED.format(moved.path, shlex.quote(moved.path))
