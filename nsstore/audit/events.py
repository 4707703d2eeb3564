"""One audit line: what happened, to whom, by which verb; ids and keyed digests only, never text."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Final

import msgspec

from nsstore import digests
from nsstore.record.spelling import escape
from nsstore.scope import ScopeEnvelope, envelope_fields
from nsstore.trust import BadLine, Chain, Framer, Keys, unframe

ZERO: Final = "0" * 64
_HERE: Final = "00000000-0000-7000-8000-000000000000"
_RECORDS: Final = b'"records":[%b],"count":%d'
_ID: Final = b'"%b"'
LONGEST: Final = 4 * 1024 * 1024  # bytes of a line with its newline: 100,000 record ids


class EventKind(StrEnum):
    """The closed list of audited events; the second group is durable before the answer."""

    WRITTEN = "written"
    READ = "read"
    LISTED = "listed"
    SEARCHED = "searched"

    FORGOTTEN = "forgotten"
    GRANTED = "granted"
    RETENTION_SET = "retention_set"
    REVOKED = "revoked"
    DENIED = "denied"
    REFUSED = "refused"
    UNTAGGED = "untagged"
    FALLBACK_DISABLED = "fallback_disabled"
    OUT_OF_SCOPE_PROVIDER = "out_of_scope_provider"
    CONTAMINATION = "contamination"
    RECOVERED = "recovered"
    CLOCK_STEPPED = "clock_stepped"
    REPAIRED = "repaired"
    GAP = "gap"

    __hash__ = str.__hash__  # as equality is: by the value, and without a call of its own

    @property
    def security(self) -> bool:
        """Whether the event has to be durable before the caller gets an answer."""
        return self not in ROUTINE


ROUTINE: Final = frozenset(
    {
        EventKind.WRITTEN,
        EventKind.READ,
        EventKind.LISTED,
        EventKind.SEARCHED,
    }
)


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one line says; ``null`` where a field has nothing to say.

    ``scope`` is the asker's own scope by field name, ``records`` the ids concerned, ``count`` how
    many there were, ``digest`` a keyed digest, ``bytes`` a size.
    """

    event: EventKind
    verb: str | None = None
    reason: str | None = None
    scope: Mapping[str, str | None] | None = None
    records: tuple[str, ...] | None = None
    count: int | None = None
    incident: str | None = None
    digest: str | None = None
    bytes: int | None = None


class AuditLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event in its chain: ``seq`` counts all of the tenant's events, ``at`` is UTC."""

    seq: Annotated[int, msgspec.Meta(ge=0, le=2**62)]
    at: Annotated[str, msgspec.Meta(pattern=r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z")]
    event: EventKind
    verb: str | None
    reason: str | None
    scope: Mapping[str, str | None] | None
    records: tuple[str, ...] | None
    count: int | None
    incident: str | None
    digest: str | None
    bytes: int | None
    prev: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


def digest_of(key: bytes, chain: Chain, *names: bytes) -> str:
    """The keyed digest by which an event of a chain tells what it is about: one name, or many at once."""
    named = names[0] if len(names) == 1 else digests.lp(*names)
    return digests.mac(key, digests.DIGEST, chain.prefix, named).hex()


class Spelled(msgspec.Struct, frozen=True):
    """An event in the bytes of its line, which lack only its place in the chain."""

    body: bytes
    security: bool


def spelled(event: AuditEvent, *, durable: bool = False) -> Spelled:
    """The event in bytes; ``durable`` makes one that is routine by its kind durable before the answer.

    What a terminal or a log reader could take for a line end or a command is escaped, as in a record.
    """
    return Spelled(escape(msgspec.json.encode(event))[1:-1], durable or event.event.security)


class EventForm:
    """An event about records by one verb in one scope, spelled once and cut at the records' ids.

    A host writes and searches many times in one scope: what was encoded and escaped for the first time
    holds for the next, byte for byte.
    """

    def __init__(self, kind: EventKind, verb: str, scope: Mapping[str, str | None]) -> None:
        said = spelled(AuditEvent(event=kind, verb=verb, scope=scope, records=(_HERE,), count=1))
        before, here, after = said.body.rpartition(_RECORDS % (_ID % _HERE.encode(), 1))
        assert here
        self._shape = before.replace(b"%", b"%%") + _RECORDS + after.replace(b"%", b"%%")
        self._security = said.security

    def of(self, *record_ids: str) -> Spelled:
        """The event about the records with these ids."""
        named = _ID % '","'.join(record_ids).encode() if record_ids else b""
        return Spelled(self._shape % (named, len(record_ids)), self._security)


@lru_cache(maxsize=1024)
def event_form(kind: EventKind, verb: str, envelope: ScopeEnvelope) -> EventForm:
    """The form of an event about records by one verb of an asker."""
    return EventForm(kind, verb, envelope_fields(envelope))


def framer_of(keys: Keys, chain: Chain) -> Framer:
    """What frames the lines of a tenant's audit, under the active key."""
    return Framer(keys, chain, digests.AUDIT, keys.active)


def write_line(framer: Framer, said: Spelled, *, seq: int, at: str, prev: str) -> tuple[bytes, bytes]:
    """The bytes of one line of the audit that the framer is of, newline included, and its MAC.

    Raises :class:`BadLine` for a line that nobody would find again, longer than ``LONGEST``.
    """
    line = b'{"seq":%d,"at":"%b",%b,"prev":"%b"}' % (seq, at.encode(), said.body, prev.encode())
    raw, mac = framer.frame(line)
    if len(raw) > LONGEST:
        raise BadLine("a line that is longer than any event's")
    return raw, mac


def read_line(keys: Keys, chain: Chain, raw: bytes) -> tuple[AuditLine, bytes]:
    """One verified line and its MAC. Raises :class:`BadLine`."""
    body, _, mac = unframe(keys, chain, digests.AUDIT, raw)
    try:
        return msgspec.json.decode(body, type=AuditLine), mac
    except msgspec.MsgspecError:
        raise BadLine("a line that lacks or adds something") from None
