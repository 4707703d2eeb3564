"""Sessions under grants: what each verb reads, supersedes and lists within one namespace."""

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from bench.child import Child, Report
from bench.owning import Hand, asker
from bench.world import Who, World
from nsstore import NotVisible, OpenStore, Refused, Session
from nsstore.policy import Kind, Opens
from nsstore.scope import Purpose

ME, CODEX = Who(), Who(agent="codex")
AGENTS = Opens(agents=("codex",))


@pytest.fixture
def owned(world: World) -> Iterator[tuple[OpenStore, Hand]]:
    """A store with an owner."""
    with world.open() as store:
        yield store, Hand.of(store)


def texts(session: Session) -> list[str]:
    """The texts that a session lists, newest first."""
    return [one.text for one in session.list().items]


def test_another_agents_records(owned: tuple[OpenStore, Hand]) -> None:
    """Under a grant get, list, search, history and supersede go over the other agent's records too."""
    store, hand = owned
    me, codex = ME.bind(store), CODEX.bind(store)
    old = codex.remember("quartz of codex").record_id
    me.remember("mine")
    number = hand.grant(store, Kind.CROSS_AGENT, opens=AGENTS)
    assert me.get(old).text == "quartz of codex"
    assert texts(me) == ["mine", "quartz of codex"]
    assert [hit.record_id for hit in me.search("quartz").hits] == [old]
    assert texts(codex) == ["quartz of codex"]
    new = me.remember("quartz again", supersedes=[old]).record_id
    assert texts(me) == ["quartz again", "mine"]
    assert [one.record_id for one in me.history(old)] == [new, old]
    assert texts(codex) == ["quartz of codex"]
    hand.revoke(store, number)
    with pytest.raises(NotVisible):
        me.get(old)
    assert texts(me) == ["quartz again", "mine"]
    with pytest.raises(NotVisible):
        me.remember("once more", supersedes=[old])


def test_another_workspace_and_no_other_way_back(owned: tuple[OpenStore, Hand]) -> None:
    """A grant has one direction: whose records are opened reads nothing more for it."""
    store, hand = owned
    there = Who(workspace="w-2")
    there.bind(store).remember("there")
    ME.bind(store).remember("here")
    to = msgspec.structs.replace(asker(), agents=("claude", "human"))
    hand.grant(store, Kind.CROSS_WORKSPACE, opens=Opens(workspaces=("w-2",)), to=to)
    assert texts(ME.bind(store)) == ["here", "there"]
    assert texts(Who(agent="human").bind(store)) == []
    assert texts(Who(workspace="w-3").bind(store)) == ["there"]


def test_lineage_makes_ancestors_current(owned: tuple[OpenStore, Hand]) -> None:
    """Under the signed policy a record of a proven ancestor is current; else it is stale, or closed."""
    store, hand = owned
    first, second, third = "a" * 40, "b" * 40, "c" * 40

    def bind(branch: str, commit: str, *ancestors: str, purpose: Purpose = Purpose.RECALL) -> Session:
        return store.bind(
            tenant_id="acme", user_id="alice", project_id="shop", session_id="s-1", agent_id="claude",
            workspace_id="w-1", branch=branch, baseline="v1", source_tool="test", purpose=purpose,
            commit=commit, ancestors=ancestors,
        )  # fmt: skip

    bind("main", first).remember("on main, before")
    bind("feature", second).remember("on the branch, before")
    bind("rejected", third).remember("on another, never merged")
    merged = bind("main", "d" * 40, first, second)
    assert texts(merged) == ["on main, before"]
    to = msgspec.structs.replace(asker(), purposes=(Purpose.RECALL, Purpose.REPORT))
    number = hand.grant(store, Kind.LINEAGE, opens=Opens(lineage=True), to=to)
    assert texts(merged) == ["on the branch, before", "on main, before"]
    assert not any(one.stale for one in merged.list().items)
    assert merged.search("branch before").hits[0].text == "on the branch, before"
    assert texts(bind("main", "d" * 40, second)) == ["on the branch, before", "on main, before"]
    assert texts(bind("main", "d" * 40)) == ["on main, before"]
    hand.revoke(store, number)
    assert texts(merged) == ["on main, before"]


def test_another_branch_is_opened_as_stale(owned: tuple[OpenStore, Hand]) -> None:
    """A branch that a grant names comes back apart and marked, in lists and in searches."""
    store, hand = owned
    there, me = Who(branch="old", agent="codex").bind(store), ME.bind(store)
    old = there.remember("quartz of old").record_id
    hand.grant(store, Kind.CROSS_AGENT, opens=Opens(agents=("codex",), branches=("old",)))
    assert me.get(old).stale
    answer = me.search("quartz")
    assert ([hit.record_id for hit in answer.hits], [hit.record_id for hit in answer.stale]) == ([], [old])
    with pytest.raises(Refused):
        me.remember("of now", supersedes=[old])


def test_state_across_sessions(owned: tuple[OpenStore, Hand]) -> None:
    """Under the signed policy a document is one for all sessions of its user, agent, branch and baseline."""
    store, hand = owned
    monday, tuesday = ME.bind(store), Who(session="s-2").bind(store)
    first = monday.state.put("plan", "of monday").record_id
    with pytest.raises(NotVisible):
        tuesday.state.get("plan")
    opens = Opens(state_across_sessions=True)
    number = hand.grant(store, Kind.STATE_ACROSS_SESSIONS, opens=opens)
    assert tuesday.state.get("plan").text == "of monday"
    with pytest.raises(Refused, match="not at the expected version"):
        tuesday.state.put("plan", "from nothing", expect=None)
    second = tuesday.state.put("plan", "of tuesday", expect=first).record_id
    assert [one.record_id for one in monday.state.history("plan")] == [second, first]
    assert [one.text for one in monday.state.list()] == ["of tuesday"]
    hand.revoke(store, number)
    assert monday.state.get("plan").text == "of monday"
    assert tuesday.state.get("plan").text == "of tuesday"


def test_anothers_documents_are_listed_and_never_ones_own(owned: tuple[OpenStore, Hand]) -> None:
    """What a grant opens of documents is listed behind the own; no key, history or put crosses."""
    store, hand = owned
    me, codex, bob = ME.bind(store), CODEX.bind(store), Who(user="bob").bind(store)
    codex.state.put("plan", "old of codex")
    codex.state.put("plan", "of codex")
    bob.state.put("plan", "of bob")
    assert me.state.list() == ()
    hand.grant(store, Kind.CROSS_AGENT, opens=AGENTS)
    hand.grant(store, Kind.GROUP_SHARE, opens=Opens(users=("bob",)))
    assert [one.text for one in me.state.list()] == ["of bob", "of codex"]
    with pytest.raises(NotVisible):
        me.state.get("plan")
    with pytest.raises(NotVisible):
        me.state.history("plan")
    me.state.put("plan", "mine", expect=None)
    assert [one.text for one in me.state.list()] == ["mine", "of bob", "of codex"]
    assert codex.state.get("plan").text == "of codex"
    assert [one.text for one in codex.state.list()] == ["of codex"]


def test_without_an_owner_everything_is_as_before(world: World) -> None:
    """A store without an owner has no list, no owner and no rights, and makes none by reading."""
    with world.open() as store:
        ME.bind(store).remember("mine")
        assert store.rights.current().grants == ()
        assert store.rights.standing().owner is None
        assert not (world.root / "rights").exists()
        assert not list(world.trust.rglob("owner*"))


def test_a_fork_reads_the_rights_of_its_own(owned: tuple[OpenStore, Hand]) -> None:
    """A forked child sees a revocation that its parent made after the fork."""
    store, hand = owned
    codex = CODEX.bind(store).remember("of codex").record_id
    number = hand.grant(store, Kind.CROSS_AGENT, opens=AGENTS)
    me, marker = ME.bind(store), Path(store.root.path).parent / "revoked"
    assert me.get(codex).text == "of codex"

    def look(report: Report) -> None:
        while not marker.exists():
            time.sleep(0.005)
        report(b"%d" % len(texts(me)))

    child = Child(look)
    hand.revoke(store, number)
    marker.touch()
    assert child.end().lines == (b"0",)
