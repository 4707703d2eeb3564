"""What one request may see of one namespace: every verb that reads asks here, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Self, TypeVar

from msgspec import structs

from nsstore.clock import utc_now
from nsstore.errors import EscapeError, IntegrityError
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger
from nsstore.policy import Decision, ReadClass, Reason, Rights, decide_class, expiry_clock
from nsstore.record import Record
from nsstore.root import Dir
from nsstore.scope import ScopeEnvelope, Sensitivity
from nsstore.store.leaf import Leaf
from nsstore.store.proven import Proven
from nsstore.store.reading import Vanished, read_proven, tag
from nsstore.store.sealing import Tag

CURRENT = Decision(allowed=True, reason=Reason.ALLOWED, stale=False)
ABSENT = Decision(allowed=False, reason=Reason.UNPROVEN_OWNER, stale=False)
Answer = TypeVar("Answer")


class Sight:
    """The members of a namespace that a request may read, decided by class and again by bytes.

    Every member is classified before any is asked for, so that one that is denied and one that is not
    there take the same time. A damaged one is told, and tried again by every request.
    """

    def __init__(
        self, leaf: Leaf, envelope: ScopeEnvelope, ledger: Ledger, rights: Rights | None = None
    ) -> None:
        self.leaf = leaf
        self.envelope = envelope
        self.ledger = ledger
        self.rights = rights or leaf.store.rights.current(leaf.place.ns.tenant, ledger.newest)
        self._decided = leaf.decided(envelope, self.rights)
        self._owned: dict[ReadClass, bool] = {}
        self._clock: str | None = None
        self._directory: Dir | None = None
        try:  # noqa: SIM105 - on the way of every search
            self.classes()
        except (IntegrityError, EscapeError):
            pass

    @classmethod
    def of(cls, leaf: Leaf, envelope: ScopeEnvelope, rights: Rights | None = None) -> Self:
        """Look at the namespace now, with the ``rights`` this request has already if it has.

        Raises :class:`IntegrityError` if it is closed.

        A memory namespace that lost a record is closed; for a state namespace :meth:`versions` tells.
        """
        ledger = leaf.read()
        if leaf.place.ns.area == "memory":
            leaf.require_whole()
        return cls(leaf, envelope, ledger, rights)

    def decision(self, record_id: str) -> Decision:
        """Whether the request may read a member; an id that is no member gets a denial like any other.

        So does a record that has expired.
        """
        if record_id not in self.ledger.members:
            return ABSENT
        tagged = self.tag(record_id)
        if tagged.expires_at is not None and self.is_over(tagged.expires_at):
            return ABSENT
        return self.decision_of(tagged.readable)

    def has_expired(self, record_id: str) -> bool:
        """Whether the request could read a member if it had not expired."""
        tagged = self.tag(record_id) if record_id in self.ledger.members else None
        return (
            tagged is not None
            and tagged.expires_at is not None
            and self.is_over(tagged.expires_at)
            and self.decision_of(tagged.readable).allowed
        )

    def is_over(self, expires_at: str) -> bool:
        """Whether a sealed end has come, on a clock that never runs behind the newest sealed time."""
        if self._clock is None:
            kept = self.leaf.store.kept(self.leaf.place.ns.tenant)
            self._clock = expiry_clock(utc_now(), self.ledger.newest, kept)
        return expires_at <= self._clock

    def decision_of(self, readable: ReadClass) -> Decision:
        known = self._decided.known.get(readable)
        if known is None:
            known = decide_class(self.envelope, readable, self.rights)
            self._decided.known[readable] = known
        return known

    def owns(self, readable: ReadClass) -> bool:
        """Whether a state document of this class is the request's own: no grant makes another's so.

        Another session's version is, under the policy that says so; that it is one's own tells the key.
        """
        known = self._owned.get(readable)
        if known is None:
            decision = decide_class(self.envelope, readable, self.rights.of_documents())
            known = self._owned[readable] = decision == CURRENT
        return known

    def classes(self) -> frozenset[ReadClass]:
        """The classes of all members, readable or not."""
        return self.leaf.classes(self.ledger, self.tag)

    def readable(self, *, stale: bool) -> frozenset[ReadClass]:
        """The classes that exist and that the request may read, current or stale."""
        classes, kept = self.classes(), self._decided.readable
        known = kept.get(stale)
        if known is None or known[0] is not classes:
            decided = ((one, self.decision_of(one)) for one in classes)
            found = frozenset(one for one, choice in decided if choice.allowed and choice.stale is stale)
            known = kept[stale] = classes, found
        return known[1]

    def tag(self, record_id: str) -> Tag:
        return tag(self.leaf, self.ledger, record_id)

    def read(self, record_id: str) -> tuple[Record, Decision]:
        """A member's record as its file says now, and the decision taken again on what is sealed in it."""
        proven, decision = self.prove(record_id)
        return proven.record, decision

    def prove(self, record_id: str) -> tuple[Proven, Decision]:
        """As :meth:`read`, with what the decision looked at."""
        if self._directory is None:
            self._directory = self.leaf.directory()
        proven = read_proven(self.leaf, self.ledger, record_id, self._directory)
        tagged = proven.tag
        if tagged.expires_at is not None and self.is_over(tagged.expires_at):
            return proven, ABSENT
        return proven, self.decision_of(tagged.readable)

    def newest_first(self) -> Iterator[str]:
        """Every member the request may read, newest first by the ledger."""
        for record_id in reversed(self.ledger.order):
            if self.decision(record_id).allowed:
                yield record_id

    def superseded(self) -> frozenset[str]:
        """What current readable records supersede; a record this request may not read supersedes nothing.

        One that has expired still does: what it took the place of does not come back.
        """
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
        is none. An expired version ends the document: what it took the place of does not come back.
        Raises :class:`IntegrityError`.
        """
        verified = False
        before: set[str] = set()
        for record_id in reversed(self.ledger.order):
            if record_id in self.leaf.missing and self.leaf.known_tag(record_id) is None:
                if not verified or record_id in before:
                    raise self._lost(record_id)
                continue
            tagged = self.tag(record_id)
            if tagged.key == key and self.owns(tagged.readable):
                if tagged.expires_at is not None and self.is_over(tagged.expires_at):
                    return
                if record_id in self.leaf.missing:
                    raise self._lost(record_id)
                verified = True
                before.update(tagged.supersedes)
                yield record_id

    def others(self) -> Iterator[str]:
        """The newest readable version of each state document that is another's and open by a grant."""
        if not self.rights.grants:
            return
        met: set[tuple[ReadClass, str | None]] = set()
        for record_id in self.newest_first():
            tagged = self.tag(record_id)
            whose = structs.replace(tagged.readable, commit=None, sensitivity=Sensitivity.PUBLIC)
            if (whose, tagged.key) in met or self.owns(tagged.readable):
                continue
            if self.decision_of(tagged.readable) == CURRENT:
                met.add((whose, tagged.key))
                yield record_id

    def _lost(self, record_id: str) -> IntegrityError:
        return self.leaf.store.witness.fail(self.leaf.place, IncidentKind.MISSING, record_id)


def answered(leaf: Leaf, envelope: ScopeEnvelope, answer: Callable[[Sight], Answer]) -> Answer:
    """What a request gets out of one look at a namespace.

    A record that is forgotten between the look and the reading of its file is absent and not damaged:
    then the answer is made anew from what there is by now. Raises as :meth:`Sight.of`.
    """
    while True:
        with suppress(Vanished):
            return answer(Sight.of(leaf, envelope))
