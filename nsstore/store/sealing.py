"""Sealing a record and proving one: the only use of record keys."""

from __future__ import annotations

from hashlib import blake2b
from hmac import compare_digest
from typing import Final

import msgspec

from nsstore import digests, record
from nsstore.incident import IncidentKind
from nsstore.ledger import Line, Written, make_line
from nsstore.policy import Decision, ReadClass, readability_class
from nsstore.scope import Namespace
from nsstore.trust import Chain, Keys

MAX_FILE: Final = record.MAX_HEADER + record.MAX_TEXT


class Tag(msgspec.Struct, frozen=True):
    """What is remembered of a member: its class, what it supersedes, its document key, and its end."""

    readable: ReadClass
    supersedes: tuple[str, ...]
    key: str | None
    expires_at: str | None


def tag_of(header: record.Header) -> Tag:
    """What is remembered of a valid header."""
    return Tag(readability_class(header), header.supersedes or (), header.key, header.expires_at)


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A checked record that lacks only its place in the chain and its seal.

    ``same_key`` are the keyed digests that an idempotency key of the caller's can have been
    written under, the active one first; empty without one. ``decision`` is whether its scope may
    write it, where that hangs on nothing in the namespace. ``ends`` is the end that its caller gave,
    whatever the duration of its class made of it.
    """

    form: record.Form
    tag: Tag
    decision: Decision | None
    record_id: str
    created_at: str
    salt: str
    text: bytes
    same_key: tuple[str, ...]
    ends: str | None = None


class Sealed(msgspec.Struct, frozen=True):
    """A drafted record as the bytes of its file, and the event that makes it a member.

    ``begun`` is how its MAC begins, under the key that sealed it.
    """

    draft: Draft
    raw: bytes
    event: Written
    begun: blake2b

    def record(self) -> record.Record:
        """What decoding the bytes gives; they were made of it."""
        draft, event = self.draft, self.event
        own = (draft.record_id, draft.created_at, event.seq, event.prev, draft.salt)
        return record.Record(header=draft.form.header_with(own, event.seal), text=draft.text.decode())


class Unproven(ValueError):
    """Bytes that are not a sealed record of this namespace; says what they are instead."""

    def __init__(self, kind: IncidentKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


class Sealer:
    """Seals the records of one namespace under the active key; what every MAC begins with is hashed once."""

    __slots__ = ("_begun", "_key_id")

    def __init__(self, keys: Keys, chain: Chain) -> None:
        key = keys.tenant(keys.active, chain.tenant)
        assert key is not None
        self._key_id = keys.active
        self._begun = digests.begun(key, digests.RECORD, chain.sealing)

    def seal(self, draft: Draft, seq: int, prev: bytes) -> Sealed:
        """Place and seal a drafted record behind the event whose MAC is ``prev``."""
        record_id, key_id, head, form = draft.record_id, self._key_id, prev.hex(), draft.form
        own = (record_id, draft.created_at, seq, head, draft.salt)
        before, after = form.around_seal(own, key_id, draft.text)
        mac = self._begun.copy()
        mac.update(b"".join((before, record.ZEROS, after)))
        digits = mac.hexdigest()
        event = Written(
            seq=seq,
            record=record_id,
            seal=f"1:{key_id}:{digits}",
            idem=form.header.idempotency,
            prev=head,
        )
        return Sealed(draft, b"".join((before, digits.encode(), after)), event, self._begun)


def line_of(keys: Keys, chain: Chain, header: record.Header) -> Line:
    """The one ``written`` line of a record: the same bytes whenever it is made again."""
    event = Written(
        seq=header.seq,
        record=header.record_id,
        seal=header.seal,
        idem=header.idempotency,
        prev=header.prev,
    )
    return make_line(keys, chain, event, record.seal_parts(header.seal)[0])


def prove(keys: Keys, chain: Chain, ns: Namespace, name: str, raw: bytes) -> record.Record:
    """The record that ``raw`` is, if its seal is valid and its sealed scope and id are its place.

    Raises :class:`Unproven`: untagged without a header, forged without a valid seal, misplaced when
    sealed for another place.
    """
    try:
        key_id, mac = record.seal_parts(record.seal_of(raw))
    except record.Malformed:
        raise Unproven(IncidentKind.UNTAGGED) from None
    if (
        len(raw) > MAX_FILE
        or keys.tenant(key_id, chain.tenant) is None
        or not compare_digest(
            mac, _mac(keys, chain, key_id, record.seal_chunks(chain.store_id, ns.area, raw))
        )
    ):
        raise Unproven(_why_not(ns, raw))
    try:
        found = record.decode(raw)
    except record.Malformed:
        raise Unproven(IncidentKind.FORGED) from None
    if (found.header.type, _dimensions(found.header)) != (
        ns.area,
        ns.dimensions,
    ) or name != f"{found.header.record_id}.md":
        raise Unproven(IncidentKind.MISPLACED)
    return found


def namespace_of(header: record.Header) -> Namespace:
    """Where a record belongs by what is sealed in it."""
    return Namespace(area=header.type, dimensions=_dimensions(header))


def _dimensions(header: record.Header) -> tuple[tuple[str, str], ...]:
    whose = _one_of("tenant", header.tenant_id, "group", header.group_id)
    project = ("project", header.project_id)
    if header.type == "state":
        return (whose, project, ("workspace", header.workspace_id))
    session = _one_of("session", header.session_id, "conversation", header.conversation_id)
    return (whose, ("user", header.user_id), project, session)


def _one_of(first: str, one: str | None, second: str, other: str | None) -> tuple[str, str]:
    if one is not None:
        return first, one
    assert other is not None  # a header has exactly one of the two
    return second, other


def _why_not(ns: Namespace, raw: bytes) -> IncidentKind:
    """A record of another place has a valid seal there: it is told apart from a forged one by its claim."""
    try:
        claimed = namespace_of(record.decode(raw).header)
    except record.Malformed:
        return IncidentKind.FORGED
    return IncidentKind.FORGED if claimed == ns else IncidentKind.MISPLACED


def _mac(keys: Keys, chain: Chain, key_id: str, chunks: tuple[bytes, ...]) -> bytes:
    key = keys.tenant(key_id, chain.tenant)
    assert key is not None
    return digests.mac(key, digests.RECORD, *chunks)
