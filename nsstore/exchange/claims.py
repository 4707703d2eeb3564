"""What a source claims about itself: kept as provenance in one spelling, and never believed."""

from __future__ import annotations

import os
import re
import unicodedata
from datetime import datetime
from typing import Final

import msgspec

from nsstore import digests
from nsstore.errors import InvalidInput
from nsstore.record import ImportedFrom
from nsstore.scope import MAX_CHARACTERS, check_label

TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)?)?", re.ASCII
)
HASH: Final = 12
"""Hex digits that tell two items apart whose names cannot be kept as they are."""


class NotTaken(msgspec.Struct, frozen=True):
    """Something that a source says of itself and its record does not: which field, and why."""

    field: str
    reason: str


def is_time(claimed: str) -> bool:
    """Whether a text is a date, or a date and a time of day, as a source may spell it."""
    try:
        datetime.fromisoformat(claimed.replace("z", "Z"))
    except ValueError:
        return False
    return TIME.fullmatch(claimed) is not None


def is_label(text: str) -> bool:
    """Whether a text can be a title, a tag or a name inside a source."""
    try:
        check_label("text", text)
    except InvalidInput:
        return False
    return True


def as_label(text: str) -> str | None:
    """A text with its spaces as one each, in NFC, if that can be a title or a tag."""
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    return plain if is_label(plain) else None


def named_item(path: str) -> str:
    """The name of a file inside its source: its path, or, where that is no label, one made of it.

    Two paths have two names: one that was spelled anew or cut ends in a digest of the path's bytes.
    """
    if is_label(path) and _is_item(path):
        return path
    raw = os.fsencode(path)
    shown = "".join(
        letter if is_label(letter) or letter == " " else "_"
        for letter in unicodedata.normalize("NFC", raw.decode(errors="replace"))
    )
    mark = digests.digest(digests.DIGEST, raw).hex()[:HASH]
    return f"./{unicodedata.normalize('NFC', shown[3 + HASH - MAX_CHARACTERS :])}#{mark}"


def _is_item(path: str) -> bool:
    return not path.startswith(("/", "\\", "~", "./")) and claimed_name(path) is not None


def claimed_name(value: object) -> str | None:
    """A name inside the source, if it is one: never a path on the host."""
    if type(value) is not str:
        return None
    try:
        ImportedFrom(created_at=None, digest=None, format="any", item=value, record_id=None, scope=None)
    except InvalidInput:
        return None
    return value
