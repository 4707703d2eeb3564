"""Binding: from what the host program knows to an envelope; nothing is guessed, nothing defaulted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from msgspec import UNSET, UnsetType

from nsstore.errors import InvalidInput
from nsstore.scope import (
    NotApplicable,
    Purpose,
    Scope,
    ScopeEnvelope,
    Sensitivity,
    check_choice,
    check_texts,
)

Id = str | UnsetType
IdOrNA = str | NotApplicable


def envelope_of(
    *,
    tenant_id: Id,
    group_id: Id,
    user_id: str,
    project_id: str,
    session_id: Id,
    conversation_id: Id,
    agent_id: str,
    workspace_id: IdOrNA,
    branch: IdOrNA,
    baseline: IdOrNA,
    source_tool: str,
    purpose: Purpose | str,
    tool_context: Id,
    task_id: Id,
    allowed_branches: Iterable[IdOrNA] | UnsetType,
    allowed_baselines: Iterable[IdOrNA] | UnsetType,
    clearance: Sensitivity | str,
    role: Id,
    commit: Id,
    ancestors: Iterable[str] | UnsetType = UNSET,
) -> ScopeEnvelope:
    """The envelope of exactly these values; what is left out is absent, and ``None`` is refused.

    ``allowed_*`` left out is the current one alone. Raises :class:`InvalidInput` naming the field.
    """
    scope = Scope(
        tenant_id=_given("tenant_id", tenant_id),
        group_id=_given("group_id", group_id),
        user_id=user_id,
        project_id=project_id,
        session_id=_given("session_id", session_id),
        conversation_id=_given("conversation_id", conversation_id),
        workspace_id=workspace_id,
        branch=branch,
        baseline=baseline,
        agent_id=agent_id,
        tool_context=_given("tool_context", tool_context),
        task_id=_given("task_id", task_id),
    )
    return ScopeEnvelope(
        scope=scope,
        allowed_branches=_allowed("allowed_branches", allowed_branches, branch),
        allowed_baselines=_allowed("allowed_baselines", allowed_baselines, baseline),
        clearance=check_choice("clearance", Sensitivity, clearance),
        purpose=check_choice("purpose", Purpose, purpose),
        role=_given("role", role),
        source_tool=source_tool,
        commit=_given("commit", commit),
        ancestors=frozenset() if ancestors is UNSET else frozenset(check_texts("ancestors", ancestors)),
    )


def _given(field: str, value: object) -> str | None:
    """Leaving a dimension out and giving ``None`` for it are different things: the second is a mistake."""
    if value is UNSET:
        return None
    if type(value) is not str:
        raise InvalidInput(f"{field} must be text where it is given")
    return value


def _allowed(field: str, values: object, current: IdOrNA) -> tuple[IdOrNA, ...]:
    if values is UNSET:
        return (current,)
    if not isinstance(values, tuple | list | set | frozenset):
        raise InvalidInput(f"{field} must be a list of ids that contains the current one")
    return tuple(cast("Iterable[IdOrNA]", values))
