"""Every dimension refuses what the published bug reports got through (BR-09, 10, 29, 30, 31, 32, 34)."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.errors import InvalidInput
from nsstore.scope import NA, Purpose, Scope, ScopeEnvelope, Sensitivity, check_record_id
from tests.climbing import CLIMBING


class Subclass(str):
    """Equal to a good id, and still not one."""

    __slots__ = ()


class Chosen(StrEnum):
    """A str by another route."""

    ACME = "acme"


BASE: dict[str, object] = {
    "tenant_id": "acme",
    "group_id": None,
    "user_id": "alice",
    "project_id": "app",
    "session_id": "s1",
    "conversation_id": None,
    "workspace_id": NA,
    "branch": "main",
    "baseline": NA,
    "agent_id": "human",
    "tool_context": None,
    "task_id": None,
}
PARTNER = {"tenant_id": "group_id", "group_id": "tenant_id", "session_id": "conversation_id"} | {
    "conversation_id": "session_id"
}
MAY_BE_LEFT_OUT = {"tool_context", "task_id"}

REFUSED: dict[str, list[object]] = {
    "BR-09": ["", " ", "\t", [], ["a", "b"], "*", "%", "null", "None", "undefined", 0, False, 1, b"acme"],
    "BR-09 other types": [
        (),
        {},
        {"acme"},
        1.0,
        True,
        ("acme",),
        bytearray(b"acme"),
        Subclass("acme"),
        Chosen.ACME,
    ],
    "BR-03": ["[ab]", "*", "?", "a*"],
    "BR-29": [*CLIMBING],
    "BR-30": [
        "/etc/passwd",
        "//x",
        "C:\\x",
        "C:x",
        "\\\\srv\\share",
        "~root",
        "$HOME",
        "file:///x",
        "%APPDATA%",
    ],
    "BR-31": ["..\\x", "%2e%2e%2f", "%252e%252e%252f", "a\\..\\b"],
    "BR-32": ["alice ", " alice", "a:b", "alice\u00a0", "\u3000alice"],
    "BR-34": ["a\x00b", "\x00", "\ud800", "a\udcffb", "a" * 255, "a" * 256],
    "invisible": [
        "a\u200bb",
        "a\u202eb",
        "a\u2066b",
        "a\u00adb",
        "\ufeffa",
        "a\u2028b",
        "a\u115fb",
        "a\u2800b",
    ],
    "not a character": ["a\ue000", "a\uffff", "a\ufdd0", "a\u0378", "\U0010ffff", "a\x7f", "a\x9b"],
    "not NFC": ["e\u0301", "\u212b", "\u1100\u1161", "\u0344"],
    "stands for nothing": ["-", "--", "_", "NONE", "nil", "NaN", "Null"],
}


def build(field: str, value: object) -> object:
    """The value in its dimension, everything else in order."""
    scope = cast("Callable[..., Scope]", Scope)
    changed = BASE | {field: value}
    if field in PARTNER:
        changed[PARTNER[field]] = None
    return scope(**changed)


@pytest.mark.parametrize("field", list(BASE))
@pytest.mark.parametrize("case", list(REFUSED))
def test_dimension_refuses(field: str, case: str) -> None:
    """In this dimension each value of the case is refused, by a message that begins with the field."""
    for value in REFUSED[case]:
        with pytest.raises(InvalidInput) as refusal:
            build(field, value)
        assert str(refusal.value).startswith(f"{field} "), repr(value)


@pytest.mark.parametrize("case", list(REFUSED))
def test_record_id_refuses(case: str) -> None:
    """A record id refuses the same values."""
    for value in REFUSED[case]:
        with pytest.raises(InvalidInput, match="record_id must be"):
            check_record_id("record_id", value)


@pytest.mark.parametrize("case", list(REFUSED))
def test_envelope_refuses(case: str) -> None:
    """The envelope's own texts and lists refuse the same values."""
    envelope = cast("Callable[..., ScopeEnvelope]", ScopeEnvelope)
    scope = build("branch", "main")
    good: dict[str, object] = {
        "scope": scope,
        "allowed_branches": ("main",),
        "allowed_baselines": (NA,),
        "clearance": Sensitivity.INTERNAL,
        "purpose": Purpose.RECALL,
        "role": None,
        "source_tool": "cli",
        "commit": None,
        "ancestors": frozenset[str](),
    }
    assert envelope(**good).scope is scope
    for value in REFUSED[case]:
        for changed in (
            {"source_tool": value},
            {"commit": value},
            {"allowed_branches": ("main", value)},
            {"allowed_baselines": (NA, value)},
            {"allowed_branches": value},
        ):
            with pytest.raises(InvalidInput) as refusal:
                envelope(**good | changed)
            assert str(refusal.value).startswith(f"{next(iter(changed))} "), repr(value)


@pytest.mark.parametrize("field", sorted(set(BASE) - MAY_BE_LEFT_OUT))
def test_none_is_no_dimension(field: str) -> None:
    """``None`` is refused in every dimension that every record has (BR-09)."""
    with pytest.raises(InvalidInput):
        build(field, None)


@pytest.mark.parametrize("field", ["tenant_id", "user_id", "project_id", "session_id", "agent_id", "task_id"])
def test_not_applicable_is_no_identity(field: str) -> None:
    """Only workspace, branch and baseline may be not applicable; nobody is."""
    with pytest.raises(InvalidInput, match=field):
        build(field, NA)


@pytest.mark.parametrize("field", list(BASE))
def test_no_dimension_has_a_default(field: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A dimension that is left out stays out, whatever environment and directory say (BR-10)."""
    for name in ("USER", "LOGNAME", "TENANT", "NSSTORE_TENANT_ID", field.upper(), f"NSSTORE_{field.upper()}"):
        monkeypatch.setenv(name, "root")
    monkeypatch.chdir(tmp_path)
    scope = cast("Callable[..., Scope]", Scope)
    with pytest.raises(TypeError, match=field):
        scope(**{name: value for name, value in BASE.items() if name != field})
    assert os.listdir(tmp_path) == []


def test_fields_are_required() -> None:
    """No field of scope or envelope carries a default value (BR-10)."""
    for kind in (Scope, ScopeEnvelope):
        assert all(field.required for field in msgspec.structs.fields(kind))


def test_unknown_dimension_is_refused() -> None:
    """A misspelt or additional dimension is an error, not a filter that is dropped (BR-13)."""
    scope = cast("Callable[..., Scope]", Scope)
    for extra in ("region", "projct_id", "tenant"):
        with pytest.raises(TypeError, match=extra):
            scope(**BASE | {extra: "eu"})


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=210),
    st.binary(max_size=8),
    st.lists(st.text(max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.just(NA),
)


@given(st.fixed_dictionaries(dict.fromkeys(BASE, anything)))
def test_any_values_make_a_scope_or_a_refusal(values: dict[str, object]) -> None:
    """Whatever the twelve values are, the answer is a scope or InvalidInput, never another error."""
    scope = cast("Callable[..., Scope]", Scope)
    try:
        made = scope(**values)
    except InvalidInput:
        return
    assert msgspec.structs.asdict(made) == values
