"""How records look to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from nsstore.cli import printing

if TYPE_CHECKING:
    from nsstore.search.engine import Hit
    from nsstore.store import Found, Provenance
    from nsstore.writers.forget import ForgetReceipt

EXCERPT = 240
WORD = re.compile(r"\w+")
STALE = "Stale, of an allowed other branch or baseline:"


def hits(found: tuple[Hit, ...]) -> None:
    """Print what a search found, best first: in blocks on a terminal, else as rows."""
    if not printing.is_terminal():
        _rows(found)
        return
    for place, hit in enumerate(found, 1):
        _block(f"{place}.", hit)


def stale_hits(found: tuple[Hit, ...]) -> None:
    """Print what a search found of other branches or baselines: apart on a terminal, and each hit marked."""
    if not printing.is_terminal():
        _rows(found, stale=True)
        return
    printing.say()
    printing.say(STALE, bold=True)
    for place, hit in enumerate(found, 1):
        _block(f"{place}. stale:", hit, _place(hit))


def _rows(found: tuple[Hit, ...], *, stale: bool = False) -> None:
    """Hits as rows for a program; what is stale says of which branch and baseline it is."""
    printing.table(
        ("score", "record", "created", "stale", "title", "text"),
        [
            (
                f"{hit.score:.3f}",
                hit.record_id,
                hit.created_at,
                _place(hit) if stale else "",
                hit.title or "",
                hit.text,
            )
            for hit in found
        ],
    )


def _block(mark: str, hit: Hit, *more: str) -> None:
    printing.say(f"{mark} {_cut(hit.title or hit.text)}", bold=True)
    if hit.title:
        printing.say(_cut(hit.text), indent=3)
    for line in (
        f"{hit.record_id}  {printing.when(hit.created_at)}  score {hit.score:.2f}",
        *more,
        f"matched {', '.join(_matched(hit))}",
    ):
        printing.say(line, dim=True, indent=3)


def _matched(hit: Hit) -> Iterator[str]:
    """The words that were found, as they stand in the record, in the order of the question's terms."""
    from nsstore.search.analyser import terms

    fields = (hit.text, hit.title or "", *hit.tags)
    spelled: dict[str, str] = {}
    for word in WORD.findall("\n".join(fields)):
        if len(found := terms(word)) == 1:
            spelled.setdefault(found[0], word)
    yield from dict.fromkeys(spelled.get(term, term) for term in hit.provenance.matched_terms)


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
        ("retention class", _unless(found.retention_class, "standard")),
        ("privacy", _unless(found.privacy, "project_only")),
        ("commit", found.commit),
        ("created", found.created_at),
        ("expires", found.expires_at),
        ("scope", scope_line(found.provenance)),
        ("source", found.provenance.source_tool),
        ("imported from", _import_line(found)),
        ("path", found.provenance.path),
        ("ext", None if found.ext is None else printing.json_of(found.ext)),
    ]


def _unless(value: str | None, usual: str) -> str | None:
    return None if value == usual else value


def _import_line(found: Found) -> str | None:
    """What the source of an import claimed, on one line: none of it is believed."""
    source = found.provenance.imported_from
    if source is None:
        return None
    claims = {
        "item": source.item,
        "record": source.record_id,
        "created": source.created_at,
        **(source.scope or {}),
        "format": source.format,
        "digest": source.digest,
    }
    return "  ".join(f"{name}={value}" for name, value in claims.items() if value is not None)


def scope_line(provenance: Provenance) -> str:
    """The sealed scope on one line, what it lacks left out."""
    given = [
        (name.removesuffix("_id"), value) for name, value in provenance.scope.items() if value is not None
    ]
    return "  ".join(f"{name}={value}" for name, value in given)


def rows(records: tuple[Found, ...]) -> None:
    """Print records as rows: id, time, and what they say. That there are none is told on a terminal alone."""
    if not records:
        if printing.is_terminal():
            printing.say("nothing here in this scope")
        return
    printing.table(
        ("record", "created", "title or text"),
        [(one.record_id, printing.when(one.created_at), _named(one)) for one in records],
    )


def show_forgotten(done: ForgetReceipt, *, as_json: bool) -> None:
    """Print which records are forgotten, or would be."""
    if as_json:
        printing.emit(done)
        return
    for record_id in done.records:
        printing.say(record_id)
    number = printing.count(done.count, "record")
    printing.note(f"{number} would be forgotten" if done.proof is None else f"{number} forgotten for good")


def _named(found: Found) -> str:
    """A document's key and text, or a record's title, or its text; what is stale says so first."""
    named = f"{found.key}: {found.text}" if found.key else found.title or found.text
    return f"(stale) {named}" if found.stale else named
