"""The import of JSON lines: each is one record of the session's own scope, or refused by its number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from nsstore.errors import StoreError
from nsstore.exchange.batches import Batches
from nsstore.exchange.lines import MAX_LINE, BadImport, Reader, lines_of
from nsstore.session import OpenStore, Session
from nsstore.writers.note import Note

TOO_LONG: Final = f"it is longer than {MAX_LINE} bytes"


class RefusedLine(msgspec.Struct, frozen=True):
    """A line that was not imported, the kind of its error, and why."""

    line: int
    kind: str
    reason: str


class Report(msgspec.Struct, kw_only=True):
    """What came of an import: every line was written, there already, refused or blank."""

    source: str
    dry_run: bool
    lines: int = 0
    written: int = 0
    repeated: int = 0
    blank: int = 0
    refused: list[RefusedLine] = msgspec.field(default_factory=list[RefusedLine])


class ImportLines:
    """Imports one source through one session; ``report`` says at any time how far it came."""

    def __init__(
        self,
        store: OpenStore,
        session: Session,
        name: str,
        *,
        dry_run: bool,
        with_held: bool = False,
        words: Callable[[StoreError], str] = str,
    ) -> None:
        held = store.kept(session.envelope.scope.tenant).held
        self._reader = Reader(name, held=() if with_held else held)
        self._batches: Batches[int] = Batches(store, session, self, dry_run=dry_run, words=words)
        self.report = Report(source=name, dry_run=dry_run)

    def run(self, read: Callable[[int], bytes], progress: Callable[[int], None]) -> Report:
        """Import every line. What stops it is raised; the lines before are in, and a repeat goes on there."""
        for number, raw, done in lines_of(read):
            self._line(number, raw)
            progress(done)
        self._batches.flush()
        self._batches.witness(len(self.report.refused))
        self.report.refused.sort(key=lambda one: one.line)
        return self.report

    def _line(self, number: int, raw: bytes | None) -> None:
        self.report.lines += 1
        if raw is not None and not raw.strip():
            self.report.blank += 1
            return
        try:
            if raw is None:
                raise BadImport(TOO_LONG)
            note = self._reader.note(raw)
        except BadImport as why:
            self.refused(number, "invalid", str(why))
            return
        self._batches.add(number, note)

    def taken(self, place: int, note: Note, *, repeated: bool) -> None:  # noqa: ARG002 - as it is told
        """Count a line that is in."""
        if repeated:
            self.report.repeated += 1
        else:
            self.report.written += 1

    def refused(self, place: int, kind: str, reason: str) -> None:
        """Keep why a line is not in."""
        self.report.refused.append(RefusedLine(place, kind, reason))
