"""A request and a record of one scope, to change one thing of."""

from collections.abc import Callable
from typing import cast

import msgspec
import pytest

from nsstore.policy import Asker
from nsstore.record import Header
from nsstore.scope import Privacy, Purpose, Scope, ScopeEnvelope, Sensitivity

Record = Callable[..., Header]
"""Makes the record of :data:`HEADER` with some things changed."""
Ask = Callable[..., ScopeEnvelope]
"""Makes the request of :data:`SCOPE` with some things changed."""
TO = Asker(
    tenant=("tenant", "acme"),
    user="alice",
    projects=("shop",),
    agents=("claude",),
    purposes=tuple(sorted(Purpose)),
)
"""The asker that the request is, for every purpose."""
COMMIT, HEAD = "a" * 40, "b" * 40
SCOPE = Scope(
    tenant_id="acme",
    group_id=None,
    user_id="alice",
    project_id="shop",
    session_id="s-1",
    conversation_id=None,
    workspace_id="w-1",
    branch="main",
    baseline="v2",
    agent_id="claude",
    tool_context="mcp",
    task_id="T-1",
)
HEADER = Header(
    type="memory",
    schema_version=1,
    record_id="01934f2e-8b7a-7c3d-9e21-0123456789ab",
    tenant_id="acme",
    group_id=None,
    user_id="alice",
    project_id="shop",
    session_id="s-1",
    conversation_id=None,
    workspace_id="w-1",
    branch="main",
    baseline="v2",
    agent_id="claude",
    tool_context="mcp",
    task_id="T-1",
    commit=None,
    source_tool="cli",
    created_at="2026-11-30T10:44:07.012345Z",
    sensitivity=Sensitivity.INTERNAL,
    retention_class="standard",
    expires_at=None,
    privacy=Privacy.PROJECT_ONLY,
    kind=None,
    title=None,
    tags=None,
    supersedes=None,
    key=None,
    idempotency=None,
    imported_from=None,
    ext=None,
    seq=7,
    prev="ab" * 32,
    salt="0f" * 16,
    seal="1:0123abcd:" + "5e" * 32,
)


@pytest.fixture(scope="session")
def record() -> Callable[..., Header]:
    """The header of a record in the scope, with the given fields changed."""

    def change(**changes: object) -> Header:
        return msgspec.structs.replace(HEADER, **changes)

    return change


@pytest.fixture(scope="session")
def ask() -> Callable[..., ScopeEnvelope]:
    """A request from the scope, with the given fields of envelope and scope changed.

    Branches and baselines that are allowed beyond the current one are given as ``also_branches``
    and ``also_baselines``.
    """

    def change(**changes: object) -> ScopeEnvelope:
        own = {field: changes.pop(field) for field in Scope.__struct_fields__ if field in changes}
        scope = msgspec.structs.replace(SCOPE, **own)
        branches = cast("tuple[str, ...]", changes.pop("also_branches", ()))
        baselines = cast("tuple[str, ...]", changes.pop("also_baselines", ()))
        whole = ScopeEnvelope(
            scope=scope,
            allowed_branches=(scope.branch, *branches),
            allowed_baselines=(scope.baseline, *baselines),
            clearance=Sensitivity.INTERNAL,
            purpose=Purpose.RECALL,
            role=None,
            source_tool="cli",
            commit=None,
            ancestors=frozenset(),
        )
        return msgspec.structs.replace(whole, **changes)

    return change
