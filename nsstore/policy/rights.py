"""The owner's rights as one frozen value: what live statements open, to whom, and nothing else."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, TypeVar

import msgspec

from nsstore.errors import InvalidInput
from nsstore.policy.readability import ReadClass
from nsstore.scope import (
    NOT_APPLICABLE_TEXT,
    Purpose,
    ScopeEnvelope,
    check_id,
    check_texts,
)

Pair = tuple[str, str]


class Kind(StrEnum):
    """The closed list of what an owner's grant can be called; each opens something of its own."""

    CROSS_SESSION = "cross_session"
    CROSS_WORKSPACE = "cross_workspace"
    CROSS_AGENT = "cross_agent"
    GROUP_SHARE = "group_share"
    PERSONAL = "personal"
    LINEAGE = "lineage"
    STATE_ACROSS_SESSIONS = "state_across_sessions"

    __hash__ = str.__hash__  # as equality is: by the value, and without a call of its own


class Every(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every value of one dimension within what else is named: a type of its own, which no id can spell."""

    every: Literal["session", "workspace", "project"]


class Asker(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """To whom something is open: one tenant or group, one user, and the projects, agents and purposes.

    All are exact. ``projects`` are the projects inside which it holds, the asker's and the record's
    being the same one in any case; every project is for policies alone. Raises :class:`InvalidInput`.
    """

    tenant: Pair
    user: str
    projects: tuple[str, ...] | Every
    agents: tuple[str, ...]
    purposes: tuple[Purpose, ...]

    def __post_init__(self) -> None:
        if self.tenant[0] not in ("tenant", "group"):
            raise InvalidInput("a grant is to a tenant or a group")
        check_id(f"{self.tenant[0]}_id", self.tenant[1])
        check_id("user_id", self.user)
        _check_ids("project_id", self.projects, "project")
        _check_ids("agent_id", self.agents)
        _require_sorted("purposes", self.purposes)
        if not (self.projects and self.agents and self.purposes):
            raise InvalidInput("a grant names projects, agents and purposes")

    def is_of(self, envelope: ScopeEnvelope) -> bool:
        """Whether this is the very asker of a request, for this purpose."""
        scope = envelope.scope
        return (
            self.tenant == scope.tenant
            and self.user == scope.user_id
            and (isinstance(self.projects, Every) or scope.project_id in self.projects)
            and scope.agent_id in self.agents
            and envelope.purpose in self.purposes
        )


class Opens(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is open beyond equality, in full: a dimension that is empty here stays closed.

    ``users`` are other users, whose records alone the rest is then about; without them it is about
    the asker's own. ``branches`` and ``baselines`` open as stale. Raises :class:`InvalidInput`.
    """

    users: tuple[str, ...] = ()
    sessions: tuple[Pair, ...] | Every = ()
    workspaces: tuple[str, ...] | Every = ()
    branches: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tool_contexts: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    lineage: bool = False
    state_across_sessions: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.sessions, Every):
            if self.sessions.every != "session":
                raise InvalidInput("sessions may be named, or be every session")
        else:
            for kind, id_ in self.sessions:
                if kind not in ("session", "conversation"):
                    raise InvalidInput("a session is a session or a conversation")
                check_id(f"{kind}_id", id_)
            _require_sorted("sessions", self.sessions)
        _check_ids("user_id", self.users)
        _check_ids("workspace_id", self.workspaces, "workspace", may_lack=True)
        _check_ids("branch", self.branches, may_lack=True)
        _check_ids("baseline", self.baselines, may_lack=True)
        _check_ids("agent_id", self.agents)
        _check_ids("tool_context", self.tool_contexts)
        _check_ids("task_id", self.tasks)

    def session(self, cls: ReadClass) -> bool:
        """Whether the session row is open to a record of this class."""
        if self.state_across_sessions and cls.area == "state":
            return True
        return isinstance(self.sessions, Every) or cls.session in self.sessions

    def workspace(self, cls: ReadClass) -> bool:
        """Whether the workspace row is open to a record of this class."""
        return isinstance(self.workspaces, Every) or cls.workspace_id in self.workspaces


def personal(to: Asker) -> Opens:
    """What the policy ``personal`` opens: every own session and workspace, lineage, the named agents."""
    return Opens(
        sessions=Every(every="session"),
        workspaces=Every(every="workspace"),
        agents=to.agents,
        lineage=True,
    )


def check_kinds(kinds: tuple[Kind, ...], to: Asker, opens: Opens) -> None:
    """Require that what a grant is called and what it opens are the same. Raises :class:`InvalidInput`."""
    _require_sorted("kinds", kinds)
    named, policies = set(kinds), {Kind.PERSONAL, Kind.LINEAGE, Kind.STATE_ACROSS_SESSIONS}
    if not named:
        raise InvalidInput("a grant says what it opens")
    if Kind.PERSONAL in named:
        whole = Opens(
            sessions=Every(every="session"),
            workspaces=Every(every="workspace"),
            agents=to.agents,
            lineage=True,
        )
        if len(named) > 1 or opens != whole:
            raise InvalidInput(
                "a personal policy is every own session and workspace, lineage and the named agents, alone"
            )
        return
    shown = {
        Kind.GROUP_SHARE: bool(opens.users),
        Kind.CROSS_SESSION: bool(opens.sessions),
        Kind.CROSS_WORKSPACE: bool(opens.workspaces),
        Kind.CROSS_AGENT: bool(opens.agents or opens.tool_contexts or opens.tasks),
        Kind.LINEAGE: opens.lineage,
        Kind.STATE_ACROSS_SESSIONS: opens.state_across_sessions,
    }
    for kind, opened in shown.items():
        if opened != (kind in named):
            raise InvalidInput(f"{kind} is opened by its own name and its own values, and by nothing else")
    if Kind.GROUP_SHARE in named and (named & policies or to.user in opens.users):
        raise InvalidInput("group_share is about other users, and carries no policy")
    if isinstance(to.projects, Every) and named - policies:
        raise InvalidInput("only a policy is for every project with itself")


class Grant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A live grant or policy, under its number in the list."""

    number: int
    to: Asker
    opens: Opens


class Allowed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A live entry of the search allowlist: who may search while the gate is not green."""

    number: int
    to: Asker


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Other sessions a request may read from: whose, in which project, and by which grant."""

    user_id: str
    project_id: str
    sessions: tuple[Pair, ...] | Every
    number: int


class Rights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, cache_hash=True):
    """A snapshot of everything the owner's live statements open; without one, :data:`NO_RIGHTS`."""

    grants: tuple[Grant, ...] = ()
    allowlist: tuple[Allowed, ...] = ()

    def applying(self, envelope: ScopeEnvelope) -> tuple[Grant, ...]:
        """The grants whose subject is this very asker, in the order of their numbers."""
        return _applying(self, envelope) if self.grants else ()

    def own(self, envelope: ScopeEnvelope) -> tuple[Opens, ...]:
        """What is open to this asker of the asker's own records."""
        return _own(self, envelope) if self.grants else ()

    def shares(self, envelope: ScopeEnvelope, user_id: str) -> tuple[Opens, ...]:
        """What is open to this asker of another user's records, grant by grant."""
        return tuple(one.opens for one in self.applying(envelope) if user_id in one.opens.users)

    def of_documents(self) -> Rights:
        """The same rights, less all that does not make another session's state document one's own."""
        return _of_documents(self) if self.grants else self

    def of_history(self) -> Rights:
        """The same rights, less all but that memory follows the code's history."""
        return _of_history(self) if self.grants else self

    def sessions_of(self, envelope: ScopeEnvelope) -> tuple[Source, ...]:
        """Which other sessions this request may read from, whatever its other rows then say.

        For the own records: the sessions named, or every one of the project. For another user's: the
        sessions named, and the one that is equal to the asker's own.
        """
        if not self.grants:
            return ()
        scope, found = envelope.scope, list[Source]()
        for one in self.applying(envelope):
            users = one.opens.users or (scope.user_id,)
            sessions = one.opens.sessions
            if not isinstance(sessions, Every):
                equal = {scope.session}
                sessions = tuple(sorted({*sessions} | equal if one.opens.users else {*sessions} - equal))
            if sessions:
                found += [
                    Source(user_id=user, project_id=scope.project_id, sessions=sessions, number=one.number)
                    for user in users
                ]
        return tuple(found)

    def opens_stale(self, envelope: ScopeEnvelope) -> bool:
        """Whether a grant opens another branch or baseline to this request, as stale."""
        applying = self.applying(envelope)
        return bool(applying) and any(one.opens.branches or one.opens.baselines for one in applying)

    def may_search(self, envelope: ScopeEnvelope) -> bool:
        """Whether the owner put this very asker on the search allowlist."""
        return any(one.to.is_of(envelope) for one in self.allowlist)


NO_RIGHTS: Final = Rights()


@lru_cache(maxsize=512)
def _applying(rights: Rights, envelope: ScopeEnvelope) -> tuple[Grant, ...]:
    return tuple(one for one in rights.grants if one.to.is_of(envelope))


@lru_cache(maxsize=512)
def _own(rights: Rights, envelope: ScopeEnvelope) -> tuple[Opens, ...]:
    return tuple(one.opens for one in _applying(rights, envelope) if not one.opens.users)


@lru_cache(maxsize=64)
def _of_documents(rights: Rights) -> Rights:
    across = Opens(state_across_sessions=True)
    kept = (one for one in rights.grants if one.opens.state_across_sessions)
    return Rights(grants=tuple(msgspec.structs.replace(one, opens=across) for one in kept))


@lru_cache(maxsize=64)
def _of_history(rights: Rights) -> Rights:
    history = Opens(lineage=True)
    kept = (one for one in rights.grants if one.opens.lineage)
    return Rights(grants=tuple(msgspec.structs.replace(one, opens=history) for one in kept))


def _check_ids(
    field: str, values: tuple[str, ...] | Every, every: str | None = None, *, may_lack: bool = False
) -> None:
    if isinstance(values, Every):
        if values.every != every:
            raise InvalidInput(f"{field} is named, not every one")
        return
    for value in check_texts(field, values):
        if not (may_lack and value == NOT_APPLICABLE_TEXT):
            check_id(field, value)
    _require_sorted(field, values)


_One = TypeVar("_One", str, Pair)


def _require_sorted(field: str, values: tuple[_One, ...]) -> None:
    """One spelling of a set: sorted, and nothing twice."""
    if any(not one < other for one, other in pairwise(values)):
        raise InvalidInput(f"{field} must be sorted and named once")
