"""Search over several sessions under a grant: one ranking, nothing foreign, and closed again at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.child import Report, in_child
from bench.halves import alone
from bench.house import namespace
from bench.owning import Hand, asker
from bench.world import Who, World
from nsstore import IntegrityError, NotVisible, OpenStore, Session
from nsstore.layout import ledger_path, record_path
from nsstore.policy import Every, Kind, Opens
from nsstore.search.analyser import query_terms
from nsstore.search.pair import Pair

EVERY = Opens(sessions=Every(every="session"))
ME = Who(session="now")
WORDS = ("quartz", "basalt", "granite", "marble", "slate")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Where a store lies."""
    return World(place=tmp_path)


@pytest.fixture
def owned(world: World) -> Iterator[tuple[OpenStore, Hand]]:
    """A store with an owner, and with five sessions of two users and two projects."""
    with world.make() as store:
        yield store, Hand.of(store)


def fill(store: OpenStore) -> dict[str, str]:
    """Records of ten sessions of the asker's, one of another project and one of another user, by id."""
    kept: dict[str, str] = {}
    for number in range(10):
        session = Who(session=f"s-{number}").bind(store)
        for word in WORDS[: number % 5 + 1]:
            text = f"{word} {'and ' * number} quartz of session {number}"
            kept[session.remember(text).record_id] = text
    Who(session="other", project="other").bind(store).remember("quartz of another project")
    Who(session="theirs", user="bob").bind(store).remember("quartz of another user")
    return kept


def found(session: Session, text: str = "quartz", k: int = 100) -> set[str]:
    """The texts that a search finds."""
    return {hit.text for hit in session.search(text, k=k).hits}


def test_every_session_of_the_project(owned: tuple[OpenStore, Hand]) -> None:
    """A grant opens the project's sessions and nothing beside them; revoked, the next call is closed."""
    store, hand = owned
    kept, me = fill(store), ME.bind(store)
    own = me.remember("quartz of my own").record_id
    assert found(me) == {"quartz of my own"}
    number = hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    answer = me.search("quartz", k=100)
    assert {hit.record_id for hit in answer.hits} == {own, *kept}
    assert not answer.incomplete
    assert {hit.provenance.scope["session_id"] for hit in answer.hits} == {
        "now",
        *(f"s-{n}" for n in range(10)),
    }
    assert found(Who(session="s-1").bind(store), k=100) == {"quartz of my own", *kept.values()}
    assert found(Who(session="now", agent="codex").bind(store)) == set()
    hand.revoke(store, number)
    assert found(me) == {"quartz of my own"}


def test_only_named_sessions(owned: tuple[OpenStore, Hand]) -> None:
    """A grant of two sessions opens these two."""
    store, hand = owned
    kept, me = fill(store), ME.bind(store)
    hand.grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "s-2"), ("session", "s-4"))))
    expected = {text for text in kept.values() if text.endswith((" 2", " 4"))}
    assert found(me) == expected


def test_it_ranks_as_one_index_would(owned: tuple[OpenStore, Hand]) -> None:
    """The scores and the order are those of one view that holds all the records."""
    store, hand = owned
    kept, me = fill(store), ME.bind(store)
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    one = Pair()
    for record_id, text in kept.items():
        one.tails[-1].add(record_id, text)
    for query in (*WORDS, "quartz and marble", "session 3 slate"):
        answer = me.search(query, k=10)
        expected = alone(one.tails[-1], query_terms(query), 10)
        assert [hit.record_id for hit in answer.hits] == [record_id for record_id, _ in expected], query
        assert [hit.score for hit in answer.hits] == pytest.approx([score for _, score in expected])


def test_what_changes_is_seen(owned: tuple[OpenStore, Hand]) -> None:
    """What is written, superseded and forgotten in another session is so in the next search."""
    store, hand = owned
    kept, me = fill(store), ME.bind(store)
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    assert len(found(me)) == len(kept)
    other = Who(session="s-0").bind(store)
    new = other.remember("quartz that is new").record_id
    assert "quartz that is new" in found(me)
    newer = other.remember("quartz that is newer", supersedes=[new]).record_id
    assert {"quartz that is newer"} == {text for text in found(me) if "that is" in text}
    other.forget(newer)
    assert not {text for text in found(me) if "that is" in text}
    Who(session="later").bind(store).remember("quartz of a session that began later")
    assert "quartz of a session that began later" in found(me)


def test_another_process_writes_and_revokes(owned: tuple[OpenStore, Hand], world: World) -> None:
    """What another process writes is found by the next call."""
    store, hand = owned
    fill(store)
    me = ME.bind(store)
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    before = found(me)

    def write(_: Report) -> None:
        with world.open() as elsewhere:
            Who(session="s-3").bind(elsewhere).remember("quartz from elsewhere")

    assert in_child(write).status == 0
    assert found(me) == before | {"quartz from elsewhere"}


def test_a_damaged_session_is_left_out(owned: tuple[OpenStore, Hand], world: World) -> None:
    """Damage to another session leaves it out and says so; the asker's own is raised."""
    store, hand = owned
    kept = fill(store)
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    damaged = next(record_id for record_id, text in kept.items() if text.endswith(" 7"))
    path = world.root / record_path(namespace(Who(session="s-7"), "memory"), damaged)
    warm = ME.bind(store)
    assert len(found(warm)) == len(kept)
    raw = path.read_bytes()
    path.write_bytes(raw[:-1] + b"?")
    for opened in (store, world.open()):
        me = ME.bind(opened)
        answer = me.search("quartz", k=100)
        assert answer.incomplete
        assert damaged not in {hit.record_id for hit in answer.hits}
        assert len([hit for hit in answer.hits if not hit.text.endswith(" 7")]) == len(
            [text for text in kept.values() if not text.endswith(" 7")]
        )
        with pytest.raises(IntegrityError):
            Who(session="s-7").bind(opened).get(damaged)
    (world.root / ledger_path(namespace(Who(session="s-5"), "memory"))).unlink()
    with world.open() as fresh:
        answer = ME.bind(fresh).search("quartz", k=100)
        assert answer.incomplete
        assert not [hit for hit in answer.hits if hit.text.endswith((" 5", " 7"))]


def test_another_users_records_rank_apart(owned: tuple[OpenStore, Hand]) -> None:
    """Under a share both users' records are found, one after the other by rank, and the share is audited."""
    store, hand = owned
    bob = Who(session="theirs", user="bob")
    bob.bind(store).remember_many([f"quartz of bob {number}" for number in range(5)])
    me = ME.bind(store)
    me.remember_many([f"quartz of mine {number}" for number in range(5)])
    hand.grant(
        store,
        Kind.CROSS_SESSION,
        Kind.GROUP_SHARE,
        opens=Opens(users=("bob",), sessions=Every(every="session")),
        to=asker(ME),
    )
    whose = ["bob" if "bob" in hit.text else "mine" for hit in me.search("quartz", k=6).hits]
    assert whose == ["mine", "bob"] * 3
    assert found(bob.bind(store)) == {f"quartz of bob {number}" for number in range(5)}


def test_a_hit_can_be_got(owned: tuple[OpenStore, Hand]) -> None:
    """What a search finds in another session, get and history give; closed again, it is not visible."""
    store, hand = owned
    kept, me = fill(store), ME.bind(store)
    record_id = next(iter(kept))
    with pytest.raises(NotVisible):
        me.get(record_id)
    number = hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    assert me.get(record_id).text == kept[record_id]
    assert [one.record_id for one in me.history(record_id)] == [record_id]
    assert {one.text for one in me.list().items} == set()
    with pytest.raises(NotVisible):
        me.forget(record_id)
    hand.revoke(store, number)
    with pytest.raises(NotVisible):
        me.get(record_id)


def test_a_folded_index_ranks_as_its_tail_did(
    owned: tuple[OpenStore, Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folded into an index or not, answers are the same; what is superseded or forgotten is gone at once."""
    store, hand = owned
    fill(store)
    me = ME.bind(store)
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    queries = (*WORDS, "quartz and marble", "session 3 slate")
    before = {query: [hit.record_id for hit in me.search(query, k=10).hits] for query in queries}
    monkeypatch.setattr("nsstore.search.joint.LEAST_TAIL", 5)
    late = Who(session="late").bind(store)
    extra = [late.remember(f"basalt number {number}").record_id for number in range(3)]
    for one in extra:
        late.forget(one)
    assert {query: [hit.record_id for hit in me.search(query, k=10).hits] for query in queries} == before
    new = late.remember("obsidian quartz").record_id
    assert me.search("obsidian").hits[0].record_id == new
    late.remember("pumice quartz", supersedes=[new])
    assert [hit.text for hit in me.search("obsidian").hits] == []
    assert "obsidian quartz" not in found(me)
    gone = me.search("slate", k=1).hits[0]
    Who(session=str(gone.provenance.scope["session_id"])).bind(store).forget(gone.record_id)
    assert gone.record_id not in {hit.record_id for hit in me.search("slate", k=50).hits}
