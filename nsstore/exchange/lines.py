"""One line of an import as a note: what it may say, and the reason if it says more.

A line is a JSON object. Its scope, id, path, time and place in the chain are the session's alone: a
line that names one is refused, and what its source claimed goes under ``source``, which is kept as
provenance and never believed. A line takes no key that another caller could use, and holds nothing for good.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final, cast

import msgspec

from nsstore import digests
from nsstore.errors import InvalidInput
from nsstore.exchange.claims import is_time
from nsstore.exchange.strict_json import NotStrict, decode_object
from nsstore.policy import LEGAL_HOLD
from nsstore.record import ImportedFrom
from nsstore.record.ext import OUTSIDE, runs_after
from nsstore.scope import check_label
from nsstore.writers.note import Note

MAX_LINE: Final = 2 * 1024 * 1024
"""Bytes: the longest text with every character escaped is below it."""
FORMAT: Final = "jsonl"
CHUNK: Final = 64 * 1024
SHOWN: Final = 64
"""Characters of a key that a reason shows; one that a terminal would obey is an escape."""
MARK: Final = b"\xef\xbb\xbf"
"""What some programs put in front of a file to say that it is UTF-8."""

TEXTS: Final = (
    *("text", "kind", "title", "sensitivity", "retention_class", "privacy", "idempotency_key", "expires_at"),
)
KEYS: Final = (*TEXTS, "tags", "ext", "source")
SOURCE_KEYS: Final = ("created_at", "record_id", "item", "scope", "front_matter")


HELD: Final = (
    "{} would be held for good, so that nobody here could forget it: --with-held takes it all the same"
)


class BadImport(ValueError):
    """A line that is not taken; the message is the reason."""


def lines_of(read: Callable[[int], bytes]) -> Iterator[tuple[int, bytes | None, int]]:
    """Each line with its number and the bytes read so far; ``None`` for one of more than 2 MiB.

    Lines end with a newline alone; the last may lack it. A byte order mark in front of the first is no
    part of it. No more than one line is held.
    """
    number, done, pending, skipping = 0, 0, bytearray(), False
    while chunk := read(CHUNK):
        done += len(chunk)
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            number += 1
            line = None if skipping or len(pending) + len(part) > MAX_LINE else bytes(pending + part)
            yield number, _unmarked(number, line), done
            pending.clear()
            skipping = False
        skipping = skipping or len(pending) + len(rest) > MAX_LINE
        pending = bytearray() if skipping else pending + rest
    if pending or skipping:
        yield number + 1, _unmarked(number + 1, None if skipping else bytes(pending)), done


def _unmarked(number: int, line: bytes | None) -> bytes | None:
    return line.removeprefix(MARK) if line is not None and number == 1 else line


class Reader:
    """Makes notes of the lines of one source; equal lines are told apart by how many came before.

    A line of a retention class in ``held`` is refused.
    """

    def __init__(self, name: str, *, held: Collection[str] = (LEGAL_HOLD,)) -> None:
        self.name = name
        self._held = held
        self._seen: dict[bytes, int] = {}

    def note(self, raw: bytes) -> Note:
        """The note a line is. Raises :class:`BadImport` with the reason."""
        try:
            found = decode_object(raw)
        except NotStrict as why:
            raise BadImport(str(why)) from None
        for key in found:
            if key not in KEYS:
                raise BadImport(_why_not(key, "a line", KEYS))
        texts = _texts(found)
        if texts.get("retention_class") in self._held:
            raise BadImport(HELD.format(f"retention_class {texts['retention_class']}"))
        digest = digests.digest(digests.DIGEST, raw)
        try:
            key = self._key(digest, texts.pop("idempotency_key", None))
            claims = _claims(found.get("source"))
            note = Note(
                text=texts["text"],
                idempotency_key=key,
                tags=_tags(found.get("tags")),
                ext=cast("dict[str, object] | None", found.get("ext")),
                imported_from=self._origin(claims, digest),
                original=_claim(claims, "front_matter"),
            )
        except InvalidInput as err:
            raise BadImport(str(err).replace("imported_from.", "source.")) from None
        return msgspec.structs.replace(note, **texts)

    def _key(self, digest: bytes, own: str | None) -> str:
        """The same line of the same source has the same key however often it is imported.

        One that a line names is a key of its source, so that no import takes a key of somebody else's.
        """
        if own is not None:
            said = digests.lp("import key", self.name, check_label("idempotency_key", own))
        else:
            before = self._seen.get(digest, 0)
            self._seen[digest] = before + 1
            said = digests.lp("import", self.name, digest, str(before))
        return f"import:{digests.digest(digests.DIGEST, said).hex()}"

    def _origin(self, claims: dict[str, object], digest: bytes) -> ImportedFrom:
        return ImportedFrom(
            created_at=_time(_claim(claims, "created_at")),
            digest=digest.hex(),
            format=FORMAT,
            item=_claim(claims, "item") or self.name,
            record_id=_claim(claims, "record_id"),
            scope=cast("dict[str, str] | None", claims.get("scope")),
        )


def _claims(source: object) -> dict[str, object]:
    if source is not None and not isinstance(source, dict):
        raise InvalidInput("source must be an object")
    claims = cast("dict[str, object]", source or {})
    for key in claims:
        if key not in SOURCE_KEYS:
            raise InvalidInput(_why_not(key, "source", SOURCE_KEYS))
    return claims


def _claim(claims: dict[str, object], key: str) -> str | None:
    value = claims.get(key)
    if value is not None and type(value) is not str:
        raise InvalidInput(f"source.{key} must be a text")
    return value


def _time(claimed: str | None) -> str | None:
    """A time that a source claims, as it spells it: a date, or a date and a time of day."""
    if claimed is None or is_time(claimed):
        return claimed
    raise InvalidInput("source.created_at must be a date or a time, as 2025-03-01 or 2025-03-01T09:30:00Z")


def _texts(found: dict[str, object]) -> dict[str, str]:
    texts = {key: found[key] for key in TEXTS if found.get(key) is not None}
    for key, value in texts.items():
        if type(value) is not str:
            raise BadImport(f"{key} must be a text")
    if "text" not in texts:
        raise BadImport("it has no text")
    return cast("dict[str, str]", texts)


def _tags(given: object) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or not all(type(tag) is str for tag in cast("list[object]", given)):
        raise BadImport("tags must be a list of texts")
    return tuple(cast("list[str]", given))


def _why_not(key: str, where: str, known: tuple[str, ...]) -> str:
    """Why a key is refused: it would set what is the session's alone, or nobody knows it."""
    shown = key[:SHOWN].encode("unicode_escape", "surrogatepass").decode("ascii")
    try:
        runs_after(key, OUTSIDE)
    except InvalidInput:
        claims = "" if where == "source" else "; a claim of the source goes under source"
        return (
            f"{where} must not carry {shown}: scope, id, path, time and order are the session's own{claims}"
        )
    return f"{where} must not carry {shown}: known are {', '.join(known)}"
