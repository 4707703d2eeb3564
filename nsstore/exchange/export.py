"""Records of one session on their way out: a bundle of the Open Knowledge Format 0.2, or JSON lines.

What goes out is what the session may read now and what is current in it, the oldest first; each record is
read and proven as by ``get``. Nothing is overwritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, Literal

import msgspec

from nsstore.errors import NotVisible
from nsstore.exchange.claims import is_time
from nsstore.exchange.concept import concept
from nsstore.exchange.paging import every
from nsstore.record.ext import ORIGINAL
from nsstore.root.named_folder import NewFolder
from nsstore.session import Session
from nsstore.store import Found

Format = Literal["okf", "jsonl"]
HEAD: Final = b'---\nokf_version: "0.2"\n---\n\n# Records\n\n'
_MARKDOWN: Final = re.compile(r"([!-/:-@\[-`{-~])")


class ExportReport(msgspec.Struct, kw_only=True):
    """How many records went out; ``left_out`` counts what is of an allowed other branch or baseline."""

    format: Format
    dry_run: bool
    records: int = 0
    left_out: int = 0


class Export:
    """What a session can give, listed once; a record that is forgotten meanwhile does not go out."""

    def __init__(self, session: Session, format_: Format, *, dry_run: bool) -> None:
        self._session = session
        self.report = ExportReport(format=format_, dry_run=dry_run)
        self._ids: list[str] = []
        for one in every(session, include_superseded=False):
            if one.stale:
                self.report.left_out += 1
            else:
                self._ids.append(one.record_id)
        self._ids.reverse()
        if dry_run:
            self.report.records = len(self._ids)

    def into(self, folder: NewFolder, progress: Callable[[int, int], None]) -> ExportReport:
        """Write each record as a concept, and an index of them."""
        index = [HEAD]
        for found in self._records(progress):
            name = f"{found.record_id}.md"
            folder.write(name, concept(found))
            index.append(f"* [{_linked(found)}]({name})\n".encode())
        folder.write("index.md", b"".join(index))
        folder.finish()
        return self.report

    def lines(self, write: Callable[[bytes], object], progress: Callable[[int, int], None]) -> ExportReport:
        """Write each record as a line that ``nsstore import`` takes."""
        for found in self._records(progress):
            write(line(found) + b"\n")
        return self.report

    def _records(self, progress: Callable[[int, int], None]) -> Iterator[Found]:
        for done, record_id in enumerate(self._ids, 1):
            try:
                found = self._session.get(record_id)
            except NotVisible:
                continue
            yield found
            self.report.records += 1
            progress(done, len(self._ids))


def line(found: Found) -> bytes:
    """A record as one JSON object; where it was is a claim under ``source``.

    Of one that was imported itself the time and the item are those that its first source claimed.
    """
    ext = dict(found.ext or {})
    original = ext.pop(ORIGINAL, None)
    provenance = found.provenance
    origin = provenance.imported_from
    first = origin.created_at if origin is not None and is_time(origin.created_at or "") else None
    said: dict[str, object] = {
        "text": found.text,
        "kind": found.kind,
        "title": found.title,
        "tags": found.tags or None,
        "sensitivity": found.sensitivity,
        "retention_class": found.retention_class,
        "expires_at": found.expires_at,
        "ext": ext or None,
        "source": {
            "created_at": first or found.created_at,
            **({} if origin is None or origin.item is None else {"item": origin.item}),
            "record_id": found.record_id,
            "scope": {name: value for name, value in provenance.scope.items() if value is not None},
            **({} if original is None else {"front_matter": original}),
        },
    }
    return msgspec.json.encode({name: value for name, value in said.items() if value is not None})


def _linked(found: Found) -> str:
    """What the index calls a record, as plain text to Markdown."""
    return _MARKDOWN.sub(r"\\\1", found.title or found.record_id)
