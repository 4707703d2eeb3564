"""Why something may or may not be read is told dimension by dimension, as it is decided."""

from itertools import combinations

import msgspec
import pytest

from nsstore.policy import (
    NO_RIGHTS,
    Asker,
    Every,
    Grant,
    Opens,
    Reader,
    Rights,
    Row,
    decide,
    explain,
    explain_class,
    personal,
    readability_class,
    readers,
)
from nsstore.policy.explaining import COMMANDS, NEVER
from nsstore.scope import NOT_APPLICABLE
from tests.policy.conftest import COMMIT, HEAD, TO, Ask, Record

OWN = {
    "tenant": "tenant=acme",
    "user": "alice",
    "project": "shop",
    "session": "session=s-1",
    "workspace": "w-1",
    "branch": "main",
    "baseline": "v2",
    "agent": "claude",
    "tool_context": "mcp",
    "task": "T-1",
}
EVERY = "every one of the project"
PAST = "where the record's commit is a proven ancestor"
# What a grant opens, the words for it by dimension, and a record that differs in that alone.
OPENED: dict[str, tuple[Opens, dict[str, str], dict[str, object]]] = {
    "users": (Opens(users=("bob", "eve")), {"user": "bob, eve"}, {"user_id": "bob"}),
    "sessions": (
        Opens(sessions=(("conversation", "c-2"), ("session", "s-2"))),
        {"session": "conversation=c-2, session=s-2"},
        {"session_id": "s-2"},
    ),
    "every session": (Opens(sessions=Every(every="session")), {"session": EVERY}, {"session_id": "s-9"}),
    "state": (
        Opens(state_across_sessions=True),
        {"session": "every one, for state documents"},
        {"type": "state", "key": "plan", "session_id": "s-9"},
    ),
    "both": (
        Opens(sessions=(("session", "s-2"),), state_across_sessions=True),
        {"session": "session=s-2; every one, for state documents"},
        {"session_id": "s-2"},
    ),
    "workspaces": (Opens(workspaces=("-", "w-2")), {"workspace": "-, w-2"}, {"workspace_id": "w-2"}),
    "every workspace": (
        Opens(workspaces=Every(every="workspace")),
        {"workspace": EVERY},
        {"workspace_id": "w-9"},
    ),
    "branches": (Opens(branches=("dev", "old")), {"branch": "dev, old, as stale"}, {"branch": "old"}),
    "baselines": (Opens(baselines=("v0", "v1")), {"baseline": "v0, v1, as stale"}, {"baseline": "v1"}),
    "lineage": (
        Opens(lineage=True),
        {"branch": PAST, "baseline": PAST},
        {"branch": "old", "baseline": "v1", "commit": COMMIT},
    ),
    "branches and lineage": (
        Opens(branches=("old",), lineage=True),
        {"branch": f"old, as stale; {PAST}", "baseline": PAST},
        {"branch": "old"},
    ),
    "agents": (Opens(agents=("codex",)), {"agent": "codex"}, {"agent_id": "codex"}),
    "tool contexts": (
        Opens(tool_contexts=("shell",)),
        {"tool_context": "shell"},
        {"tool_context": "shell"},
    ),
    "tasks": (Opens(tasks=("T-2",)), {"task": "T-2"}, {"task_id": "T-2"}),
}
# A record that differs in one dimension, and how that dimension then reads.
DIFFERENT: dict[str, tuple[dict[str, object], str]] = {
    "tenant": ({"tenant_id": None, "group_id": "acme"}, "group=acme"),
    "user": ({"user_id": "bob"}, "bob"),
    "project": ({"project_id": "api"}, "api"),
    "session": ({"session_id": None, "conversation_id": "s-1"}, "conversation=s-1"),
    "workspace": ({"workspace_id": "-"}, "-"),
    "branch": ({"branch": "old"}, "old"),
    "baseline": ({"baseline": "v1"}, "v1"),
    "agent": ({"agent_id": "codex"}, "codex"),
    "tool_context": ({"tool_context": "shell"}, "shell"),
    "task": ({"task_id": "T-2"}, "T-2"),
}


def rights(*names: str, to: Asker = TO) -> Rights:
    """The rights of these grants, numbered from 5 on."""
    found = (Grant(number=number, to=to, opens=OPENED[name][0]) for number, name in enumerate(names, 5))
    return Rights(grants=tuple(found))


def test_the_own_rights_without_a_grant(ask: Ask) -> None:
    """Each dimension is open to its own value alone, and says what would open more of it."""
    rows = explain(ask(), NO_RIGHTS)
    assert rows == tuple(
        Row(dimension=name, value=OWN[name], how="equal", opened=(), command=command)
        for name, command in COMMANDS.items()
    )
    assert [row.dimension for row in rows if row.command == NEVER] == ["tenant", "project"]


def test_what_does_not_apply_says_so(ask: Ask) -> None:
    """A group, a conversation and what does not apply are told as what they are."""
    given = ask(
        tenant_id=None, group_id="g", session_id=None, conversation_id="c", tool_context=None, task_id=None,
        workspace_id=NOT_APPLICABLE, branch=NOT_APPLICABLE, baseline=NOT_APPLICABLE,
    )  # fmt: skip
    told = [row.value for row in explain(given, NO_RIGHTS)]
    assert told == ["group=g", "alice", "shop", "conversation=c", "-", "-", "-", "claude", None, None]


@pytest.mark.parametrize("name", OPENED)
def test_what_a_grant_opens_is_told_in_words(ask: Ask, name: str) -> None:
    """The dimensions that a grant opens name it, and all others are as without it."""
    words = OPENED[name][1]
    rows = explain(ask(), rights(name))
    for row, plain in zip(rows, explain(ask(), NO_RIGHTS), strict=True):
        if row.dimension in words:
            opened = ((5, words[row.dimension]),)
            assert row == msgspec.structs.replace(plain, how="granted", opened=opened, command=None)
        else:
            assert row == plain


def test_only_the_askers_own_grants_count(ask: Ask) -> None:
    """Of somebody else's grants nothing is told; two of one's own are told one by one."""
    bobs = msgspec.structs.replace(TO, user="bob")
    assert explain(ask(), rights("sessions", to=bobs)) == explain(ask(), NO_RIGHTS)
    rows = {row.dimension: row for row in explain(ask(), rights("agents", "sessions", "every session"))}
    assert rows["session"].opened == ((6, OPENED["sessions"][1]["session"]), (7, EVERY))


def test_a_record_of_the_own_scope_is_equal(record: Record, ask: Ask) -> None:
    """What is equal needs no grant, and none is told for it."""
    rows = explain_class(ask(), readability_class(record()), rights(*OPENED))
    assert rows == tuple(Row(dimension=name, value=OWN[name], how="equal") for name in COMMANDS)


@pytest.mark.parametrize("dimension", DIFFERENT)
def test_what_differs_is_closed(record: Record, ask: Ask, dimension: str) -> None:
    """The dimension in which a record differs is closed, with its value and what would open it."""
    changes, value = DIFFERENT[dimension]
    rows = explain_class(ask(), readability_class(record(**changes)), NO_RIGHTS)
    for row in rows:
        if row.dimension == dimension:
            assert row == Row(dimension=dimension, value=value, how="closed", command=COMMANDS[dimension])
        else:
            assert row == Row(dimension=row.dimension, value=OWN[row.dimension], how="equal")


@pytest.mark.parametrize("name", OPENED)
def test_what_a_grant_opens_of_a_record(record: Record, ask: Ask, name: str) -> None:
    """A dimension that is open by a grant says by which, and only where it is not equal anyway."""
    _, words, changes = OPENED[name]
    envelope = ask(commit=HEAD, ancestors=frozenset({COMMIT}))
    cls = readability_class(record(**changes))
    closed = {row.dimension for row in explain_class(envelope, cls, NO_RIGHTS) if row.how == "closed"}
    assert closed <= words.keys()
    rows = {row.dimension: row for row in explain_class(envelope, cls, rights(name))}
    for dimension in COMMANDS:
        row = rows[dimension]
        assert row.command is None
        if dimension in closed:
            assert (row.how, row.opened) == ("granted", ((5, words[dimension]),))
        else:
            assert (row.how, row.opened) == ("equal", ())


def test_history_opens_what_it_proves(record: Record, ask: Ask) -> None:
    """A record of this very commit, or of a proven ancestor, is open by lineage; of another one it is not."""
    given = rights("lineage")
    for commit, how in ((HEAD, "granted"), (COMMIT, "granted"), ("c" * 40, "closed"), (None, "closed")):
        envelope = ask(commit=HEAD, ancestors=frozenset({COMMIT}))
        cls = readability_class(record(branch="old", baseline="v1", commit=commit))
        rows = {row.dimension: row.how for row in explain_class(envelope, cls, given)}
        assert (rows["branch"], rows["baseline"]) == (how, how)
        assert explain_class(envelope, cls, rights("agents")) == explain_class(envelope, cls, NO_RIGHTS)


def test_what_the_request_allows_is_stale(record: Record, ask: Ask) -> None:
    """Another branch or baseline that the request allows is told as allowed, unless it is another user's."""
    envelope = ask(also_branches=("old",), also_baselines=("v1",))
    cls = readability_class(record(branch="old", baseline="v1"))
    rows = {row.dimension: row for row in explain_class(envelope, cls, NO_RIGHTS)}
    assert {rows["branch"].how, rows["baseline"].how} == {"allowed"}
    assert {rows["branch"].command, rows["baseline"].command} == {None}
    bobs = msgspec.structs.replace(cls, user_id="bob")
    rows = {row.dimension: row for row in explain_class(envelope, bobs, rights("users"))}
    assert (rows["user"].how, rows["branch"].how, rows["baseline"].how) == ("granted", "closed", "closed")


def test_a_record_of_no_task_is_equal(record: Record, ask: Ask) -> None:
    """A record that belongs to no tool context and no task is bound to none, and one that does is."""
    cls = readability_class(record(tool_context=None, task_id=None))
    rows = explain_class(ask(), cls, NO_RIGHTS)
    assert {row.how for row in rows} == {"equal"}
    assert [row.value for row in rows[-2:]] == [None, None]
    rows = explain_class(ask(tool_context=None, task_id=None), readability_class(record()), NO_RIGHTS)
    assert [row.how for row in rows[-2:]] == ["closed", "closed"]


def test_a_share_and_an_own_grant_are_told_apart(record: Record, ask: Ask) -> None:
    """For another user's record only grants that share that user count, and for the own ones no share."""
    shared = Opens(users=("bob",), sessions=(("session", "s-2"),))
    given = Rights(grants=(*rights("sessions").grants, Grant(number=6, to=TO, opens=shared)))
    for user, number in (("alice", 5), ("bob", 6)):
        cls = readability_class(record(session_id="s-2", user_id=user))
        rows = {row.dimension: row for row in explain_class(ask(), cls, given)}
        assert [one for one, _ in rows["session"].opened] == [number]
    cls = readability_class(record(session_id="s-2", user_id="eve"))
    assert {row.opened for row in explain_class(ask(), cls, given)} == {()}


def test_it_is_told_as_it_is_decided(record: Record, ask: Ask) -> None:
    """An own record may be read exactly if no dimension is told as closed, whatever differs or is granted."""
    envelope = ask(commit=HEAD, ancestors=frozenset({COMMIT}), also_branches=("old",))
    others = [name for name in OPENED if name != "users"]
    for given in (rights(*names) for count in (0, 1, 2) for names in combinations(others, count)):
        for _, _, changes in OPENED.values():
            for more in ({}, {"session_id": "s-2"}, {"agent_id": "codex"}, {"workspace_id": "w-2"}):
                wanted = record(**{**changes, "user_id": "alice", **more})
                rows = explain_class(envelope, readability_class(wanted), given)
                closed = [row.dimension for row in rows if row.how == "closed"]
                assert decide(envelope, wanted, given).allowed == (not closed)


def test_the_first_reader_is_the_own_scope(record: Record) -> None:
    """Without a grant only the very scope of a record reads it."""
    own = Reader(number=None, user="alice", agents=("claude",), purposes=(), equal=tuple(COMMANDS))
    assert readers(readability_class(record()), NO_RIGHTS) == (own,)


@pytest.mark.parametrize("name", OPENED)
def test_who_may_read_by_a_grant(record: Record, name: str) -> None:
    """A grant makes a reader who has to be equal in all that it does not open."""
    _, words, changes = OPENED[name]
    cls = readability_class(record(**changes))
    first, second = readers(cls, rights(name))
    assert (first.number, first.user, first.agents) == (None, cls.user_id, (cls.agent_id,))
    assert (second.number, second.user, second.purposes) == (5, "alice", TO.purposes)
    opened = {"branch"} if name == "branches and lineage" else {*words}
    assert second.equal == tuple(one for one in COMMANDS if one not in opened)
    assert second.agents == ("claude",)


def test_who_may_not(record: Record) -> None:
    """No reader by a grant of another tenant, user or project, to another agent, or that opens nothing."""
    theirs = readability_class(record(session_id="s-2"))
    for changes in (
        {"tenant": ("tenant", "evil")},
        {"tenant": ("group", "acme")},
        {"user": "bob"},
        {"projects": ("api",)},
        {"agents": ("codex",)},
    ):
        assert len(readers(theirs, rights("sessions", to=msgspec.structs.replace(TO, **changes)))) == 1
    assert len(readers(theirs, rights("tasks"))) == 1
    assert len(readers(theirs, rights("users"))) == 1
    assert len(readers(theirs, rights("users", "tasks", "sessions"))) == 2


def test_who_may_read_a_group_in_every_project(record: Record) -> None:
    """A policy for every project is one for this one, and a group's grant is no tenant's."""
    to = msgspec.structs.replace(
        TO, tenant=("group", "acme"), projects=Every(every="project"), agents=("claude", "codex")
    )
    given = Rights(grants=(Grant(number=9, to=to, opens=personal(to)),))
    cls = readability_class(record(tenant_id=None, group_id="acme", commit=COMMIT))
    _, second = readers(cls, given)
    assert second.agents == ("claude", "codex")
    assert second.equal == ("tenant", "user", "project", "tool_context", "task")
    unproven = msgspec.structs.replace(cls, commit=None)
    _, second = readers(unproven, given)
    assert second.equal == ("tenant", "user", "project", "branch", "baseline", "tool_context", "task")
    assert len(readers(readability_class(record()), given)) == 1


def test_a_shared_record_of_another_agent(record: Record) -> None:
    """Agents that a grant does not open have to be the record's own."""
    to = msgspec.structs.replace(TO, agents=("claude", "codex"))
    shared = Grant(number=3, to=to, opens=Opens(users=("bob",), sessions=(("session", "s-2"),)))
    cls = readability_class(record(user_id="bob", session_id="s-2", agent_id="codex"))
    first, second = readers(cls, Rights(grants=(shared,)))
    assert (first.user, first.agents) == ("bob", ("codex",))
    assert (second.user, second.agents) == ("alice", ("codex",))
    assert second.equal == tuple(one for one in COMMANDS if one not in ("user", "session"))
