"""What a line must be to be a message, told to whoever sent one that is none: nobody waits for ever.

A request goes on to the SDK only if the SDK will answer it; one that it would pass over is answered here.
Whose call a broken line was is read from its ends alone, where clients put the id; it is never guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final, NamedTuple, cast

from nsstore.mcp.lines import EDGE, MOST, Long

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
MOST_DIGITS: Final = 4_300
TOO_LONG: Final = f"a message must be at most {MOST} bytes: give a long text in parts"
NO_UTF8: Final = "a message must be UTF-8: nothing was done with it"
NO_JSON: Final = "a message must be one JSON object on a line of its own"
HALF: Final = "a text must not hold half of a surrogate pair (\\ud800 to \\udfff alone)"
DIGITS: Final = f"a number must have at most {MOST_DIGITS} digits"
DEEP: Final = "a message must not be nested so deep"
NO_OBJECT: Final = "a message must be a JSON object: lists of messages are not taken"
NO_ID: Final = "an id must be text or a whole number"
NO_METHOD: Final = 'a request must have jsonrpc "2.0" and a method that is text, and no result or error'
NO_PARAMS: Final = "params must be an object"

_ID: Final = rb'("(?:[^"\\\x00-\x1f]|\\.)*"|-?\d{1,19})'
_NAMED: Final = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_HEAD: Final = re.compile(rb'\s*\{\s*(?:%b\s*,\s*)*"id"\s*:\s*%b\s*[,}]' % (_NAMED, _ID))
_TAIL: Final = re.compile(rb',\s*"id"\s*:\s*%b\s*(?:,\s*%b\s*)*\}\s*\Z' % (_ID, _NAMED))


class Refusal(NamedTuple):
    """What is answered to a line that is no message: to whose call, if that is known, and the rule."""

    id: str | int | None
    code: int
    message: str


def refusal_of(line: bytes | Long, is_request: Callable[[bytes], bool]) -> Refusal | None:
    """Why a line is answered with an error here; ``None`` for one that is left to the server.

    That is what ``is_request`` says the server will answer, and whatever is never answered: a notification,
    an answer, and an empty line.
    """
    if isinstance(line, Long):
        return Refusal(_whose(line.head, line.tail), INVALID_REQUEST, TOO_LONG)
    if not line.strip():
        return None
    try:
        said: object = json.loads(line.decode())
    except (ValueError, RecursionError):
        return Refusal(_whose(line[:EDGE], line[-EDGE:]), PARSE_ERROR, _why(line))
    if not isinstance(said, dict):
        return Refusal(None, INVALID_REQUEST, NO_OBJECT)
    members = cast("dict[str, object]", said)
    if _is_never_answered(members):
        return None
    refused = _of_members(members)
    if refused is None and not is_request(line):
        return Refusal(cast("str | int", members["id"]), PARSE_ERROR, _why(line))
    return refused


def _is_never_answered(said: dict[str, object]) -> bool:
    """Whether it asks without an id, or answers."""
    return "id" not in said if "method" in said else "result" in said or "error" in said


def _of_members(said: dict[str, object]) -> Refusal | None:
    if "id" in said and not _is_id(said["id"]):
        return Refusal(None, INVALID_REQUEST, NO_ID)
    whose = cast("str | int | None", said.get("id"))
    plain = type(said.get("method")) is str and said.get("jsonrpc") == "2.0"
    if not plain or "result" in said or "error" in said:
        return Refusal(whose, INVALID_REQUEST, NO_METHOD)
    if not isinstance(said.get("params", {}), dict | None):
        return Refusal(whose, INVALID_PARAMS, NO_PARAMS)
    return None


def _is_id(named: object) -> bool:
    """Whether it is a whole number, or text that can be said again."""
    if type(named) is not str:
        return type(named) is int
    try:
        named.encode()
    except UnicodeEncodeError:
        return False
    return True


def _why(line: bytes) -> str:
    """The rule that a line breaks which is no JSON, or none that the server reads."""
    try:
        said: object = json.loads(line.decode(), parse_int=_short_enough, parse_float=_short_enough)
        json.dumps(said, ensure_ascii=False).encode()
    except RecursionError:
        return DEEP
    except UnicodeDecodeError:
        return NO_UTF8
    except UnicodeEncodeError:
        return HALF
    except OverflowError:
        return DIGITS
    except ValueError:
        return NO_JSON
    return DEEP


def _short_enough(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise OverflowError
    return 0


def _whose(head: bytes, tail: bytes) -> str | int | None:
    """The id of the call that a line began or ended as; ``None`` where that is not plain."""
    found = _TAIL.search(tail) or _HEAD.match(head)
    if found is None or not (b'"method"' in head or b'"method"' in tail):
        return None
    try:
        named: object = json.loads(found[1])
    except ValueError:
        return None
    return cast("str | int", named) if _is_id(named) else None
