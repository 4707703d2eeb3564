"""What setup writes into the user's own files, as values: each can be made, and taken back again."""

from __future__ import annotations

import copy
import json
from typing import Any, Final, cast

import msgspec

from nsstore.errors import Refused
from nsstore.host.json_text import NotFitting, put, take, value_at

BOM: Final = "\ufeff"


class Change(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value under a way of names in a JSON file, or one more ``element`` of the array there."""

    keys: tuple[str, ...]
    value: Any
    element: bool = False


class _Edit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """One file: ``what`` names it for its owner, ``by_hand`` says what undoes it without this program."""

    path: str
    what: str
    by_hand: str


class JsonEdit(_Edit, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="json"):
    """Values in a JSON file that may hold anything else; not a byte of anything else changes."""

    changes: tuple[Change, ...]

    def made(self, before: bytes | None) -> bytes:
        """The file with every value in it. Raises :class:`Refused` if it leaves no place for one."""
        text, mark = _text(before if before is not None and before.strip() else b"{}\n", self.what)
        try:
            for one in self.changes:
                text = put(text, one.keys, one.value, element=one.element)
            json.loads(text)
        except (NotFitting, ValueError, RecursionError) as err:
            raise Refused(f"{self.what} cannot be added to: {err}", reason="not_fitting") from None
        return (mark + text).encode()

    def unmade(self, now: bytes, before: bytes | None) -> bytes:
        """The file without what was added to ``before``. Raises :class:`Refused` for what was changed."""
        text, mark = _text(now, self.what)
        old, _ = _text(before if before is not None and before.strip() else b"{}", self.what)
        try:
            for one in self.changes:
                there = value_at(old, one.keys)
                if one.value in there if one.element and isinstance(there, list) else one.value == there:
                    continue  # it was there before
                keep = [
                    depth for depth in range(len(one.keys) + 1) if value_at(old, one.keys[:depth]) is not None
                ]
                text = take(text, one.keys, one.value, element=one.element, keep=keep)
        except NotFitting as err:
            raise Refused(f"{self.what}: {err}", reason="changed_since") from None
        return (mark + text).encode()


class TomlEdit(_Edit, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="toml"):
    """Lines at the end of a TOML file; ``changes`` are what they say, and all that they may change."""

    lines: str
    changes: tuple[Change, ...]

    def made(self, before: bytes | None) -> bytes:
        """The file with the lines at its end. Raises :class:`Refused` if it says something else there."""
        text, mark = _text(before or b"", self.what)
        was = _parsed(text, self.what)
        if all(_under(was, one.keys) == one.value for one in self.changes):
            return before or b""
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        new = text + gap + self.lines
        if self._any_in(was):
            raise Refused(
                f"{self.what} cannot be added to: {self._names()} is there already, and says something else",
                reason="not_fitting",
            )
        if _parsed(new, self.what) != _with(was, self.changes):
            raise Refused(f"{self.what} cannot be added to", reason="not_fitting")
        return (mark + new).encode()

    def unmade(self, now: bytes, before: bytes | None) -> bytes:
        """The file without the lines. Raises :class:`Refused` if they are not in it as they were written."""
        text, mark = _text(now, self.what)
        if not self._any_in(_parsed(text, self.what)):
            return now  # somebody took them out already
        head, _, tail = text.partition(self.lines)
        new = (head[:-1] if head.endswith("\n\n") and before else head) + tail
        if text.count(self.lines) != 1 or self._any_in(_parsed(new, self.what)):
            raise Refused(f"{self.what}: {self._names()} was changed", reason="changed_since")
        return (mark + new).encode()

    def _any_in(self, found: dict[str, Any]) -> bool:
        return any(_under(found, one.keys) is not None for one in self.changes)

    def _names(self) -> str:
        return ", ".join(".".join(one.keys) for one in self.changes)


class WholeEdit(_Edit, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="whole"):
    """A file of its own, which is there or not."""

    text: str

    def made(self, before: bytes | None) -> bytes:
        """The whole file. Raises :class:`Refused` if another one is there."""
        raw = self.text.encode()
        if before not in (None, raw):
            raise Refused(
                f"{self.what} is there already, and another one: move it away", reason="not_fitting"
            )
        return raw

    def unmade(self, now: bytes, before: bytes | None) -> bytes:  # noqa: ARG002 - as the others
        """Raise :class:`Refused`: this file is not the one that was written."""
        raise Refused(f"{self.what} was changed", reason="changed_since")


Edit = JsonEdit | TomlEdit | WholeEdit


def _text(raw: bytes, what: str) -> tuple[str, str]:
    """The text of a file, and its mark of byte order apart."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise Refused(f"{what} is not UTF-8: mend it first", reason="not_fitting") from None
    return (text[1:], BOM) if text.startswith(BOM) else (text, "")


def _parsed(text: str, what: str) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - only where such a file is written

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise Refused(f"{what} is not TOML, or takes no more", reason="not_fitting") from None


def _under(found: Any, keys: tuple[str, ...]) -> Any:  # noqa: ANN401 - whatever the file holds
    """What stands under a way of names; ``None`` where nothing does, or no table."""
    for key in keys:
        if not isinstance(found, dict):
            return None
        found = cast("dict[str, Any]", found).get(key)
    return found


def _with(was: dict[str, Any], changes: tuple[Change, ...]) -> dict[str, Any]:
    """What a file says with something added, tables added to tables."""
    new = copy.deepcopy(was)
    for one in changes:
        at = new
        for key in one.keys[:-1]:
            at = at.setdefault(key, {})
        at[one.keys[-1]] = one.value
    return new
