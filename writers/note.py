"""What a caller may say about a record, and nothing more: no scope, path, id, time or sequence number."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec

from nsstore import digests, record
from nsstore.clock import utc_now
from nsstore.policy import NOTHING_SET, expiry, lifetime
from nsstore.record import Header, ImportedFrom
from nsstore.scope import (
    Area,
    Privacy,
    ScopeEnvelope,
    Sensitivity,
    check_label,
    text_of,
)
from nsstore.store import Draft, Store
from nsstore.writers.template import Template, template


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text to remember, with what the caller may say about it.

    ``tags`` and ``supersedes`` may come in any order; ``ext`` is free metadata that no decision
    reads and that may not name a field of the header. ``expires_at`` is a time that names its zone,
    ``ttl`` a length of time, in seconds or as a ``timedelta``: one of the two, or neither. ``original`` is
    the foreign front matter of an import, whole, kept as ``ext.original``. Checked when it is written.
    """

    text: str
    kind: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    sensitivity: Sensitivity | str = Sensitivity.INTERNAL
    retention_class: str = "standard"
    privacy: Privacy | str = Privacy.PROJECT_ONLY
    supersedes: tuple[str, ...] = ()
    ext: Mapping[str, object] | None = None
    idempotency_key: str | None = None
    imported_from: ImportedFrom | None = None
    expires_at: str | datetime | None = None
    ttl: float | timedelta | None = None
    original: str | None = None


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """A record is durable; ``replayed`` if an earlier call with the same idempotency key wrote it."""

    record_id: str
    created_at: str
    replayed: bool


def draft(store: Store, envelope: ScopeEnvelope, note: Note, *, area: Area, key: str | None) -> Draft:
    """Stamp a note with the envelope's scope, a new id and the time; everything is checked here.

    Raises :class:`InvalidInput` naming the field and the rule, before anything is written.
    """
    said = (
        *(envelope, store.trust.keys.active, area, key, note.kind, note.title, note.tags),
        *(note.sensitivity, note.retention_class, note.privacy, note.supersedes),
    )
    try:
        common = template(*said)
    except TypeError:  # something that is no cache key is no valid value either; the check names it
        common = template.__wrapped__(*said)
    kept = store.kept(envelope.scope.tenant)
    if (
        note.idempotency_key is None
        and note.ext is None
        and note.imported_from is None
        and note.expires_at is None
        and note.ttl is None
        and note.original is None
        and note.retention_class not in kept.durations
    ):
        return common.draft(note.text)
    same_key = idempotency_digests(store, envelope, note.idempotency_key)
    now, given = utc_now(), common.form.header
    retention_class = given.retention_class
    header = msgspec.structs.replace(
        given,
        idempotency=same_key[0] if same_key else None,
        ext=record.check_ext(note.ext, original=note.original),
        imported_from=note.imported_from,
        expires_at=expiry(now, retention_class, kept, expires_at=note.expires_at, ttl=note.ttl),
    )
    made = Template(envelope, header).draft(note.text, same_key, now)
    ends = expiry(now, retention_class, NOTHING_SET, expires_at=note.expires_at, ttl=note.ttl)
    return msgspec.structs.replace(made, ends=ends)


def superseding(envelope: ScopeEnvelope, one: Draft, current: str | None) -> Draft:
    """The same draft as the next version after ``current``."""
    supersedes = None if current is None else (current,)
    changed = Template(envelope, msgspec.structs.replace(one.form.header, supersedes=supersedes))
    return msgspec.structs.replace(one, form=changed.form, tag=changed.tag, decision=changed.decision)


def repeats(store: Store, one: Draft, found: record.Record) -> bool:
    """Whether a record says what a draft says, in every field a caller can give."""
    return (
        found.text.encode() == one.text
        and _given(found.header) == _given(one.form.header)
        and _ends_alike(store, one, found.header)
    )


def _ends_alike(store: Store, one: Draft, found: Header) -> bool:
    """Whether a record ends as a caller gave it, or sooner, by a duration its class has or once had."""
    asked = msgspec.structs.replace(one.form.header, created_at=one.created_at, expires_at=one.ends)
    lived, given = lifetime(found), lifetime(asked)
    if found.expires_at == asked.expires_at or lived == given:
        return True
    if lived is None or found.expires_at is None:
        return False
    sooner = one.ends is None or given is None or lived < given or found.expires_at < one.ends
    return sooner and lived in store.rights.durations(found.scope().tenant, found.retention_class)


def idempotency_digests(store: Store, envelope: ScopeEnvelope, key: str | None) -> tuple[str, ...]:
    """The keyed digests a caller's idempotency key can have been written under, the active one first."""
    if key is None:
        return ()
    scope, keys = envelope.scope, store.trust.keys
    whose = digests.lp(
        scope.user_id,
        scope.agent_id,
        text_of(scope.branch),
        text_of(scope.baseline),
        check_label("idempotency_key", key),
    )
    ids = (keys.active, *(key_id for key_id in keys.masters if key_id != keys.active))
    tenant_keys = (keys.tenant(key_id, scope.tenant) for key_id in ids)
    return tuple(digests.mac(one, digests.IDEM, whose).hex() for one in tenant_keys if one is not None)


_OWN_TO_EACH_WRITE: Final = (
    *("record_id", "created_at", "expires_at", "idempotency", "seq", "prev", "salt", "seal"),
    "commit",  # a host finds it out again for each call: a retry may come after the code moved on
)


def _given(header: Header) -> dict[str, object]:
    fields = msgspec.structs.asdict(header)
    for name in _OWN_TO_EACH_WRITE:
        del fields[name]
    if header.type == "state":
        del fields["supersedes"]  # follows from what was current, not from the caller
    return fields
