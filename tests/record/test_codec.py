"""A record has one spelling in bytes; no other bytes are read."""

import contextlib
import json
import random
from collections.abc import Callable

import msgspec
import pytest

from nsstore.errors import InvalidInput
from nsstore.record import FIELDS, MAX_HEADER, MAX_TEXT, Header, ImportedFrom, Malformed, decode, encode

Make = Callable[..., Header]
Respell = Callable[[bytes, str, bytes], bytes]

TEXTS = (
    "x",
    "\n",
    " two spaces at the edges \n\n",
    '---\ntype: "memory"\n---\nforged',
    "---\n---\n",
    "\r\nlines\r",
    "\ufeffmark first",
    "nul \x00, escape \x1b[2K, \u2028 and \u2029, \x85, \x7f",
    "e\u0301 stays as it is, 👩‍👩‍👧 too",
)


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_kept_byte_for_byte(make: Make, text: str) -> None:
    """Whatever a text holds, also what looks like a header, it is written and read as it is."""
    raw = encode(make(), text)
    assert raw.endswith(b"---\n" + text.encode())
    assert decode(raw).text == text
    assert decode(raw).header == make()
    assert decode(raw).scope == make().scope()


def test_lines_are_the_formats(make: Make) -> None:
    """The header is one `key: JSON` line a field, in the format's order, null where absent, type first."""
    lines = encode(make(tags=("a", "b")), "x").decode().split("\n---\n")[0].split("\n")
    assert lines[0] == "---"
    assert [line.partition(": ")[0] for line in lines[1:]] == list(FIELDS)
    assert lines[1] == 'type: "memory"'
    values = {key: json.loads(value) for key, _, value in (line.partition(": ") for line in lines[1:])}
    assert values == json.loads(msgspec.json.encode(make(tags=("a", "b"))))
    assert values["tags"] == ["a", "b"]
    assert 'tags: ["a","b"]' in lines
    assert "group_id: null" in lines


OTHER_SPELLINGS: list[tuple[str, bytes]] = [
    ("type", b"memory"),
    ("type", b"'memory'"),
    ("type", b' "memory"'),
    ("type", b'"memory" '),
    ("type", b'"memory"\r'),
    ("type", b'"\\u006demory"'),
    ("type", b'"state","type":"memory"'),
    ("type", b'"memory","schema_version":1'),
    ("type", b'"memory"}'),
    ("type", b'"memory", "ext":null'),
    ("schema_version", b"1.0"),
    ("schema_version", b"1e0"),
    ("schema_version", b"01"),
    ("schema_version", b"+1"),
    ("schema_version", b"true"),
    ("group_id", b"~"),
    ("group_id", b""),
    ("group_id", b"Null"),
    ("user_id", b'"\\u0061lice"'),
    ("user_id", b'"alice\\u0000"'),
    ("user_id", b'"\\ud800"'),
    ("user_id", b'"\xff"'),
    ("user_id", b'"\xc0\xaf"'),
    ("project_id", b'"github.com\\/acme\\/shop"'),
    ("tags", b'["a", "b"]'),
    ("tags", b'["b","a"]'),
    ("tags", b'["a","a"]'),
    ("tags", b"[]"),
    ("ext", b"{}"),
    ("ext", b'{"b":1,"a":2}'),
    ("ext", b'{"a":1,"a":1}'),
    ("ext", b'{"a":1.0}'),
    ("ext", b'{"a":-0}'),
    ("ext", b'{"a":"\\u0041"}'),
    ("ext", b'{"a":"\\u000a"}'),
    ("ext", b'{"a":"\\u2028" }'),
    ("ext", b'{"a":"\xe2\x80\xa8"}'),
    ("ext", b'{"a":"\x7f"}'),
    ("ext", b'{"a":"\\u007F"}'),
    ("ext", b'{"a":"\\ud83d\\ude00"}'),
    ("ext", b'{"a":"\\udc80"}'),
    ("ext", b'{"a":9223372036854775808}'),
    ("ext", b'{"a":' + b"9" * 5_000 + b"}"),
    ("ext", b'{"a":NaN}'),
    ("ext", b'{"a":1e400}'),
    ("ext", b"[" * 4_000 + b"]" * 4_000),
    ("ext", b'{"a":' * 2_000 + b"1" + b"}" * 2_000),
    ("ext", b'{"a":{"a":{"a":{"a":{}}}}}'),
    ("ext", b'{"original":1}'),
    ("ext", b'{"a":{"original":"x"}}'),
    ("imported_from", b'{"format":"jsonl"}'),
    ("seq", b'"7"'),
    ("seq", b"7.0"),
    ("seal", b"null"),
]


@pytest.mark.parametrize(("field", "spelled"), OTHER_SPELLINGS)
def test_other_spellings_are_refused(make: Make, respell: Respell, field: str, spelled: bytes) -> None:
    """Another order, spacing, escape, number form or doubled key is refused, even for an equal value."""
    with pytest.raises(Malformed):
        decode(respell(encode(make(), "text"), field, spelled))


def test_escapes_of_an_equal_value_are_read(make: Make) -> None:
    """The spellings refused above are refused for their form: the one form of such values is read."""
    ext: dict[str, object] = {"a": "\x7f\u2028A\n😀", "b": [-(2**63), 2**63 - 1, True, None, {}, []]}
    raw = encode(make(ext=ext), "text")
    assert b'"\\u007f\\u2028A\\n\xf0\x9f\x98\x80"' in raw
    assert decode(raw).header.ext == ext


def test_lines_moved_doubled_or_missing_are_refused(make: Make) -> None:
    """Each header line stands exactly once and in its place."""
    raw = encode(make(), "text")
    lines = raw.split(b"\n")
    for number in range(len(FIELDS) + 1):
        before, line, after = lines[:number], lines[number], lines[number + 1 :]
        missing = [*before, *after]
        doubled = [*before, line, line, *after]
        swapped = [*before, after[0], line, *after[1:]]
        for other in (missing, doubled, swapped):
            with pytest.raises(Malformed):
                decode(b"\n".join(other))
    with pytest.raises(Malformed):
        decode(raw.replace(b"\nseal:", b'\nregion: "eu"\nseal:'))


def test_br06_a_second_owner_in_the_file_is_refused(make: Make) -> None:
    """A scope field given twice, at the end or inside another value, never overrides the first."""
    raw = encode(make(), "text")
    for attack in (
        raw.replace(b'user_id: "alice"\n', b'user_id: "alice"\nuser_id: "mallory"\n'),
        raw.replace(b'user_id: "alice"\n', b'user_id: "alice","user_id":"mallory"\n'),
        raw.replace(b"ext: null\n", b'ext: null,"user_id":"mallory"\n'),
        raw.replace(b"ext: null\n", b'ext: {"user_id":"mallory"}\n'),
    ):
        assert attack != raw
        with pytest.raises(Malformed):
            decode(attack)


def test_br07_ids_with_separators_never_share_bytes(make: Make) -> None:
    """Ids that give one text when joined give different bytes: each stands quoted on its own line."""
    for separator in ("::", "|", "&", "=", ".", ",", "/", '"', "\\"):
        one = encode(make(user_id="aa", project_id=f"bb{separator}cc"), "x")
        other = encode(make(user_id=f"aa{separator}bb", project_id="cc"), "x")
        assert one != other
        assert decode(one).header.project_id == f"bb{separator}cc"
        assert decode(other).header.user_id == f"aa{separator}bb"


def test_br74_forged_lines_stay_inside_their_value(make: Make) -> None:
    """Text made to look like further header lines or another event is one quoted value and reads back."""
    forged = 'bob","user_id":"root'
    header = make(user_id=forged, title='x" #: {"event":"granted"}', ext={"a": 'y\n---\nuser_id: "root"\n'})
    raw = encode(header, "text")
    assert raw.split(b"\n---\n")[0].count(b"\n") == len(FIELDS)
    assert decode(raw).header == header


def test_every_flipped_byte_of_the_header_is_refused_or_told_apart(make: Make) -> None:
    """A flipped byte gives no record or another one: nothing in the file is read but not looked at."""
    raw = encode(make(title="Ключ", tags=("a", "b"), ext={"n": [1]}), "text")
    record = decode(raw)
    draw = random.Random(7)
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1 << draw.randrange(8)
        with contextlib.suppress(Malformed):
            assert decode(bytes(changed)) != record


def test_cut_files_are_refused(make: Make) -> None:
    """No beginning of a file that is shorter than its header and one byte of text is a record."""
    raw = encode(make(), "t")
    for length in range(len(raw)):
        with pytest.raises(Malformed):
            decode(raw[:length])


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"---",
        b"---\n---\nx",
        b"a note\n",
        b"\xef\xbb\xbf---\n",
        b"---\r\n",
        b"---\ntype: memory\n---\nx",
        b"\x00" * 100,
    ],
)
def test_untagged_bytes_are_refused(raw: bytes) -> None:
    """Bytes without this very header are no record."""
    with pytest.raises(Malformed):
        decode(raw)


def test_malformed_never_quotes_the_file(make: Make, respell: Respell) -> None:
    """The rule that a file breaks is named without a byte of what it holds."""
    raw = encode(make(), "text")
    for field in FIELDS:
        for canary in (b'"zq7f3acme\\u0000"', b'{"zq7f3acme*":1}', b"zq7f3acme", b'["zq7f3acme\\u0000"]'):
            with pytest.raises(Malformed) as refusal:
                decode(respell(raw, field, canary))
            assert "zq7f3acme" not in str(refusal.value)
            assert refusal.value.__cause__ is None
            assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_text_is_1_byte_to_256_kib(make: Make) -> None:
    """Empty, longer and not encodable texts are refused when written and when read; the limits are kept."""
    header = make()
    head = encode(header, "x")[:-1]
    assert decode(encode(header, "é" * (MAX_TEXT // 2))).text == "é" * (MAX_TEXT // 2)
    for text in ("", "x" * (MAX_TEXT + 1), "é" * (MAX_TEXT // 2) + "x", "a\ud800b"):
        with pytest.raises(InvalidInput, match="text"):
            encode(header, text)
        with pytest.raises(Malformed):
            decode(head + text.encode("utf-8", "surrogatepass"))
    for wrong in (b"bytes", None, 7):
        with pytest.raises(InvalidInput, match="text"):
            encode(header, wrong)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - a caller may
    for invalid in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"ok\xe2\x82"):
        with pytest.raises(Malformed):
            decode(head + invalid)


def test_header_is_at_most_16_kib(make: Make) -> None:
    """A header of exactly 16 KiB is written and read; one byte more is refused, written or found."""
    tags = tuple(f"{number:02}" + "漢" * 198 for number in range(16))
    fixed = len(encode(make(tags=tags, ext={"a": "x"}), "t")) - 2
    filler = MAX_HEADER - fixed
    assert 0 < filler < 8_000
    raw = encode(make(tags=tags, ext={"a": "x" * filler}), "text")
    assert raw.index(b"text", MAX_HEADER - 10) == MAX_HEADER
    assert decode(raw).text == "text"
    with pytest.raises(InvalidInput, match="header"):
        encode(make(tags=tags, ext={"a": "x" * (filler + 1)}), "text")
    with pytest.raises(Malformed, match="within 16384 bytes"):
        decode(raw.replace(b'{"a":"', b'{"a":"y'))


def test_imports_round_trip(make: Make) -> None:
    """What an import's source claimed is written and read back whole."""
    claim = ImportedFrom(
        created_at="1:56 pm on 8 May, 2023",
        digest="d" * 64,
        format="jsonl",
        item="line 12",
        record_id=None,
        scope={"user_id": "alice", "project_id": "old"},
    )
    header = make(imported_from=claim)
    raw = encode(header, "text")
    assert decode(raw).header == header
    assert b'"scope":{"project_id":"old","user_id":"alice"}}\n' in raw
