"""A write that is tried again: known whatever the owner set since, and never revived once it is forgotten."""

from datetime import timedelta

import pytest

from bench.binding import bind
from bench.owning import Hand
from bench.world import World
from nsstore import InvalidInput, Refused, Session
from nsstore.store import forget_below
from tests.store.test_expiry import FAR, TENANT

pytestmark = pytest.mark.usefixtures("unflushed", "cache_beside")
DAY = 86_400.0
WRITTEN: dict[str, tuple[dict[str, int], float | None, str | None]] = {
    "without an end": ({}, None, None),
    "with a length of life": ({}, 30 * DAY, None),
    "with an end": ({}, None, FAR),
    "under a duration": ({"standard": 7}, None, None),
    "cut short by a duration": ({"standard": 7}, 30 * DAY, None),
    "with an end cut short": ({"standard": 7}, None, FAR),
}
SET_SINCE: tuple[dict[str, int], ...] = ({"standard": 7}, {"standard": 3}, {"standard": 90}, {})


@pytest.mark.parametrize("written", WRITTEN)
def test_a_retry_after_a_duration_was_changed(world: World, written: str) -> None:
    """The same call finds its record, whatever durations were set, changed or taken back in between."""
    before, ttl, ends = WRITTEN[written]
    with world.open() as store:
        hand, session = Hand.of(store), bind(store)
        if before:
            hand.keep(store, before)
        first = session.remember("x", ttl=ttl, expires_at=ends, idempotency_key="k").record_id
        document = session.state.put("plan", "x", ttl=ttl, expires_at=ends, idempotency_key="k").record_id
        for days in SET_SINCE:
            number = hand.keep(store, days)
            for _ in range(2):
                again = session.remember("x", ttl=ttl, expires_at=ends, idempotency_key="k")
                assert (again.record_id, again.replayed) == (first, True)
                put = session.state.put("plan", "x", ttl=ttl, expires_at=ends, idempotency_key="k")
                assert (put.record_id, put.replayed) == (document, True)
                if days:
                    hand.revoke(store, number)
                    number = hand.keep(store, {})


def test_another_end_is_other_content(world: World) -> None:
    """What the caller gave is compared: an end that no duration made is not taken for one."""
    with world.open() as store:
        hand, session = Hand.of(store), bind(store)
        hand.keep(store, {"standard": 7, "other": 30})
        session.remember("x", ttl=3 * DAY, idempotency_key="3")
        session.remember("x", retention_class="free", ttl=30 * DAY, idempotency_key="30")
        session.remember("x", idempotency_key="7")
        for key, ttl, kind in (("3", None, "standard"), ("3", 4 * DAY, "standard"), ("30", None, "free"),
                               ("7", 6 * DAY, "standard")):  # fmt: skip
            with pytest.raises(InvalidInput, match="idempotency_key"):
                session.remember("x", retention_class=kind, ttl=ttl, idempotency_key=key)


def test_the_key_of_another_tenants_durations(world: World) -> None:
    """What is set for one tenant explains no end in another."""
    with world.open() as store:
        Hand.of(store).keep(store, {"standard": 7})
        other = bind(store, tenant_id="evil")
        other.remember("x", ttl=timedelta(days=7), idempotency_key="k")
        with pytest.raises(InvalidInput, match="idempotency_key"):
            other.remember("x", idempotency_key="k")


def hurt(world: World, record_id: str, *, gone: bool) -> None:
    """Change a byte of a record's file, or take it away."""
    (path,) = world.root.rglob(f"{record_id}.md")
    if gone:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] + b"!")


def spent(session: Session, key: str) -> bool:
    """Whether a key is refused, since what it was used for is forgotten."""
    try:
        session.remember("to be forgotten", idempotency_key=key)
    except Refused as err:
        return err.reason == "forgotten"
    return False


@pytest.mark.parametrize("gone", [False, True])
def test_a_key_of_what_was_forgotten_unread(world: World, *, gone: bool) -> None:
    """Forgotten without a readable header it is not written again either, in any process or task."""
    with world.open() as store:
        session = bind(store)
        unread = session.remember("to be forgotten", idempotency_key="unread").record_id
        session.remember("to be forgotten", idempotency_key="sound")
        session.remember("without a key")
    hurt(world, unread, gone=gone)
    with world.open() as store:
        (done,) = forget_below(store, TENANT, even_damaged=True)
        assert (len(done.records), done.damaged) == (3, 1)
        assert not spent(bind(store, agent_id="codex"), "unread")
        assert not spent(bind(store, task_id="t"), "fresh")
    for _ in range(2):
        with world.open() as store:
            assert spent(bind(store), "unread")
            assert spent(bind(store), "sound")
            assert spent(bind(store, task_id="t"), "unread"), "nobody knows whose it was"
            assert [one.text for one in bind(store).list().items] == []


def test_nothing_is_spent_that_was_not_used(world: World) -> None:
    """A record without a key spends none, however it is forgotten."""
    with world.open() as store:
        plain = bind(store).remember("x").record_id
    hurt(world, plain, gone=False)
    with world.open() as store:
        forget_below(store, TENANT, even_damaged=True)
    (ledger,) = world.root.glob("ledger/memory/*/*/*/s-1.log")
    assert b'"spent":[]' in ledger.read_bytes()
