"""How records look to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nsstore.cli import printing

if TYPE_CHECKING:
    from nsstore.search.engine import Hit
    from nsstore.store import Found, Provenance

EXCERPT = 240
STALE = "Stale, of an allowed other branch or baseline:"


def hits(found: tuple[Hit, ...]) -> None:
    """Print what a search found, best first: in blocks on a terminal, else as rows."""
    if not printing.is_terminal():
        printing.table(
            ("score", "record", "created", "title", "text"),
            [(f"{hit.score:.3f}", hit.record_id, hit.created_at, hit.title or "", hit.text) for hit in found],
        )
        return
    for place, hit in enumerate(found, 1):
        _block(f"{place}.", hit)


def stale_hits(found: tuple[Hit, ...]) -> None:
    """Print what a search found of other branches or baselines: below a heading, and each hit marked."""
    printing.say()
    printing.say(STALE, bold=True)
    if not printing.is_terminal():
        printing.table(
            ("score", "record", "created", "stale", "title", "text"),
            [
                (f"{hit.score:.3f}", hit.record_id, hit.created_at, _place(hit), hit.title or "", hit.text)
                for hit in found
            ],
        )
        return
    for place, hit in enumerate(found, 1):
        _block(f"{place}. stale:", hit, _place(hit))


def _block(mark: str, hit: Hit, *more: str) -> None:
    printing.say(f"{mark} {_cut(hit.title or hit.text)}", bold=True)
    if hit.title:
        printing.say(_cut(hit.text), indent=3)
    for line in (
        f"{hit.record_id}  {printing.when(hit.created_at)}  score {hit.score:.2f}",
        *more,
        f"matched {', '.join(hit.provenance.matched_terms)}",
    ):
        printing.say(line, dim=True, indent=3)


def _place(hit: Hit) -> str:
    scope = hit.provenance.scope
    return f"branch={scope['branch']}  baseline={scope['baseline']}"


def _cut(text: str) -> str:
    return printing.one_line(printing.excerpt(text), EXCERPT)


def show(found: Found, *, only_text: bool, as_json: bool) -> None:
    """Print a record as JSON, as its text alone, or with its provenance above the text."""
    if as_json:
        printing.emit(found)
    elif only_text and not printing.is_terminal():
        click.echo(found.text.encode(), nl=False)
    elif only_text:
        printing.body(found.text)
    else:
        printing.fields(_head(found))
        printing.say()
        printing.body(found.text)


def _head(found: Found) -> list[tuple[str, str | None]]:
    return [
        ("record", found.record_id),
        ("title", found.title),
        ("key", found.key),
        ("kind", found.kind),
        ("tags", ", ".join(found.tags) or None),
        ("supersedes", ", ".join(found.supersedes) or None),
        ("sensitivity", found.sensitivity),
        ("stale", "yes: of another branch or baseline" if found.stale else None),
        ("created", found.created_at),
        ("scope", scope_line(found.provenance)),
        ("source", found.provenance.source_tool),
        ("path", found.provenance.path),
    ]


def scope_line(provenance: Provenance) -> str:
    """The sealed scope on one line, what it lacks left out."""
    given = [
        (name.removesuffix("_id"), value) for name, value in provenance.scope.items() if value is not None
    ]
    return "  ".join(f"{name}={value}" for name, value in given)


def rows(records: tuple[Found, ...]) -> None:
    """Print records as rows: id, time, and what they say. That there are none is told beside them."""
    printing.table(
        ("record", "created", "title or text"),
        [(one.record_id, printing.when(one.created_at), _named(one)) for one in records],
    )
    if not records:
        printing.note("nothing here in this scope")


def _named(found: Found) -> str:
    """A document's key and text, or a record's title, or its text; what is stale says so first."""
    named = f"{found.key}: {found.text}" if found.key else found.title or found.text
    return f"(stale) {named}" if found.stale else named
