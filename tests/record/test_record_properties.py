"""Properties over all headers and all bytes: one spelling, read alike by this reader and by YAML's."""

import importlib
import json
import unicodedata
from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from nsstore.errors import InvalidInput
from nsstore.record import FIELDS, Header, ImportedFrom, Malformed, Record, check_ext, decode, encode
from nsstore.scope import Privacy, Sensitivity, check_id, check_label

# Imported by name: PyYAML has no types, and it is an oracle of the tests alone.
yaml: Any = importlib.import_module("yaml")
LOADERS = [yaml.SafeLoader, yaml.CSafeLoader]

NASTY = (
    *(
        "no",
        "007",
        "0x1f",
        "1e3",
        "12:30:45",
        "2026-11-30",
        "~",
        "y",
        "=",
        "<<",
        "- a",
        "a: b",
        "a #b",
        "{a}",
    ),
    *(
        "---",
        "...",
        "'",
        '"',
        "\\",
        "&a",
        "!a",
        "|",
        ">",
        "@",
        "`",
        "x, y",
        'x","user_id":"root',
        "漢字",
        "😀",
    ),
    *("null", "true", ".inf", "[a]", "é" * 200, "%TAG", "\U0001f9ff\u0301"),
)
ANY_TEXT = st.text(max_size=20)  # no surrogates among hypothesis's own characters
HARD_TEXT = st.text(
    st.sampled_from(
        '\x00\x07\t\n\r\x1b"\\/ \x7f\x80\x85\x9f\xa0\xad\u2028\u2029\ufeff\ufffe\uffff\ufdd0\U0001ffff:#-a'
    ),
    max_size=40,
)


def passes(check: Callable[[str, object], str], text: str) -> bool:
    """Whether a rule takes the text."""
    try:
        return check("x", text) == text
    except InvalidInput:
        return False


def accepted(check: Callable[[str, object], str], most: int = 200) -> st.SearchStrategy[str]:
    """Texts that a rule takes: each nasty one, and any others."""
    known = [text for text in NASTY if passes(check, text) and len(text) <= most]
    others = WORDS.filter(lambda text: passes(check, text))
    return st.sampled_from(known) | others


def hexes(digits: int) -> st.SearchStrategy[str]:
    """That many lowercase hex digits."""
    return st.integers(0, 16**digits - 1).map(lambda number: f"{number:0{digits}x}")


def uuid7(number: int) -> str:
    """A record id of the number's digits."""
    digits = f"{number:030x}"
    return f"{digits[:8]}-{digits[8:12]}-7{digits[12:15]}-a{digits[15:18]}-{digits[18:]}"


WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=12).map(
    lambda text: unicodedata.normalize("NFC", text)
)
IDS = accepted(check_id)
LABELS = accepted(check_label)
NAMES = st.sampled_from(["fact", "no", "y", "true", "null", "e3", "a" * 32, "x_1"])
HEX64 = hexes(64)
RECORD_IDS = st.integers(0, 16**30 - 1).map(uuid7)
TIMES = st.datetimes().map(lambda time: time.isoformat(timespec="microseconds") + "Z")
KEYS = st.sampled_from(["a", "b.c", "x-1", "K_9", "-", ".", "..", "no", "007", "a" * 64, "e"])
VALUES: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | ANY_TEXT | HARD_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
EXTS: st.SearchStrategy[dict[str, object]] = st.dictionaries(KEYS, VALUES, min_size=1, max_size=3)


def small_enough(ext: dict[str, object]) -> bool:
    """Whether the ext keeps its bounds of depth and size."""
    try:
        return check_ext(ext) is not None
    except InvalidInput:
        return False


CLAIMS = st.builds(
    ImportedFrom,
    created_at=st.none() | accepted(check_label, 64),
    digest=st.none() | HEX64,
    format=NAMES,
    item=st.none() | LABELS.filter(lambda text: text[0] not in "/\\~"),
    record_id=st.none(),
    scope=st.none() | st.dictionaries(st.sampled_from(["user_id", "branch", "agent_id"]), LABELS, min_size=1),
)


@st.composite
def headers(draw: st.DrawFn) -> Header:
    """Any valid header."""
    tenant, session = draw(IDS), draw(IDS)
    group, conversation, state = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    own_id = draw(RECORD_IDS)
    older = draw(st.sets(RECORD_IDS, max_size=3)) - {own_id}
    tags = draw(st.sets(LABELS, max_size=4))
    return Header(
        type="state" if state else "memory",
        schema_version=1,
        record_id=own_id,
        tenant_id=None if group else tenant,
        group_id=tenant if group else None,
        user_id=draw(IDS),
        project_id=draw(IDS),
        session_id=None if conversation else session,
        conversation_id=session if conversation else None,
        workspace_id=draw(st.just("-") | IDS),
        branch=draw(st.just("-") | IDS),
        baseline=draw(st.just("-") | IDS),
        agent_id=draw(IDS),
        tool_context=draw(st.none() | IDS),
        task_id=draw(st.none() | IDS),
        commit=draw(st.none() | HEX64),
        source_tool=draw(IDS),
        created_at=draw(TIMES),
        sensitivity=draw(st.sampled_from(Sensitivity)),
        retention_class=draw(NAMES),
        expires_at=draw(st.none() | TIMES),
        privacy=draw(st.none() | st.sampled_from(Privacy)),
        kind=draw(st.none() | NAMES),
        title=draw(st.none() | LABELS),
        tags=tuple(sorted(tags)) or None,
        supersedes=tuple(sorted(older)) or None,
        key=draw(LABELS) if state else None,
        idempotency=draw(st.none() | HEX64),
        imported_from=draw(st.none() | CLAIMS),
        ext=draw(st.none() | EXTS.filter(small_enough)),
        seq=draw(st.integers(1, 2**63 - 1)),
        prev=draw(HEX64),
        salt=draw(hexes(32)),
        seal=f"1:{draw(hexes(8))}:{draw(HEX64)}",
    )


@given(header=headers(), text=ANY_TEXT.filter(bool) | HARD_TEXT.filter(bool))
def test_written_is_read_and_spelled_once(header: Header, text: str) -> None:
    """Whatever is written is read back equal, and what was read is written in the same bytes."""
    raw = encode(header, text)
    record = decode(raw)
    assert record == Record(header=header, text=text)
    assert encode(record.header, record.text) == raw
    assert record.scope == header.scope()


@given(header=headers())
def test_yaml_readers_see_the_same_values(header: Header) -> None:
    """PyYAML's two readers take every header as front matter, with JSON's values, types and order."""
    front = encode(header, "text").split(b"\n---\n")[0] + b"\n"
    expected = json.loads(msgspec.json.encode(header))
    for loader in LOADERS:
        found = yaml.load(front, Loader=loader)  # both are safe loaders
        assert found == expected
        assert list(found) == list(FIELDS)
        assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


def test_yaml_readers_see_each_hard_character(make: Callable[..., Header]) -> None:
    """Each character that some YAML reader refuses, folds or drops comes back as itself."""
    codes = [*range(0x180), 0x2028, 0x2029, 0xFEFF, 0xFFFD, 0xFFFE, 0xFFFF, 0x1FFFF, 0x10FFFF]
    for code in codes:
        hard = chr(code)
        ext: dict[str, object] = {
            "a": hard,
            "b": f"x {hard} y",
            "c": [hard * 3 + "z"],
            "d": {"e": f" {hard}"},
        }
        line = next(line for line in encode(make(ext=ext), "text").split(b"\n") if line.startswith(b"ext: "))
        for loader in LOADERS:
            assert yaml.load(line, Loader=loader) == {"ext": ext}, hex(code)


def test_yaml_readers_see_long_lines(make: Callable[..., Header]) -> None:
    """A line as long as a header may be is read by YAML without a break, and so is the longest key."""
    ext: dict[str, object] = {"k" * 64: "word " * 1_200, "note": {"k" * 64: ["x" * 1_500]}}
    front = encode(make(ext=ext), "text").split(b"\n---\n")[0]
    assert all(yaml.load(front, Loader=loader)["ext"] == ext for loader in LOADERS)


@given(header=headers())
def test_a_record_is_an_open_knowledge_format_concept(header: Header) -> None:
    """Front matter is a YAML mapping that begins with a non-empty text `type`; a Markdown body follows."""
    raw = encode(header, "# Body\n").decode()
    opening, front, body = raw.split("---\n", 2)
    assert (opening, body) == ("", "# Body\n")
    meta = yaml.safe_load(front)
    assert next(iter(meta)) == "type"
    assert meta["type"] in {"memory", "state"}
    assert meta["tags"] is None or all(type(tag) is str for tag in meta["tags"])


def read(raw: bytes) -> Record | None:
    """The record that the bytes are, if they are one."""
    try:
        return decode(raw)
    except Malformed:
        return None


@given(raw=st.binary(max_size=200) | st.binary(max_size=200).map(lambda raw: b"---\n" + raw))
def test_any_bytes_are_a_record_or_malformed(raw: bytes) -> None:
    """Arbitrary bytes end as Malformed, never as another error."""
    assert read(raw) is None


@given(
    header=headers(),
    cut=st.tuples(st.integers(0, 1_200), st.integers(0, 12)),
    put=st.binary(max_size=8)
    | st.sampled_from([b"\n", b'"', b',"seq":1', b"null", b"\\u0000", b"{}", b"\xff", b" "]),
)
def test_edited_bytes_are_another_record_or_malformed(
    header: Header, cut: tuple[int, int], put: bytes
) -> None:
    """Whatever is edited, reading gives Malformed or a record that spells exactly the edited bytes."""
    raw = encode(header, "text")
    edited = raw[: cut[0]] + put + raw[cut[0] + cut[1] :]
    found = read(edited)
    assert found is None or encode(found.header, found.text) == edited
