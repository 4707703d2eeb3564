"""The values a decision looks at: what equals what, and what an envelope must state."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import cast

import msgspec
import pytest

from nsstore.errors import InvalidInput
from nsstore.scope import (
    NA,
    NOT_APPLICABLE,
    NotApplicable,
    Privacy,
    Purpose,
    Scope,
    ScopeEnvelope,
    Sensitivity,
    check_choice,
    check_id_or_na,
)

SCOPE = Scope(
    tenant_id="acme",
    group_id=None,
    user_id="alice",
    project_id="app",
    session_id="s1",
    conversation_id=None,
    workspace_id=NA,
    branch="main",
    baseline=NA,
    agent_id="human",
    tool_context=None,
    task_id=None,
)
ENVELOPE = ScopeEnvelope(
    scope=SCOPE,
    allowed_branches=("main", "old"),
    allowed_baselines=(NA,),
    clearance=Sensitivity.INTERNAL,
    purpose=Purpose.RECALL,
    role=None,
    source_tool="cli",
    commit=None,
    ancestors=frozenset(),
)


def with_field(field: str, value: object) -> ScopeEnvelope:
    """The envelope with one field of any type in the place of its own."""
    replace = cast("Callable[..., ScopeEnvelope]", msgspec.structs.replace)
    return replace(ENVELOPE, **{field: value})


def test_ancestors_are_whole_commits_of_a_commit() -> None:
    """They are a set of whole git object ids, and mean nothing without the commit they are ancestors of."""
    head, before = "a" * 40, frozenset({"b" * 40, "c" * 64})
    replace = cast("Callable[..., ScopeEnvelope]", msgspec.structs.replace)
    assert replace(ENVELOPE, commit=head, ancestors=before).ancestors == before
    with pytest.raises(InvalidInput, match="give it too"):
        with_field("ancestors", before)
    for odd in ({"b" * 40}, ("b" * 40,), "b" * 40, None, frozenset({"HEAD"}), frozenset({1})):
        with pytest.raises(InvalidInput):
            replace(ENVELOPE, commit=head, ancestors=odd)


@pytest.mark.parametrize("other", ["-", "", "%n.", "NOT_APPLICABLE", None, False, 0])
def test_not_applicable_equals_only_itself(other: object) -> None:
    """Not applicable is neither its header text nor anything empty."""
    assert other != NA
    assert NA == NOT_APPLICABLE
    assert hash(NA) == hash(NOT_APPLICABLE)


def test_not_applicable_is_one_object() -> None:
    """Copying, pickling and looking it up give the same object, so that equality is identity."""
    copies: list[object] = [
        copy.copy(NA),
        copy.deepcopy(NA),
        pickle.loads(pickle.dumps(NA)),
        NotApplicable("-"),
    ]
    assert all(one is NA for one in copies)
    assert repr(NA) == "NOT_APPLICABLE"


def test_not_applicable_and_its_text() -> None:
    """A dimension takes an id or NOT_APPLICABLE itself; the text '-' is refused as an id."""
    assert check_id_or_na("branch", NA) is NA
    assert check_id_or_na("branch", "main") == "main"
    with pytest.raises(InvalidInput, match="branch must not be '-'"):
        check_id_or_na("branch", "-")


def test_scope_is_a_value() -> None:
    """Equal dimensions make equal, hashable scopes; a changed one makes another; none can be set."""
    assert copy.deepcopy(SCOPE) == SCOPE
    assert hash(copy.deepcopy(SCOPE)) == hash(SCOPE)
    assert pickle.loads(pickle.dumps(SCOPE)) == SCOPE
    assert msgspec.structs.replace(SCOPE, branch=NA) != SCOPE
    with pytest.raises(AttributeError):
        SCOPE.user_id = "bob"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]  # the test is that it fails


def test_replacing_a_dimension_checks_it() -> None:
    """A scope made from another one is checked like a new one."""
    with pytest.raises(InvalidInput, match="user_id"):
        msgspec.structs.replace(SCOPE, user_id="../bob")


@pytest.mark.parametrize(("first", "second"), [("tenant_id", "group_id"), ("session_id", "conversation_id")])
@pytest.mark.parametrize(("one", "other"), [("x", "x"), ("x", "y"), (None, None), ("", ""), ("x", "")])
def test_exactly_one_of_a_pair(first: str, second: str, one: str | None, other: str | None) -> None:
    """Both or neither of a pair are refused, an empty one counts as given, and both fields are named."""
    replace = cast("Callable[..., Scope]", msgspec.structs.replace)
    with pytest.raises(InvalidInput, match=f"exactly one of {first} and {second}"):
        replace(SCOPE, **{first: one, second: other})


def test_pairs_carry_which_of_the_two() -> None:
    """A tenant and a group of one name differ, and so do a session and a conversation."""
    grouped = msgspec.structs.replace(SCOPE, tenant_id=None, group_id="acme")
    talk = msgspec.structs.replace(SCOPE, session_id=None, conversation_id="s1")
    assert (SCOPE.tenant, grouped.tenant) == (("tenant", "acme"), ("group", "acme"))
    assert (SCOPE.session, talk.session) == (("session", "s1"), ("conversation", "s1"))
    assert len({SCOPE, grouped, talk}) == 3


def test_sensitivity_is_ranked() -> None:
    """The order is public, internal, confidential, restricted."""
    assert sorted(Sensitivity, key=lambda level: level.rank) == list(Sensitivity)
    assert [level.rank for level in Sensitivity] == [0, 1, 2, 3]
    assert list(Sensitivity) == ["public", "internal", "confidential", "restricted"]


def test_privacy_is_ranked_by_width() -> None:
    """The order is project only, linked projects, team, as in the boundary contract."""
    assert [(width, width.rank) for width in Privacy] == [
        ("project_only", 0),
        ("linked_projects", 1),
        ("team", 2),
    ]


def test_choice_is_a_member_or_its_exact_text() -> None:
    """A choice is its member or its text, and always comes back as the member."""
    assert check_choice("clearance", Sensitivity, "public") is Sensitivity.PUBLIC
    assert check_choice("clearance", Sensitivity, Sensitivity.PUBLIC) is Sensitivity.PUBLIC


@pytest.mark.parametrize(
    "value", ["Public", "public ", "PUBLIC", "", None, 0, b"public", ["public"], Privacy.TEAM]
)
def test_other_choice_is_refused(value: object) -> None:
    """Another case, type or enumeration is refused, and the message lists the choices."""
    with pytest.raises(
        InvalidInput, match="clearance must be one of: public, internal, confidential, restricted"
    ):
        check_choice("clearance", Sensitivity, value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scope", None),
        ("scope", {"tenant_id": "acme"}),
        ("scope", ENVELOPE),
        ("clearance", "internal"),
        ("clearance", "top"),
        ("clearance", Privacy.TEAM),
        ("purpose", "recall"),
        ("purpose", None),
        ("role", "Admin"),
        ("role", "a b"),
        ("source_tool", None),
        ("commit", "HEAD"),
        ("allowed_branches", ()),
        ("allowed_branches", ["main"]),
        ("allowed_branches", "main"),
        ("allowed_branches", None),
        ("allowed_branches", ("old",)),
        ("allowed_branches", (NA,)),
        ("allowed_branches", ("main", "*")),
        ("allowed_branches", ("main",) * 65),
        ("allowed_baselines", ("-",)),
        ("allowed_baselines", ("v1",)),
    ],
)
def test_envelope_refuses(field: str, value: object) -> None:
    """What is absent, loose, a pattern or without the current value is refused, and the field is named."""
    with pytest.raises(InvalidInput, match=field):
        with_field(field, value)


def test_envelope_takes_what_is_stated() -> None:
    """Several branches, a role and a commit are kept exactly as given."""
    made = with_field("commit", "a" * 40)
    assert (made.commit, made.allowed_branches, made.scope) == ("a" * 40, ("main", "old"), SCOPE)
    assert with_field("role", "reviewer_2").role == "reviewer_2"
    assert len(with_field("allowed_branches", ("main",) * 64).allowed_branches) == 64
