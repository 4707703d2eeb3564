"""Who asks, from where, for what: the values a decision looks at, checked when they are made."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Final, Literal, TypeVar, cast, final

import msgspec

from nsstore.errors import InvalidInput
from nsstore.scope.ids import check_commit, check_id, check_name


@final
class NotApplicable(Enum):
    """The dimension does not apply here: equal only to itself, given explicitly, never a default."""

    # An enum has one instance of each member in a process: calling, copying and pickling find that one.
    NOT_APPLICABLE = "-"

    __hash__ = object.__hash__  # as equality is: by identity, and without a call of its own

    def __repr__(self) -> str:
        return self.name


NOT_APPLICABLE: Final = NotApplicable.NOT_APPLICABLE
NA: Final = NOT_APPLICABLE
NOT_APPLICABLE_TEXT: Final = "-"


class Sensitivity(StrEnum):
    """How far a record may be shown: ``public < internal < confidential < restricted``."""

    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    RESTRICTED = "restricted"

    __hash__ = str.__hash__  # as equality is: by the value, and without a call of its own

    @property
    def rank(self) -> int:
        return _RANKS[self]


_RANKS: Final = {level: rank for rank, level in enumerate(Sensitivity)}


class Privacy(StrEnum):
    """Which projects may ever see a record (Memory Boundary Contract v1, ``FactPrivacy``)."""

    PROJECT_ONLY = "project_only"
    LINKED_PROJECTS = "linked_projects"
    TEAM = "team"

    __hash__ = str.__hash__  # as equality is: by the value, and without a call of its own

    @property
    def rank(self) -> int:
        return _WIDTHS[self]


_WIDTHS: Final = {level: rank for rank, level in enumerate(Privacy)}


class Purpose(StrEnum):
    """What the answer is for; ``report`` never receives stale context."""

    RECALL = "recall"
    REPORT = "report"
    SUMMARIZE = "summarize"
    HANDOFF = "handoff"
    MAINTAIN = "maintain"

    __hash__ = str.__hash__  # as equality is: by the value, and without a call of its own


_Choice = TypeVar("_Choice", bound=StrEnum)


def check_choice(field: str, kind: type[_Choice], value: object) -> _Choice:
    """Return the member ``value`` names exactly; anything else raises :class:`InvalidInput`."""
    if type(value) is kind:
        return value
    if type(value) is str and value in kind.__members__.values():
        return kind(value)
    raise InvalidInput(f"{field} must be one of: {', '.join(kind)}")


def check_id_or_na(field: str, value: object) -> str | NotApplicable:
    """Return a valid id or ``NOT_APPLICABLE`` itself; its text ``-`` is refused as an id."""
    return value if isinstance(value, NotApplicable) else check_id(field, value)


def one_of(first: str, one: object, second: str, other: object) -> None:
    """Require exactly one of the pair to be given, and the given one to be an id."""
    if (one is None) == (other is None):
        raise InvalidInput(f"exactly one of {first} and {second} must be given")
    check_id(first, one) if other is None else check_id(second, other)


class Scope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, cache_hash=True):
    """The dimensions a record belongs to; no value is missing and none is a pattern.

    Exactly one of ``tenant_id``/``group_id`` and one of ``session_id``/``conversation_id`` is an
    id, the other ``None``. ``workspace_id``, ``branch`` and ``baseline`` may be
    ``NOT_APPLICABLE``. Raises :class:`InvalidInput` (redline, "Core Rule").
    """

    tenant_id: str | None
    group_id: str | None
    user_id: str
    project_id: str
    session_id: str | None
    conversation_id: str | None
    workspace_id: str | NotApplicable
    branch: str | NotApplicable
    baseline: str | NotApplicable
    agent_id: str
    tool_context: str | None
    task_id: str | None

    def __post_init__(self) -> None:
        one_of("tenant_id", self.tenant_id, "group_id", self.group_id)
        one_of("session_id", self.session_id, "conversation_id", self.conversation_id)
        check_id("user_id", self.user_id)
        check_id("project_id", self.project_id)
        check_id("agent_id", self.agent_id)
        check_id_or_na("workspace_id", self.workspace_id)
        check_id_or_na("branch", self.branch)
        check_id_or_na("baseline", self.baseline)
        if self.tool_context is not None:
            check_id("tool_context", self.tool_context)
        if self.task_id is not None:
            check_id("task_id", self.task_id)

    @property
    def tenant(self) -> tuple[Literal["tenant", "group"], str]:
        """Which of the two, and its id: a tenant and a group of one name are never equal."""
        if self.tenant_id is not None:
            return ("tenant", self.tenant_id)
        assert self.group_id is not None
        return ("group", self.group_id)

    @property
    def session(self) -> tuple[Literal["session", "conversation"], str]:
        """Which of the two, and its id: a session and a conversation are never equal."""
        if self.session_id is not None:
            return ("session", self.session_id)
        assert self.conversation_id is not None
        return ("conversation", self.conversation_id)


class ScopeEnvelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, cache_hash=True):
    """Who asks, from where, for what: built by the host program, never by a model.

    ``allowed_branches`` and ``allowed_baselines`` always contain the scope's own (current) value;
    what they hold beyond it comes back marked stale. ``clearance`` is the highest sensitivity the
    asker may read or write. ``ancestors`` are the commits that git proved to the host to be ancestors
    of ``commit``; without a signed policy they open nothing. Raises :class:`InvalidInput` (redline,
    "Required Design").
    """

    scope: Scope
    allowed_branches: tuple[str | NotApplicable, ...]
    allowed_baselines: tuple[str | NotApplicable, ...]
    clearance: Sensitivity
    purpose: Purpose
    role: str | None
    source_tool: str
    commit: str | None
    ancestors: frozenset[str]

    def __post_init__(self) -> None:
        # The members themselves: a text that equals one has no rank, so a decision could not compare it.
        if type(self.scope) is not Scope:
            raise InvalidInput("scope must be a Scope")
        if type(self.clearance) is not Sensitivity:
            raise InvalidInput("clearance must be a Sensitivity")
        if type(self.purpose) is not Purpose:
            raise InvalidInput("purpose must be a Purpose")
        check_id("source_tool", self.source_tool)
        if self.role is not None:
            check_name("role", self.role)
        if self.commit is not None:
            check_commit(self.commit)
        check_ancestors(self.ancestors, self.commit)
        check_allowed("allowed_branches", self.allowed_branches, self.scope.branch)
        check_allowed("allowed_baselines", self.allowed_baselines, self.scope.baseline)


def check_ancestors(ancestors: object, commit: str | None) -> None:
    """Require a frozenset of whole commit ids, and the commit that they are ancestors of."""
    if type(ancestors) is not frozenset:
        raise InvalidInput("ancestors must be a set of commits")
    if ancestors and commit is None:
        raise InvalidInput("ancestors are those of a commit: give it too")
    for one in cast("frozenset[object]", ancestors):
        check_commit(one)


def check_allowed(field: str, allowed: tuple[object, ...], current: str | NotApplicable) -> None:
    """Require a tuple of ids that contains the current one, at most 64 of them."""
    if type(allowed) is not tuple or not 1 <= len(allowed) <= 64:
        raise InvalidInput(f"{field} must be a tuple of 1 to 64 ids")
    for value in allowed:
        check_id_or_na(field, value)
    if current not in allowed:
        raise InvalidInput(f"{field} must contain the current one")
