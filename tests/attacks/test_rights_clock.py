"""A clock that is set back, or was once ahead: what has expired stays so, and the owner has a way out."""

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from bench.house import namespace
from bench.owned import ME, OPENS, Scene, read
from bench.owning import TENANT, Hand
from bench.world import quick_place
from nsstore.incident import IncidentKind
from nsstore.policy import Kind
from nsstore.rights import Assurance, begin, standing, time_of
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
