"""A record as a concept of the Open Knowledge Format: front matter of JSON values, then the text.

It is the record's own header but for what binds it to its place in the store: a sequence number or a seal
would tell its reader of records that are not the reader's. Each line is ``key: <JSON value>``, which is
YAML as well, ``type`` first.
"""

from __future__ import annotations

import re
from typing import Final, cast

import msgspec

from nsstore.exchange.claims import NotTaken, claimed_name, is_time
from nsstore.exchange.strict_json import NotStrict, decode_object
from nsstore.record import FIELDS, SCHEMA_VERSION, SCOPE_FIELDS
from nsstore.record.ext import ORIGINAL
from nsstore.record.spelling import escape, spell
from nsstore.scope import Privacy
from nsstore.store import Found
from nsstore.writers.note import Note

TYPE: Final = "memory"
BOUND: Final = frozenset({"key", "idempotency", "seq", "prev", "salt", "seal"})
STANDARD: Final = "standard"
ANEW: Final = {
    "privacy": (Privacy.PROJECT_ONLY.value, "what comes in opens nothing: it is project_only"),
    "retention_class": (STANDARD, "what comes in is held by nothing that its source says: it is standard"),
}
"""What a concept says and its record begins anew with, which is told where the two differ."""
_LINE: Final = re.compile(r"([a-z_]+): (.+)")


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """What a concept that this program wrote says, each value of its type; the rest is not read."""

    type: str
    schema_version: int
    record_id: str
    created_at: str
    sensitivity: str
    expires_at: str | None = None
    kind: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    ext: dict[str, object] | None = None


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """A concept as a note, what it claims of where it was, and what it says that the note does not."""

    note: Note
    record_id: str | None
    created_at: str | None
    scope: dict[str, str] | None
    not_taken: tuple[NotTaken, ...] = ()


def concept(found: Found) -> bytes:
    """The whole file of one record."""
    provenance = found.provenance
    known: dict[str, object] = {
        **msgspec.structs.asdict(found),
        **provenance.scope,
        "type": TYPE,
        "schema_version": SCHEMA_VERSION,
        "tags": found.tags or None,
        "supersedes": found.supersedes or None,
        "source_tool": provenance.source_tool,
        "imported_from": provenance.imported_from,
    }
    lines = [
        b"%b: %b\n" % (name.encode(), escape(spell(known[name])))
        for name in FIELDS
        if name not in BOUND and known[name] is not None
    ]
    return b"---\n%b---\n%b" % (b"".join(lines), found.text.encode())


def own(front: str, body: str) -> Claimed | None:
    """What a concept says if its front matter is one that :func:`concept` makes, or a record's own header.

    Privacy and retention class are not taken: what comes in opens nothing, and holds nothing for good. Of
    a record that was imported itself, the time is the one that its first source claimed.
    """
    members: list[str] = []
    for line in front.split("\n")[:-1]:
        found = _LINE.fullmatch(line)
        if found is None or found[1] not in FIELDS:
            return None
        members.append(f'"{found[1]}":{found[2]}')
    try:
        said = decode_object(("{" + ",".join(members) + "}").encode())
        if said.get("tags") is None:
            said.pop("tags", None)
        header = msgspec.convert(said, Own)
    except (NotStrict, msgspec.ValidationError, UnicodeEncodeError):
        return None
    if header.type != TYPE or header.schema_version != SCHEMA_VERSION:
        return None
    ext, original = _parts(header.ext)
    note = Note(
        text=body,
        title=header.title,
        kind=header.kind,
        tags=header.tags,
        sensitivity=header.sensitivity,
        expires_at=header.expires_at,
        ext=ext,
        original=original,
    )
    scope = {name: said[name] for name in SCOPE_FIELDS if type(said.get(name)) is str}
    return Claimed(
        note=note,
        record_id=claimed_name(header.record_id),
        created_at=_first_time(said.get("imported_from")) or header.created_at,
        scope=cast("dict[str, str]", scope) or None,
        not_taken=tuple(
            NotTaken(name, why) for name, (usual, why) in ANEW.items() if said.get(name) not in (None, usual)
        ),
    )


def _first_time(origin: object) -> str | None:
    """When the first source of a record that was imported claimed to have written it."""
    claimed = cast("dict[str, object]", origin).get("created_at") if isinstance(origin, dict) else None
    return claimed if isinstance(claimed, str) and is_time(claimed) else None


def _parts(ext: dict[str, object] | None) -> tuple[dict[str, object] | None, str | None]:
    """The caller's own metadata, and apart from it the front matter that an earlier import kept."""
    rest = dict(ext or {})
    original = rest.pop(ORIGINAL, None)
    return (rest or None, original) if original is None or isinstance(original, str) else (ext, None)
