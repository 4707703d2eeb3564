"""Closed, allowlist and open, for every verb that searches, and what stays possible while it is closed."""

from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from bench.owning import TENANT, Hand, allowlisted, asker
from bench.world import Who, World
from nsstore import OpenStore, Refused, Session, record
from nsstore.audit import AuditLine, EventKind, read_events
from nsstore.gate import Gate, State
from nsstore.harness.provider import DIMENSIONS, ScopeProperties
from nsstore.policy import Kind, Opens
from nsstore.rights import standing
from nsstore.scope import Purpose
from nsstore.session import Given, open_store
from nsstore.session.guarded import Guard
from nsstore.store import open_root
from tests.attacks.test_rights_clock import sealed_at
from tests.gate.conftest import RED, Tries
from tests.mcp.conftest import Desk, error_of, text_of

ME = Who()
LATE = "2099-01-01T00:00:00.000000Z"
WHY = "the self-test of this build failed here at AC05 Another tenant is denied"
Owned = tuple[OpenStore, Hand]


@pytest.fixture
def owned(world: World, tries: Tries) -> Iterator[Owned]:
    """A store with an owner and a record, in which the gate is red."""
    tries.proof = RED
    with world.make() as store:
        ME.bind(store).remember("the train leaves", title="train")
        yield store, Hand.of(store)


def searches(session: Session) -> dict[str, Callable[[], tuple[object, ...]]]:
    """Every verb of a session that searches, and the records it finds."""
    return {
        "search": lambda: session.search("train").hits,
        "a search for nothing": lambda: session.search("").hits,
        "evidence": lambda: session.evidence("train", sources=[Given("now")]).memory,
    }


def told(store: OpenStore) -> list[AuditLine]:
    """What the audit says of searches."""
    return [one for one in read_events(store.audit, TENANT) if one.verb == "search"]


def refused(call: Callable[[], object]) -> Refused:
    """The refusal that a call has to end with."""
    with pytest.raises(Refused) as caught:
        call()
    assert caught.value.reason == "gate_closed"
    return caught.value


def test_red_closes_every_search(owned: Owned) -> None:
    """Search and evidence are refused with the case that failed and what helps, once the audit was told."""
    store, _ = owned
    session = ME.bind(store)
    for number, call in enumerate(searches(session).values(), 1):
        said = str(refused(call))
        assert WHY in said
        assert "nsstore selftest" in said
        events = told(store)
        assert len(events) == number
        assert (events[-1].event, events[-1].reason) == (EventKind.REFUSED, "gate_closed")
        assert events[-1].scope is not None
        assert events[-1].scope["user_id"] == ME.user
    assert EventKind.REFUSED.security


def test_what_needs_no_search_is_open(owned: Owned) -> None:
    """While search is closed a session remembers, gets, lists, keeps documents and forgets, as ever."""
    store, hand = owned
    hand.grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "s-2"),)))
    session = ME.bind(store)
    first = session.remember("one").record_id
    second = session.remember("two", supersedes=[first]).record_id
    assert session.remember_many(["three"])[0].record_id != second
    assert session.get(second).text == "two"
    assert len(session.list().items) == len(session.list(every_session=True).items) == 3
    assert [one.record_id for one in session.history(first)] == [second, first]
    document = session.state.put("plan", "a").record_id
    assert session.state.get("plan").record_id == document
    assert len(session.state.history("plan")) == len(session.state.list()) == 1
    assert session.state.forget("plan").count == 1
    assert session.forget(second).count == 2
    assert not store.gate.green


def test_open_says_nothing_of_it(world: World, tries: Tries) -> None:
    """Where the self-test is green, search answers as if there were no gate: without notice or event."""
    with world.make() as store:
        session = ME.bind(store)
        session.remember("the train leaves")
        for call in searches(session).values():
            call()
        answer = ME.bind(store).search("train")
        assert (len(answer.hits), answer.notices) == (1, ())
        assert {(one.event, one.reason) for one in told(store)} == {(EventKind.SEARCHED, None)}
        assert store.gate.state(store.rights.current(), session.envelope) is State.OPEN
    assert tries.count == 1


def test_the_allowlist_opens_to_whom_it_names(owned: Owned) -> None:
    """An asker whom the owner named searches; each session is told once, and the audit each time."""
    store, hand = owned
    number = store.rights.state(hand.signer, TENANT, allowlisted(asker())).seq
    session = ME.bind(store)
    answer = session.search("train")
    assert [hit.text for hit in answer.hits] == ["the train leaves"]
    assert len(answer.notices) == 1
    assert WHY in answer.notices[0]
    assert "allowlist" in answer.notices[0]
    assert session.search("train").notices == ()
    assert session.evidence("train").memory == answer.hits
    assert ME.bind(store).evidence("train").notices == answer.notices
    assert {(one.event, one.reason) for one in told(store)} == {(EventKind.SEARCHED, "allowlist")}
    assert store.gate.state(store.rights.current(), session.envelope) is State.ALLOWLIST
    hand.revoke(store, number)
    for call in searches(session).values():
        refused(call)


def test_a_notice_waits_for_the_first_answer(owned: Owned) -> None:
    """A session whose first search was refused is told with the first one that is answered."""
    store, hand = owned
    session = ME.bind(store)
    refused(lambda: session.search("train"))
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    assert len(session.search("train").notices) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(ME, user="bob"),
        replace(ME, project="other"),
        replace(ME, agent="codex"),
        replace(ME, purpose=Purpose.REPORT),
        replace(ME, tenant="umbrella"),
    ],
    ids=["user", "project", "agent", "purpose", "tenant"],
)
def test_the_allowlist_names_exactly(owned: Owned, other: Who) -> None:
    """Nobody else searches: not another user, project, agent, purpose or tenant."""
    store, hand = owned
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    for call in searches(other.bind(store)).values():
        refused(call)


def test_the_allowlist_opens_no_scope(owned: Owned) -> None:
    """Who may search while the gate is closed finds what they may read, and nothing beside it."""
    store, hand = owned
    replace(ME, session="s-2").bind(store).remember("another train")
    replace(ME, user="bob").bind(store).remember("the train of bob")
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    assert [hit.text for hit in ME.bind(store).search("train").hits] == ["the train leaves"]


def test_grants_and_allowlist_are_both_told(owned: Owned) -> None:
    """A search that needed the allowlist and a grant names both in the audit."""
    store, hand = owned
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    number = hand.grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "s-2"),)))
    ME.bind(store).search("train")
    assert told(store)[-1].reason == f"allowlist, grant {number}"


def test_an_entry_that_expired_opens_nothing(owned: Owned) -> None:
    """An entry whose time is over lets nobody search."""
    store, hand = owned
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    with patch.object(standing, "utc_now", return_value=LATE):
        refused(lambda: ME.bind(store).search("train"))
    refused(lambda: ME.bind(store).search("train"))


def test_an_entry_ends_with_what_was_sealed_later(owned: Owned) -> None:
    """A record that was sealed after the end of an entry ends it in its session, however the clock stands."""
    store, hand = owned
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    assert ME.bind(store).search("train").hits
    with patch.object(record, "new_record_id", return_value=sealed_at(LATE)):
        ME.bind(store).remember("a train of later")
    before = len(told(store))
    refused(lambda: ME.bind(store).search("train"))
    assert [one.event for one in told(store)[before:]] == [EventKind.REFUSED]
    assert replace(ME, session="s-2").bind(store).search("train").hits == ()


def test_a_list_that_was_changed_opens_nothing(owned: Owned) -> None:
    """Where the owner's list is not the one that was written, nobody is on the allowlist."""
    store, hand = owned
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    file = f"{store.root.path}/rights/statements.log"
    with open(file, "r+b") as out:
        out.seek(-20, 2)
        out.write(b"x")
    refused(lambda: ME.bind(store).search("train"))


def test_a_store_without_a_gate_is_closed(world: World) -> None:
    """What is opened past the gate does not search; who tests it says so."""
    world.make().close()
    with open_store(world.root, trust_home=world.trust) as store:
        ME.bind(store).remember("the train leaves")
        refused(lambda: ME.bind(store).search("train"))
    with OpenStore(*open_root(world.root, world.trust)) as store:
        refused(lambda: ME.bind(store).search("train"))
        store.gate = Gate(green=True, why="a test")
        assert len(ME.bind(store).search("train").hits) == 1


def test_somebody_elses_engine_is_not_asked(owned: Owned) -> None:
    """A search through an engine that the store does not know is closed as well, before the engine hears."""
    store, hand = owned
    asked: list[str] = []

    class Engine:
        def scope_properties(self) -> ScopeProperties:
            asked.append("properties")
            return ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=True)

        def search(self, query: str, k: int) -> list[str]:
            asked.append(query[:k])
            return []

    session = ME.bind(store)
    refused(lambda: Guard(store).search(session, Engine(), "train"))
    assert asked == []
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    assert Guard(store).search(session, Engine(), "train").found == ()
    assert asked == ["properties", "train"]


def test_no_record_decides_what_is_refused(owned: Owned) -> None:
    """The refusal is one and the same whatever there is to find, and whoever else keeps something."""
    store, _ = owned
    empty = replace(ME, session="empty").bind(store)
    full = str(refused(lambda: ME.bind(store).search("train")))
    assert full == str(refused(lambda: empty.search("train"))) == str(refused(lambda: empty.search("")))


@pytest.mark.parametrize(
    ("tool", "given"),
    [("search", {"query": "train"}), ("recall", {"query": "train"}), ("evidence", {"topic": "train"})],
)
def test_an_agent_is_told_so(owned: Owned, tool: str, given: dict[str, str]) -> None:
    """Over the protocol of agents search, recall and evidence are refused by the same reason, or answered."""
    store, hand = owned
    desk = Desk(store)
    found = desk.call(tool, **given)
    error = error_of(found)
    assert (error["kind"], error["reason"]) == ("refused", "gate_closed")
    assert WHY in text_of(found)
    assert store.root.path not in text_of(found)
    assert desk.ok("remember", text="still open")["record_id"]
    assert desk.ok("list")["total"] == 2
    store.rights.state(hand.signer, TENANT, allowlisted(asker()))
    answer = desk.ok(tool, **given)
    assert len(answer["notices"]) == 1
    assert not desk.ok(tool, **given)["notices"]
