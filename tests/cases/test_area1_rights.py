"""Area 1 of the public bug reports, BR-02 to BR-20, where the owner opened something to somebody."""

import itertools
import json
import os
import re
from pathlib import Path

import msgspec
import pytest

import nsstore
from bench.binding import bind, reached
from bench.child import Child, Report, in_child
from bench.owning import Hand
from bench.world import World
from nsstore import NotVisible, OpenStore, Session
from nsstore.policy import Every, Kind, Opens
from nsstore.root import steps
from tests.cases.conftest import filled, generations, ids, keep
from tests.cli.conftest import SCOPE, Person

pytestmark = pytest.mark.usefixtures("kept_views")
ROOMS = ("search", "writers", "harness")
EVERY = Opens(sessions=Every(every="session"))
CANARY = "zq7f3evil"
NEVER = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
SCOPES = [
    {"tenant_id": tenant, "user_id": user, "project_id": project, "session_id": session}
    for tenant, user, project, session in itertools.product(
        ("acme", "acme-corp", "evil"), ("alice", "alice2"), ("shop", "shop-2"), ("s", "s1", "s-1")
    )
]
GRANTS: dict[str, tuple[tuple[Kind, ...], Opens]] = {
    "one session": ((Kind.CROSS_SESSION,), Opens(sessions=(("session", "s1"),))),
    "every session": ((Kind.CROSS_SESSION,), EVERY),
    "another user's session": (
        (Kind.CROSS_SESSION, Kind.GROUP_SHARE),
        Opens(users=("alice2",), sessions=(("session", "s"),)),
    ),
}


def is_open(grant: str, mine: dict[str, str], other: dict[str, str]) -> bool:
    """What the grant to acme's alice in the project shop opens, beside what is one's own."""
    if mine == other:
        return True
    asked = (mine["tenant_id"], mine["user_id"], mine["project_id"]) == ("acme", "alice", "shop")
    if not asked or (other["tenant_id"], other["project_id"]) != ("acme", "shop"):
        return False
    if grant == "another user's session":  # or the one of the same name: a row is satisfied by equality too
        return other["user_id"] == "alice2" and other["session_id"] in ("s", mine["session_id"])
    return other["user_id"] == "alice" and (grant == "every session" or other["session_id"] == "s1")


@pytest.mark.parametrize("grant", GRANTS)
def test_br02_every_verb_agrees_about_what_is_open(store: OpenStore, grant: str) -> None:
    """Get, history and search reach exactly what the grant opens in each of 36 scopes; list, the own one."""
    owned = [bind(store, **scope).remember(f"{CANARY} {n}").record_id for n, scope in enumerate(SCOPES)]
    kinds, opens = GRANTS[grant]
    number = Hand.of(store).grant(store, *kinds, opens=opens)
    assert number
    for scope, own in zip(SCOPES, owned, strict=True):
        session = bind(store, **scope)
        expected = {one for one, other in zip(owned, SCOPES, strict=True) if is_open(grant, scope, other)}
        for verb, found in reached(session, owned, CANARY).items():
            assert found == ({own} if verb == "list" else expected), (verb, scope)
        assert session.list().total == 1
        for one in set(owned) - {own}:
            with pytest.raises(NotVisible):
                session.forget(one)  # a grant opens reading alone
            with pytest.raises(NotVisible):
                session.forget(one, dry_run=True)


def test_br16_the_sessions_that_are_not_open_weigh_nothing(store: OpenStore, world: World) -> None:
    """A weak match comes first, with the very score and count it has where a thousand others never were."""
    with World(place=world.place / "alone").make() as alone:
        lonely = bind(alone)
        Hand.of(alone).grant(alone, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "s-2"),)))
        for name in ("s-1", "s-2"):
            bind(alone, session_id=name).remember("a long text that says quartz once and then something else")
        expected = lonely.search("quartz", k=5)
    Hand.of(store).grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "s-2"),)))
    session = bind(store)
    for name in ("s-1", "s-2"):
        bind(store, session_id=name).remember("a long text that says quartz once and then something else")
    for others in ({"session_id": "s-3"}, {"session_id": "s-2", "agent_id": "b"}, {"branch": "other"}):
        bind(store, **others).remember_many(["quartz quartz quartz common"] * 250)
    found = session.search("quartz", k=5)
    assert [(hit.text, hit.score) for hit in found.hits] == [(hit.text, hit.score) for hit in expected.hits]
    assert len(found.hits) == 2
    assert found.notices == expected.notices
    assert not found.incomplete


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "kept"])
def test_br16_within_one_namespace(store: OpenStore, kept: object) -> None:
    """A thousand strong matches of another clearance, task or workspace take no place and change no score."""
    mine, alone = bind(store), bind(store, session_id="alone")
    text = "a long text that says quartz once and then something else"
    expected = (alone.remember(text), alone.search("quartz", k=5))[1]
    mine.remember(text)
    for others in ({"task_id": "t"}, {"tool_context": "t"}, {"workspace_id": "w"}):
        bind(store, **others).remember_many(["quartz quartz common"] * 200)
    secret = bind(store, clearance="restricted")
    for n in range(100):
        secret.remember(f"quartz quartz common {n}", sensitivity="restricted")
    if kept:
        keep(store, secret)
    found = mine.search("quartz", k=5)
    assert [(hit.text, hit.score) for hit in found.hits] == [(hit.text, hit.score) for hit in expected.hits]
    assert mine.list().total == 1
    assert len(secret.search("quartz", k=5).hits) == 5


def test_br17_only_by_a_grant_and_named(store: OpenStore, world: World) -> None:
    """Another session is read only while a grant says so, and each hit says whose it is."""
    me, other = bind(store, session_id="s1"), bind(store, session_id="s2")
    mine, theirs = me.remember("quartz one").record_id, other.remember("quartz two").record_id
    for path in (world.root / "memory").rglob("s2/*.md"):
        os.utime(path, (4e9, 4e9))
    assert ids(me, "quartz") == [mine]
    hand = Hand.of(store)
    number = hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    assert {hit.record_id: hit.provenance.scope["session_id"] for hit in me.search("quartz").hits} == {
        mine: "s1",
        theirs: "s2",
    }
    assert me.get(theirs).provenance.scope["session_id"] == "s2"
    assert [one.record_id for one in me.list().items] == [mine]
    hand.revoke(store, number)
    assert ids(me, "quartz") == [mine]


@pytest.mark.parametrize("kind", ["session", "agent", "workspace", "user"])
def test_br19_a_revocation_is_of_the_next_call(store: OpenStore, world: World, kind: str) -> None:
    """Warm or not, in this process and in one that runs, what is revoked is closed to every verb at once."""
    opens = {
        "session": ((Kind.CROSS_SESSION,), EVERY, {"session_id": "other"}),
        "agent": ((Kind.CROSS_AGENT,), Opens(agents=("other",)), {"agent_id": "other"}),
        "workspace": ((Kind.CROSS_WORKSPACE,), Opens(workspaces=("other",)), {"workspace_id": "other"}),
        "user": (
            (Kind.CROSS_SESSION, Kind.GROUP_SHARE),
            Opens(users=("other",), sessions=(("session", "s-1"),)),
            {"user_id": "other"},
        ),
    }
    kinds, opened, whose = opens[kind]
    theirs = bind(store, **whose).remember(f"common {CANARY}").record_id
    mine = bind(store)
    own = filled(mine)
    keep(store, mine)
    hand = Hand.of(store)
    ways = [os.pipe(), os.pipe()]

    def task(report: Report) -> None:
        with world.open() as other:
            there = bind(other)
            for _ in range(6):
                os.read(ways[0][0], 1)
                found = {verb for verb, ids in reached(there, [theirs], CANARY).items() if theirs in ids}
                report(",".join(sorted(found)).encode())
                os.write(ways[1][1], b"x")

    child = Child(task)
    expected: list[bytes] = []
    number = 0
    for turn in range(6):
        if turn % 2:
            number = hand.grant(store, *kinds, opens=opened)
        elif number:
            hand.revoke(store, number)
        found = {verb for verb, ids in reached(mine, [theirs], CANARY).items() if theirs in ids}
        assert bool(found) == bool(turn % 2), (turn, found)
        assert found >= ({"get", "history", "search"} if turn % 2 else set())
        assert set(own) <= set(ids(mine, "common"))
        expected.append(",".join(sorted(found)).encode())
        os.write(ways[0][1], b"x")
        os.read(ways[1][0], 1)
    ended = child.end()
    for way in ways:
        for fd in way:
            os.close(fd)
    assert (ended.status, list(ended.lines)) == (0, expected)


def test_br19_the_same_words_of_two_askers(store: OpenStore) -> None:
    """One asker's grant warms no cache for another agent, user, project, purpose or tenant."""
    for name in ("s-2", "s-3"):
        bind(store, session_id=name).remember(f"quartz {CANARY}")
    Hand.of(store).grant(store, Kind.CROSS_SESSION, opens=EVERY)
    open_to = bind(store)
    closed = [
        bind(store, **one)
        for one in (
            {"agent_id": "codex"},
            {"user_id": "bob"},
            {"project_id": "shop2"},
            {"tenant_id": "evil"},
            {"purpose": "handoff"},
            {"workspace_id": "w"},
            {"branch": "b"},
        )
    ]
    for _ in range(20):
        assert len(open_to.search("quartz").hits) == 2
        for session in closed:
            assert session.search("quartz").hits == ()


def test_br12_no_part_of_a_wide_answer_is_foreign(store: OpenStore) -> None:
    """With sessions open, nothing of an answer, refusal or dry run holds a word of what stays closed."""
    Hand.of(store).grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "s-2"),)))
    theirs = [
        bind(store, **one)
        .remember(f"quartz {CANARY}", title=CANARY, tags=[CANARY], ext={"x": CANARY})
        .record_id
        for one in ({"session_id": "s-3"}, {"agent_id": "evil"}, {"session_id": "s-2", "agent_id": "evil"})
    ]
    bind(store, session_id="s-2").remember("quartz of the open one")
    mine = bind(store)
    own = mine.remember("quartz of mine").record_id
    answers = [
        mine.search(f"quartz {CANARY}", k=100),
        mine.list(),
        mine.history(own),
        mine.forget(own, dry_run=True),
    ]
    said = b"".join(msgspec.json.encode(one) for one in answers).decode()
    for one in theirs:
        for call in (mine.get, mine.history, mine.forget):
            with pytest.raises(NotVisible) as caught:
                call(one)
            said += repr(caught.value).replace(one, "")
    assert CANARY not in said
    assert "evil" not in said
    assert not any(one in said for one in theirs)


def reading(session: Session, ask: str) -> list[str]:
    """The steps of one get."""
    met: list[str] = []
    with steps.hooked(met.append), pytest.raises(NotVisible):
        session.get(ask)
    return met


def test_br77_a_foreign_id_costs_what_a_random_one_costs(store: OpenStore, world: World) -> None:
    """In another tenant, project, user or session there or not, a get takes the same steps."""
    bind(store).remember("mine")
    for field in ("tenant_id", "user_id", "project_id", "session_id"):
        theirs = bind(store, **{field: "other"}).remember("quartz" * 5000).record_id

        def task(report: Report, theirs: str = theirs) -> None:
            with world.open() as fresh:
                session = bind(fresh)
                session.list()
                reading(session, NEVER)  # opens what a first denial opens
                for one in (NEVER, theirs, NEVER, theirs):
                    report(" ".join(reading(session, one)).encode())

        ended = in_child(task)
        assert ended.status == 0
        assert len(set(ended.lines)) == 1
        assert ended.lines[0]


@pytest.mark.parametrize("separator", [":", "/", "%", "-"])
def test_br05_no_index_is_shared(store: OpenStore, world: World, separator: str) -> None:
    """(a, b·c) and (a·b, c) have an index each, warm and afresh, and forgetting in one leaves the other."""
    pairs = [("aa", f"bb{separator}cc"), (f"aa{separator}bb", "cc")]
    fields = [("tenant_id", "user_id"), ("user_id", "project_id"), ("project_id", "session_id")]
    for left, right in fields:
        sessions = [bind(store, **{left: one, right: other}) for one, other in pairs]
        before = len(generations())
        made = [filled(session) for session in sessions]
        keep(store, *sessions)
        assert len(generations()) == before + 2
        sessions[0].forget(made[0].pop())
        for process in (store, world.open()):
            for (one, other), expected in zip(pairs, made, strict=True):
                assert sorted(ids(bind(process, **{left: one, right: other}), "common")) == sorted(expected)
        process.close()


def test_br13_no_switch_turns_it_off(person: Person) -> None:
    """No variable that the code or a guess knows lets a scope read another's record; some are refused."""
    mine = person.remember("quartz of mine")
    theirs = person.remember(f"quartz {CANARY}", NSSTORE_TENANT="evil")
    rooms = [Path(nsstore.__file__).parent, *(Path(nsstore.__file__).parents[1] / one for one in ROOMS)]
    code = "".join(path.read_text() for room in rooms for path in room.rglob("*.py"))
    known = (
        set(re.findall(r"\bNSSTORE_[A-Z_]+\b", code)) - SCOPE.keys() - {"NSSTORE_STORE", "NSSTORE_TRUST_HOME"}
    )
    assert {"NSSTORE_CACHE_HOME"} <= known
    guessed = {
        f"NSSTORE_{one}" for one in ("ISOLATION", "ACL", "GATE", "DEBUG", "UNSAFE", "ALL", "POLICY", "SCOPE")
    }
    for name in sorted(known | guessed):
        for value in ("0", "off", "false", "*", "1", "all", "evil"):
            searched = person("search", "quartz", "--json", **{name: value})
            if searched.exit_code == 0:
                assert {hit["record_id"] for hit in json.loads(searched.stdout)["hits"]} <= {mine}, (
                    name,
                    value,
                )
            got = person("show", theirs, **{name: value})
            assert got.exit_code != 0, (name, value)
            assert CANARY not in searched.stdout + searched.stderr + got.stdout + got.stderr
