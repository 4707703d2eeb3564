"""Each kind of grant turns a denied request into an allowed one, and opens no other dimension."""

from collections.abc import Callable
from itertools import combinations
from typing import cast

import msgspec
import pytest

from nsstore.policy import (
    NO_RIGHTS,
    Allowed,
    Asker,
    Decision,
    Every,
    Grant,
    Kind,
    Opens,
    Reason,
    Rights,
    check_kinds,
    decide,
    decide_write,
    personal,
)
from nsstore.scope import Purpose, Sensitivity
from tests.policy.conftest import COMMIT, HEAD, TO, Ask, Record

# What each grant is called, what it opens, and the one thing in which a record then may differ.
OPENING: dict[str, tuple[tuple[Kind, ...], Opens, dict[str, object]]] = {
    "users": ((Kind.GROUP_SHARE,), Opens(users=("bob",)), {"user_id": "bob"}),
    "session": (
        (Kind.CROSS_SESSION,),
        Opens(sessions=(("session", "s-2"),)),
        {"session_id": "s-2"},
    ),
    "conversation": (
        (Kind.CROSS_SESSION,),
        Opens(sessions=(("conversation", "c-2"),)),
        {"session_id": None, "conversation_id": "c-2"},
    ),
    "every session": (
        (Kind.CROSS_SESSION,),
        Opens(sessions=Every(every="session")),
        {"session_id": "s-9"},
    ),
    "workspace": ((Kind.CROSS_WORKSPACE,), Opens(workspaces=("w-2",)), {"workspace_id": "w-2"}),
    "no workspace": ((Kind.CROSS_WORKSPACE,), Opens(workspaces=("-",)), {"workspace_id": "-"}),
    "every workspace": (
        (Kind.CROSS_WORKSPACE,),
        Opens(workspaces=Every(every="workspace")),
        {"workspace_id": "w-9"},
    ),
    "agent": ((Kind.CROSS_AGENT,), Opens(agents=("codex",)), {"agent_id": "codex"}),
    "tool context": ((Kind.CROSS_AGENT,), Opens(tool_contexts=("shell",)), {"tool_context": "shell"}),
    "task": ((Kind.CROSS_AGENT,), Opens(tasks=("T-2",)), {"task_id": "T-2"}),
    "lineage, branch": ((Kind.LINEAGE,), Opens(lineage=True), {"branch": "old", "commit": COMMIT}),
    "lineage, baseline": ((Kind.LINEAGE,), Opens(lineage=True), {"baseline": "v1", "commit": COMMIT}),
    "state": (
        (Kind.STATE_ACROSS_SESSIONS,),
        Opens(state_across_sessions=True),
        {"type": "state", "key": "plan", "session_id": "s-9"},
    ),
}
# One thing in which a record differs, by the dimension it is.
DIFFERENT: dict[str, dict[str, object]] = {
    "tenant": {"tenant_id": "evil"},
    "group": {"tenant_id": None, "group_id": "acme"},
    "user": {"user_id": "bob"},
    "project": {"project_id": "other"},
    "session": {"session_id": "s-2"},
    "workspace": {"workspace_id": "w-2"},
    "branch": {"branch": "old"},
    "baseline": {"baseline": "v1"},
    "agent": {"agent_id": "codex"},
    "tool_context": {"tool_context": "shell"},
    "task": {"task_id": "T-2"},
    "sensitivity": {"sensitivity": Sensitivity.CONFIDENTIAL},
}
OPENED_BY = {
    "users": {"user"},
    "session": {"session"},
    "every session": {"session"},
    "workspace": {"workspace"},
    "every workspace": {"workspace"},
    "agent": {"agent"},
    "tool context": {"tool_context"},
    "task": {"task"},
}


def rights(*names: str, to: Asker = TO) -> Rights:
    """The rights of these grants, each a statement of its own."""
    return Rights(
        grants=tuple(
            Grant(number=number, to=to, opens=OPENING[name][1]) for number, name in enumerate(names, 1)
        )
    )


@pytest.mark.parametrize("name", OPENING)
def test_a_grant_opens_what_it_names(record: Record, ask: Ask, name: str) -> None:
    """A request that is denied without the grant is allowed with it, and current."""
    kinds, opens, differs = OPENING[name]
    check_kinds(kinds, TO, opens)
    envelope, wanted = ask(commit=HEAD, ancestors=frozenset({COMMIT})), record(**differs)
    assert not decide(envelope, wanted).allowed
    assert not decide(envelope, wanted, NO_RIGHTS).allowed
    found = decide(envelope, wanted, rights(name))
    assert (found.allowed, found.reason, found.stale) == (True, Reason.ALLOWED, False)


@pytest.mark.parametrize("name", OPENING)
def test_a_grant_opens_no_other_dimension(record: Record, ask: Ask, name: str) -> None:
    """With one grant, every other difference, alone or beside the opened one, is denied as before."""
    envelope = ask(commit=HEAD, ancestors=frozenset({COMMIT}))
    given = rights(name)
    for count in (1, 2, 3):
        for differing in combinations(DIFFERENT, count):
            if set(differing) <= OPENED_BY.get(name, set()):
                continue
            wanted = record(**{field: v for one in differing for field, v in DIFFERENT[one].items()})
            assert not decide(envelope, wanted, given).allowed, differing


def test_grants_of_the_own_records_add_up(record: Record, ask: Ask) -> None:
    """Rows are independent: a session by one grant and a workspace by another open a record that has both."""
    both = record(session_id="s-2", workspace_id="w-2")
    assert not decide(ask(), both, rights("session")).allowed
    assert not decide(ask(), both, rights("workspace")).allowed
    assert decide(ask(), both, rights("session", "workspace")).allowed


def test_grants_of_two_users_never_add_up(record: Record, ask: Ask) -> None:
    """What opens the own sessions opens none of a sharing user's, and two shares are not one."""
    theirs = record(user_id="bob", session_id="s-2")
    assert not decide(ask(), theirs, rights("users", "session", "every session")).allowed
    share = Opens(users=("bob",), sessions=(("session", "s-2"),))
    other = Opens(users=("bob",), agents=("codex",))
    given = Rights(grants=(Grant(number=1, to=TO, opens=share), Grant(number=2, to=TO, opens=other)))
    assert decide(ask(), theirs, given).allowed
    assert decide(ask(), record(user_id="bob", agent_id="codex"), given).allowed
    assert not decide(ask(), record(user_id="bob", session_id="s-2", agent_id="codex"), given).allowed
    assert not decide(ask(), record(session_id="s-2"), given).allowed


def test_a_hosts_own_list_opens_nothing_of_another_user(record: Record, ask: Ask) -> None:
    """Another user's stale branch is open by the grant that names it, never by the asker's envelope."""
    envelope = ask(also_branches=("old",))
    theirs = record(user_id="bob", branch="old")
    assert decide(envelope, theirs, rights("users")).reason is Reason.OTHER_BRANCH
    named = Rights(grants=(Grant(number=1, to=TO, opens=Opens(users=("bob",), branches=("old",))),))
    found = decide(envelope, theirs, named)
    assert (found.allowed, found.stale) == (True, True)


NOT_THE_ASKER: list[dict[str, object]] = [
    {"tenant_id": "acme2"},
    {"tenant_id": None, "group_id": "acme"},
    {"user_id": "Alice"},
    {"user_id": "аlice"},  # noqa: RUF001 - a Cyrillic letter, which is the point
    {"project_id": "shop2"},
    {"agent_id": "Claude"},
]


@pytest.mark.parametrize("changes", NOT_THE_ASKER)
@pytest.mark.parametrize("name", OPENING)
def test_a_grant_is_to_its_very_asker(
    record: Record, ask: Ask, name: str, changes: dict[str, object]
) -> None:
    """Another tenant, user, project or agent, however alike its name looks, gets nothing of it."""
    envelope = ask(commit=HEAD, ancestors=frozenset({COMMIT}), **changes)
    wanted = record(**{**changes, **OPENING[name][2]})
    assert not decide(envelope, wanted, rights(name)).allowed
    assert rights(name).sessions_of(envelope) == ()


@pytest.mark.parametrize("name", OPENING)
def test_a_grant_is_for_its_purposes(record: Record, ask: Ask, name: str) -> None:
    """A purpose that the grant does not name is denied what it opens."""
    to = msgspec.structs.replace(TO, purposes=(Purpose.RECALL,))
    differs = OPENING[name][2]
    for purpose in Purpose:
        envelope = ask(commit=HEAD, ancestors=frozenset({COMMIT}), purpose=purpose)
        allowed = decide(envelope, record(**differs), rights(name, to=to)).allowed
        assert allowed == (purpose is Purpose.RECALL)


def test_a_report_stays_strict(record: Record, ask: Ask) -> None:
    """No grant lets a report leave the current branch, baseline and task; lineage is current."""
    given = Rights(
        grants=(
            Grant(
                number=1,
                to=TO,
                opens=Opens(branches=("old",), baselines=("v1",), tasks=("T-2",), agents=("codex",)),
            ),
        )
    )
    report = ask(purpose=Purpose.REPORT, commit=HEAD, ancestors=frozenset({COMMIT}))
    assert decide(report, record(agent_id="codex"), given).allowed
    assert decide(report, record(branch="old"), given).reason is Reason.STALE_BRANCH
    assert decide(report, record(baseline="v1"), given).reason is Reason.STALE_BASELINE
    assert decide(report, record(task_id="T-2"), given).reason is Reason.OTHER_TASK
    assert decide(report, record(branch="old", commit=COMMIT), rights("lineage, branch")).allowed


def test_lineage_is_what_git_proved(record: Record, ask: Ask) -> None:
    """A commit that is no proven ancestor, or none at all, leaves the branch row as it was."""
    given = rights("lineage, branch")
    envelope = ask(commit=HEAD, ancestors=frozenset({COMMIT}), also_branches=("old",))
    assert not decide(envelope, record(branch="old", commit=COMMIT), given).stale
    assert not decide(envelope, record(branch="old", commit=HEAD), given).stale
    assert decide(envelope, record(branch="old", commit="c" * 40), given).stale
    assert decide(envelope, record(branch="old"), given).stale
    assert decide(ask(also_branches=("old",)), record(branch="old", commit=COMMIT), given).stale
    assert decide(envelope, record(branch="old", commit=COMMIT)).stale


def test_a_clearance_is_no_dimension_that_is_opened(record: Record, ask: Ask) -> None:
    """What is open to an agent is open up to the asker's own clearance."""
    secret = record(agent_id="codex", sensitivity=Sensitivity.RESTRICTED)
    assert decide(ask(), secret, rights("agent")).reason is Reason.ABOVE_CLEARANCE
    assert decide(ask(clearance=Sensitivity.RESTRICTED), secret, rights("agent")).allowed


def test_personal_is_the_own_project_and_no_more(record: Record, ask: Ask) -> None:
    """One policy opens every own session and workspace and the named agents, each project with itself."""
    to = msgspec.structs.replace(TO, projects=Every(every="project"), agents=("claude", "codex"))
    check_kinds((Kind.PERSONAL,), to, personal(to))
    given = Rights(grants=(Grant(number=1, to=to, opens=personal(to)),))
    for project in ("shop", "site"):
        envelope = ask(project_id=project)
        own = record(project_id=project, session_id="s-9", workspace_id="w-9", agent_id="codex")
        assert decide(envelope, own, given).allowed
        assert not decide(envelope, record(project_id="third"), given).allowed
        assert not decide(envelope, record(project_id=project, agent_id="rogue"), given).allowed
        assert not decide(envelope, record(project_id=project, user_id="bob"), given).allowed


@pytest.mark.parametrize("name", [one for one in OPENING if one != "state"])
def test_nothing_is_written_into_what_is_opened(record: Record, ask: Ask, name: str) -> None:
    """A grant to read is none to write: a record of the opened scope is refused as without it."""
    envelope = ask(commit=HEAD, ancestors=frozenset({COMMIT}))
    differs = OPENING[name][2]
    new = record(**differs)
    assert decide_write(envelope, new, (), rights(name)) == decide_write(envelope, new, ())
    assert not decide_write(envelope, new, (), rights(name)).allowed


def test_what_is_opened_may_be_superseded(record: Record, ask: Ask) -> None:
    """An own record may take the place of one that a grant makes readable and current."""
    old = record(agent_id="codex")
    new = record(record_id="01934f2e-8b7a-7c3d-9e21-ffffffffffff", supersedes=(old.record_id,))
    assert decide_write(ask(), new, (old,)).reason is Reason.SUPERSEDES_NOT_VISIBLE
    assert decide_write(ask(), new, (old,), rights("agent")).allowed


def test_anothers_state_document_is_not_superseded(record: Record, ask: Ask) -> None:
    """Reading another agent's document is no right to be its next version; another own session's is."""
    state: dict[str, object] = {"type": "state", "key": "plan"}
    new = record(record_id="01934f2e-8b7a-7c3d-9e21-ffffffffffff", supersedes=(record().record_id,), **state)
    theirs = record(agent_id="codex", **state)
    assert not decide_write(ask(), new, (theirs,), rights("agent")).allowed
    assert decide_write(ask(), new, (record(session_id="s-9", **state),), rights("state")).allowed


def test_odd_rights_open_nothing(record: Record, ask: Ask) -> None:
    """Whatever stands for rights, the decision is the one without."""
    wanted = record(agent_id="codex")
    total = cast("Callable[..., Decision]", decide)
    odds: tuple[object, ...] = (None, 1, "every", (), {"grants": ()})
    for odd in odds:
        assert total(ask(), wanted, odd).reason is Reason.OTHER_AGENT


def test_sources_of_a_wide_search(ask: Ask) -> None:
    """Which other sessions may hold something readable: named ones, every one, and a sharing user's."""
    share = Opens(users=("bob",), sessions=(("session", "s-7"),))
    wide = Opens(users=("eve",), sessions=Every(every="session"))
    given = Rights(
        grants=(
            *rights("session", "agent").grants,
            Grant(number=3, to=TO, opens=share),
            Grant(number=4, to=TO, opens=wide),
            Grant(number=5, to=TO, opens=Opens(sessions=(("session", "s-1"),))),
        )
    )
    found = [(one.user_id, one.project_id, one.sessions, one.number) for one in given.sessions_of(ask())]
    assert found == [
        ("alice", "shop", (("session", "s-2"),), 1),
        ("bob", "shop", (("session", "s-1"), ("session", "s-7")), 3),
        ("eve", "shop", Every(every="session"), 4),
    ]
    assert NO_RIGHTS.sessions_of(ask()) == ()


def test_what_may_come_back_as_stale(ask: Ask) -> None:
    """Only a grant that names a branch or a baseline, and to this very asker, opens something as stale."""
    stale = [Opens(branches=("old",)), Opens(baselines=("v1",))]
    for opens in (*stale, *(opens for _, opens, _ in OPENING.values())):
        given = Rights(grants=(Grant(number=1, to=TO, opens=opens),))
        assert given.opens_stale(ask()) == (opens in stale)
        assert not given.opens_stale(ask(agent_id="codex"))
    assert not NO_RIGHTS.opens_stale(ask())


def test_who_may_search_all_the_same(ask: Ask) -> None:
    """The allowlist lets search exactly whom it names."""
    given = Rights(allowlist=(Allowed(number=1, to=TO),))
    assert given.may_search(ask())
    assert not given.may_search(ask(agent_id="codex"))
    assert not NO_RIGHTS.may_search(ask())
    assert not rights("session").may_search(ask())
