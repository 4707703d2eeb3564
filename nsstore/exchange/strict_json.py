"""JSON of which nothing is silently dropped: no second key of one name, no NaN, nothing but UTF-8."""

from __future__ import annotations

import json
from typing import NoReturn, cast


class NotStrict(ValueError):
    """Bytes that are not one strict JSON object; the message is the rule."""


def decode_object(raw: bytes) -> dict[str, object]:
    """The JSON object that ``raw`` is, whole. Raises :class:`NotStrict`."""
    try:
        value: object = json.loads(raw.decode(), object_pairs_hook=_pairs, parse_constant=_constant)
    except NotStrict:
        raise
    except UnicodeDecodeError:
        raise NotStrict("it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise NotStrict("it is not JSON") from None
    if not isinstance(value, dict):
        raise NotStrict("it is not an object")
    return cast("dict[str, object]", value)


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotStrict("a key stands in it twice")
    return members


def _constant(_: str) -> NoReturn:
    raise NotStrict("NaN and Infinity are no JSON")
