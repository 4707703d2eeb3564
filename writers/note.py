"""What a caller may say about a record, and nothing more: no scope, path, id, time or sequence number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from nsstore import digests, record
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
    reads and that may not name a field of the header. Checked when it is written.
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
    if note.idempotency_key is None and note.ext is None and note.imported_from is None:
        return common.draft(note.text)
    same_key = idempotency_digests(store, envelope, note.idempotency_key)
    header = msgspec.structs.replace(
        common.form.header,
        idempotency=same_key[0] if same_key else None,
        ext=None if note.ext is None else record.check_ext(note.ext),
        imported_from=note.imported_from,
    )
    return Template(envelope, header).draft(note.text, same_key)


def superseding(envelope: ScopeEnvelope, one: Draft, current: str | None) -> Draft:
    """The same draft as the next version after ``current``."""
    supersedes = None if current is None else (current,)
    changed = Template(envelope, msgspec.structs.replace(one.form.header, supersedes=supersedes))
    return msgspec.structs.replace(one, form=changed.form, tag=changed.tag, decision=changed.decision)


def repeats(one: Draft, found: record.Record) -> bool:
    """Whether a record says what a draft says, in every field a caller can give."""
    return found.text.encode() == one.text and _given(found.header) == _given(one.form.header)


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


_OWN_TO_EACH_WRITE: Final = ("record_id", "created_at", "idempotency", "seq", "prev", "salt", "seal")


def _given(header: Header) -> dict[str, object]:
    fields = msgspec.structs.asdict(header)
    for name in _OWN_TO_EACH_WRITE:
        del fields[name]
    if header.type == "state":
        del fields["supersedes"]  # follows from what was current, not from the caller
    return fields
