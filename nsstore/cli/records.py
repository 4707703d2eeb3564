"""How records look to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from nsstore.cli import printing

if TYPE_CHECKING:
    from nsstore.search.engine import Hit
    from nsstore.session import Session
    from nsstore.store import Found, Provenance
    from nsstore.writers.forget import ForgetReceipt
    from nsstore.writers.note import Receipt

EXCERPT = 240
WORD = re.compile(r"\w+")
STALE = "Stale, of an allowed other branch or baseline:"
WHOSE = {
    "user_id": "user",
    "session_id": "session",
    "conversation_id": "conversation",
    "workspace_id": "workspace",
    "agent_id": "agent",
    "tool_context": "tool context",
    "task_id": "task",
}
Fields = Mapping[str, str | None]


def own_fields(session: Session) -> Fields:
    """The asker's own scope, by field name as in a provenance."""
    from nsstore.scope import envelope_fields

    return envelope_fields(session.envelope)


def whose(of: Fields, own: Fields) -> str:
    """Whose a record is, as far as it is not the asker's own; of another user, the session in any case."""
    shared = of["user_id"] != own["user_id"]
    return " · ".join(
        f"{words} {of[name]}"
        for name, words in WHOSE.items()
        if of[name] is not None
        and (of[name] != own[name] or (shared and name in ("session_id", "conversation_id")))
    )


def hits(found: tuple[Hit, ...], own: Fields) -> None:
    """Print what a search found, best first: in blocks on a terminal, else as rows."""
    if not printing.is_terminal():
        _rows(found, own)
        return
    for place, hit in enumerate(found, 1):
        _block(f"{place}. ", hit, own)


def stale_hits(found: tuple[Hit, ...], own: Fields) -> None:
    """Print what a search found of other branches or baselines: apart on a terminal, and each hit marked."""
    if not printing.is_terminal():
        _rows(found, own, stale=True)
        return
    printing.say()
    printing.say(STALE, bold=True)
    for place, hit in enumerate(found, 1):
        _block(f"{place}. ", hit, own, stale=True)


def _rows(found: tuple[Hit, ...], own: Fields, *, stale: bool = False) -> None:
    """Hits as rows for a program; what is stale says of which branch and baseline it is."""
    printing.table(
        ("score", "record", "created", "stale", "title", "text", "whose"),
        [
            (
                f"{hit.score:.3f}",
                hit.record_id,
                hit.created_at,
                _place(hit) if stale else "",
                hit.title or "",
                hit.text,
                whose(hit.provenance.scope, own),
            )
            for hit in found
        ],
    )


def _block(mark: str, hit: Hit, own: Fields, *, stale: bool = False) -> None:
    """One hit on lines of its own, each below the first word behind its number."""
    first = _cut(hit.title or hit.text)
    printing.say(f"stale: {first}" if stale else first, mark=mark, bold=True, indent=len(mark))
    if hit.title:
        printing.say(_cut(hit.text), indent=len(mark))
    for line in (
        f"{hit.record_id}  {printing.when(hit.created_at)}  score {hit.score:.2f}",
        whose(hit.provenance.scope, own),
        _place(hit) if stale else "",
        f"matched {', '.join(_matched(hit))}",
    ):
        if line:
            printing.say(line, dim=True, indent=len(mark))


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


def show_found(found: Found, *, only_text: bool, as_json: bool, newer: Sequence[str] | None = None) -> None:
    """Print a record as JSON, as its text alone, or with its provenance above the text.

    ``newer`` are the current versions that took its place, if somebody looked for them.
    """
    if as_json and newer is None:
        printing.emit(found)
    elif as_json:
        emit_with(found, superseded_by=newer)
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


def emit_with(value: Found | Receipt, **more: object) -> None:
    """Print a value of the library as JSON, with what the command found out beside it."""
    import msgspec

    printing.emit({**msgspec.to_builtins(value), **more})


def newest_of(versions: tuple[Found, ...], record_id: str) -> list[str]:
    """The current ones of the versions that took the place of a record, through others or at once."""
    current = [one for one in versions if not one.stale]
    newer = {record_id}
    for one in reversed(current):  # the oldest first: what it supersedes came before it
        if newer & {*one.supersedes}:
            newer.add(one.record_id)
    gone = {old for one in current for old in one.supersedes}
    return [one.record_id for one in current if one.record_id in newer - gone - {record_id}]


def rows(records: tuple[Found, ...], own: Fields, *, whole: bool = False) -> None:
    """Print records: id, time, what they say, and whose they are if not the asker's own.

    With ``whole`` a title does not stand for the text. That there are none is told on a terminal alone.
    """
    told = printing.is_terminal()
    if told and not records:
        printing.say("nothing here in this scope")
    for one in records if told else ():
        head = (one.record_id, printing.when(one.created_at), whose(one.provenance.scope, own))
        printing.entry(head, _named(one, whole=whole), EXCERPT)
    if not told:
        printing.table(
            ("record", "created", "title or text", "whose"),
            [
                (one.record_id, one.created_at, _named(one, whole=whole), whose(one.provenance.scope, own))
                for one in records
            ],
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
    for record_id in done.back:
        printing.note(
            f"{record_id} is not forgotten, and is current again: `nsstore forget` takes it as well"
        )


def _named(found: Found, *, whole: bool) -> str:
    """A document's key and text, or a record's title, or its text; what is stale says so first.

    With ``whole`` there is the text in any case, and no key, since it is the same one in every version.
    """
    named = found.title or found.text
    if whole:
        named = f"{found.title}: {found.text}" if found.title else found.text
    elif found.key:
        named = f"{found.key}: {found.text}"
    return f"(stale) {named}" if found.stale else named
