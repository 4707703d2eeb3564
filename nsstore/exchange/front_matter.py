"""The front matter of somebody else's Markdown: the few values that an import wants, by a small reader.

It takes ``key: value`` lines, quoted or plain texts, and lists of them. There are no anchors, no tags, no
types and no nesting, so nothing in a file can make it grow, run or mean something else than it says: ``no``
is a text, and of a key that stands twice nothing is taken. Whoever calls keeps the whole front matter
beside, so what is not understood is not lost (``docs/dependencies.md``: why no YAML package).
"""

from __future__ import annotations

import json
import re
from typing import Final

Value = str | tuple[str, ...]

_FENCED: Final = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY: Final = re.compile(r"""(["']?)(\w[\w .-]{0,63})\1[ \t]*:(?:[ \t]+(.*))?""")
_GOES_ON: Final = re.compile(r"[ \t]|#|-[ \t]|-?$")
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(.*)")
_DOUBLE: Final = re.compile(r'("(?:[^"\\]|\\.)*")[ \t]*(?:#.*)?')
_SINGLE: Final = re.compile(r"'((?:[^']|'')*)'[ \t]*(?:#.*)?")
_MEMBER: Final = re.compile(
    r"""[ \t]*(?:("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*|([^ \t,\[\]{}"'][^,\[\]{}]*))(?:,|$)"""
)
SPACE: Final = " \t\r"
"""What YAML takes for a space; others are characters of a text."""
_LINE_END: Final = re.compile(r"\r?\n")
_AT: Final = re.compile(r"""(?:^|[{,\s])at:[ \t]*["']?([0-9][0-9T:.Zz+ -]*)""")
_NOT_PLAIN: Final = frozenset("&*!|>%@`{}[],")
_NOTHING: Final = frozenset({"", "~", "null"})


def split(text: str) -> tuple[str | None, str]:
    """The front matter between its fences and the body behind them, each as it is; ``None`` if there is none.

    Lines between two rules that are no mapping are a text that begins with a rule.
    """
    found = _FENCED.match(text)
    if found is None or not _blocks(found[1]):
        return None, text
    return found[1], text[found.end() :]


def values(front: str) -> dict[str, Value]:
    """The top-level values that this reader understands, by their keys in small letters."""
    found: dict[str, Value] = {}
    twice: set[str] = set()
    for key, lines in _blocks(front):
        if key in found or key in twice:
            twice.add(key)
            found.pop(key, None)
        elif (value := _value(lines)) is not None:
            found[key] = value
        else:
            twice.add(key)
    return found


def unread(front: str) -> frozenset[str]:
    """The top-level keys that say something which :func:`values` does not take, in small letters."""
    known = values(front)
    return frozenset(key for key, lines in _blocks(front) if key not in known and not _says_nothing(lines))


def made_at(front: str) -> str | None:
    """When a concept of the Open Knowledge Format says its content was made: ``at`` in ``generated``."""
    for key, lines in _blocks(front):
        if key == "generated" and (found := _AT.search("\n".join(lines))):
            return found[1].strip()
    return None


def texts(value: Value | None) -> tuple[str, ...]:
    """A list of texts, which may be given as one text with commas or spaces between them."""
    if value is None or isinstance(value, tuple):
        return value or ()
    return tuple(part.strip() for part in (value.split(",") if "," in value else value.split()))


def _blocks(front: str) -> list[tuple[str, list[str]]]:
    """Each top-level key, the rest of its line and the lines that belong to it; none if it is no mapping."""
    blocks: list[tuple[str, list[str]]] = []
    for line in _LINE_END.split(front):
        if found := _KEY.fullmatch(line.rstrip(SPACE)):
            blocks.append((found[2].lower(), [(found[3] or "").strip(SPACE)]))
        elif not _GOES_ON.match(line):
            return []
        elif blocks:
            blocks[-1][1].append(line)
        elif line.strip(SPACE) and not line.startswith("#"):
            return []
    return blocks


def _says_nothing(lines: list[str]) -> bool:
    plain = (line.strip(SPACE) for line in lines)
    return all(line.lower() in _NOTHING or line.startswith("#") for line in plain)


def _value(lines: list[str]) -> Value | None:
    first, rest = (
        lines[0],
        [line for line in lines[1:] if line.strip(SPACE) and not line.lstrip(SPACE).startswith("#")],
    )
    if first.startswith("["):
        return _flow(" ".join([first, *(line.strip(SPACE) for line in rest)]))
    if not rest:
        return _scalar(first)
    if first and not first.startswith("#"):
        return None  # a text over several lines
    items = [_ITEM.fullmatch(line) for line in rest]
    members = [None if item is None else _scalar(item[1].strip(SPACE)) for item in items]
    return _all(members)


def _scalar(spelled: str) -> str | None:
    if spelled.startswith('"'):
        found = _DOUBLE.fullmatch(spelled)
        try:
            return None if found is None else str(json.loads(found[1]))
        except ValueError:
            return None  # an escape that only YAML has
    if spelled.startswith("'"):
        found = _SINGLE.fullmatch(spelled)
        return None if found is None else found[1].replace("''", "'")
    plain = "" if spelled.startswith("#") else re.split(r"[ \t]#", spelled, maxsplit=1)[0].strip(SPACE)
    if plain[:1] in _NOT_PLAIN or plain.startswith(("- ", "? ")) or plain.lower() in _NOTHING:
        return None
    return plain


def _flow(spelled: str) -> tuple[str, ...] | None:
    """A list in brackets on as many lines as it takes: texts alone, none of them nested."""
    inner, closed, behind = spelled[1:].rpartition("]")
    if not closed or (behind.strip(SPACE) and not behind.strip(SPACE).startswith("#")):
        return None
    members: list[str | None] = []
    at, inner = 0, inner.rstrip()
    while at < len(inner):
        if (found := _MEMBER.match(inner, at)) is None:
            return None
        members.append(_scalar((found[1] or found[2]).strip(SPACE)))
        at = found.end()
    return _all(members)


def _all(members: list[str | None]) -> tuple[str, ...] | None:
    known = tuple(one for one in members if one is not None)
    return known if len(known) == len(members) else None
