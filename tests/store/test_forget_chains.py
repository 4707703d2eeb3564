"""Forgetting one version of several: no older text comes back beside a newer one."""

import pytest

from bench.binding import bind
from bench.owning import Hand
from bench.world import World
from nsstore import Refused
from nsstore.policy import Kind, Opens
from tests.store.conftest import texts
from tests.store.test_expiry import FAR, at

pytestmark = pytest.mark.usefixtures("unflushed", "cache_beside")


def test_a_version_out_of_the_middle(world: World) -> None:
    """No older version is current beside a newer one: what stood between them is not forgotten alone."""
    with world.open() as store:
        session = bind(store)
        first = session.remember("first").record_id
        second = session.remember("second", supersedes=[first]).record_id
        third = session.remember("third", supersedes=[second]).record_id
        for dry_run in (True, False):
            with pytest.raises(Refused, match="forget the newer one") as refused:
                session.forget(second, only_this=True, dry_run=dry_run)
            assert refused.value.reason == "superseded"
        assert session.forget(first, only_this=True).records == (first,)
        assert session.forget(second, only_this=True).records == (second,), "nothing older is left"
        assert texts(session) == ["third"]
        fourth = session.remember("fourth", supersedes=[third]).record_id
        session.remember("fifth", supersedes=[third, fourth])
        assert session.forget(fourth, only_this=True).records == (fourth,), "the newest hides both"
        assert texts(session) == ["fifth"]


def test_another_agents_version_between(world: World) -> None:
    """An older version of another agent is not forgotten, nor does it come back beside a newer one."""
    with world.open() as store:
        Hand.of(store).grant(store, Kind.CROSS_AGENT, opens=Opens(agents=("codex",)))
        theirs = bind(store, agent_id="codex").remember("theirs").record_id
        session = bind(store)
        second = session.remember("second", supersedes=[theirs]).record_id
        third = session.remember("third", supersedes=[second], ttl=60).record_id
        with pytest.raises(Refused, match="forget the newer one"):
            session.forget(second)
        with at(FAR), pytest.raises(Refused, match="forget the newer one"):
            session.forget(second)
        assert session.forget(third).records == (second, third)
        assert texts(session) == texts(bind(store, agent_id="codex")) == ["theirs"]
