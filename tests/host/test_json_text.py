"""A value is put into somebody's JSON and taken out again without another byte changing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.host.edits import Change, JsonEdit
from nsstore.host.json_text import NotFitting, put, value_at

SERVER: dict[str, Any] = {"command": "/x/nsstore", "args": ["mcp"], "env": {}}
HOOK: dict[str, Any] = {"hooks": [{"type": "command", "command": "nsstore hook claude-code start"}]}
WHOLE = JsonEdit(
    path="/x",
    what="it",
    by_hand="",
    changes=(
        Change(keys=("mcpServers", "nsstore"), value=SERVER),
        Change(keys=("hooks", "SessionStart"), value=HOOK, element=True),
    ),
)
TEXTS = [
    "{}",
    "{ }\n",
    '{"a":1}',
    '{\n  "a": 1.0,\n  "b": 1e400\n}\n',
    '{\n\t"mcpServers": {\n\t\t"other": {"command": "x"}\n\t},\n\t"z": "\\u00e9é"\n}',
    '{"hooks": {"SessionStart": [{"hooks": []}], "Stop": []}, "mcpServers": {}}',
    '{\r\n    "hooks": {\r\n        "SessionStart": []\r\n    }\r\n}\r\n',
    '\ufeff{"big": 123456789012345678901234567890}',
    '{"a": {"mcpServers": {"nsstore": 1}}, "a": 2}',
]


def modelled(old: str) -> dict[str, Any]:
    """What the file should say, done to its value instead of its text."""
    value: dict[str, Any] = json.loads(old.removeprefix("\ufeff"))
    value.setdefault("mcpServers", {})["nsstore"] = SERVER
    value.setdefault("hooks", {}).setdefault("SessionStart", []).append(HOOK)
    return value


@pytest.mark.parametrize("old", TEXTS)
def test_all_else_stays(old: str) -> None:
    """The file says what it should, every other byte is there, and taken out it says what it said."""
    raw = old.encode()
    new = WHOLE.made(raw)
    assert json.loads(new.decode().removeprefix("\ufeff")) == modelled(old)
    rest = iter(new)
    assert all(any(byte == there for there in rest) for byte in raw.rstrip(b"}] \r\n"))
    assert json.loads(WHOLE.unmade(new, raw).decode().removeprefix("\ufeff")) == json.loads(
        old.removeprefix("\ufeff")
    )
    assert WHOLE.made(new) == new


def test_it_is_laid_out_as_its_neighbours() -> None:
    """In an indented file the new value has an indentation that fits, in a file on one line it has none."""
    assert put('{\n  "a": 1\n}', ["b"], {"c": [1]}, element=False) == (
        '{\n  "a": 1,\n  "b": {\n    "c": [\n      1\n    ]\n  }\n}'
    )
    assert put('{"a":1}', ["b"], {"c": 2}, element=False) == '{"a":1, "b": {"c": 2}}'.replace(", ", ", ", 1)
    assert put("{}", ["a", "b"], 1, element=False) == '{\n  "a": {\n    "b": 1\n  }\n}'


@pytest.mark.parametrize("old", TEXTS)
def test_others_may_write_in_between(old: str) -> None:
    """After somebody wrote the file anew, only what was added is taken out."""
    value = json.loads(WHOLE.made(old.encode()).decode().removeprefix("\ufeff"))
    value["later"] = {"x": 1}
    value["mcpServers"]["theirs"] = {"command": "y"}
    back = json.loads(WHOLE.unmade(json.dumps(value, indent=4).encode(), old.encode()))
    expected: dict[str, Any] = json.loads(old.removeprefix("\ufeff"))
    expected["later"] = {"x": 1}
    expected.setdefault("mcpServers", {})["theirs"] = {"command": "y"}
    assert back == expected


@pytest.mark.parametrize(
    "old",
    [
        "", "[]", "1", "{", '{"a" 1}', '{"a": 1 "b": 2}', "{'a': 1}", '{"a": 1} x', "// note\n{}",
        '{"mcpServers": []}',
        '{"mcpServers": null}', '{"mcpServers": {"nsstore": {}}}', '{"mcpServers": {}, "mcpServers": {}}',
    ],
)  # fmt: skip
def test_what_leaves_no_place_is_refused(old: str) -> None:
    """No JSON, no object on the way, another value there already, a name that stands twice."""
    with pytest.raises(NotFitting):
        put(old, ["mcpServers", "nsstore"], SERVER, element=False)


def test_too_deep_is_refused() -> None:
    """What is nested beyond reason is refused, and crashes nothing."""
    with pytest.raises(NotFitting):
        put('{"a": ' + "[" * 99_999, ["b"], 1, element=False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.sampled_from([None, 1, 2, "\t"]))
def test_any_object_takes_a_member(value: dict[str, Any], indent: int | str | None) -> None:
    """Whatever an object holds and however it is laid out, a new member comes and all else stays."""
    text = json.dumps(value, indent=indent)
    key = "new" * 3
    new = put(text, [key, "x"], [1], element=False)
    assert json.loads(new) == {**value, key: {"x": [1]}}
    assert value_at(new, [key]) == {"x": [1]}
    edit = JsonEdit(path="/x", what="it", by_hand="", changes=(Change(keys=(key, "x"), value=[1]),))
    assert json.loads(edit.unmade(new.encode(), text.encode())) == value
