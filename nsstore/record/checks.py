"""The rules of single header fields that no id rule of ``nsstore.scope`` covers.

Each takes any object, because a wrong type is one of the things it refuses; none repeats the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from typing import Final, cast

from nsstore.errors import InvalidInput
from nsstore.scope import NOT_APPLICABLE_TEXT, check_id

HEX32: Final = re.compile(r"[0-9a-f]{32}")
HEX64: Final = re.compile(r"[0-9a-f]{64}")
SEAL: Final = re.compile(r"1:[0-9a-f]{8}:[0-9a-f]{64}")
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}\.[0-9]{6}Z",
)
_RULES: Final = {
    HEX32: "must be 32 lowercase hex digits",
    HEX64: "must be 64 lowercase hex digits",
    SEAL: "must be 1:<8 hex digits of key id>:<64 hex digits>, lowercase",
    _TIME: "must be a UTC time YYYY-MM-DDTHH:MM:SS.ffffffZ",
}


def check_shape(field: str, value: object, shape: re.Pattern[str]) -> str:
    """Return ``value`` only if it is a ``str`` that matches one of this module's shapes whole."""
    if type(value) is not str or shape.fullmatch(value) is None:
        raise InvalidInput(f"{field} {_RULES[shape]}")
    return value


def check_time(field: str, value: object) -> str:
    """Return ``value`` only if it is a time in the one spelling, and one that the calendar has."""
    text = check_shape(field, value, _TIME)
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{field} must be a time that the calendar has") from None
    return text


def check_id_or_dash(field: str, value: object) -> None:
    """Require an id, or the ``-`` that seals "not applicable"."""
    if type(value) is not str or value != NOT_APPLICABLE_TEXT:
        check_id(field, value)


def check_member(field: str, value: object, kind: type) -> None:
    """Require a value of exactly this class: an enum's member, not its text."""
    if type(value) is not kind:
        raise InvalidInput(f"{field} must be a {kind.__name__}")


def check_integer(field: str, value: object, low: int, high: int) -> None:
    """Require an ``int`` from ``low`` to ``high``; ``True`` and ``1.0`` equal 1 but are spelled otherwise."""
    if type(value) is not int or not low <= value <= high:
        raise InvalidInput(f"{field} must be an integer from {low} to {high}")


def check_list(field: str, values: object, most: int, check: Callable[[str, object], str]) -> None:
    """Require a tuple of 1 to ``most`` values that each pass ``check``, sorted and unlike one another."""
    items = cast("tuple[object, ...]", values)
    if type(values) is not tuple or not 1 <= len(items) <= most:
        raise InvalidInput(f"{field} must be 1 to {most} in number, or left out")
    checked = [check(field, item) for item in items]
    if any(one >= following for one, following in pairwise(checked)):
        raise InvalidInput(f"{field} must be sorted and name nothing twice")
