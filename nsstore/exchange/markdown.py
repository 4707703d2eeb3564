"""One Markdown file as a note: its body is the text, and what its front matter says is kept, not obeyed.

Title, kind, tags and the time it claims are taken from the front matter where they can be; all of it, as it
stands, goes to ``ext.original``. Scope, id and time of the record are the session's alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from nsstore import digests
from nsstore.exchange import front_matter
from nsstore.exchange.claims import NotTaken, is_time
from nsstore.exchange.concept import Claimed, own
from nsstore.exchange.decoding import NUL_BYTES, Unreadable, decoded
from nsstore.exchange.foreign import MAX_FRONT, foreign
from nsstore.record import MAX_TEXT, ImportedFrom
from nsstore.writers.note import Note

FORMAT: Final = "markdown"
SUFFIXES: Final = (".md", ".markdown")
MAX_FILE: Final = 4 * MAX_TEXT + 64 * 1024
"""Bytes: the longest text in UTF-32, and front matter."""
MAX_OWN: Final = 32 * 1024
"""Characters of the front matter that an export writes."""
TOO_LONG: Final = f"its text is longer than {MAX_TEXT} bytes: a record holds no more, so split it"


class Taken(NamedTuple):
    """What a file is as a note, and what it says that the note does not."""

    note: Note
    not_taken: tuple[NotTaken, ...]


def is_markdown(path: str) -> bool:
    """Whether a file's name says that it is Markdown."""
    return path.lower().endswith(SUFFIXES)


def digest_of(raw: bytes) -> str:
    """The digest of a file's bytes, by which a repeat knows it."""
    return digests.digest(digests.DIGEST, raw).hex()


def note_of(raw: bytes, path: str, item: str, encoding: str | None) -> Taken | None:
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
        claimed = foreign(text, front, body, path)
    if len(claimed.note.text.encode()) > MAX_TEXT:
        raise Unreadable(TOO_LONG)
    note = msgspec.structs.replace(claimed.note, imported_from=_origin(claimed, raw, item))
    return Taken(note, claimed.not_taken)


def declares_bundle(raw: bytes) -> bool:
    """Whether this is the ``index.md`` at the root of a bundle of the Open Knowledge Format."""
    try:
        front, _ = front_matter.split(decoded(raw, None))
    except Unreadable:
        return False
    return front is not None and "okf_version" in front_matter.values(front[:MAX_FRONT])


def _origin(claimed: Claimed, raw: bytes, item: str) -> ImportedFrom:
    return ImportedFrom(
        created_at=claimed.created_at if is_time(claimed.created_at or "") else None,
        digest=digest_of(raw),
        format=FORMAT,
        item=item,
        record_id=claimed.record_id,
        scope=claimed.scope,
    )
