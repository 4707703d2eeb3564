"""The one leaf directory that a scope owns, as a key of pairs and never as joined text."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import msgspec
import pytest

from nsstore.errors import InvalidInput
from nsstore.scope import (
    LEVELS,
    NA,
    Namespace,
    Scope,
    check_dimension,
    memory_namespace,
    state_namespace,
    text_of,
)

SCOPE = Scope(
    tenant_id="acme",
    group_id=None,
    user_id="alice",
    project_id="app",
    session_id="s1",
    conversation_id=None,
    workspace_id="w1",
    branch="main",
    baseline="v1",
    agent_id="human",
    tool_context=None,
    task_id=None,
)
MEMORY = (("tenant", "acme"), ("user", "alice"), ("project", "app"), ("session", "s1"))
STATE = (("tenant", "acme"), ("project", "app"), ("workspace", "w1"))


def test_namespaces_of_a_scope() -> None:
    """Memory is keyed by tenant, user, project, session; state by tenant, project, workspace."""
    assert memory_namespace(SCOPE) == Namespace(area="memory", dimensions=MEMORY)
    assert state_namespace(SCOPE) == Namespace(area="state", dimensions=STATE)
    assert memory_namespace(SCOPE).tenant == ("tenant", "acme")


def test_pairs_that_never_meet() -> None:
    """A group or conversation of the same name is another namespace (DESIGN, "Ids and paths")."""
    grouped = msgspec.structs.replace(SCOPE, tenant_id=None, group_id="acme")
    talk = msgspec.structs.replace(SCOPE, session_id=None, conversation_id="s1")
    assert len({memory_namespace(SCOPE), memory_namespace(grouped), memory_namespace(talk)}) == 3
    assert state_namespace(SCOPE) != state_namespace(grouped)


def test_workspace_not_applicable_is_sealed_as_a_dash() -> None:
    """Not applicable is spelled '-' in the key of a state namespace, which no id can be."""
    nowhere = msgspec.structs.replace(SCOPE, workspace_id=NA)
    assert state_namespace(nowhere).dimensions[-1] == ("workspace", "-")
    assert (text_of(NA), text_of("w1")) == ("-", "w1")
    assert check_dimension("workspace", "-") == "-"


class Subclass(str):
    """Equal to the dash, and still not it."""

    __slots__ = ()


@pytest.mark.parametrize("value", [Subclass("-"), Subclass("w1"), NA, None, "", "--"])
def test_workspace_takes_an_id_or_the_dash(value: object) -> None:
    """In its sealed spelling a workspace is an exact str, and nothing else stands for not applicable."""
    with pytest.raises(InvalidInput, match="workspace_id"):
        check_dimension("workspace", value)


@pytest.mark.parametrize("dimension", ["tenant", "group", "user", "project", "session", "conversation"])
def test_dash_is_a_workspace_only(dimension: str) -> None:
    """In every other dimension of a path '-' is refused."""
    with pytest.raises(InvalidInput, match=f"{dimension}_id must not be '-'"):
        check_dimension(dimension, "-")


@pytest.mark.parametrize("separator", [":", "|", "&", "=", ".", ",", "/", "-", "_", " "])
def test_no_separator_joins_two_dimensions(separator: str) -> None:
    """Ids that read alike once joined make different keys and hashes (BR-05)."""
    left = msgspec.structs.replace(SCOPE, project_id=f"aa{separator}bb", session_id="cc")
    right = msgspec.structs.replace(SCOPE, project_id="aa", session_id=f"bb{separator}cc")
    assert memory_namespace(left) != memory_namespace(right)
    assert len({memory_namespace(left): 1, memory_namespace(right): 2}) == 2


@pytest.mark.parametrize(
    ("area", "dimensions"),
    [
        ("memory", STATE),
        ("state", MEMORY),
        ("audit", MEMORY),
        ("memory", ()),
        ("memory", MEMORY[:3]),
        ("memory", (*MEMORY, ("agent", "human"))),
        ("memory", MEMORY[::-1]),
        ("memory", list(MEMORY)),
        ("memory", (*MEMORY[:3], ("session", ""))),
        ("memory", (*MEMORY[:3], ("session", "*"))),
        ("memory", (*MEMORY[:3], ("session", "-"))),
        ("memory", (("tenant", "../x"), *MEMORY[1:])),
        ("memory", (("tenant", None), *MEMORY[1:])),
        ("state", (*STATE[:2], ("workspace", NA))),
        ("state", (*STATE[:2], ("workspace", ".."))),
    ],
)
def test_namespace_is_whole_or_refused(area: str, dimensions: object) -> None:
    """A missing, extra, misplaced or invalid dimension never becomes a shorter prefix (BR-01, BR-09)."""
    namespace = cast("Callable[..., Namespace]", Namespace)
    with pytest.raises(InvalidInput):
        namespace(area=area, dimensions=dimensions)


def test_levels_are_the_redline() -> None:
    """Both areas have the levels of the redline, in its order."""
    assert [choices[0] for choices in LEVELS["memory"]] == ["tenant", "user", "project", "session"]
    assert [choices[0] for choices in LEVELS["state"]] == ["tenant", "project", "workspace"]
