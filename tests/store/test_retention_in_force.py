"""What the owner set about retention, in every process at once: ends, holds, and a list nobody can trust."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from unittest.mock import patch

import pytest

from bench.binding import bind
from bench.child import Child, Report
from bench.owning import TENANT, Hand, keeping
from bench.world import World
from nsstore import OpenStore, Refused, Session, layout
from nsstore.audit import read_events
from nsstore.rights.statements import sign, time_of
from nsstore.store import Below, expire, expiring, forget_below
from nsstore.trust.signer import Signer

pytestmark = pytest.mark.usefixtures("unflushed")
EVERYTHING = Below(tenant=TENANT)
FAR = "2099-01-01T00:00:00.000000Z"


@pytest.fixture
def owned(world: World) -> Iterator[tuple[OpenStore, Hand]]:
    """A store with an owner."""
    with world.open() as store:
        yield store, Hand.of(store)


def life(session: Session, record_id: str) -> timedelta | None:
    """How long a record lives, as it is sealed."""
    found = session.get(record_id)
    return None if found.expires_at is None else time_of(found.expires_at) - time_of(found.created_at)


def reason(ask: Callable[[], object]) -> str:
    """Why something is refused."""
    with pytest.raises(Refused) as refused:
        ask()
    return refused.value.reason


def test_a_duration_never_lengthens(owned: tuple[OpenStore, Hand]) -> None:
    """A class's duration is sealed where no end was given, shortens a later one, and leaves a sooner one."""
    store, hand = owned
    hand.keep(store, {"standard": 30})
    session = bind(store)
    for ttl, days in ((None, 30), (timedelta(days=90), 30), (timedelta(days=7), 7)):
        assert life(session, session.remember("x", ttl=ttl).record_id) == timedelta(days=days)
    assert life(session, session.remember("x", retention_class="other").record_id) is None
    note = session.remember("kept", idempotency_key="k")
    assert session.remember("kept", idempotency_key="k").record_id == note.record_id


def test_the_newest_word_counts(owned: tuple[OpenStore, Hand]) -> None:
    """A later statement takes the place of the one before, whole; revoking it brings that one back."""
    store, hand = owned
    hand.keep(store, {"standard": 30}, held=["evidence"])
    second = hand.keep(store, {"other": 5})
    session = bind(store)
    assert life(session, session.remember("x").record_id) is None
    free = session.remember("x", retention_class="evidence").record_id
    hand.revoke(store, second)
    assert life(session, session.remember("x").record_id) == timedelta(days=30)
    assert reason(lambda: session.forget(free)) == "legal_hold"
    hand.keep(store)
    session.forget(free)


def test_a_held_class(owned: tuple[OpenStore, Hand]) -> None:
    """What is held is neither forgotten, by whomever, nor erased at its end; a release is of one record."""
    store, hand = owned
    session = bind(store)
    one, two = (
        session.remember("x", retention_class="evidence", ttl=timedelta(days=1)).record_id for _ in "12"
    )
    hand.keep(store, held=["evidence"])
    assert reason(lambda: session.forget(one)) == "legal_hold"
    assert reason(lambda: forget_below(store, EVERYTHING)) == "legal_hold"
    with patch.object(expiring, "utc_now", return_value=FAR):
        (done,) = expire(store, EVERYTHING)
    assert (done.records, done.held) == ((), 2)
    hand.keep(store, held=["evidence"], released=[one])
    assert session.forget(one).records == (one,)
    assert reason(lambda: session.forget(two)) == "legal_hold"
    held = session.remember("x", retention_class="legal_hold").record_id
    assert reason(lambda: session.forget(held)) == "legal_hold"
    hand.keep(store, released=[held])
    session.forget(held)


def test_it_is_of_one_tenant(owned: tuple[OpenStore, Hand]) -> None:
    """What is set for a tenant says nothing of another."""
    store, hand = owned
    hand.keep(store, {"standard": 30}, held=["evidence"])
    other = bind(store, tenant_id="umbrella")
    assert life(other, other.remember("x").record_id) is None
    other.forget(other.remember("x", retention_class="evidence").record_id)


def test_another_process_hears_at_once(world: World, owned: tuple[OpenStore, Hand]) -> None:
    """A process that was at work before goes by a hold and a duration from the statement's line on."""
    store, hand = owned
    ready, go = world.place / "ready", world.place / "go"

    def task(report: Report) -> None:
        with world.open() as fresh:
            session = bind(fresh)
            record_id = session.remember("x").record_id
            session.forget(session.remember("y").record_id)
            ready.touch()
            while not go.exists():
                pass
            report(reason(lambda: session.forget(record_id)).encode())
            report(str(life(session, session.remember("z", retention_class="other").record_id)).encode())

    child = Child(task)
    while not ready.exists():
        pass
    hand.keep(store, {"other": 3}, held=["standard"])
    go.touch()
    death = child.end()
    assert (death.status, death.lines) == (0, (b"legal_hold", b"3 days, 0:00:00"))


def edited(world: World, _: OpenStore) -> None:
    """Take the hold out of a signed line."""
    path = world.root / layout.RIGHTS_LIST
    path.write_bytes(path.read_bytes().replace(b'"held":["evidence"]', b'"held":["nothing_"]'))


def cut(world: World, _: OpenStore) -> None:
    """Take the newest line away."""
    path = world.root / layout.RIGHTS_LIST
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def gone(world: World, _: OpenStore) -> None:
    """Take the whole list away."""
    (world.root / layout.RIGHTS_LIST).unlink()


def forged(world: World, store: OpenStore) -> None:
    """Append a statement that lifts every hold, signed with another key."""
    last = store.rights.standing().listing.last
    assert last is not None
    made = keeping()(last.statement.seq + 1, last.statement.at, last.digest.hex())
    raw = sign(store.trust.store_id, Signer.new(store.trust.store_id), made).raw
    path = world.root / layout.RIGHTS_LIST
    path.write_bytes(path.read_bytes() + raw)


def headless(world: World, _: OpenStore) -> None:
    """Take the list and the owner's name away: the cell in the trust home still knows of them."""
    (world.root / layout.RIGHTS_LIST).unlink()
    (owner,) = world.trust.rglob("owner.json")
    owner.unlink()


def require_all_held(store: OpenStore, record_id: str) -> None:
    """Nothing is forgotten or erased, by whomever, and everything else goes on."""
    session = bind(store)
    assert reason(lambda: session.forget(record_id)) == "holds_unknown"
    assert reason(lambda: forget_below(store, EVERYTHING)) == "holds_unknown"
    assert reason(lambda: forget_below(store, EVERYTHING, leave_held=True)) == "holds_unknown"
    with patch.object(expiring, "utc_now", return_value=FAR):
        assert reason(lambda: expire(store, EVERYTHING)) == "holds_unknown"
    assert session.get(record_id).text == "x"
    assert life(session, session.remember("y").record_id) is None


@pytest.mark.parametrize("damage", [edited, cut, gone, forged, headless])
def test_a_list_nobody_can_trust(
    world: World, owned: tuple[OpenStore, Hand], damage: Callable[[World, OpenStore], None]
) -> None:
    """Then everything is held, no class ends a new record, and it is told; put back, all is as it was set."""
    store, hand = owned
    session = bind(store)
    record_id = session.remember("x", ttl=timedelta(days=1)).record_id
    hand.keep(store, {"standard": 30}, held=["evidence"])
    files = [world.root / layout.RIGHTS_LIST, *world.trust.rglob("owner.json")]
    before = [file.read_bytes() for file in files]
    damage(world, store)
    require_all_held(store, record_id)
    with world.open() as fresh:
        require_all_held(fresh, record_id)
    assert "contamination" in {str(one.event) for one in read_events(store.audit, TENANT)}
    for file, raw in zip(files, before, strict=True):
        file.write_bytes(raw)
        file.chmod(0o600)
    session.forget(record_id)
    assert life(session, session.remember("y").record_id) == timedelta(days=30)


def test_a_store_without_an_owner_is_not_held(world: World) -> None:
    """A list that somebody puts into a store that never had an owner stops nothing, and is told."""
    with world.open() as store:
        record_id = bind(store).remember("x").record_id
    path = world.root / layout.RIGHTS_LIST
    path.parent.mkdir(mode=0o700, exist_ok=True)
    for put in (lambda: path.write_text("mine\n"), lambda: path.symlink_to(world.root / "store.json")):
        put()
        with world.open() as store:
            session = bind(store)
            session.forget(session.remember("y").record_id)
            assert store.rights.standing().damage is not None
        path.unlink()
    with world.open() as store:
        bind(store).forget(record_id)
