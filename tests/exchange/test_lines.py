"""A line of an import: what it may say, and what it is refused for."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsstore.exchange import lines
from nsstore.exchange.lines import KEYS, MAX_LINE, BadImport, Reader, lines_of
from nsstore.record import FIELDS
from nsstore.writers.note import Note


def refusal(line: dict[str, object] | bytes) -> str:
    """Why a line is refused."""
    raw = line if isinstance(line, bytes) else json.dumps(line).encode()
    with pytest.raises(BadImport) as refused:
        Reader("source").note(raw)
    return str(refused.value)


def test_everything_a_line_may_say_is_taken() -> None:
    """Each known key arrives in the note, and the claims of the source in imported_from."""
    line = {
        "text": "t", "kind": "lesson", "title": "T", "tags": ["b", "a"], "sensitivity": "public",
        "privacy": "project_only", "retention_class": "short", "idempotency_key": "k", "ext": {"n": 1},
        "expires_at": "2099-01-01T00:00:00Z",
        "source": {
            "created_at": "2025-03-01T09:30Z", "record_id": "old", "item": "7", "scope": {"tenant_id": "was"},
            "front_matter": "mood: good\n",
        },
    }  # fmt: skip
    assert set(line) == set(KEYS)
    note = Reader("file").note(json.dumps(line).encode())
    assert (note.text, note.kind, note.title, note.tags) == ("t", "lesson", "T", ("b", "a"))
    assert (note.sensitivity, note.privacy, note.retention_class) == ("public", "project_only", "short")
    assert note.ext == {"n": 1}
    assert note.original == "mood: good\n"
    assert (note.expires_at, note.ttl) == ("2099-01-01T00:00:00Z", None)
    origin = note.imported_from
    assert origin is not None
    assert (origin.created_at, origin.record_id, origin.item, origin.format) == (
        *("2025-03-01T09:30Z", "old", "7", "jsonl"),
    )
    assert origin.scope == {"tenant_id": "was"}
    assert origin.complete


SET_BY_THE_STORE = sorted(set(FIELDS) - set(KEYS) - {"supersedes"})
ALIASES = (
    "tenantId",
    "TENANT-ID",
    "tenant",
    "scope",
    "namespace",
    "id",
    "path",
    "timestamp",
    "seq",
    "tenant_1d",
)


@pytest.mark.parametrize("key", [*SET_BY_THE_STORE, *ALIASES])
def test_a_line_cannot_set_what_is_the_sessions(key: str) -> None:
    """Every header field that is not the caller's, and every alias of one, is refused with the way out."""
    why = refusal({"text": "t", key: "x"})
    assert key in why
    assert "the session's own; a claim of the source goes under source" in why


@pytest.mark.parametrize("value", [None, 1, {"a": 1}, [], ""])
def test_not_even_an_empty_scope_is_taken(value: object) -> None:
    """A scope field is refused whatever its value, null included."""
    assert "tenant_id" in refusal({"text": "t", "tenant_id": value})


def test_nor_under_source_or_ext() -> None:
    """The claims have a closed set of names too, and ext may not name a header field at any depth."""
    assert "session_id" in refusal({"text": "t", "source": {"session_id": "s"}})
    assert "seq" in refusal({"text": "t", "source": {"seq": 1}})
    assert "source.scope" in refusal({"text": "t", "source": {"scope": {"nonsense": "x"}}})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "not JSON"),
        (b"[]", "not an object"),
        (b'"text"', "not an object"),
        (b"{", "not JSON"),
        (b'{"text": "a", "text": "b"}', "twice"),
        (b'{"text": "a", "ext": {"n": 1, "n": 2}}', "twice"),
        (b'{"text": "a", "ext": {"n": NaN}}', "NaN"),
        (b'\xef\xbb\xbf{"text": "a"}', "not JSON"),
        (b'{"text": "\xff"}', "UTF-8"),
        ('{"text": "a"}'.encode("utf-16"), "UTF-8"),
        (b"{}", "no text"),
        (b'{"text": null}', "no text"),
        (b'{"text": 7}', "text must be a text"),
        (b'{"text": "a", "tags": "b"}', "list of texts"),
        (b'{"text": "a", "tags": [1]}', "list of texts"),
        (b'{"text": "a", "source": "s"}', "source must be an object"),
        (b'{"text": "a", "source": {"created_at": 7}}', "source.created_at must be a text"),
        (b'{"text": "a", "source": {"created_at": "last May"}}', "source.created_at must be a date"),
        (b'{"text": "a", "source": {"created_at": "2025"}}', "source.created_at must be a date"),
        (b'{"text": "a", "source": {"created_at": "20250301"}}', "source.created_at must be a date"),
        (b'{"text": "a", "source": {"created_at": "2025-02-30"}}', "source.created_at must be a date"),
        (b'{"text": "a", "source": {"created_at": "2025-W09-6"}}', "source.created_at must be a date"),
        (b'{"text": "a", "source": {"scope": {"who": "x"}}}', "source.scope must be an object of scope"),
        (b'{"text": "a", "source": {"item": "/etc/passwd"}}', "not a path"),
        (b'{"text": "a", "wat": 1}', "known are text"),
        (b'{"text": "a", "supersedes": []}', "supersedes"),
        (b"[" * 100_000, "not JSON"),
        (b'{"text": "a", "ext": {"n": ' + b"1" * 5000 + b"}}", "not JSON"),
    ],
)
def test_what_is_no_line_is_refused(line: bytes, reason: str) -> None:
    """Whatever is not one strict object of known keys is refused, and the reason says why."""
    assert reason in refusal(line)


def test_a_reason_is_one_plain_line() -> None:
    """A key that would move the cursor or fill the screen is escaped and cut in the reason."""
    why = refusal({"text": "t", "\x1b[2J\n" + "k" * 10_000: 1})
    assert "\x1b" not in why
    assert "\n" not in why
    assert len(why) < 300


def test_equal_lines_are_told_apart_by_their_count() -> None:
    """The nth line of some bytes has its own key, the same in every run, and another source has others."""
    raw = b'{"text": "yes"}'
    one, again, other = Reader("a"), Reader("a"), Reader("b")
    first = [one.note(raw).idempotency_key for _ in range(3)]
    assert len(set(first)) == 3
    assert [again.note(raw).idempotency_key for _ in range(3)] == first
    assert other.note(raw).idempotency_key not in first


def test_a_key_of_a_line_is_one_of_its_source() -> None:
    """A line's own key is none that a caller gives, and the same in every run of its source and no other."""
    raw = json.dumps({"text": "t", "idempotency_key": "k"}).encode()
    (key,) = {Reader("a").note(raw).idempotency_key for _ in range(2)}
    assert key is not None
    assert key.startswith("import:")
    assert Reader("b").note(raw).idempotency_key != key
    for other in ("k2", key, "import:k"):
        named = json.dumps({"text": "t", "idempotency_key": other}).encode()
        assert Reader("a").note(named).idempotency_key not in {key, other}
    for odd in ("", "\ud800", "x" * 300):
        assert "idempotency_key" in refusal({"text": "t", "idempotency_key": odd})


def test_a_line_holds_nothing_for_good() -> None:
    """A held class is refused with the way out, the owner's own as well as the one that always is."""
    line = json.dumps({"text": "t", "retention_class": "evidence"}).encode()
    assert Reader("a").note(line).retention_class == "evidence"
    assert "--with-held" in refusal({"text": "t", "retention_class": "legal_hold"})
    with pytest.raises(BadImport, match=r"evidence.*--with-held"):
        Reader("a", held={"evidence"}).note(line)
    kept = Reader("a", held=()).note(json.dumps({"text": "t", "retention_class": "legal_hold"}).encode())
    assert kept.retention_class == "legal_hold"


@given(
    st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")), max_size=8), st.integers(1, 9)
)
@settings(max_examples=60)
def test_lines_come_as_they_are_written(lines: list[bytes], chunk: int) -> None:
    """However the source is cut into reads, each line comes whole and numbered, ended or not."""
    for tail in (b"", b"\n"):
        raw = b"\n".join(lines) + tail
        expected = raw.split(b"\n")
        if not expected[-1]:
            expected.pop()
        source = io.BytesIO(raw)
        found = [(number, line) for number, line, _ in lines_of(lambda _: source.read(chunk))]  # noqa: B023 - called at once
        assert found == list(enumerate(expected, 1))


def test_a_line_that_is_too_long_is_skipped_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line above the limit is never held, is told by its number, and the next one is read."""
    monkeypatch.setattr(lines, "MAX_LINE", 10)
    for chunk in (1, 3, 7, 100):
        source = io.BytesIO(b"1234567890\n12345678901\nx\n" + b"9" * 50)
        found = [(number, line) for number, line, _ in lines_of(lambda _: source.read(chunk))]  # noqa: B023 - called at once
        assert found == [(1, b"1234567890"), (2, None), (3, b"x"), (4, None)]


def test_the_longest_text_fits_into_a_line() -> None:
    """A text of 256 KiB of which every byte is an escape is below the limit of a line."""
    line = json.dumps({"text": "\x01" * (256 * 1024)}).encode()
    assert len(line) < MAX_LINE
    assert len(Reader("s").note(line).text) == 256 * 1024


def test_the_notes_fields_are_all_decided() -> None:
    """Every field of a note is a key of a line or decided here on purpose."""
    decided = {"imported_from", "supersedes", "ttl", "original"}
    assert set(Note.__struct_fields__) - decided == set(KEYS) - {"source"}
