"""A Markdown file of anybody's as a note: what its front matter says is taken where it can be, else told.

What is told is not lost: the front matter stands in ``ext.original`` as it is, or in the text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Final

from nsstore.errors import InvalidInput
from nsstore.exchange import front_matter
from nsstore.exchange.claims import NotTaken, as_label, claimed_name, is_label, is_time
from nsstore.exchange.concept import Claimed
from nsstore.record import MAX_TAGS, SCOPE_FIELDS, check_ext
from nsstore.scope import MAX_CHARACTERS, check_name
from nsstore.writers.note import Note

MAX_FRONT: Final = 8 * 1024
"""Characters of front matter; what is longer stays where it is, in the text."""
TIMES: Final = ("created_at", "created", "date", "timestamp")
IDS: Final = ("id", "permalink")
FRONT_MATTER: Final = "front matter"

NO_TITLE: Final = f"a title is one line of 1 to {MAX_CHARACTERS} characters: the file's name stands for it"
NO_TAGS: Final = "they are no list of plain texts"
NO_TAG: Final = f"a tag is one line of 1 to {MAX_CHARACTERS} characters: {{}} left out"
MANY_TAGS: Final = f"a record has at most {MAX_TAGS} tags: the last {{}} left out"
NO_KIND: Final = "a kind is one plain word of at most 32 characters that begins with a letter"
NO_TIME: Final = "a time is written as 2025-03-01 or 2025-03-01T09:30:00Z"
NO_NAME: Final = "it is no plain name inside the source"
NO_CLAIM: Final = "it is no plain text of 1 to 200 characters, so it is no claim of a scope"
NO_BODY: Final = "no text stands behind it, so it is the text"
TOO_LONG: Final = f"it is longer than {MAX_FRONT} characters, so it stays in the text, unread"
NOT_KEPT: Final = "it cannot be kept beside the text, so it stays in the text, unread"
_NO_WORD: Final = re.compile(r"[^a-z0-9]+")


def foreign(text: str, front: str | None, body: str, path: str) -> Claimed:
    """The note that a file is; what is no front matter that can be kept apart stays in the text."""
    stem = as_label(os.path.basename(path).rpartition(".")[0])
    why = None if front is None else _why_not_apart(front, body)
    if front is not None and why is None:
        return _Front(front).claimed(body, stem)
    left = () if why is None else (NotTaken(FRONT_MATTER, why),)
    note = Note(text=text, title=stem)
    return Claimed(note=note, record_id=None, created_at=None, scope=None, not_taken=left)


def _why_not_apart(front: str, body: str) -> str | None:
    if not body.strip():
        return NO_BODY
    if len(front) > MAX_FRONT:
        return TOO_LONG
    try:
        check_ext(None, original=front)
    except InvalidInput:
        return NOT_KEPT
    return None


class _Front:
    """The values of one front matter, each asked for once, and what became of none of them."""

    def __init__(self, front: str) -> None:
        self._front = front
        self._said = front_matter.values(front)
        self._unread = front_matter.unread(front)
        self._left: list[NotTaken] = []

    def claimed(self, body: str, stem: str | None) -> Claimed:
        note = Note(
            text=body, title=self._title() or stem, kind=self._kind(), tags=self._tags(), original=self._front
        )
        record_id = self._first(IDS, claimed_name, NO_NAME)
        made = front_matter.made_at(self._front)
        created_at = self._first(TIMES, _time, NO_TIME, _time(made))
        return Claimed(
            note=note, record_id=record_id, created_at=created_at, scope=self._scope(),
            not_taken=tuple(self._left),
        )  # fmt: skip

    def _leave(self, field: str, reason: str) -> None:
        self._left.append(NotTaken(field, reason))

    def _stands(self, name: str) -> bool:
        return name in self._said or name in self._unread

    def _title(self) -> str | None:
        given = self._said.get("title")
        title = as_label(given) if isinstance(given, str) else None
        if title is None and self._stands("title"):
            self._leave("title", NO_TITLE)
        return title

    def _kind(self) -> str | None:
        """The kind, else the type, as a word: ``BigQuery Table`` is ``bigquery_table``."""
        return self._first(("kind" if self._stands("kind") else "type",), _word, NO_KIND)

    def _tags(self) -> tuple[str, ...]:
        """The tags that can be tags, each once and at most 32."""
        if "tags" in self._unread:
            self._leave("tags", NO_TAGS)
        given = front_matter.texts(self._said.get("tags"))
        labels = [as_label(tag.removeprefix("#")) for tag in given if tag.strip()]
        tags = tuple(dict.fromkeys(label for label in labels if label is not None))
        if none := labels.count(None):
            self._leave("tags", NO_TAG.format(none))
        if (more := len(tags) - MAX_TAGS) > 0:
            self._leave("tags", MANY_TAGS.format(more))
        return tags[:MAX_TAGS]

    def _scope(self) -> dict[str, str] | None:
        """Scope fields that the file names: a claim, and never the scope it gets."""
        stand = [name for name in SCOPE_FIELDS if self._stands(name)]
        found = {name: one for name in stand if (one := _label(self._said.get(name))) is not None}
        for name in stand:
            if name not in found:
                self._leave(name, NO_CLAIM)
        return found or None

    def _first(
        self, names: tuple[str, ...], take: Callable[[object], str | None], why: str, also: str | None = None
    ) -> str | None:
        """What the first of some keys says that can be taken; if none can, that is told of the first."""
        stand = [name for name in names if self._stands(name)]
        found = next((one for name in stand if (one := take(self._said.get(name))) is not None), also)
        if found is None and stand:
            self._leave(stand[0], why)
        return found


def _word(value: object) -> str | None:
    word = _NO_WORD.sub("_", value.lower()).strip("_") if isinstance(value, str) else ""
    try:
        return check_name("kind", word)
    except InvalidInput:
        return None


def _label(value: object) -> str | None:
    return value if isinstance(value, str) and is_label(value) else None


def _time(value: object) -> str | None:
    return value if isinstance(value, str) and is_time(value) else None
