"""State documents: the newest version of a key, its history, and compare-and-set."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET, UnsetType

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import NotVisible
from nsstore.scope import ScopeEnvelope, Sensitivity, check_label, envelope_fields, state_namespace
from nsstore.store import Found, Sight, Store, found_of
from nsstore.writers.note import Note, Receipt
from nsstore.writers.state import put


class StateDocuments:
    """The keyed documents of one scope: other users, agents, branches, baselines and sessions have others."""

    def __init__(self, store: Store, envelope: ScopeEnvelope) -> None:
        self._store = store
        self._envelope = envelope
        self._ns = state_namespace(envelope.scope)

    def get(self, key: str) -> Found:
        """The newest version of a document. Raises :class:`NotVisible` if there is none for this scope."""
        versions = self._versions("state_get", key, newest=True)
        return versions[0]

    def history(self, key: str) -> tuple[Found, ...]:
        """Every version of a document, newest first. Raises :class:`NotVisible` as :meth:`get`."""
        return self._versions("state_history", key, newest=False)

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
    ) -> Receipt:
        """Write the next version of a document; durable when this returns.

        ``expect`` is the record id of the version it must be at, or ``None`` for "not there yet";
        left out, any. Raises :class:`Refused` (``changed_meanwhile``) if it is elsewhere.
        """
        note = Note(
            text=text,
            kind=kind,
            sensitivity=sensitivity,
            retention_class=retention_class,
            ext=ext,
            idempotency_key=idempotency_key,
        )
        return put(self._store, self._envelope, key, note, expect=expect)

    def list(self) -> tuple[Found, ...]:
        """The newest version of every document of this scope, in the order of their keys."""
        sight = self._sight()
        keys = sorted({key for one in sight.newest_first() if (key := sight.tag(one).key) is not None})
        heads = [next(sight.versions(key), None) for key in keys]
        found = tuple(self._found(sight, one, "state_list") for one in heads if one is not None)
        self._audit(EventKind.LISTED, "state_list", tuple(one.record_id for one in found))
        return found

    def _versions(self, verb: str, key: str, *, newest: bool) -> tuple[Found, ...]:
        check_label("key", key)
        sight = self._sight()
        ids = list(sight.versions(key)) if not newest else [next(sight.versions(key), None)]
        found = tuple(self._found(sight, one, verb) for one in ids if one is not None)
        if not found:
            self._audit(EventKind.DENIED, verb, (), "not_in_scope")
            raise NotVisible("this document")
        self._audit(EventKind.READ, verb, tuple(one.record_id for one in found))
        return found

    def _sight(self) -> Sight:
        return Sight.of(self._store.leaf(self._ns), self._envelope)

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
