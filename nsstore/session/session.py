"""A session: the capability to act in one scope. No method takes a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar, cast

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import InvalidInput, NotVisible
from nsstore.scope import (
    Privacy,
    ScopeEnvelope,
    Sensitivity,
    check_record_id,
    envelope_fields,
    memory_namespace,
)
from nsstore.search.engine import MAX_HITS, Answer, Searcher
from nsstore.session.documents import StateDocuments
from nsstore.session.evidence import Evidence, TruthSource, gather
from nsstore.session.listing import Listing, Page
from nsstore.session.versions import related
from nsstore.store import Found, Sight, Store, answered, found_of
from nsstore.writers.forget import ForgetReceipt, forget_wanted
from nsstore.writers.memory import remember, remember_one
from nsstore.writers.note import Note, Receipt
from nsstore.writers.rehearsal import rehearse

DENIED_REASON = "not_in_scope"
NONE: Final[tuple[str, ...]] = ()
Seen = TypeVar("Seen")


class Session:
    """Everything one bound scope may do; any thread may call any method.

    A call that is cancelled or interrupted leaves a whole record or none. Every method raises only
    the kinds of :mod:`nsstore.errors`.
    """

    def __init__(self, store: Store, searcher: Searcher, envelope: ScopeEnvelope) -> None:
        self.envelope = envelope
        self._store = store
        self._searcher = searcher
        self._ns = memory_namespace(envelope.scope)
        self._told = False

    @property
    def state(self) -> StateDocuments:
        """The state documents of this scope's workspace."""
        return StateDocuments(self._store, self.envelope)

    def remember(
        self,
        text: str,
        *,
        kind: str | None = None,
        title: str | None = None,
        tags: Iterable[str] = NONE,
        sensitivity: Sensitivity | str = Sensitivity.INTERNAL,
        retention_class: str = "standard",
        privacy: Privacy | str = Privacy.PROJECT_ONLY,
        supersedes: Iterable[str] = NONE,
        ext: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        expires_at: str | datetime | None = None,
        ttl: float | timedelta | None = None,
    ) -> Receipt:
        """Write a text as a record of this very scope; when this returns it survives a power loss.

        ``text`` is 1 byte to 256 KiB and kept byte for byte. ``supersedes`` names readable records
        that this one takes the place of. The same ``idempotency_key`` with the same content gives
        the first receipt again. From ``expires_at`` on, or after ``ttl`` seconds, no verb serves the
        record; the owner's duration for its retention class can end it sooner. Raises
        :class:`InvalidInput`, :class:`Refused`, :class:`NotVisible`, :class:`IntegrityError`,
        :class:`SystemFailure` (redline, "Write-path isolation").
        """
        note = Note(
            text=text,
            kind=kind,
            title=title,
            tags=NONE if tags is NONE else _given(tags),
            sensitivity=sensitivity,
            retention_class=retention_class,
            privacy=privacy,
            supersedes=NONE if supersedes is NONE else _given(supersedes),
            ext=ext,
            idempotency_key=idempotency_key,
            expires_at=expires_at,
            ttl=ttl,
        )
        return remember_one(self._store, self.envelope, self._ns, note, self._searcher.holding)

    def remember_many(self, notes: Iterable[Note | str]) -> list[Receipt]:
        """Write many notes with one flush for up to 256 of them; receipts come in the same order.

        Every note is checked before the first is written. Raises as :meth:`remember`.
        """
        if isinstance(notes, str) or not isinstance(cast("object", notes), Iterable):
            raise InvalidInput("notes must be a list of texts or Notes")
        checked = [_note(one) for one in notes]
        return remember(self._store, self.envelope, checked, self._searcher.holding)

    def rehearse(self, notes: Iterable[Note]) -> list[bool]:
        """Decide each note as :meth:`remember_many` would, and write no record: whether it is there already.

        Raises as that does.
        """
        return rehearse(self._store, self.envelope, notes, self._searcher.holding)

    def get(self, record_id: str) -> Found:
        """The record with this id, proven just now, if this scope may read it.

        Raises :class:`NotVisible` for an absent and for a denied one alike, :class:`IntegrityError`
        if a genuine record is damaged.
        """
        check_record_id("record_id", record_id)

        def look(own: Sight) -> Found | None:
            sight = self._searcher.holding(own, record_id)
            if not sight.decision(record_id).allowed:
                return None
            found, decision = sight.read(record_id)
            ns = sight.leaf.place.ns
            return found_of(ns, found, stale=decision.stale, reason="get") if decision.allowed else None

        found = self._answered(look)
        if found is None:
            raise self._not_visible("get", record_id)
        self._audit(EventKind.READ, "get", (record_id,))
        return found

    def list(
        self,
        *,
        limit: int = 100,
        include_superseded: bool = False,
        before: str | None = None,
        every_session: bool = False,
    ) -> Listing:
        """The newest readable records of this session, at most ``limit``, each proven just now.

        ``before`` goes on where an earlier list ended: only what is older than that record is listed.
        With ``every_session`` they are the current ones of every session of the user's project that
        rights open to this one; a damaged one of the others is left out, and told. Raises
        :class:`InvalidInput` for a limit outside 1 to 1,000, :class:`NotVisible` as :meth:`get` for
        ``before``.
        """
        if type(limit) is not int or not 1 <= limit <= MAX_HITS:
            raise InvalidInput(f"limit must be an integer from 1 to {MAX_HITS}")
        if before is not None:
            check_record_id("before", before)

        page = Page(limit=limit, include_superseded=include_superseded, before=before)

        def of_every_session(own: Sight) -> Listing | None:
            sights, incomplete = self._searcher.sights(own)
            return page.of_every_session(own, sights, incomplete=incomplete)

        listing = self._answered(of_every_session if every_session else page.of_own)
        if listing is None:
            raise self._not_visible("list", before or "")
        self._audit(EventKind.LISTED, "list", tuple(item.record_id for item in listing.items))
        return listing

    def search(self, text: str, *, k: int = 10) -> Answer:
        """The ``k`` best records for a text, ranked among exactly the records this scope may read.

        Any text is plain words. Raises :class:`InvalidInput`, :class:`IntegrityError`, and
        :class:`Refused` (``gate_closed``) as long as the self-test of this build is not green here, unless
        the owner let this asker search all the same.
        """
        answer = self._searcher.search(self.envelope, text, k=k, told=self._told)
        self._told = True
        return answer

    def require_search(self) -> None:
        """Require that search is open to this session, as whoever searches for it by other means has to.

        Raises :class:`Refused` as :meth:`search`.
        """
        self._searcher.admit(self.envelope)

    def evidence(self, topic: str, *, sources: Sequence[TruthSource] = (), k: int = 5) -> Evidence:
        """What the sources of truth say about a topic now, and beneath it the ``k`` best records, apart.

        Memory is advisory: where the two differ, the sources hold. Without sources nothing is said to be
        so now. Raises :class:`InvalidInput`, and as :meth:`search`.
        """
        return gather(lambda text, most: self.search(text, k=most), topic, sources, k)

    def history(self, record_id: str) -> tuple[Found, ...]:
        """Every readable version that led to or from a record through ``supersedes``, newest first.

        Raises :class:`NotVisible` as :meth:`get`.
        """
        check_record_id("record_id", record_id)

        def look(own: Sight) -> tuple[Found, ...]:
            sight = self._searcher.holding(own, record_id)
            if not sight.decision(record_id).allowed:
                return ()
            user = sight.leaf.place.ns.dimensions[1]
            open_ones, _ = self._searcher.sights(own)
            others = [one for one in open_ones if one.leaf.place.ns.dimensions[1] == user]
            return tuple(self._found(at, one, "history") for at, one in related(others, record_id))

        versions = self._answered(look)
        if not versions:
            raise self._not_visible("history", record_id)
        self._audit(EventKind.READ, "history", tuple(one.record_id for one in versions))
        return versions

    def forget(self, record_id: str, *, only_this: bool = False, dry_run: bool = False) -> ForgetReceipt:
        """Forget a record of this very scope for good, with those it took the place of.

        When this returns no byte of it is left in the store or its views, and nothing brings it back.
        With ``only_this`` an older version stays, and is current again, as another agent's or session's
        always does: ``back`` of the receipt names it. It is refused where a newer one would stay beside
        it. ``dry_run`` says what would go. A grant opens reading and never this. Raises
        :class:`NotVisible` as :meth:`get`, :class:`Refused` for what is held (``legal_hold``) or of
        another branch or baseline, :class:`IntegrityError`, :class:`SystemFailure`.
        """
        check_record_id("record_id", record_id)
        return forget_wanted(
            self._store,
            self.envelope,
            self._ns,
            lambda sight: (record_id,) if sight.decision(record_id).allowed else (),
            asked=record_id,
            verb="forget",
            only_these=only_this,
            dry_run=dry_run,
            elsewhere=self._searcher.holding,
        )

    def _answered(self, look: Callable[[Sight], Seen]) -> Seen:
        return answered(self._store.leaf(self._ns), self.envelope, look)

    def _found(self, sight: Sight, record_id: str, reason: str) -> Found:
        found, decision = sight.read(record_id)
        return found_of(sight.leaf.place.ns, found, stale=decision.stale, reason=reason)

    def _not_visible(self, verb: str, record_id: str) -> NotVisible:
        self._audit(EventKind.DENIED, verb, (record_id,), DENIED_REASON)
        return NotVisible(record_id)

    def _audit(self, event: EventKind, verb: str, ids: tuple[str, ...], reason: str | None = None) -> None:
        self._store.audit.append(
            self.envelope.scope.tenant,
            AuditEvent(
                event=event,
                verb=verb,
                reason=reason,
                scope=envelope_fields(self.envelope),
                records=ids,
                count=len(ids),
            ),
        )


def _given(values: Iterable[str]) -> tuple[str, ...]:
    """A list as a tuple; one text alone, and what is no list, are left for the check to refuse."""
    if type(values) is tuple:
        return cast("tuple[str, ...]", values)
    if isinstance(values, str) or not isinstance(cast("object", values), Iterable):
        return cast("tuple[str, ...]", values)
    return tuple(values)


def _note(given: object) -> Note:
    if isinstance(given, Note):
        return given
    if type(given) is str:
        return Note(text=given)
    raise InvalidInput("each note must be a text or a Note")
