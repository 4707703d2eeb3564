"""What a caller's own metadata may hold, and that no key of it can pass for a header field."""

from collections.abc import Callable

import pytest

from nsstore.errors import InvalidInput
from nsstore.record import FIELDS, Header, Malformed, check_ext, decode, encode
from nsstore.record.ext import LONGEST, OUTSIDE, runs_after

Make = Callable[..., Header]

REQUIRED_BY_REDLINE = (
    *("record_id", "user_id", "tenant_id", "group_id", "session_id", "conversation_id", "project_id"),
    *("workspace_id", "branch", "baseline", "agent_id", "source_tool", "created_at", "schema_version"),
    *("sensitivity", "retention_class"),
)
ALIASES = (
    *("tenant", "user", "group", "project", "session", "conversation", "workspace", "agent", "scope", "path"),
    *("id", "seq", "timestamp", "owner", "namespace", "role", "clearance", "mac", "uid", "thread_id"),
    *("allowed_branches", "current_baseline", "request_user_id", "purpose", "expires"),
)


def nested(levels: int) -> dict[str, object]:
    """Objects inside one another, that many of them."""
    value: dict[str, object] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def disguises(name: str) -> list[object]:
    """Ways to say a header field's name in a key, alone, joined, nested, or in other letters."""
    words = name.split("_")
    return [
        {name: "mallory"},
        {name.upper(): "mallory"},
        {"".join(word.title() for word in words): "mallory"},
        {"-".join(words): "mallory"},
        {".".join(words): "mallory"},
        {f"_{name}_": "mallory"},
        {f"--{name}..": "mallory"},
        {f"a.{name}": "mallory"},
        {f"a.{name}.b": "mallory"},
        {"a": {name: "mallory"}},
        {"a": [{"b": [{name: "mallory"}]}]},
        {words[0]: {"_".join(words[1:]) or "-": "mallory"}},
        {"a." + words[0]: [{"_".join([*words[1:], "-"]) or "-": "mallory"}]},
        {name.replace("o", "0").replace("i", "1").replace("s", "5").replace("l", "I"): "mallory"},
        {name.replace("a", "\u0430").replace("e", "\u0435") + "\u200b": "mallory"},
        {"".join(chr(ord(letter) + 0xFEE0) if letter.isalpha() else letter for letter in name): "mallory"},
        {f"{name}[0]": "mallory"},
        {f"a/{name}": "mallory"},
        {f"a[{name}]": "mallory"},
        {f"{name}\x00": "mallory"},
    ]


@pytest.mark.parametrize("name", sorted({*FIELDS, *ALIASES}))
def test_br06_no_key_reads_as_a_header_field(make: Make, name: str) -> None:
    """A header field's name, or an alias, is refused in every disguise, given or found in a file."""
    for ext in disguises(name):
        with pytest.raises(InvalidInput, match=r"^ext ") as refusal:
            check_ext(ext)
        assert "mallory" not in str(refusal.value)
        with pytest.raises(InvalidInput, match=r"^ext "):
            make(ext=ext)


@pytest.mark.parametrize("name", REQUIRED_BY_REDLINE)
def test_br06_the_refusal_names_the_field(name: str) -> None:
    """The message names the header field that a key would pass for, so that an audit can."""
    with pytest.raises(InvalidInput, match=rf"^ext must not name {name}: it reads as a header field$"):
        check_ext({"note": "x", name.replace("_", "-").title(): "mallory"})


def test_other_names_are_the_callers_own() -> None:
    """A key that only contains a field's letters, or stands beside one in another place, is kept."""
    own: dict[str, object] = {
        "animal": "cat",
        "branching": {"factor": 2},
        "line.number": 7,
        "note": ["user_id", {"text": "tenant_id: evil"}],
        "subject": None,
        "typed": True,
    }
    assert check_ext(own) == own


NO_EXT: list[object] = [
    [],
    "x",
    1,
    (("a", 1),),
    {1: "a"},
    {None: "a"},
    {b"a": "a"},
    {"": "a"},
    {"a b": "a"},
    {"é": "a"},
    {"a" * 65: "a"},
    {"a\n": "a"},
    {"a": 1.0},
    {"a": float("nan")},
    {"a": 2**63},
    {"a": -(2**63) - 1},
    {"a": b"x"},
    {"a": ("x",)},
    {"a": {"x"}},
    {"a": object()},
    {"a": "\ud800"},
    {"a": ["\udfff"]},
    nested(5),
    {"a": [[[[]]]]},
    {"a": "x" * 8_192},
    {"a": "\x7f" * 1_400},
    {f"k{number}": "x" * 100 for number in range(80)},
]


@pytest.mark.parametrize("ext", NO_EXT)
def test_what_is_no_small_json_is_refused(make: Make, ext: object) -> None:
    """Floats, other types, long or odd keys, deep or large content are refused."""
    with pytest.raises(InvalidInput, match="ext"):
        check_ext(ext)
    with pytest.raises(InvalidInput, match="ext"):
        make(ext=ext)


def test_the_limits_themselves_are_kept() -> None:
    """Four levels, 8 KiB as spelled, 64-bit integers and 64 characters of key are kept."""
    for ext in (
        nested(4),
        {"a": [[["x", 1]]]},
        {"a": "x" * (8_192 - len('{"a":""}'))},
        {"a": "\x7f" * ((8_192 - len('{"a":""}')) // 6)},
        {"a": 2**63 - 1, "b": -(2**63), "c": True, "d": None},
        {"k" * 64: "a"},
        {"_": "a", ".": "b", "--": "c"},
    ):
        assert check_ext(ext) == ext


def test_keys_are_written_sorted_at_every_level(make: Make) -> None:
    """Equal content has one order of keys in the file, whatever order it was given in."""
    raw = encode(make(ext=check_ext({"b": {"z": 1, "y": [{"d": 1, "c": 2}]}, "a": 1}, original="x")), "t")
    assert b'\next: {"a":1,"b":{"y":[{"c":2,"d":1}],"z":1},"original":"x"}\n' in raw


def test_nothing_to_keep_is_null(make: Make) -> None:
    """No ext and an empty ext are the same, null; a header never holds an empty one."""
    assert check_ext(None) is None
    assert check_ext({}) is None
    with pytest.raises(InvalidInput, match="ext"):
        make(ext={})


def test_original_is_the_stores(make: Make) -> None:
    """Only the store sets ext.original, as one text; a caller's key of that name is refused in disguise."""
    assert check_ext(None, original="title: x\n") == {"original": "title: x\n"}
    assert check_ext({"z": 1}, original="x") == {"original": "x", "z": 1}
    for ext in ({"original": "x"}, {"Original": "x"}, {"a": {"or": {"iginal": "x"}}}, {"0riginal": "x"}):
        with pytest.raises(InvalidInput, match="original"):
            check_ext(ext)
    with pytest.raises(InvalidInput, match="8192"):
        check_ext(None, original="x" * 8_192)
    with pytest.raises(InvalidInput, match="UTF-8"):
        check_ext(None, original="\ud800")
    raw = encode(make(ext={"original": "user_id: mallory\n"}), "text")
    assert decode(raw).header.ext == {"original": "user_id: mallory\n"}
    assert decode(raw).header.user_id == "alice"
    for wrong in (b'{"original":{"user_id":"x"}}', b'{"original":["x"]}', b'{"a":{"original":"x"}}'):
        with pytest.raises(Malformed, match=r"original|user_id"):
            decode(raw.replace(b'{"original":"user_id: mallory\\n"}', wrong))


def test_a_hostile_ext_costs_little() -> None:
    """However many segments a key has, only as many runs are looked at as the longest name has letters."""
    runs = runs_after(".".join("zq--x" * 12), OUTSIDE)
    assert 1 < len(runs) <= LONGEST + 1 < 30
    assert len(runs_after(".".join("z" * 32), runs)) <= LONGEST + 1
