"""A clock that is set back, or was once ahead: what has expired stays so, and the owner has a way out."""

from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import patch

import pytest

from bench.house import namespace
from bench.owned import CODEX, ME, OPENS, Scene, read
from bench.owning import TENANT, Hand
from bench.world import Who, quick_place
from nsstore import record
from nsstore.clock import utc_now
from nsstore.incident import IncidentKind
from nsstore.policy import Kind
from nsstore.rights import Assurance, Granted, begin, spelled_time, standing, time_of
from nsstore.trust.signer import Signer


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A fresh scene."""
    with quick_place() as place:
        yield Scene.build(place)


def test_an_expired_grant_and_a_clock_that_is_set_back(scene: Scene) -> None:
    """A grant that was once found to have expired stays so, in this process and in every other."""
    with scene.world.open() as store:
        (grant,) = store.rights.standing().listing.statements[1:]
        day = "2099-01-01T00:00:00.000000Z"
        with patch.object(standing, "utc_now", return_value=day):
            assert read(store) == {scene.mine}
        assert read(store) == {scene.mine}
    with scene.world.open() as store:
        assert time_of(grant.at) < time_of(day)
        assert read(store) == {scene.mine}
        assert store.rights.standing().now >= day
        new = scene.hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
        assert new not in {one.number for one in store.rights.standing().rights.grants}


def test_an_end_is_noted_once(scene: Scene) -> None:
    """Only the first look that finds an expired statement writes to the trust home."""
    head = scene.home / "anchors" / "rights" / "statements.anchors"
    sizes = [head.stat().st_size]
    with patch.object(standing, "utc_now", return_value="2099-01-01T00:00:00.000000Z"):
        for _ in range(2):
            with scene.world.open() as store:
                assert read(store) == {scene.mine}
            sizes.append(head.stat().st_mtime_ns)
    assert head.stat().st_size == 2 * sizes[0]
    assert sizes[1] == sizes[2]


def test_a_clock_behind_what_was_sealed(scene: Scene) -> None:
    """Expiry is decided on a clock that is never behind the newest record of the namespace."""
    with scene.world.open() as store:
        assert read(store) == {scene.mine, scene.theirs}
        ledger = store.leaf(namespace(ME, "memory")).read()
        late = "05000000" + ledger.newest[8:]
        assert late > ledger.newest
        assert store.rights.current(TENANT, ledger.newest).grants != ()
        assert store.rights.current(TENANT, late).grants == ()
        assert read(store) == {scene.mine, scene.theirs}  # no other namespace is told what one knows


def test_a_clock_once_ahead_is_the_owners_to_forget(scene: Scene) -> None:
    """The owner begins anew: nothing of the old list is open, and a new grant is."""
    with scene.world.open() as store:
        with patch.object(standing, "utc_now", return_value="2099-01-01T00:00:00.000000Z"):
            assert read(store) == {scene.mine}
        signer = Signer.new(store.trust.store_id)
        begin(store.rights.listed, signer, "ada", Assurance.CI, why="a wrong clock", anew=True)
        assert read(store) == {scene.mine}
        Hand(signer).grant(store, Kind.CROSS_AGENT, opens=OPENS)
        assert read(store) == {scene.mine, scene.theirs}
        (aside,) = (scene.world.root / "quarantine").rglob("statements.log")
        old = aside.read_bytes()
        scene.write(old)
    with scene.world.open() as store:
        assert read(store) == {scene.mine}
        assert store.rights.standing().damage is IncidentKind.CHAIN_BROKEN


def sealed_at(time: str) -> str:
    """A record id that begins with a time, as one that is made under a wrong clock."""
    began = f"{int(time_of(time).timestamp() * 1000):012x}"
    return f"{began[:8]}-{began[8:]}-{record.new_record_id()[14:]}"


@pytest.mark.parametrize("area", ["memory", "state"])
def test_a_record_of_a_time_far_ahead(scene: Scene, area: str) -> None:
    """What one agent sealed under a wrong clock ends grants there until the owner says what to trust."""
    with scene.world.open() as store:
        me, other, codex = ME.bind(store), Who(agent="other").bind(store), CODEX.bind(store)
        codex.state.put("plan", "the plan of codex")

        def opened() -> bool:
            if area == "memory":
                return read(store) == {scene.mine, scene.theirs}
            return len(me.state.list()) == 1

        assert opened()
        with patch.object(record, "new_record_id", return_value=sealed_at("2099-01-01T00:00:00.000000Z")):
            if area == "memory":
                wrong = other.remember("under a wrong clock").record_id
                other.forget(wrong)
            else:
                other.state.put("own", "under a wrong clock")
        assert not opened()
        until = utc_now()
        kept = scene.hand.keep(store, trusted_until=until)
        assert opened()
        with scene.world.open() as another:
            assert read(another) == {scene.mine, scene.theirs}
        scene.hand.revoke(store, kept)
        assert not opened()
        signer = Signer.new(store.trust.store_id)
        begin(store.rights.listed, signer, "ada", Assurance.CI, why="a wrong clock", anew=True)
        hand = Hand(signer)
        hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
        assert not opened()
        hand.keep(store, trusted_until=until)
        assert opened()


def test_no_longer_trusted_is_no_way_back(scene: Scene) -> None:
    """A time that is not trusted counts as the last that is, so it hides none of the times before it."""
    with scene.world.open() as store:
        ends = store.rights.standing().listing.statements[1]
        assert isinstance(ends, Granted)
        after = spelled_time(time_of(ends.expires) + timedelta(hours=1))
        minute = spelled_time(time_of(ends.expires) + timedelta(minutes=1))
        late, later = sealed_at(minute), sealed_at("2099-01-01T00:00:00.000000Z")
        scene.hand.keep(store, trusted_until=after)
        for sealed in (late, later):
            assert store.rights.current(TENANT, sealed).grants == ()
            assert store.rights.current(("tenant", "umbrella"), sealed).grants == ()
        scene.hand.keep(store, trusted_until=utc_now())
        for sealed in (late, later):
            assert store.rights.current(TENANT, sealed).grants != ()
            assert store.rights.current(("tenant", "umbrella"), sealed).grants == (), "another tenant's"
            assert store.rights.current(("group", "acme"), sealed).grants == (), "another kind of tenant"
        with patch.object(standing, "utc_now", return_value=after):
            assert store.rights.current(TENANT, later).grants == ()
        assert store.rights.current(TENANT, later).grants == (), "it was found to have ended"
