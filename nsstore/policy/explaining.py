"""Why a request may or may not read: dimension by dimension, for the owner and for the asker's own rights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from nsstore.policy.readability import ReadClass
from nsstore.policy.rights import Every, Grant, Opens, Rights
from nsstore.scope import ScopeEnvelope, text_of

NEVER: Final = "nothing opens this"
COMMANDS: Final = {
    "tenant": NEVER,
    "user": "nsstore owner grant group_share --open-user ID",
    "project": NEVER,
    "session": "nsstore owner grant cross_session --open-session ID",
    "workspace": "nsstore owner grant cross_workspace --open-workspace ID",
    "branch": "nsstore owner grant lineage",
    "baseline": "nsstore owner grant lineage",
    "agent": "nsstore owner grant cross_agent --open-agent ID",
    "tool_context": "nsstore owner grant cross_agent --open-tool-context ID",
    "task": "nsstore owner grant cross_agent --open-task ID",
}
"""The dimensions of a decision in their order, with the command that opens each."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One dimension: the value of the request or of the record, and by which grants it is open.

    ``how`` is ``equal`` (its own value alone) or ``granted``; of a record also ``allowed``, as stale, by
    the request itself, and ``closed``. ``command`` is what would open it.
    """

    dimension: str
    value: str | None
    how: str
    opened: tuple[tuple[int, str], ...] = ()
    command: str | None = None


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """Who may read a record: by its own scope (``number`` is ``None``), or by a grant.

    ``equal`` are the dimensions in which the reader has to be of the record's own scope.
    """

    number: int | None
    user: str
    agents: tuple[str, ...]
    purposes: tuple[str, ...]
    equal: tuple[str, ...]


def explain(envelope: ScopeEnvelope, rights: Rights) -> tuple[Row, ...]:
    """For each dimension of a request: its own value, and what this very asker's grants open beyond it."""
    own, applying = _own(envelope), rights.applying(envelope)
    rows: list[Row] = []
    for dimension, command in COMMANDS.items():
        opened = tuple((one.number, words) for one in applying if (words := _words(one.opens, dimension)))
        rows.append(
            Row(
                dimension=dimension,
                value=own[dimension],
                how="granted" if opened else "equal",
                opened=opened,
                command=None if opened else command,
            )
        )
    return tuple(rows)


def explain_class(envelope: ScopeEnvelope, cls: ReadClass, rights: Rights) -> tuple[Row, ...]:
    """For each dimension of a record: equal to the request's, opened by which grants, or closed."""
    own, theirs = _own(envelope), _of_class(cls)
    foreign = cls.user_id != envelope.scope.user_id
    grants = [
        one
        for one in rights.applying(envelope)
        if (cls.user_id in one.opens.users if foreign else not one.opens.users)
    ]
    past = cls.commit is not None and (cls.commit == envelope.commit or cls.commit in envelope.ancestors)
    beside = {
        "branch": tuple(map(text_of, envelope.allowed_branches)),
        "baseline": tuple(map(text_of, envelope.allowed_baselines)),
    }
    rows: list[Row] = []
    for dimension, command in COMMANDS.items():
        opened = tuple(
            (one.number, words)
            for one in grants
            if _is_open(one.opens, cls, dimension, history=past) and (words := _words(one.opens, dimension))
        )
        unbound = dimension in ("tool_context", "task") and theirs[dimension] is None
        equal = unbound or theirs[dimension] == own[dimension]
        stale = not foreign and theirs[dimension] in beside.get(dimension, ())
        how = "equal" if equal else "granted" if opened else "allowed" if stale else "closed"
        rows.append(
            Row(
                dimension=dimension,
                value=theirs[dimension],
                how=how,
                opened=opened if how == "granted" else (),
                command=command if how == "closed" else None,
            )
        )
    return tuple(rows)


def readers(cls: ReadClass, rights: Rights) -> tuple[Reader, ...]:
    """Who may read a record: its own scope first, then each live grant that opens a part of the way to it."""
    found = [
        Reader(number=None, user=cls.user_id, agents=(cls.agent_id,), purposes=(), equal=tuple(COMMANDS))
    ]
    for one in rights.grants:
        if not _concerns(one, cls):
            continue
        past = cls.commit is not None
        opened = {name for name in COMMANDS if _is_open(one.opens, cls, name, history=past)}
        agents = one.to.agents if "agent" in opened else tuple({*one.to.agents} & {cls.agent_id})
        if opened and agents:
            found.append(
                Reader(
                    number=one.number,
                    user=one.to.user,
                    agents=agents,
                    purposes=one.to.purposes,
                    equal=tuple(one for one in COMMANDS if one not in opened),
                )
            )
    return tuple(found)


def _concerns(grant: Grant, cls: ReadClass) -> bool:
    to = grant.to
    tenant = ("tenant", cls.tenant_id) if cls.tenant_id is not None else ("group", cls.group_id)
    whose = cls.user_id in grant.opens.users if grant.opens.users else cls.user_id == to.user
    return to.tenant == tenant and whose and (isinstance(to.projects, Every) or cls.project_id in to.projects)


def _own(envelope: ScopeEnvelope) -> dict[str, str | None]:
    scope = envelope.scope
    return {
        "tenant": "=".join(scope.tenant),
        "user": scope.user_id,
        "project": scope.project_id,
        "session": "=".join(scope.session),
        "workspace": text_of(scope.workspace_id),
        "branch": text_of(scope.branch),
        "baseline": text_of(scope.baseline),
        "agent": scope.agent_id,
        "tool_context": scope.tool_context,
        "task": scope.task_id,
    }


def _of_class(cls: ReadClass) -> dict[str, str | None]:
    return {
        "tenant": f"tenant={cls.tenant_id}" if cls.tenant_id is not None else f"group={cls.group_id}",
        "user": cls.user_id,
        "project": cls.project_id,
        "session": "=".join(cls.session),
        "workspace": cls.workspace_id,
        "branch": cls.branch,
        "baseline": cls.baseline,
        "agent": cls.agent_id,
        "tool_context": cls.tool_context,
        "task": cls.task_id,
    }


def _words(opens: Opens, dimension: str) -> str:
    """What a grant opens of a dimension, in words; empty for nothing."""
    if dimension == "session":
        pairs = opens.sessions
        named = "every one of the project" if isinstance(pairs, Every) else _listed(map("=".join, pairs))
        across = "every one, for state documents" if opens.state_across_sessions else ""
        return "; ".join(filter(None, (named, across)))
    if dimension == "workspace":
        spaces = opens.workspaces
        return "every one of the project" if isinstance(spaces, Every) else _listed(spaces)
    if dimension in ("branch", "baseline"):
        named = _listed(opens.branches if dimension == "branch" else opens.baselines)
        history = "where the record's commit is a proven ancestor" if opens.lineage else ""
        return "; ".join(filter(None, (named and f"{named}, as stale", history)))
    values = {
        "user": opens.users,
        "agent": opens.agents,
        "tool_context": opens.tool_contexts,
        "task": opens.tasks,
    }
    return _listed(values.get(dimension, ()))


def _listed(values: Iterable[str]) -> str:
    return ", ".join(values)


def _is_open(opens: Opens, cls: ReadClass, dimension: str, *, history: bool) -> bool:
    """Whether a grant opens this dimension to a record; ``history`` says that its commit is an ancestor."""
    history = history and opens.lineage
    return {
        "user": cls.user_id in opens.users,
        "session": opens.session(cls),
        "workspace": opens.workspace(cls),
        "branch": history or cls.branch in opens.branches,
        "baseline": history or cls.baseline in opens.baselines,
        "agent": cls.agent_id in opens.agents,
        "tool_context": cls.tool_context in opens.tool_contexts,
        "task": cls.task_id in opens.tasks,
    }.get(dimension, False)
