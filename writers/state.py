"""Writing state documents: write-once versions of a key, with compare-and-set decided under the lock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType

from nsstore.errors import Refused
from nsstore.ledger import Ledger
from nsstore.scope import ScopeEnvelope, check_label, check_record_id, state_namespace
from nsstore.store import Draft, Sight, Store
from nsstore.writers.memory import Writing, drafts_of
from nsstore.writers.note import Note, Receipt, superseding

CONFLICT: Final = "the document is not at the expected version: get it again, then put"


def put(
    store: Store, envelope: ScopeEnvelope, key: str, note: Note, *, expect: str | UnsetType | None
) -> Receipt:
    """Write the next version of the envelope's own document under ``key``.

    ``expect`` is the version it must be at: a record id, ``None`` for "not there yet", or ``UNSET``
    for any. The comparison and the write are one step for all processes. Raises :class:`Refused`
    (``changed_meanwhile``, retryable) if it is elsewhere, :class:`InvalidInput` as ``remember``.
    """
    check_label("key", key)
    if expect is not UNSET and expect is not None:
        check_record_id("expect", expect)
    drafts = drafts_of(store, envelope, [note], area="state", key=key)
    return _Putting(store, envelope, drafts[0], expect).run()[0]


class _Putting(Writing):
    """A put on its way: its new version supersedes the one that is current under the lock."""

    def __init__(
        self, store: Store, envelope: ScopeEnvelope, one: Draft, expect: str | UnsetType | None
    ) -> None:
        super().__init__(store, envelope, state_namespace(envelope.scope), [one], verb="state_put")
        self.given = one
        self.expect = expect

    def prepare(self, ledger: Ledger) -> Sequence[Draft]:
        key = self.given.tag.key
        assert key is not None
        current = next(Sight(self.leaf, self.envelope, ledger).versions(key), None)
        self.drafts = [superseding(self.envelope, self.given, current)]
        drafts = super().prepare(ledger)
        if drafts and self.expect is not UNSET and self.expect != current:
            raise Refused(CONFLICT, reason="changed_meanwhile", retryable=True)
        return drafts

    def require_whole(self) -> None:
        """A version of another's document that is gone does not stop this one; ``versions`` sees to ours."""
