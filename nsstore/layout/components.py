"""One id, one path component: a canonical, injective spelling that no disk can fold onto another.

Every component is small ASCII out of ``a-z 0-9 - _ . + % ~``, at most 200 bytes, and no device name of
any system; so capitals, separators, lookalike spellings and trailing dots never meet, not even on a
disk that folds case or normalises (``docs/format.md``, "Path components").
"""

from __future__ import annotations

import re
import string
from base64 import b32encode
from functools import lru_cache
from typing import Final

from nsstore.digests import PATH, digest, lp
from nsstore.errors import InvalidInput
from nsstore.scope.envelope import NOT_APPLICABLE_TEXT
from nsstore.scope.namespace import check_dimension

MAX_BYTES: Final = 200

# What a component of each dimension begins with. No marker is a hex pair, so no id can write one.
_MARKERS: Final = {
    "tenant": "",
    "group": "%g.",
    "user": "",
    "project": "",
    "session": "",
    "conversation": "%c.",
    "workspace": "",
}
_MARKED: Final = {("tenant", "%g."): "group", ("session", "%c."): "conversation"}
_NOT_APPLICABLE: Final = "%n."
_DIGEST_MARK: Final = "%~"

_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)}
)

_UNIT: Final = re.compile(r"[a-z0-9_.-]|\+[a-z]|%[0-9a-f]{2}")
# 256 bits in 52 characters leave four bits over: they are zero, so the last character is a or q.
_SHAPE: Final = re.compile(rf"(%[gc]\.)?((?:{_UNIT.pattern})+)(%~[a-z2-7]{{51}}[aq])?")


def _unit(byte: int) -> str:
    character = chr(byte)
    if character in string.ascii_lowercase + string.digits + "-_.":
        return character
    if character in string.ascii_uppercase:
        return "+" + character.lower()
    return f"%{byte:02x}"


_UNITS: Final = tuple(_unit(byte) for byte in range(256))
_BYTES: Final = {f"%{byte:02x}": byte for byte in range(256)} | {
    unit: byte for byte, unit in enumerate(_UNITS)
}


def encode(dimension: str, id_: str) -> str:
    """Return the one component of this id in this dimension; no other pair at that level has it.

    ``-`` is the workspace that is not applicable. Raises :class:`InvalidInput` for what is no id.
    """
    if dimension not in _MARKERS:
        raise InvalidInput(f"dimension must be one of: {', '.join(_MARKERS)}")
    return _component(dimension, check_dimension(dimension, id_))


def decode(level: str, component: str) -> tuple[str, str] | None:
    """Return the only (dimension, id) whose :func:`encode` is ``component``.

    At level tenant that may be a group, at session a conversation. ``None`` for a well-formed digest
    component: the id stands in the genesis line of the ledger and must encode to it. Raises
    :class:`InvalidInput` for everything that :func:`encode` never writes.
    """
    wrong = InvalidInput(f"{level} component is not the canonical spelling of an id")
    if type(component) is not str or len(component) > MAX_BYTES:
        raise wrong
    if level == "workspace" and component == _NOT_APPLICABLE:
        return level, NOT_APPLICABLE_TEXT
    shape = _SHAPE.fullmatch(component)
    if shape is None:
        raise wrong
    marker, spelling, cut = shape.groups()
    dimension = level if marker is None else _MARKED.get((level, marker))
    if dimension is None:
        raise wrong
    raw = bytes(_BYTES[unit] for unit in _UNIT.findall(spelling))
    if cut is not None:
        if not _is_head(spelling, raw, room=MAX_BYTES - len(component)):
            raise wrong
        return None
    try:
        id_ = raw.decode()
        canonical = encode(dimension, id_) == component
    except (UnicodeDecodeError, InvalidInput):
        raise wrong from None  # the cause would repeat bytes of the name
    if not canonical:
        raise wrong
    return dimension, id_


@lru_cache(maxsize=4096)
def _component(dimension: str, id_: str) -> str:
    if id_ == NOT_APPLICABLE_TEXT:
        return _NOT_APPLICABLE
    marker = _MARKERS[dimension]
    units = _spell(id_.encode())
    whole = marker + "".join(units)
    if len(whole) <= MAX_BYTES:
        return whole
    tail = _DIGEST_MARK + b32encode(digest(PATH, lp(dimension, id_))).decode().lower().rstrip("=")
    room = MAX_BYTES - len(marker) - len(tail)
    head = ""
    for unit in units:
        if len(head) + len(unit) > room:
            break
        head += unit
    return marker + head + tail


def _spell(raw: bytes) -> list[str]:
    units = [_UNITS[byte] for byte in raw]
    for end in (0, -1):
        if units[end] == ".":
            units[end] = "%2e"
    # Systems that know device names look at what stands before the first dot.
    if "".join(units).partition(".")[0] in _DEVICES:
        units[0] = f"%{raw[0]:02x}"
    return units


def _is_head(spelling: str, raw: bytes, *, room: int) -> bool:
    # A head is the longest that fits: the unit cut off had at most three characters. Followed by
    # another character it is spelled the same, since a dot at its end is an inner one.
    return room < 3 and "".join(_spell(raw + b"-")[:-1]) == spelling
