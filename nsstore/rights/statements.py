"""One statement of the owner's: what its line says, how it is spelled, signed and chained."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from nsstore import digests
from nsstore.errors import InvalidInput
from nsstore.policy import LEGAL_HOLD, LONGEST_KEPT, Asker, Kind, Opens, Pair, check_kinds
from nsstore.scope import check_id, check_label, check_name, check_record_id, check_texts
from nsstore.trust import BadLine

if TYPE_CHECKING:
    from nsstore.trust.signer import Signer

ZERO: Final = "0" * 64
LONGEST_DAYS: Final = 365
LONGEST_LINE: Final = 64 * 1024
_MARK: Final = b',"sig":"'
_TAIL: Final = len(_MARK) + 128 + len(b'"}\n')
_SPELLED: Final = "%Y-%m-%dT%H:%M:%S.%fZ"

Hex64 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Time = Annotated[str, msgspec.Meta(pattern=r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z")]


class Assurance(StrEnum):
    """How the owner's key was unlocked for a statement; ``check`` shows it."""

    PASSPHRASE = "passphrase"  # noqa: S105 - the word for how it was unlocked, and no secret
    HARDWARE = "hardware"
    FILE = "file"
    CI = "ci"


class _Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """``seq`` counts all statements, ``at`` is when it was made, ``by`` whose it is, ``prev`` the chain."""

    seq: Number
    at: Time
    by: str
    why: str
    assurance: Assurance
    prev: Hex64

    def __post_init__(self) -> None:
        check_label("by", self.by)
        check_label("why", self.why)
        time_of(self.at)


class OwnerNamed(_Statement, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="owner"):
    """The first statement of a list: which key the list is proven by."""

    public: Hex64


class _Expiring(_Statement, frozen=True, kw_only=True, forbid_unknown_fields=True):
    expires: Time

    def __post_init__(self) -> None:
        super().__post_init__()
        if not timedelta() < time_of(self.expires) - time_of(self.at) <= timedelta(days=LONGEST_DAYS):
            raise InvalidInput(f"a statement expires after it was made, within {LONGEST_DAYS} days")


class Granted(_Expiring, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="grant"):
    """A grant or policy: what it is called, to whom, and everything that it opens."""

    kinds: tuple[Kind, ...]
    to: Asker
    opens: Opens

    def __post_init__(self) -> None:
        super().__post_init__()
        check_kinds(self.kinds, self.to, self.opens)


class Allowlisted(_Expiring, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="allowlist"):
    """An entry of the search allowlist: who may search while the gate is not green."""

    to: Asker


class Kept(_Statement, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="retention"):
    """How long a tenant's records are kept, and which are held: in full, in place of the one before.

    ``days`` are whole days by retention class, ``held`` the classes held beside ``legal_hold``,
    ``released`` records let go of although their class is held. A sealed time after ``trusted_until``
    counts for nothing when expiry is decided. It stands until the next one or its revocation.
    """

    tenant: Pair
    days: tuple[tuple[str, int], ...] = ()
    held: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    trusted_until: Time | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tenant[0] not in ("tenant", "group"):
            raise InvalidInput("retention is set for a tenant or a group")
        check_id(f"{self.tenant[0]}_id", self.tenant[1])
        classes = tuple(check_name("retention_class", name) for name, _ in self.days)
        for names in (classes, check_texts("held", self.held), check_texts("released", self.released)):
            if any(not one < other for one, other in pairwise(names)):
                raise InvalidInput("retention names each class and record once, sorted")
        for name in self.held:
            check_name("held", name)
        if LEGAL_HOLD in (*classes, *self.held):
            raise InvalidInput(f"{LEGAL_HOLD} is always held, and has no duration")
        if not all(1 <= days <= LONGEST_KEPT.days for _, days in self.days):
            raise InvalidInput(f"a class is kept for 1 to {LONGEST_KEPT.days} days, or, not named, always")
        for record_id in self.released:
            check_record_id("released", record_id)
        if self.trusted_until is not None:
            time_of(self.trusted_until)


class Revoked(_Statement, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="revoke"):
    """The end of an earlier statement, from the moment that this line stands in the list."""

    number: Number


class Accepted(_Statement, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="accepted"):
    """The owner gives up what namespaces, or an audit, have lost, once: exactly this, and nothing else.

    ``digest`` names each of the ``namespaces`` with the head that it gives up, the one that it goes on
    from, and its lost records (``docs/format.md``, "Rights"); ``events`` and ``records`` are how many
    are given up in all. With no ``namespaces`` it is a gap of one tenant's audit that is given up.
    """

    namespaces: Number
    events: Number
    records: Number
    digest: Hex64


Statement = OwnerNamed | Granted | Allowlisted | Kept | Revoked | Accepted


class Signed(msgspec.Struct, frozen=True):
    """A statement, its line with the newline, and the digest that the next one is chained to."""

    statement: Statement
    raw: bytes
    digest: bytes


def sign(store_id: bytes, signer: Signer, statement: Statement) -> Signed:
    """A statement as a signed line. Raises :class:`InvalidInput` for a line that is too long."""
    body = msgspec.json.encode(statement)[:-1]
    raw = b'%b%b%b"}\n' % (body, _MARK, signer.sign(body).hex().encode())
    if len(raw) > LONGEST_LINE:
        raise InvalidInput("a statement must not be longer than 64 KiB: make two of it")
    return Signed(statement, raw, digest_of(store_id, raw))


def read_signed(store_id: bytes, public: str, raw: bytes) -> Signed:
    """One line, newline included, proven by the owner's key. Raises :class:`BadLine`."""
    from nsstore.trust.signer import is_signed  # noqa: PLC0415 - a store without an owner needs no package

    body, tail = raw[:-_TAIL], raw[-_TAIL:]
    if len(raw) > LONGEST_LINE or not tail.startswith(_MARK) or not tail.endswith(b'"}\n'):
        raise BadLine("no statement of a list")
    spelled = tail[len(_MARK) : -3]
    try:
        signature = bytes.fromhex(spelled.decode("ascii"))
    except ValueError:
        raise BadLine("no statement of a list") from None
    if signature.hex().encode() != spelled or not is_signed(public, store_id, body, signature):
        raise BadLine("a signature that is not the owner's")
    try:
        statement: Statement = msgspec.json.decode(body + b"}", type=Statement)
    except (msgspec.MsgspecError, InvalidInput):
        raise BadLine("a statement that lacks or adds something") from None
    if msgspec.json.encode(statement)[:-1] != body:
        raise BadLine("a statement in another spelling")
    return Signed(statement, raw, digest_of(store_id, raw))


def digest_of(store_id: bytes, raw: bytes) -> bytes:
    """What the next statement and the trust home know a line by."""
    return digests.digest(digests.RIGHTS, digests.lp(store_id, raw))


def time_of(spelled: str) -> datetime:
    """The time that a statement spells. Raises :class:`InvalidInput` for one that no calendar has."""
    try:
        return datetime.strptime(spelled, _SPELLED).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidInput("a time must be one of the calendar") from None


def spelled_time(time: datetime) -> str:
    """A UTC time as statements spell it."""
    return time.astimezone(UTC).strftime(_SPELLED)
