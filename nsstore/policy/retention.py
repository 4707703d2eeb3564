"""How long a record is kept: when it expires, whether it is held, and who may forget it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from nsstore.errors import InvalidInput
from nsstore.policy.decide import decide, denied
from nsstore.policy.reasons import Decision, Reason
from nsstore.policy.rights import NO_RIGHTS, Rights
from nsstore.record import Header
from nsstore.scope import ScopeEnvelope

LEGAL_HOLD: Final = "legal_hold"
LONGEST_KEPT: Final = timedelta(days=36_525)
_SPELLED: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_MILLISECOND: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner set: how long each retention class is kept, which are held, and until when to trust.

    A class without a duration is kept until it is forgotten. A held one is neither forgotten nor
    erased, but for the records ``released`` by their ids. ``trusted_until`` is the owner's reset for a
    wrong clock: a sealed time after it counts as no later than it when an end is decided. ``unknown``
    says that what the owner set cannot be proven: then everything is held.
    """

    durations: Mapping[str, timedelta] = msgspec.field(default_factory=dict[str, timedelta])
    held: frozenset[str] = frozenset({LEGAL_HOLD})
    released: frozenset[str] = frozenset()
    trusted_until: str | None = None
    unknown: bool = False


NOTHING_SET: Final = Retention()
HOLDS_UNKNOWN: Final = Retention(unknown=True)


def decide_forget(
    envelope: ScopeEnvelope, meta: Header, retention: Retention = NOTHING_SET, rights: Rights = NO_RIGHTS
) -> Decision:
    """Whether this request may forget this record: pure, total, and a denial unless every row is satisfied.

    The rows of :func:`~nsstore.policy.decide.decide` by equality alone, since a grant opens reading and
    never erasing; the current branch and baseline, by equality or, where the owner's policy has memory
    follow the code's history, by that; and no hold.
    """
    own = decide(envelope, meta, rights.of_history() if type(rights) is Rights else NO_RIGHTS)
    if not own.allowed or own.stale:
        return denied(own.reason)
    if retention.unknown:
        return denied(Reason.HOLDS_UNKNOWN)
    return denied(Reason.LEGAL_HOLD) if is_held(meta, retention) else own


def is_held(meta: Header, retention: Retention) -> bool:
    """Whether the record is kept from being forgotten and erased: by its class, or since nobody knows."""
    return retention.unknown or (
        meta.retention_class in retention.held and meta.record_id not in retention.released
    )


def expiry(
    created_at: str,
    retention_class: str,
    retention: Retention,
    *,
    expires_at: str | datetime | None,
    ttl: float | timedelta | None,
) -> str | None:
    """When a record written at ``created_at`` expires, as it is sealed, or ``None`` for never.

    The caller gives a time, or a number of seconds to live, or neither; the duration of the class
    shortens what the caller gave and never lengthens it. Raises :class:`InvalidInput` for both, for a
    time that is not in the future, and for more than a hundred years.
    """
    now = _time(created_at)
    ends = [now + _lifetime(ttl)] if ttl is not None else []
    if expires_at is not None:
        ends.append(_given(expires_at))
    if len(ends) == 2:
        raise InvalidInput("only one of expires_at and ttl may be given")
    if ends and not now < ends[0] <= now + LONGEST_KEPT:
        raise InvalidInput("expires_at must be a time in the future, within a hundred years")
    if retention_class in retention.durations:
        ends.append(now + retention.durations[retention_class])
    return min(ends).strftime(_SPELLED) if ends else None


def lifetime(meta: Header) -> timedelta | None:
    """How long a record lives from its sealed time on, or ``None`` for always."""
    return None if meta.expires_at is None else _time(meta.expires_at) - _time(meta.created_at)


def expiry_clock(now: str, newest: str, retention: Retention) -> str:
    """The time by which expiry is decided: never behind the newest sealed time of the namespace.

    ``newest`` is the greatest record id that ever joined, or empty. A clock that was set back
    brings no expired record to life.
    """
    if not newest:
        return now
    sealed = (_EPOCH + int(newest[:8] + newest[9:13], 16) * _MILLISECOND).strftime(_SPELLED)
    return max(now, trusted(sealed, retention))


def trusted(sealed: str, retention: Retention) -> str:
    """A sealed time as far as the owner trusts it: a later one counts as ``trusted_until``.

    So that one that is far ahead hides none of the times before it.
    """
    return sealed if retention.trusted_until is None else min(sealed, retention.trusted_until)


def _time(spelled: str) -> datetime:
    return datetime.fromisoformat(spelled)


def _given(value: object) -> datetime:
    """A time that a caller gave, in UTC: one that names its zone, as text or as a ``datetime``."""
    if type(value) is str:
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput("expires_at must be a time as 2027-01-31T12:00:00Z") from None
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidInput("expires_at must be a time that names its zone, as 2027-01-31T12:00:00Z")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("expires_at must be a time in the future, within a hundred years") from None


def _lifetime(value: float | timedelta) -> timedelta:
    """A positive length of time: seconds, or a ``timedelta``."""
    try:
        given = value if isinstance(value, timedelta) else timedelta(seconds=_number(value))
    except (OverflowError, ValueError):
        given = timedelta()
    if not timedelta() < given <= LONGEST_KEPT:
        raise InvalidInput("ttl must be a number of seconds above 0, up to a hundred years")
    return given


def _number(value: object) -> float:
    """Seconds as a plain number; nothing else counts as one, ``True`` neither."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0
