"""Deciding a write without writing: what an import's dry run says."""

from __future__ import annotations

from collections.abc import Iterable

from nsstore.scope import ScopeEnvelope, memory_namespace
from nsstore.store import Store
from nsstore.writers.memory import Writing, drafts_of
from nsstore.writers.note import Note


def rehearse(store: Store, envelope: ScopeEnvelope, notes: Iterable[Note]) -> list[bool]:
    """Decide each note as ``remember`` would now, and write no record: whether it is there already.

    Raises as ``remember``; a refusal is audited like any other.
    """
    drafts = drafts_of(store, envelope, notes, area="memory", key=None)
    writing = Writing(store, envelope, memory_namespace(envelope.scope), drafts)
    writing.prepare(writing.leaf.read())
    return [index in writing.repeated for index in range(len(drafts))]
