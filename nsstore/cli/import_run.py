"""The run of an import: notes in batches, and a refusal that never takes its neighbours with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from nsstore.audit import AuditEvent, EventKind
from nsstore.cli.import_lines import MAX_LINE, BadImport, Reader, lines_of
from nsstore.cli.printing import note as tell
from nsstore.cli.printing import words_of
from nsstore.errors import InvalidInput, NotVisible, Refused, StoreError
from nsstore.scope import envelope_fields
from nsstore.session import OpenStore, Session
from nsstore.store import MAX_BATCH
from nsstore.writers.note import Note
from nsstore.writers.rehearsal import rehearse

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


class Import:
    """Imports one source through one session."""

    def __init__(self, store: OpenStore, session: Session, name: str, *, dry_run: bool) -> None:
        self._store = store
        self._session = session
        self._reader = Reader(name)
        self._waiting: list[tuple[int, Note]] = []
        self._keys: set[str | None] = set()
        self._rehearsed: dict[str | None, Note] = {}
        self.report = Report(source=name, dry_run=dry_run)

    def run(self, read: Callable[[int], bytes], progress: Callable[[int], None]) -> Report:
        """Import every line. What stops it is raised; the lines before are in, and a repeat goes on there."""
        try:
            for number, raw, done in lines_of(read):
                self._line(number, raw)
                progress(done)
            self._write()
            self._witness()
        except (StoreError, KeyboardInterrupt):
            tell(f"{self.report.written} lines are in: the same import again goes on from there")
            raise
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
            self._refuse(number, "invalid", str(why))
            return
        if note.idempotency_key in self._keys or len(self._waiting) == MAX_BATCH:
            self._write()
        self._waiting.append((number, note))
        self._keys.add(note.idempotency_key)

    def _write(self) -> None:
        """Write what waits as one batch; if one of them is refused, each by itself."""
        waiting, self._waiting = self._waiting, []
        self._keys.clear()
        if not waiting:
            return
        try:
            self._take([note for _, note in waiting])
        except (InvalidInput, NotVisible, Refused):
            for number, note in waiting:
                self._alone(number, note)

    def _alone(self, number: int, note: Note) -> None:
        try:
            self._take([note])
        except (InvalidInput, NotVisible, Refused) as err:
            if err.retryable:
                raise
            self._refuse(number, err.kind, words_of(err))

    def _take(self, notes: list[Note]) -> None:
        if self.report.dry_run:
            repeats = self._rehearse(notes)
        else:
            repeats = [receipt.replayed for receipt in self._session.remember_many(notes)]
        self.report.repeated += sum(repeats)
        self.report.written += len(repeats) - sum(repeats)

    def _rehearse(self, notes: list[Note]) -> list[bool]:
        """As if the notes before had been written."""
        stored = rehearse(self._store, self._session.envelope, notes)
        if any(self._rehearsed.get(note.idempotency_key, note) != note for note in notes):
            raise InvalidInput("idempotency_key is that of another line before it")
        repeats = [
            note.idempotency_key in self._rehearsed or old for note, old in zip(notes, stored, strict=True)
        ]
        self._rehearsed.update((note.idempotency_key, note) for note in notes)
        return repeats

    def _witness(self) -> None:
        """Audit how many lines were refused: one that would set what is the session's may be among them."""
        if self.report.refused and not self.report.dry_run:
            envelope = self._session.envelope
            event = AuditEvent(
                event=EventKind.REFUSED,
                verb="import",
                scope=envelope_fields(envelope),
                count=len(self.report.refused),
            )
            self._store.audit.append(envelope.scope.tenant, event)

    def _refuse(self, number: int, kind: str, reason: str) -> None:
        self.report.refused.append(RefusedLine(number, kind, reason))
