"""What may name something: ids, labels, names, commits and record ids, each by one exact rule.

A value is taken as it is or refused; nothing is trimmed, folded, normalised or coerced. A refusal
names the field and the rule and never repeats the value (``docs/format.md``, "Path components").
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, cast

from nsstore.errors import InvalidInput
from nsstore.scope.codepoints import visible

MAX_CHARACTERS: Final = 200

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_RECORD_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_WILDCARD: Final = re.compile(r"[*?\[\]]")
_SEPARATOR: Final = re.compile(r"[/\\]")
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_ABSENT_WORDS: Final = frozenset({"null", "none", "undefined", "nil", "nan"})


def check_id(field: str, value: object) -> str:
    """Return ``value`` only if it names exactly one thing: never a path, pattern, variable or placeholder.

    1 to 200 visible NFC characters and inner spaces. Raises :class:`InvalidInput`
    (redline, "Core Rule": a dimension that is unavailable denies).
    """
    text = _bounded(field, value)
    if (rule := _broken_id_rule(text)) is not None:
        raise InvalidInput(f"{field} {rule}")
    return text


def check_label(field: str, value: object) -> str:
    """Return ``value`` only if it is 1 to 200 visible NFC characters and inner spaces: a title, tag or key.

    A label names no place, so the shapes that :func:`check_id` refuses are allowed in it. Raises
    :class:`InvalidInput` (``docs/format.md``, "Record").
    """
    text = _bounded(field, value)
    if (rule := _broken_label_rule(text)) is not None:
        raise InvalidInput(f"{field} {rule}")
    return text


def check_name(field: str, value: object) -> str:
    """Return ``value`` only if it is a small-letter word of at most 32 characters: kind, class or role.

    Raises :class:`InvalidInput` (``docs/format.md``, "Record").
    """
    return _matching(field, value, _NAME, "must be a small letter and up to 31 of a-z, 0-9 and _")


def check_commit(value: object) -> str:
    """Return ``value`` only if it is a whole git object id: 40 or 64 small hex digits.

    Raises :class:`InvalidInput`; an abbreviated id could come to mean another commit.
    """
    return _matching("commit", value, _COMMIT, "must be 40 or 64 lowercase hex digits")


def check_record_id(field: str, value: object) -> str:
    """Return ``value`` only if it is a lowercase UUIDv7, the one spelling a record id has.

    Raises :class:`InvalidInput` (``docs/format.md``, "Record").
    """
    return _matching(field, value, _RECORD_ID, "must be a lowercase UUID, version 7")


def _text(field: str, value: object) -> str:
    # A subclass may compare, hash or encode as another text than the one that was checked.
    if type(value) is not str:
        raise InvalidInput(f"{field} must be a str, not a subclass and not another type")
    return value


def _bounded(field: str, value: object) -> str:
    text = _text(field, value)
    if not 1 <= len(text) <= MAX_CHARACTERS:
        raise InvalidInput(f"{field} must have 1 to {MAX_CHARACTERS} characters")
    return text


def _matching(field: str, value: object, pattern: re.Pattern[str], rule: str) -> str:
    text = _text(field, value)
    if pattern.fullmatch(text) is None:
        raise InvalidInput(f"{field} {rule}")
    return text


def _broken_label_rule(text: str) -> str | None:
    if text[0] == " " or text[-1] == " ":
        return "must not begin or end with a space"
    if not visible(text.replace(" ", "")):
        return "must hold only visible characters of Unicode 14.0 and inner spaces"
    # The form is the same under every newer Unicode: all characters are assigned in 14.0 by now.
    if not unicodedata.is_normalized("NFC", text):
        return "must be in Unicode normalisation form NFC"
    return None


@lru_cache(maxsize=4096)
def _broken_id_rule(text: str) -> str | None:
    if (rule := _broken_label_rule(text)) is not None:
        return rule
    if text == "-":
        return "must not be '-', which stands for not applicable"
    if _WILDCARD.search(text):
        return "must not contain * ? [ or ]: an id is no pattern"
    if text[0] in "/\\~$%":
        return "must not begin with / \\ ~ $ or %: an id is no path and no variable"
    if _DRIVE.match(text):
        return "must not begin with a drive letter: an id is no path"
    if any(not segment.strip(".") for segment in _SEPARATOR.split(text)):
        return "must have no part between / or \\ that is empty or only dots: an id is no path"
    if not text.strip(string.punctuation):
        return "must not be punctuation alone: it names nothing"
    if text.casefold() in _ABSENT_WORDS:
        return "must not be a word for an absent value"
    return None


def check_texts(field: str, values: object) -> tuple[str, ...]:
    """Return the texts of a list, tuple or set in their order; one text alone is no list.

    Raises :class:`InvalidInput`. What each text must be is checked where it is used.
    """
    if values == ():
        return ()
    if not isinstance(values, list | tuple | set | frozenset):
        raise InvalidInput(f"{field} must be a list of texts")
    given = tuple(cast("Iterable[object]", values))
    texts = tuple(value for value in given if type(value) is str)
    if len(texts) != len(given):
        raise InvalidInput(f"{field} must be a list of texts")
    return texts
