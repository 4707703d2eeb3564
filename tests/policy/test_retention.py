"""How long a record is kept: the sealed end, the clock that decides it, and who may forget it."""

import time
from datetime import UTC, datetime, timedelta, timezone
from typing import cast

import pytest

from nsstore import InvalidInput
from nsstore.policy import (
    HOLDS_UNKNOWN,
    NOTHING_SET,
    Reason,
    Retention,
    Rights,
    decide_forget,
    expiry,
    expiry_clock,
    is_held,
    lifetime,
)
from nsstore.policy.retention import LONGEST_KEPT
from nsstore.scope import Sensitivity
from tests.policy.conftest import Ask, Record

NOW = "2026-11-30T10:44:07.012345Z"
LATER = "2026-11-30T10:44:08.012345Z"
EAST = timezone(timedelta(hours=5))


def ends(
    *, at: str | datetime | None = None, ttl: float | timedelta | None = None, kept: Retention = NOTHING_SET
) -> str | None:
    """When a record of the class standard that is written now expires."""
    return expiry(NOW, "standard", kept, expires_at=at, ttl=ttl)


@pytest.mark.parametrize(
    ("at", "ttl"),
    [
        (LATER, None),
        ("2026-11-30T15:44:08.012345+05:00", None),
        (datetime(2026, 11, 30, 10, 44, 8, 12345, UTC), None),
        (datetime(2026, 11, 30, 15, 44, 8, 12345, EAST), None),
        (None, 1),
        (None, 1.0),
        (None, timedelta(seconds=1)),
    ],
)
def test_a_given_end(at: str | datetime | None, ttl: float | timedelta | None) -> None:
    """A time in any zone, or a length of time, is sealed in the one spelling."""
    assert ends(at=at, ttl=ttl) == LATER


def test_no_end() -> None:
    """Without an end, and without a duration of the class, a record has none."""
    assert ends() is None
    assert ends(kept=Retention(durations={"other": timedelta(1)})) is None


def test_the_class_ends_it_at_the_latest() -> None:
    """The owner's duration holds where nobody gave an end, shortens a longer one, and lengthens none."""
    kept = Retention(durations={"standard": timedelta(seconds=1)})
    assert ends(kept=kept) == ends(ttl=500, kept=kept) == LATER
    assert ends(ttl=0.5, kept=kept) == "2026-11-30T10:44:07.512345Z"


@pytest.mark.parametrize(
    "at",
    [
        NOW,
        *("2026-11-30T10:44:07.012344Z", "2226-11-30T10:44:07Z", "9999-12-31T23:59:59.999999-05:00"),
        *("2026-12-30", "2026-12-30T00:00:00", "", "soon", 5, True),
        datetime(2027, 1, 1),  # noqa: DTZ001 - one without a zone is what is refused
    ],
)
def test_an_end_that_is_refused(at: str) -> None:
    """The past, now, a time without a zone, more than a hundred years, and what is no time."""
    with pytest.raises(InvalidInput, match="expires_at"):
        ends(at=at)


@pytest.mark.parametrize(
    "ttl", [0, -1, 0.0, float("nan"), float("inf"), 1e300, True, "5", timedelta(), timedelta(40_000)]
)
def test_a_life_that_is_refused(ttl: float) -> None:
    """Nothing but a positive length of time, up to a hundred years."""
    with pytest.raises(InvalidInput, match="ttl"):
        ends(ttl=ttl)


def test_both_are_refused() -> None:
    """An end and a length are not given together."""
    with pytest.raises(InvalidInput, match="only one"):
        ends(at=LATER, ttl=1)


def test_a_lifetime(record: Record) -> None:
    """How long a record lives is the time between its two sealed ones."""
    assert lifetime(record()) is None
    assert lifetime(record(expires_at=LATER)) == timedelta(seconds=1)


def test_the_clock_never_runs_behind() -> None:
    """The later of now and the newest sealed time, as far as the owner trusts sealed times."""
    newest = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
    sealed = expiry_clock("2020-01-01T00:00:00.000000Z", newest, NOTHING_SET)
    assert sealed == "2024-11-21T14:44:30.714000Z"
    assert expiry_clock(NOW, newest, NOTHING_SET) == NOW
    assert expiry_clock(NOW, "", NOTHING_SET) == NOW
    before = "2024-01-01T00:00:00.000000Z"
    assert expiry_clock(before, newest, Retention(trusted_until=before)) == before
    assert expiry_clock(before, newest, Retention(trusted_until=sealed)) == sealed
    between = "2024-06-01T00:00:00.000000Z"
    assert expiry_clock(before, newest, Retention(trusted_until=between)) == between


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, Reason.ALLOWED),
        ({"user_id": "bob"}, Reason.OTHER_USER),
        ({"session_id": "s-2"}, Reason.OTHER_SESSION),
        ({"agent_id": "codex"}, Reason.OTHER_AGENT),
        ({"branch": "old"}, Reason.STALE_BRANCH),
        ({"baseline": "v1"}, Reason.STALE_BASELINE),
        ({"sensitivity": Sensitivity.RESTRICTED}, Reason.ABOVE_CLEARANCE),
        ({"retention_class": "legal_hold"}, Reason.LEGAL_HOLD),
        ({"retention_class": "legal_hold", "user_id": "bob"}, Reason.OTHER_USER),
    ],
)
def test_who_may_forget(record: Record, ask: Ask, changes: dict[str, object], reason: Reason) -> None:
    """What the scope may read and is current, but for what is held; a hold of others is not told."""
    decision = decide_forget(
        ask(allowed_branches=("main", "old"), allowed_baselines=("v2", "v1")), record(**changes)
    )
    assert (decision.allowed, decision.reason, decision.stale) == (reason is Reason.ALLOWED, reason, False)


def test_what_the_owner_holds(record: Record, ask: Ask) -> None:
    """The owner says which classes are held."""
    held = Retention(held=frozenset({"evidence"}))
    assert decide_forget(ask(), record(retention_class="evidence"), held).reason is Reason.LEGAL_HOLD
    assert decide_forget(ask(), record(retention_class="legal_hold"), held).allowed
    evidence = record(retention_class="evidence")
    released = Retention(held=frozenset({"evidence"}), released=frozenset({evidence.record_id}))
    assert decide_forget(ask(), evidence, released).allowed


def test_what_nobody_knows_to_be_held(record: Record, ask: Ask) -> None:
    """Where nobody knows what the owner holds, everything is held; a stranger hears no more."""
    assert decide_forget(ask(), record(), HOLDS_UNKNOWN).reason is Reason.HOLDS_UNKNOWN
    assert is_held(record(), HOLDS_UNKNOWN)
    assert decide_forget(ask(), record(user_id="bob"), HOLDS_UNKNOWN).reason is Reason.OTHER_USER


@pytest.mark.parametrize("given", [None, (), "lineage", object()])
def test_whatever_stands_for_rights_opens_nothing(record: Record, ask: Ask, given: object) -> None:
    """What is no value of rights neither opens a record to forgetting nor raises."""
    rights = cast("Rights", given)
    assert decide_forget(ask(), record(), rights=rights).allowed
    assert not decide_forget(ask(), record(branch="old"), rights=rights).allowed


def test_exactly_the_longest_time_is_given() -> None:
    """A hundred years to the microsecond are allowed, and one microsecond more is not."""
    at, beyond = datetime.fromisoformat(NOW) + LONGEST_KEPT, timedelta(microseconds=1)
    told = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert expiry(NOW, "standard", NOTHING_SET, expires_at=at, ttl=None) == told
    assert expiry(NOW, "standard", NOTHING_SET, expires_at=None, ttl=LONGEST_KEPT) == told
    with pytest.raises(InvalidInput):
        expiry(NOW, "standard", NOTHING_SET, expires_at=at + beyond, ttl=None)
    with pytest.raises(InvalidInput):
        expiry(NOW, "standard", NOTHING_SET, expires_at=None, ttl=LONGEST_KEPT + beyond)


def test_an_end_is_in_utc_wherever_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time of another zone is sealed in UTC on a machine of a third one."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        told = ends(at="2026-11-30T15:44:08.012345+05:00")
    time.tzset()
    assert told == LATER
