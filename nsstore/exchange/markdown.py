"""One Markdown file as a note: its body is the text, and what its front matter says is kept, not obeyed.

Title, kind, tags and the time it claims are taken from the front matter where they can be; all of it, as it
stands, goes to ``ext.original``. Scope, id and time of the record are the session's alone.
"""

from __future__ import annotations

import os
import re
from typing import Final

import msgspec

from nsstore import digests
from nsstore.errors import InvalidInput
from nsstore.exchange import front_matter
from nsstore.exchange.claims import as_label, claimed_name, is_label, is_time
from nsstore.exchange.concept import Claimed, own
from nsstore.exchange.decoding import NUL_BYTES, Unreadable, decoded
from nsstore.record import MAX_TAGS, MAX_TEXT, SCOPE_FIELDS, ImportedFrom, check_ext
from nsstore.scope import check_name
from nsstore.writers.note import Note

FORMAT: Final = "markdown"
SUFFIXES: Final = (".md", ".markdown")
MAX_FILE: Final = 4 * MAX_TEXT + 64 * 1024
"""Bytes: the longest text in UTF-32, and front matter."""
MAX_OWN: Final = 32 * 1024
MAX_FOREIGN: Final = 8 * 1024
"""Characters of front matter; what is longer stays where it is, in the text."""
TOO_LONG: Final = f"its text is longer than {MAX_TEXT} bytes: a record holds no more, so split it"
TIMES: Final = ("created_at", "created", "date", "timestamp")
IDS: Final = ("id", "permalink")
_NO_WORD: Final = re.compile(r"[^a-z0-9]+")


def is_markdown(path: str) -> bool:
    """Whether a file's name says that it is Markdown."""
    return path.lower().endswith(SUFFIXES)


def digest_of(raw: bytes) -> str:
    """The digest of a file's bytes, by which a repeat knows it."""
    return digests.digest(digests.DIGEST, raw).hex()


def note_of(raw: bytes, path: str, item: str, encoding: str | None) -> Note | None:
    """The note that a file is, without an idempotency key; ``None`` if nothing is in it but spaces.

    Raises :class:`Unreadable` with the rule it breaks.
    """
    if len(raw) > MAX_FILE:
        raise Unreadable(TOO_LONG)
    text = decoded(raw, encoding)
    if not text.strip("\0 \t\r\n\f\v"):
        if "\0" in text:
            raise Unreadable(NUL_BYTES)
        return None
    front, body = front_matter.split(text)
    claimed = own(front, body) if front is not None and len(front) <= MAX_OWN else None
    if claimed is None:
        if "\0" in text:
            raise Unreadable(NUL_BYTES)
        claimed = _foreign(text, front, body, path)
    if len(claimed.note.text.encode()) > MAX_TEXT:
        raise Unreadable(TOO_LONG)
    return msgspec.structs.replace(claimed.note, imported_from=_origin(claimed, raw, item))


def declares_bundle(raw: bytes) -> bool:
    """Whether this is the ``index.md`` at the root of a bundle of the Open Knowledge Format."""
    try:
        front, _ = front_matter.split(decoded(raw, None))
    except Unreadable:
        return False
    return front is not None and "okf_version" in front_matter.values(front[:MAX_FOREIGN])


def _origin(claimed: Claimed, raw: bytes, item: str) -> ImportedFrom:
    return ImportedFrom(
        created_at=claimed.created_at if is_time(claimed.created_at or "") else None,
        digest=digest_of(raw),
        format=FORMAT,
        item=item,
        record_id=claimed.record_id,
        scope=claimed.scope,
    )


def _foreign(text: str, front: str | None, body: str, path: str) -> Claimed:
    """A file of anybody's; what is no front matter that can be kept apart stays in the text."""
    stem = as_label(os.path.basename(path).rpartition(".")[0])
    if front is None or not body.strip() or not _can_be_kept(front):
        return Claimed(note=Note(text=text, title=stem), record_id=None, created_at=None, scope=None)
    said = front_matter.values(front)
    title = said.get("title")
    note = Note(
        text=body,
        title=(as_label(title) if isinstance(title, str) else None) or stem,
        kind=_kind(said),
        tags=_tags(front_matter.texts(said.get("tags"))),
        original=front,
    )
    times = [one for name in TIMES if isinstance(one := said.get(name), str)]
    times = [one for one in (*times, front_matter.made_at(front) or "") if is_time(one)]
    ids = [one for name in IDS if (one := claimed_name(said.get(name))) is not None]
    return Claimed(
        note=note,
        record_id=ids[0] if ids else None,
        created_at=times[0] if times else None,
        scope=_scope(said),
    )


def _can_be_kept(front: str) -> bool:
    try:
        return len(front) <= MAX_FOREIGN and check_ext(None, original=front) is not None
    except InvalidInput:
        return False


def _kind(said: dict[str, front_matter.Value]) -> str | None:
    """The kind, else the type, as a word: ``BigQuery Table`` is ``bigquery_table``."""
    given = said.get("kind", said.get("type"))
    if not isinstance(given, str):
        return None
    word = _NO_WORD.sub("_", given.lower()).strip("_")
    try:
        return check_name("kind", word)
    except InvalidInput:
        return None


def _tags(given: tuple[str, ...]) -> tuple[str, ...]:
    """The tags that can be tags, each once and at most 32; the rest is in the front matter still."""
    labels = [as_label(tag.removeprefix("#")) for tag in given]
    return tuple(dict.fromkeys(label for label in labels if label is not None))[:MAX_TAGS]


def _scope(said: dict[str, front_matter.Value]) -> dict[str, str] | None:
    """Scope fields that the file names: a claim, and never the scope it gets."""
    found = {name: one for name in SCOPE_FIELDS if isinstance(one := said.get(name), str) and is_label(one)}
    return found or None
