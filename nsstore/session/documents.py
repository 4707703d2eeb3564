"""State documents: the newest version of a key, its history, and compare-and-set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice

from msgspec import UNSET, UnsetType

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import NotVisible
from nsstore.scope import (
    ScopeEnvelope,
    Sensitivity,
    check_label,
    check_record_id,
    envelope_fields,
    state_namespace,
)
from nsstore.store import Found, Sight, Store, answered, found_of
from nsstore.writers.forget import ForgetReceipt, forget_wanted
from nsstore.writers.note import Note, Receipt
from nsstore.writers.state import put

Choose = Callable[[Iterator[str]], Iterable[str]]


class StateDocuments:
    """The keyed documents of one scope: other users, agents, branches, baselines and sessions have others."""

    def __init__(self, store: Store, envelope: ScopeEnvelope) -> None:
        self._store = store
        self._envelope = envelope
        self._ns = state_namespace(envelope.scope)

    def get(self, key: str, *, version: str | None = None) -> Found:
        """The newest version of a document, or the one that has the record id ``version``.

        Raises :class:`NotVisible` if there is none for this scope.
        """
        if version is not None:
            check_record_id("version", version)

        def chosen(ids: Iterator[str]) -> Iterable[str]:
            return islice((one for one in ids if version in (None, one)), 1)

        return self._versions("state_get", key, chosen)[0]

    def history(self, key: str) -> tuple[Found, ...]:
        """Every version of a document, newest first. Raises :class:`NotVisible` as :meth:`get`."""
        return self._versions("state_history", key, tuple)

    def put(
        self,
        key: str,
        text: str,
        *,
        expect: str | UnsetType | None = UNSET,
        kind: str | None = None,
        sensitivity: Sensitivity | str = Sensitivity.INTERNAL,
        retention_class: str = "standard",
        ext: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        expires_at: str | datetime | None = None,
        ttl: float | timedelta | None = None,
    ) -> Receipt:
        """Write the next version of a document; durable when this returns.

        ``expect`` is the record id of the version it must be at, or ``None`` for "not there yet";
        left out, any. Raises :class:`Refused` (``changed_meanwhile``) if it is elsewhere. With the
        version that ends (``expires_at``, ``ttl``) the document is gone; none before it comes back.
        """
        note = Note(
            text=text,
            kind=kind,
            sensitivity=sensitivity,
            retention_class=retention_class,
            ext=ext,
            idempotency_key=idempotency_key,
            expires_at=expires_at,
            ttl=ttl,
        )
        return put(self._store, self._envelope, key, note, expect=expect)

    def list(self) -> tuple[Found, ...]:
        """The newest version of every document of this scope, in the order of their keys.

        What a grant opens of other scopes comes behind, newest first; its provenance says whose it is.
        """
        found = self._answered(self._heads)
        self._audit(EventKind.LISTED, "state_list", tuple(one.record_id for one in found))
        return found

    def forget(self, key: str, *, dry_run: bool = False) -> ForgetReceipt:
        """Forget a document of this scope, every version of it, for good.

        Raises :class:`NotVisible` as :meth:`get`, and as :meth:`Session.forget`.
        """
        check_label("key", key)
        return forget_wanted(
            self._store,
            self._envelope,
            self._ns,
            lambda sight: sight.versions(key),
            asked=None,
            verb="state_forget",
            only_these=False,
            dry_run=dry_run,
        )

    def _heads(self, sight: Sight) -> tuple[Found, ...]:
        keys = sorted({key for one in sight.newest_first() if (key := sight.tag(one).key) is not None})
        heads = [next(sight.versions(key), None) for key in keys]
        own = tuple(self._found(sight, one, "state_list") for one in heads if one is not None)
        return own + tuple(self._found(sight, one, "state_list") for one in sight.others())

    def _versions(self, verb: str, key: str, chosen: Choose) -> tuple[Found, ...]:
        """The chosen ones of a document's own versions, which come newest first."""
        check_label("key", key)

        def look(sight: Sight) -> tuple[Found, ...]:
            return tuple(self._found(sight, one, verb) for one in chosen(sight.versions(key)))

        found = self._answered(look)
        if not found:
            self._audit(EventKind.DENIED, verb, (), "not_in_scope")
            raise NotVisible("this document")
        self._audit(EventKind.READ, verb, tuple(one.record_id for one in found))
        return found

    def _answered(self, look: Callable[[Sight], tuple[Found, ...]]) -> tuple[Found, ...]:
        return answered(self._store.leaf(self._ns), self._envelope, look)

    def _found(self, sight: Sight, record_id: str, verb: str) -> Found:
        found, decision = sight.read(record_id)
        return found_of(self._ns, found, stale=decision.stale, reason=verb)

    def _audit(self, event: EventKind, verb: str, ids: tuple[str, ...], reason: str | None = None) -> None:
        self._store.audit.append(
            self._envelope.scope.tenant,
            AuditEvent(
                event=event,
                verb=verb,
                reason=reason,
                scope=envelope_fields(self._envelope),
                records=ids,
                count=len(ids),
            ),
        )
