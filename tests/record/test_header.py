"""What a header refuses, field by field, whether it is made or read."""

from collections.abc import Callable

import msgspec
import pytest

from nsstore.errors import InvalidInput
from nsstore.record import (
    FIELDS,
    SCOPE_FIELDS,
    Header,
    ImportedFrom,
    Malformed,
    decode,
    encode,
    new_record_id,
)
from nsstore.scope import NOT_APPLICABLE, Privacy, Scope, Sensitivity, check_record_id

Make = Callable[..., Header]
Respell = Callable[[bytes, str, bytes], bytes]

OTHER_ID = "01934f2e-8b7a-7c3d-9e21-ffffffffffff"
LATER_ID = "01934f2e-8b7b-7c3d-9e21-000000000000"


class Text(str):
    """A str that is not exactly one."""

    __slots__ = ()


NO_ID: tuple[object, ...] = (
    None,
    "",
    " ",
    "\t",
    [],
    ["a", "b"],
    "*",
    "%",
    "null",
    "None",
    "undefined",
    0,
    False,
    1,
    b"acme",
    "-",
)
NO_ID_OR_DASH = tuple(value for value in NO_ID if value != "-")
NO_OPTIONAL_ID = tuple(value for value in NO_ID if value is not None)
NO_NAME = (None, "", "Fact", "1st", "a-b", "a" * 33, "fact\n", " fact", Text("fact"), 1)
NO_LABEL = ("", " a", "a ", "a\nb", "a\x00", "a\u202eb", "a\ufeff", "e\u0301", "x" * 201, Text("x"), 1)
NO_TIME = (
    None,
    "",
    "2026-11-30T10:44:07Z",
    "2026-11-30T10:44:07.012Z",
    "2026-11-30T10:44:07.0123456Z",
    "2026-11-30T10:44:07.012345",
    "2026-11-30T10:44:07.012345z",
    "2026-11-30T10:44:07.012345+00:00",
    "2026-11-30 10:44:07.012345Z",
    "2026-11-30T10:44:07.012345Z\n",
    "2026-11-31T10:44:07.012345Z",
    "2026-02-29T10:44:07.012345Z",
    "0000-01-01T00:00:00.000000Z",
    "2026-13-01T00:00:00.000000Z",
    "2026-01-01T24:00:00.000000Z",
    "2026-12-31T23:59:60.000000Z",
    "\u0662026-11-30T10:44:07.012345Z",
    Text("2026-11-30T10:44:07.012345Z"),
    1764499447,
)
NO_RECORD_ID = (
    None,
    "",
    OTHER_ID.upper(),
    OTHER_ID + "\n",
    OTHER_ID.replace("-", ""),
    "{" + OTHER_ID + "}",
    "01934f2e-8b7a-4c3d-9e21-ffffffffffff",
    "01934f2e-8b7a-7c3d-7e21-ffffffffffff",
    Text(OTHER_ID),
    1,
)
NO_HEX64 = ("", "0" * 63, "0" * 65, "A" * 64, "0" * 64 + "\n", "g" * 64, Text("0" * 64), 0)

REFUSED: dict[str, tuple[object, ...]] = {
    "type": (None, "", "Memory", "memory\n", "incident", Text("memory"), 1, "state"),
    "schema_version": (None, 0, 2, "1", 1.0, True),
    "record_id": NO_RECORD_ID,
    "tenant_id": NO_ID,
    "group_id": NO_OPTIONAL_ID,
    "user_id": NO_ID,
    "project_id": NO_ID,
    "session_id": NO_ID,
    "conversation_id": NO_OPTIONAL_ID,
    "workspace_id": (*NO_ID_OR_DASH, NOT_APPLICABLE, Text("-")),
    "branch": (*NO_ID_OR_DASH, NOT_APPLICABLE, Text("-")),
    "baseline": (*NO_ID_OR_DASH, NOT_APPLICABLE, Text("-")),
    "agent_id": NO_ID,
    "tool_context": NO_OPTIONAL_ID,
    "task_id": NO_OPTIONAL_ID,
    "commit": ("", "a" * 39, "a" * 41, "A" * 40, "a" * 40 + "\n", "HEAD", 1),
    "source_tool": NO_ID,
    "created_at": NO_TIME,
    "sensitivity": (None, "internal", "secret", 1, Privacy.TEAM),
    "retention_class": NO_NAME,
    "expires_at": tuple(value for value in NO_TIME if value is not None),
    "privacy": ("project_only", "everyone", 0, Sensitivity.PUBLIC),
    "kind": tuple(value for value in NO_NAME if value is not None),
    "title": NO_LABEL,
    "tags": (
        (),
        ["a"],
        ("b", "a"),
        ("a", "a"),
        ("a", 1),
        ("",),
        ("a ",),
        "ab",
        tuple(map(str, range(100, 133))),
    ),
    "supersedes": (
        (),
        [OTHER_ID],
        (LATER_ID, OTHER_ID),
        (OTHER_ID, OTHER_ID),
        ("x",),
        OTHER_ID,
        tuple(f"01934f2e-8b7a-7c3d-9e21-{number:012x}" for number in range(17)),
    ),
    "key": ("plan", "", 1),
    "idempotency": NO_HEX64,
    "imported_from": ({}, {"format": "jsonl"}, "jsonl", 1),
    "ext": ({}, [], "x", 1, [("a", 1)], {"a": 1.0}, {"user_id": "mallory"}),
    "seq": (None, 0, -1, 2**63, "1", 1.0, True),
    "prev": (None, *NO_HEX64),
    "salt": (None, "", "0" * 31, "0" * 33, "A" * 32, "0" * 32 + "\n", Text("0" * 32), 0),
    "seal": (
        None,
        "",
        "2:0123abcd:" + "0" * 64,
        "1:0123abc:" + "0" * 64,
        "1:0123ABCD:" + "0" * 64,
        "1:0123abcd:" + "0" * 63,
        "1:0123abcd:" + "0" * 64 + "\n",
        Text("1:0123abcd:" + "0" * 64),
        1,
    ),
}
# In a file these are the right spelling: there, a list is a tuple's and a text is a member's.
ONLY_THE_TYPE_IS_WRONG = {
    "sensitivity": "internal",
    "privacy": "project_only",
    "tags": ["a"],
    "supersedes": [OTHER_ID],
}
SPELLED = {type(None), bool, int, float, str, list, tuple, dict}
CELLS = [(field, value) for field, values in REFUSED.items() for value in values]


def test_every_field_has_refusals() -> None:
    """The table of refused values has a row for each field, and the fields are the header's."""
    assert tuple(REFUSED) == FIELDS == Header.__struct_fields__
    assert FIELDS[3:15] == SCOPE_FIELDS == Scope.__struct_fields__


@pytest.mark.parametrize(("field", "value"), CELLS)
def test_br09_wrong_values_are_refused_and_named(make: Make, field: str, value: object) -> None:
    """A field of a wrong type, shape or emptiness is refused by a message that names it."""
    partner = {"group_id": "tenant_id", "conversation_id": "session_id"}.get(field)
    with pytest.raises(InvalidInput, match=f"{field}|key") as refusal:
        make(**{field: value} | ({partner: None} if partner else {}))
    assert "key" not in str(refusal.value) or field in {"key", "type", "ext", "seal"}


@pytest.mark.parametrize(("field", "value"), CELLS)
def test_br09_what_cannot_be_made_cannot_be_read(
    make: Make, respell: Respell, field: str, value: object
) -> None:
    """A value that a header refuses when it is made is refused in a file too, however it got there."""
    if type(value) not in SPELLED or ONLY_THE_TYPE_IS_WRONG.get(field) == value:
        return
    partner = {"group_id": "tenant_id", "conversation_id": "session_id"}.get(field)
    raw = respell(encode(make(), "text"), field, msgspec.json.encode(value))
    with pytest.raises(Malformed):
        decode(respell(raw, partner, b"null") if partner else raw)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("commit", "a" * 40),
        ("commit", "0" * 64),
        ("expires_at", "2028-02-29T23:59:59.999999Z"),
        ("created_at", "0001-01-01T00:00:00.000000Z"),
        ("privacy", None),
        ("privacy", Privacy.TEAM),
        ("kind", "fact"),
        ("title", "Ключ: *a* [b] ~ {c} # 'd' \"e\" no 007"),
        ("tags", ("a b", "null", "~")),
        ("tags", tuple(map(str, range(100, 132)))),
        ("supersedes", (OTHER_ID, LATER_ID)),
        ("idempotency", "0" * 64),
        ("workspace_id", "-"),
        ("branch", "-"),
        ("baseline", "-"),
        ("seq", 1),
        ("seq", 2**63 - 1),
        ("ext", {"note": "x"}),
    ],
)
def test_right_values_are_kept(make: Make, field: str, value: object) -> None:
    """A valid value is kept exactly as it was given."""
    assert getattr(make(**{field: value}), field) == value


def test_exactly_one_of_each_pair(make: Make) -> None:
    """A record is a tenant's or a group's, a session's or a conversation's: never both, never neither."""
    for one, other in (("tenant_id", "group_id"), ("session_id", "conversation_id")):
        with pytest.raises(InvalidInput, match=f"exactly one of {one} and {other}"):
            make(**{one: None, other: None})
        with pytest.raises(InvalidInput, match=f"exactly one of {one} and {other}"):
            make(**{one: "x", other: "x"})
        assert getattr(make(**{one: None, other: "x"}), other) == "x"


def test_key_is_the_state_documents(make: Make) -> None:
    """A state record has a key and a memory record has none."""
    assert make(type="state", key="release plan").key == "release plan"
    with pytest.raises(InvalidInput, match="key"):
        make(type="state", key=None)
    with pytest.raises(InvalidInput, match="key must be null in a memory record"):
        make(type="memory", key="release plan")


def test_a_record_cannot_supersede_itself(make: Make) -> None:
    """A record's own id among those it supersedes is refused."""
    with pytest.raises(InvalidInput, match="itself"):
        make(supersedes=(make().record_id,))


def test_a_header_does_not_change(make: Make) -> None:
    """No field can be set after the check, and the ext it holds is not the caller's object."""
    given = {"note": {"deep": ["x"]}}
    header = make(ext=given)
    given["note"]["deep"].append("y")
    assert header.ext == {"note": {"deep": ["x"]}}
    with pytest.raises(AttributeError):
        header.user_id = "mallory"  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue] - the point


def test_unknown_fields_are_refused(make: Make) -> None:
    """No field beyond the 34 exists, so no caller's key can become one."""
    with pytest.raises(msgspec.ValidationError, match="region"):
        msgspec.convert(msgspec.structs.asdict(make()) | {"region": "eu"}, Header)


def test_scope_is_what_the_fields_say(make: Make) -> None:
    """A header's scope holds its twelve scope fields; a sealed - is NOT_APPLICABLE there."""
    header = make(workspace_id="-", branch="-", baseline="-", tool_context="mcp", task_id="T-1")
    scope = header.scope()
    assert (scope.workspace_id, scope.branch, scope.baseline) == (NOT_APPLICABLE,) * 3
    same = set(SCOPE_FIELDS) - {"workspace_id", "branch", "baseline"}
    assert all(getattr(scope, field) == getattr(header, field) for field in same)
    assert make().scope().branch == "feature/pay"


def test_refusals_do_not_repeat_the_value(make: Make) -> None:
    """What was refused never stands in the message: it could be a secret or a forged log line."""
    canary = "zq7f3acme\n"
    for field, values in REFUSED.items():
        value = [canary] if isinstance(values[0], tuple) else canary
        with pytest.raises(InvalidInput) as refusal:
            make(**{field: value})
        assert "zq7f3" not in str(refusal.value)


def test_new_record_ids_are_fresh_and_well_formed() -> None:
    """New ids are lowercase UUIDv7 and do not repeat."""
    ids = [new_record_id() for _ in range(2_000)]
    assert len(set(ids)) == 2_000
    assert all(check_record_id("record_id", one) == one for one in ids)


def claim(**changes: object) -> ImportedFrom:
    """A complete claim of an import's source, changed."""
    whole: dict[str, object] = {
        "created_at": "1:56 pm on 8 May, 2023",
        "digest": "d" * 64,
        "format": "jsonl",
        "item": "line 12",
        "record_id": None,
        "scope": {"project_id": "old", "user_id": "alice"},
    }
    return msgspec.convert(whole | changes, ImportedFrom)


NO_CLAIM: list[tuple[str, tuple[object, ...]]] = [
    ("created_at", ("", "x" * 65, "a\nb")),
    ("digest", NO_HEX64[:-2]),
    ("format", NO_NAME[1:-2]),
    (
        "item",
        ("", "x" * 201, "/etc/passwd", "~/notes", "C:\\notes", "c:/notes", "\\\\host\\x", "file:///x"),
    ),
    ("record_id", ("", "x" * 201, "/x")),
    ("scope", ({}, {"seal": "x"}, {"role": "x"}, {"user_id": ""}, {"user_id": "a\nb"})),
]


@pytest.mark.parametrize(("field", "values"), NO_CLAIM)
def test_claims_of_a_source_are_bounded(field: str, values: tuple[object, ...]) -> None:
    """A claim that is empty, too long, invisible, a host path or no scope field is refused."""
    for value in values:
        with pytest.raises(InvalidInput, match=f"imported_from.{field}"):
            claim(**{field: value})


def test_provenance_is_complete_or_not() -> None:
    """An import is complete with bytes, time and a place in the source, whichever of the two names it."""
    assert claim().complete
    assert claim(item=None, record_id="mem-1").complete
    assert not claim(item=None).complete
    assert not claim(digest=None).complete
    assert not claim(created_at=None).complete


def test_claimed_scope_is_own() -> None:
    """The claimed scope is a copy: what the importer holds can change after the check."""
    given = {"user_id": "alice", "project_id": "old"}
    made = ImportedFrom(created_at=None, digest=None, format="jsonl", item=None, record_id=None, scope=given)
    given["tenant_id"] = "evil"
    assert made.scope == {"project_id": "old", "user_id": "alice"}
