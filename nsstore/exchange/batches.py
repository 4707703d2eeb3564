"""Notes on their way in: written in batches, and a refusal that never takes its neighbours with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import InvalidInput, NotVisible, Refused, StoreError
from nsstore.scope import envelope_fields
from nsstore.session import OpenStore, Session
from nsstore.store import MAX_BATCH
from nsstore.writers.note import Note

Place = TypeVar("Place")
Place_contra = TypeVar("Place_contra", contravariant=True)
MAX_BYTES: Final = 16 * 1024 * 1024
"""Of text that waits for its batch, so that large notes do not fill the memory."""


class Told(Protocol[Place_contra]):
    """What is told of each note: that it is in, or there already, or why it is not."""

    def taken(self, place: Place_contra, note: Note, *, repeated: bool) -> None: ...

    def refused(self, place: Place_contra, kind: str, reason: str) -> None: ...


class Batches(Generic[Place]):
    """Writes notes through one session, or with ``dry_run`` decides them and writes none.

    ``words`` puts an error into the words of whoever reads the report.
    """

    def __init__(
        self,
        store: OpenStore,
        session: Session,
        told: Told[Place],
        *,
        dry_run: bool,
        words: Callable[[StoreError], str] = str,
    ) -> None:
        self._store = store
        self._session = session
        self._told = told
        self._dry_run = dry_run
        self._words = words
        self._waiting: list[tuple[Place, Note]] = []
        self._bytes = 0
        self._keys: set[str | None] = set()
        self._rehearsed: dict[str | None, Note] = {}

    def add(self, place: Place, note: Note) -> None:
        """Have a note written with the batch that is being gathered."""
        if note.idempotency_key in self._keys or len(self._waiting) == MAX_BATCH or self._bytes > MAX_BYTES:
            self.flush()
        self._waiting.append((place, note))
        self._bytes += len(note.text)
        self._keys.add(note.idempotency_key)

    def flush(self) -> None:
        """Write what waits as one batch; if one of them is refused, each by itself."""
        waiting, self._waiting = self._waiting, []
        self._bytes = 0
        self._keys.clear()
        if not waiting:
            return
        try:
            self._take(waiting)
        except (InvalidInput, NotVisible, Refused):
            for one in waiting:
                self._alone(one)

    def witness(self, refused: int) -> None:
        """Audit how many were refused: one that would set what is the session's may be among them."""
        if refused and not self._dry_run:
            envelope = self._session.envelope
            event = AuditEvent(
                event=EventKind.REFUSED, verb="import", scope=envelope_fields(envelope), count=refused
            )
            self._store.audit.append(envelope.scope.tenant, event)

    def _alone(self, one: tuple[Place, Note]) -> None:
        try:
            self._take([one])
        except (InvalidInput, NotVisible, Refused) as err:
            if err.retryable:
                raise
            self._told.refused(one[0], err.kind, self._words(err))

    def _take(self, waiting: list[tuple[Place, Note]]) -> None:
        notes = [note for _, note in waiting]
        if self._dry_run:
            repeats = self._rehearse(notes)
        else:
            repeats = [receipt.replayed for receipt in self._session.remember_many(notes)]
        for (place, note), repeated in zip(waiting, repeats, strict=True):
            self._told.taken(place, note, repeated=repeated)

    def _rehearse(self, notes: list[Note]) -> list[bool]:
        """As if the notes before had been written."""
        stored = self._session.rehearse(notes)
        if any(self._rehearsed.get(note.idempotency_key, note) != note for note in notes):
            raise InvalidInput("idempotency_key is that of another one before it")
        repeats = [
            note.idempotency_key in self._rehearsed or old for note, old in zip(notes, stored, strict=True)
        ]
        self._rehearsed.update((note.idempotency_key, note) for note in notes)
        return repeats
