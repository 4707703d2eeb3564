"""Putting a value into somebody's JSON file, and taking it out again, by the text: all else stays as it is.

Indentation, order, spelling of numbers, whatever nobody here understands: not a byte of it changes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from json.decoder import JSONDecoder
from typing import Any, Final, NamedTuple

_BLANK: Final = " \t\r\n"
_DECODER: Final = JSONDecoder()


class NotFitting(Exception):
    """The text is no JSON, or what stands in it leaves no place for the value; the message says which."""


class _Part(NamedTuple):
    """A member of an object, or an element of an array (without a name), by where it stands."""

    name: str
    start: int
    value: int
    end: int


class _Group(NamedTuple):
    """An object or an array: where it opens, its parts, and where its closing sign stands."""

    start: int
    parts: tuple[_Part, ...]
    end: int

    def named(self, name: str) -> _Part | None:
        """The member of a name. Raises :class:`NotFitting` for one that stands twice."""
        found = [one for one in self.parts if one.name == name]
        if len(found) > 1:
            raise NotFitting(f"{name} stands twice in it")
        return found[0] if found else None


def value_at(text: str, keys: Sequence[str]) -> Any:  # noqa: ANN401 - whatever the file holds
    """What stands under a way of names; ``None`` where nothing does. Raises :class:`NotFitting`."""
    group, at = _top(text), 0
    for depth, key in enumerate(keys):
        part = group.named(key)
        if part is None:
            return None
        at = part.value
        if depth < len(keys) - 1:
            group = _group(text, at, "{", key)
    return _decoded(text, at)[0] if keys else _decoded(text, group.start)[0]


def put(text: str, keys: Sequence[str], value: object, *, element: bool) -> str:
    """The text with a value under a way of names, or with it as one more element of the array there.

    What is there already, equal, is left alone. Raises :class:`NotFitting` if something else stands in
    its place.
    """
    group = _top(text)
    for depth, key in enumerate(keys):
        part = group.named(key)
        last = depth == len(keys) - 1
        if part is None:
            nested: object = [value] if element else value
            for name in reversed(keys[depth + 1 :]):
                nested = {name: nested}
            return _insert(text, group, f"{_dumped(key)}: ", nested)
        if last and element:
            array = _group(text, part.value, "[", key)
            if any(_decoded(text, one.value)[0] == value for one in array.parts):
                return text
            return _insert(text, array, "", value)
        if last:
            if _decoded(text, part.value)[0] == value:
                return text
            raise NotFitting(f"{'.'.join(keys)} is there already, and says something else")
        group = _group(text, part.value, "{", key)
    raise NotFitting("there is nothing to put")


def take(text: str, keys: Sequence[str], value: object, *, element: bool, keep: Sequence[int]) -> str:
    """The text without what :func:`put` put; groups left empty go too, but the depths in ``keep``.

    Raises :class:`NotFitting` if something else stands there by now.
    """
    found = _way(text, keys)
    if len(found) < len(keys):
        return text  # somebody took it out already
    if element:
        array = _group(text, found[-1][1].value, "[", keys[-1])
        ours = [one for one in array.parts if _decoded(text, one.value)[0] == value]
        if len(ours) != 1:
            raise NotFitting(f"{'.'.join(keys)} was changed")
        text = _cut(text, array, ours[0])
        if len(array.parts) > 1 or len(keys) in keep:
            return text
        return _pruned(text, keys, keep)
    group, part = found[-1]
    if _decoded(text, part.value)[0] != value:
        raise NotFitting(f"{'.'.join(keys)} was changed")
    text = _cut(text, group, part)
    return _pruned(text, keys[:-1], keep) if len(group.parts) == 1 else text


def _pruned(text: str, keys: Sequence[str], keep: Sequence[int]) -> str:
    """Without a group that is empty now, and without those around it that hold nothing else."""
    while keys and len(keys) not in keep:
        group, part = _way(text, keys)[-1]
        text = _cut(text, group, part)
        if len(group.parts) > 1:
            break
        keys = keys[:-1]
    return text


def _way(text: str, keys: Sequence[str]) -> list[tuple[_Group, _Part]]:
    """The groups and members on the way down, as far as it goes."""
    way: list[tuple[_Group, _Part]] = []
    group = _top(text)
    for depth, key in enumerate(keys):
        part = group.named(key)
        if part is None:
            break
        way.append((group, part))
        if depth < len(keys) - 1:
            group = _group(text, part.value, "{", key)
    return way


def _top(text: str) -> _Group:
    start = _skip(text, 0)
    group = _group(text, start, "{", "it")
    if _skip(text, group.end + 1) != len(text):
        raise NotFitting("it is not JSON")
    return group


def _group(text: str, start: int, opening: str, name: str) -> _Group:
    if text[start : start + 1] != opening:
        raise NotFitting(f"{name} is no {'object' if opening == '{' else 'array'}")
    parts: list[_Part] = []
    at = _skip(text, start + 1)
    closing = "}" if opening == "{" else "]"
    while text[at : at + 1] != closing:
        if parts:
            if text[at : at + 1] != ",":
                raise NotFitting("it is not JSON")
            at = _skip(text, at + 1)
        begin, key = at, ""
        if opening == "{":
            if text[at : at + 1] != '"':
                raise NotFitting("it is not JSON")
            key, at = _decoded(text, at)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                raise NotFitting("it is not JSON")
            at = _skip(text, at + 1)
        _, end = _decoded(text, at)
        parts.append(_Part(key, begin, at, end))
        at = _skip(text, end)
    return _Group(start, tuple(parts), at)


def _decoded(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise NotFitting("it is not JSON") from None


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _dumped(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _insert(text: str, group: _Group, head: str, value: object) -> str:
    """One more part at the end of a group, laid out as its last one, or one step in from its line."""
    if group.parts:
        last = group.parts[-1]
        before = group.parts[-2].end if len(group.parts) > 1 else group.start + 1
        blank = text[before : last.start].rpartition(",")[2] or " "
        return f"{text[: last.end]},{blank}{_laid_out(head, value, blank)}{text[last.end :]}"
    line = text[text.rfind("\n", 0, group.start) + 1 : group.start]
    outer = "\n" + line[: len(line) - len(line.lstrip())]
    inner = f"{outer}  "
    return f"{text[: group.start + 1]}{inner}{_laid_out(head, value, inner)}{outer}{text[group.end :]}"


def _laid_out(head: str, value: object, blank: str) -> str:
    if "\n" not in blank:
        return head + _dumped(value)
    return head + _dumped(value, 2).replace("\n", "\n" + blank.rpartition("\n")[2])


def _cut(text: str, group: _Group, part: _Part) -> str:
    """The text without one part and the comma that goes with it."""
    at = group.parts.index(part)
    if at:
        return text[: group.parts[at - 1].end] + text[part.end :]
    if len(group.parts) > 1:
        return text[: part.start] + text[group.parts[1].start :]
    return text[: group.start + 1] + text[group.end :]
