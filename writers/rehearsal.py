"""Deciding a write without writing: what an import's dry run says."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from nsstore.scope import ScopeEnvelope, memory_namespace
from nsstore.store import Store, Vanished
from nsstore.writers.memory import Elsewhere, Writing
from nsstore.writers.note import Note, draft


def rehearse(
    store: Store, envelope: ScopeEnvelope, notes: Iterable[Note], elsewhere: Elsewhere | None = None
) -> list[bool]:
    """Decide each note as ``remember`` would now, and write no record: whether it is there already.

    Raises as ``remember``; what the scope may not do is audited like any other refusal, and a note that
    no scope could write is not.
    """
    drafts = [draft(store, envelope, note, area="memory", key=None) for note in notes]
    writing = Writing(store, envelope, memory_namespace(envelope.scope), drafts, elsewhere=elsewhere)
    writing.look_elsewhere()
    while True:
        with suppress(Vanished):  # one of them was forgotten meanwhile, without the lock
            writing.prepare(writing.leaf.read())
            return [index in writing.repeated for index in range(len(drafts))]
