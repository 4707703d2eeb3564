"""A namespace: the one leaf directory that a scope owns in an area."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal

import msgspec

from nsstore.errors import InvalidInput
from nsstore.scope.envelope import NOT_APPLICABLE_TEXT, NotApplicable, Scope, ScopeEnvelope
from nsstore.scope.ids import check_id

Area = Literal["memory", "state"]

_TENANT: Final = ("tenant", "group")
LEVELS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "memory": (_TENANT, ("user",), ("project",), ("session", "conversation")),
    "state": (_TENANT, ("project",), ("workspace",)),
}


class Namespace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, cache_hash=True):
    """One leaf directory, named by its area and its ordered (dimension, id) pairs.

    Two scopes share a namespace only if every pair is equal; keys are tuples, never joined text.
    The dimensions are the area's :data:`LEVELS`, all of them and in order. Raises
    :class:`InvalidInput` (redline, "Storage namespace isolation").
    """

    area: Area
    dimensions: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        levels = LEVELS.get(self.area)
        if levels is None:
            raise InvalidInput("area must be memory or state")
        if type(self.dimensions) is not tuple or len(self.dimensions) != len(levels):
            raise InvalidInput(f"a namespace in {self.area} has {len(levels)} dimensions")
        for (dimension, value), choices in zip(self.dimensions, levels, strict=True):
            if dimension not in choices:
                raise InvalidInput(f"a namespace in {self.area} has {' or '.join(choices)} here")
            check_dimension(dimension, value)

    @property
    def tenant(self) -> tuple[str, str]:
        return self.dimensions[0]


def check_dimension(dimension: str, value: object) -> str:
    """Return ``value`` only if it is the sealed spelling of a dimension: an id; for a workspace also ``-``.

    Raises :class:`InvalidInput`.
    """
    if dimension == "workspace" and type(value) is str and value == NOT_APPLICABLE_TEXT:
        return value
    return check_id(f"{dimension}_id", value)


@lru_cache(maxsize=1024)
def memory_namespace(scope: Scope) -> Namespace:
    """The namespace of a scope's memory records: tenant, user, project, session."""
    return Namespace(
        area="memory",
        dimensions=(
            scope.tenant,
            ("user", scope.user_id),
            ("project", scope.project_id),
            scope.session,
        ),
    )


@lru_cache(maxsize=1024)
def state_namespace(scope: Scope) -> Namespace:
    """The namespace of a scope's state documents: tenant, project, workspace."""
    return Namespace(
        area="state",
        dimensions=(
            scope.tenant,
            ("project", scope.project_id),
            ("workspace", text_of(scope.workspace_id)),
        ),
    )


def text_of(value: str | NotApplicable) -> str:
    """The sealed spelling of a dimension: the id, or ``-`` for not applicable (never a valid id)."""
    return NOT_APPLICABLE_TEXT if isinstance(value, NotApplicable) else value


@lru_cache(maxsize=1024)
def envelope_fields(envelope: ScopeEnvelope) -> Mapping[str, str | None]:
    """The asker's own scope by field name, in the spelling of a sealed header; not to be changed."""
    scope = envelope.scope
    return {
        "tenant_id": scope.tenant_id,
        "group_id": scope.group_id,
        "user_id": scope.user_id,
        "project_id": scope.project_id,
        "session_id": scope.session_id,
        "conversation_id": scope.conversation_id,
        "workspace_id": text_of(scope.workspace_id),
        "branch": text_of(scope.branch),
        "baseline": text_of(scope.baseline),
        "agent_id": scope.agent_id,
        "tool_context": scope.tool_context,
        "task_id": scope.task_id,
    }
