"""What one request may see of one namespace: every verb that reads asks here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Self

from nsstore.errors import EscapeError, IntegrityError
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger
from nsstore.policy import Decision, ReadClass, Reason, decide, decide_class
from nsstore.record import Record
from nsstore.scope import ScopeEnvelope
from nsstore.store.leaf import Leaf
from nsstore.store.reading import read_member, tag
from nsstore.store.sealing import Tag

CURRENT = Decision(allowed=True, reason=Reason.ALLOWED, stale=False)
ABSENT = Decision(allowed=False, reason=Reason.UNPROVEN_OWNER, stale=False)


class Sight:
    """The members of a namespace that a request may read, decided by class and again by bytes.

    Every member is classified before any is asked for, so that one that is denied and one that is not
    there take the same time. A damaged one ends that: it is told, and what comes behind it is classified
    when it is asked for.
    """

    def __init__(self, leaf: Leaf, envelope: ScopeEnvelope, ledger: Ledger) -> None:
        self.leaf = leaf
        self.envelope = envelope
        self.ledger = ledger
        self._decided: dict[ReadClass, Decision] = {}
        with suppress(IntegrityError, EscapeError):
            self.classes()

    @classmethod
    def of(cls, leaf: Leaf, envelope: ScopeEnvelope) -> Self:
        """Look at the namespace now. Raises :class:`IntegrityError` if it is closed.

        A memory namespace that lost a record is closed; for a state namespace :meth:`versions` tells.
        """
        ledger = leaf.read()
        if leaf.place.ns.area == "memory":
            leaf.require_whole()
        return cls(leaf, envelope, ledger)

    def decision(self, record_id: str) -> Decision:
        """Whether the request may read a member; an id that is no member gets a denial like any other."""
        if record_id not in self.ledger.members:
            return ABSENT
        return self.decision_of(self.tag(record_id).readable)

    def decision_of(self, readable: ReadClass) -> Decision:
        known = self._decided.get(readable)
        if known is None:
            known = self._decided[readable] = decide_class(self.envelope, readable)
        return known

    def classes(self) -> frozenset[ReadClass]:
        """The classes of all members, readable or not."""
        return self.leaf.classes(self.ledger, self.tag)

    def tag(self, record_id: str) -> Tag:
        return tag(self.leaf, self.ledger, record_id)

    def read(self, record_id: str) -> tuple[Record, Decision]:
        """A member's record as its file says now, and the decision taken again on what is sealed in it."""
        found = read_member(self.leaf, self.ledger, record_id)
        return found, decide(self.envelope, found.header)

    def newest_first(self) -> Iterator[str]:
        """Every member the request may read, newest first by the ledger."""
        for record_id in reversed(self.ledger.order):
            if self.decision(record_id).allowed:
                yield record_id

    def superseded(self) -> frozenset[str]:
        """What current readable records supersede; a record this request may not read supersedes nothing."""
        gone: set[str] = set()
        for record_id in self.ledger.order:
            tagged = self.tag(record_id)
            if tagged.supersedes and self.decision_of(tagged.readable) == CURRENT:
                gone.update(tagged.supersedes)
        return frozenset(gone)

    def versions(self, key: str) -> Iterator[str]:
        """The versions of the request's own current state document, newest first.

        A member that is gone closes the document only if it is one of its versions, or can be a newer
        one: each version names the one before it, and what this process saw to be another document's
        is none. Raises :class:`IntegrityError`.
        """
        verified = False
        before: set[str] = set()
        for record_id in reversed(self.ledger.order):
            if record_id in self.leaf.missing and record_id not in self.leaf.tags:
                if not verified or record_id in before:
                    raise self._lost(record_id)
                continue
            tagged = self.tag(record_id)
            if tagged.key == key and self.decision_of(tagged.readable) == CURRENT:
                if record_id in self.leaf.missing:
                    raise self._lost(record_id)
                verified = True
                before.update(tagged.supersedes)
                yield record_id

    def _lost(self, record_id: str) -> IntegrityError:
        return self.leaf.store.witness.fail(self.leaf.place, IncidentKind.MISSING, record_id)
