"""Expired records: no verb serves one, what it took the place of stays away, and the owner erases it."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from unittest.mock import patch

import pytest

from bench.binding import bind
from bench.owning import Hand
from bench.world import World
from nsstore import InvalidInput, NotVisible, OpenStore, Refused, record
from nsstore.clock import utc_now
from nsstore.store import Below, expire, expiring, sight
from nsstore.writers import note, template

pytestmark = pytest.mark.usefixtures("unflushed")
TENANT = Below(tenant=("tenant", "acme"))
FAR = "2099-01-01T00:00:00.000000Z"


@contextmanager
def at(time: str) -> Generator[None]:
    """Let the system's clock show a time, wherever a verb looks at it."""
    with (
        patch.object(sight, "utc_now", return_value=time),
        patch.object(expiring, "utc_now", return_value=time),
        patch.object(note, "utc_now", return_value=time),
        patch.object(template, "utc_now", return_value=time),
    ):
        yield


def texts(store: OpenStore) -> list[str]:
    """The current texts of the scope."""
    return [one.text for one in bind(store).list().items]


def test_no_verb_serves_it(world: World) -> None:
    """From its time on it is absent: to get, list, search, history, forget and supersede, in any process."""
    with world.open() as store:
        session = bind(store)
        ends = session.remember("quartz ends", ttl=timedelta(days=1)).record_id
        session.remember("quartz stays")
        assert session.get(ends).expires_at is not None
        assert len(session.search("quartz").hits) == session.list().total == 2
        with at(FAR), world.open() as fresh:
            for process in (store, fresh):
                late = bind(process)
                assert texts(process) == ["quartz stays"]
                assert [hit.text for hit in late.search("quartz", k=1).hits] == ["quartz stays"]
                assert late.list(include_superseded=True).total == 1
                for ask in (late.get, late.history, late.forget):
                    with pytest.raises(NotVisible):
                        ask(ends)
                with pytest.raises(NotVisible):
                    late.remember("new", supersedes=[ends])


def test_a_clock_that_was_set_back(world: World) -> None:
    """What has expired for a newer record of the namespace has expired, wherever the clock stands."""
    with world.open() as store:
        bind(store).remember("ends", ttl=3600)
        future = f"0f000000-0000-{record.new_record_id()[14:]}"
        with patch.object(record, "new_record_id", return_value=future):
            bind(store).remember("of a later time")
        assert texts(store) == ["of a later time"]
        assert [one.records for one in expire(store, TENANT, dry_run=True)] != []
        hand = Hand.of(store)
        hand.keep(store, trusted_until=FAR)
        assert texts(store) == ["of a later time"], "as far as the owner trusts it, it counts"
        hand.keep(store, trusted_until=utc_now())
        assert sorted(texts(store)) == ["ends", "of a later time"], "the owner's reset for a wrong clock"


def test_what_it_took_the_place_of(world: World) -> None:
    """The older version is not current again when the newer one ends, and is erased with it."""
    with world.open() as store:
        session = bind(store)
        old = session.remember("old").record_id
        new = session.remember("new", supersedes=[old], ttl=60).record_id
        with at(FAR):
            assert texts(store) == []
            assert bind(store).search("old").hits == ()
            assert [one.records for one in expire(store, TENANT, dry_run=True)] == [(old, new)]
            (done,) = expire(store, TENANT)
            assert done.records == (old, new)
            assert expire(store, TENANT) == ()
    assert not list(world.root.rglob("*.md"))


def test_another_agents_version_stays(world: World) -> None:
    """What others hold, and what a class holds, is not erased by the end of a record."""
    with world.open() as store:
        bind(store, agent_id="codex").remember("theirs")
        bind(store).remember("held", retention_class="legal_hold", ttl=60)
        bind(store).remember("ends", ttl=60)
        with at(FAR):
            (done,) = expire(store, TENANT)
            assert (len(done.records), done.held) == (1, 1)
            assert texts(store) == []
    assert len(list(world.root.rglob("*.md"))) == 2


def test_a_document_that_ends(world: World) -> None:
    """With its newest version a document is gone, and the one after begins anew."""
    with world.open() as store:
        state = bind(store).state
        state.put("plan", "first")
        state.put("plan", "second", ttl=60)
        state.put("other", "other")
        with at(FAR):
            for ask in (state.get, state.history, state.forget):
                with pytest.raises(NotVisible):
                    ask("plan")
            assert [one.text for one in state.list()] == ["other"]
            state.put("plan", "anew", expect=None)
            assert [one.text for one in state.history("plan")] == ["anew"]
            (done,) = expire(store, TENANT)
            assert len(done.records) == 2
            assert state.get("plan").text == "anew"


def test_a_duration_of_its_class(world: World) -> None:
    """The owner's duration is sealed when a record is written; what was written before keeps its own."""
    with world.open() as store:
        session = bind(store)
        before = session.remember("before", retention_class="short").record_id
        Hand.of(store).keep(store, {"short": 30})
        after = session.remember("after", retention_class="short").record_id
        other = session.remember("other").record_id
        document = session.state.put("plan", "x", retention_class="short")
        ends = session.get(after).expires_at
        assert session.get(before).expires_at is session.get(other).expires_at is None
        assert session.state.get("plan").expires_at is not None
        assert ends is not None
        assert ends[:10] > session.get(after).created_at[:10]
        assert document.created_at < ends
        (path,) = world.root.rglob(f"{after}.md")
        assert f'expires_at: "{ends}"\n' in path.read_text()


def test_a_retry_of_what_ends(world: World) -> None:
    """The same key, content and length of life give the first receipt; another length is other content."""
    with world.open() as store:
        session = bind(store)
        first = session.remember("x", ttl=60, idempotency_key="k")
        again = session.remember("x", ttl=60, idempotency_key="k")
        assert (again.replayed, again.record_id) == (True, first.record_id)
        for ttl in (61, None):
            with pytest.raises(InvalidInput, match="idempotency_key"):
                session.remember("x", ttl=ttl, idempotency_key="k")
        fixed = session.remember("y", expires_at=FAR, idempotency_key="l")
        assert session.remember("y", expires_at=FAR, idempotency_key="l").record_id == fixed.record_id
        with at("2099-06-01T00:00:00.000000Z"), pytest.raises(Refused) as refused:
            session.remember("x", ttl=60, idempotency_key="k")
        assert refused.value.reason == "forgotten"


@pytest.mark.parametrize(("ttl", "expires_at"), [(0, None), (60, FAR), (None, "2020-01-01T00:00:00Z")])
def test_a_wrong_end_writes_nothing(world: World, ttl: float | None, expires_at: str | None) -> None:
    """An end that is none is refused before anything is written."""
    with world.open() as store:
        with pytest.raises(InvalidInput):
            bind(store).remember("x", ttl=ttl, expires_at=expires_at)
        assert texts(store) == []


def test_damage_does_not_stop_the_others(world: World) -> None:
    """A damaged namespace is passed over with its incident, and the expired records of others go."""
    with world.open() as store:
        hurt = bind(store).remember("hurt", ttl=60).record_id
        sound = bind(store, session_id="s-2").remember("sound", ttl=60).record_id
    (path,) = world.root.rglob(f"{hurt}.md")
    path.write_bytes(path.read_bytes() + b"!")
    with world.open() as store, at(FAR):
        done = expire(store, TENANT)
        assert {(one.records, one.closed is not None) for one in done} == {((), True), ((sound,), False)}
    assert path.exists()
