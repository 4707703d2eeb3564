"""One file as a note: its bytes as text, its front matter as claims."""

import contextlib
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nsstore.exchange import foreign
from nsstore.exchange.claims import named_item
from nsstore.exchange.decoding import ENCODINGS, Unreadable, decoded
from nsstore.exchange.markdown import MAX_FILE, declares_bundle, note_of
from nsstore.record import MAX_TEXT, check_ext, check_text
from nsstore.record.imported import ImportedFrom
from nsstore.scope import check_label, check_name
from nsstore.writers.note import Note


def note(raw: bytes | str, path: str = "Notes/My note.md", encoding: str | None = None) -> Note:
    """The note of a file that is one."""
    made = note_of(raw.encode() if isinstance(raw, str) else raw, path, f"vault/{path}", encoding)
    assert made is not None
    return made.note


def not_taken(raw: str) -> list[tuple[str, str]]:
    """What a file says that its record does not: each field, and why."""
    made = note_of(raw.encode(), "a.md", "vault/a.md", None)
    assert made is not None
    return [(one.field, one.reason) for one in made.not_taken]


def refusal(raw: bytes, encoding: str | None = None) -> str:
    """Why a file is refused."""
    with pytest.raises(Unreadable) as refused:
        note(raw, encoding=encoding)
    return str(refused.value)


def origin(one: Note) -> ImportedFrom:
    """What a note says of its source."""
    assert one.imported_from is not None
    return one.imported_from


def test_a_plain_file_is_its_text() -> None:
    """Without front matter the whole file is the text, and its name the title."""
    one = note("# Heading\r\n\r\nText\r\n")
    assert (one.text, one.title, one.kind, one.tags, one.original) == (
        *("# Heading\r\n\r\nText\r\n", "My note", None, (), None),
    )
    assert (origin(one).item, origin(one).format, origin(one).created_at) == (
        *("vault/Notes/My note.md", "markdown", None),
    )


def test_a_note_of_basic_memory() -> None:
    """Title, type, tags, time and permalink are taken; the front matter is kept whole beside the text."""
    front = (
        "title: Coffee\ntype: note\ntags: [coffee, brewing]\npermalink: coffee/brewing\ncreated: 2025-03-01\n"
    )
    one = note(f"---\n{front}---\n\n# Coffee\n")
    assert (one.text, one.title, one.kind, one.tags, one.original) == (
        *("\n# Coffee\n", "Coffee", "note", ("coffee", "brewing"), front),
    )
    assert (origin(one).record_id, origin(one).created_at) == ("coffee/brewing", "2025-03-01")


def test_a_concept_of_another_producer() -> None:
    """A type of several words is a kind in small letters, and the time is that of its content."""
    one = note("---\ntype: BigQuery Table\ngenerated: { by: x/1, at: 2026-05-28T14:30:00Z }\n---\nx")
    assert (one.kind, origin(one).created_at) == ("bigquery_table", "2026-05-28T14:30:00Z")


def test_a_scope_is_a_claim() -> None:
    """Scope fields of a source go to imported_from, and nothing of them to what the record is."""
    front = "tenant_id: globex\nuser_id: eve\nsession_id: s\nprivacy: team\nsensitivity: public\nid: x\n"
    one = note(f"---\n{front}---\nx")
    assert origin(one).scope == {"tenant_id": "globex", "user_id": "eve", "session_id": "s"}
    assert (one.privacy, one.sensitivity, one.original) == ("project_only", "internal", front)


def test_odd_values_are_left_where_they_are() -> None:
    """A title or tag that can be none is not made up, cut or refused: it stays in the front matter."""
    front = f"title: {'x' * 300}\ntags: [a, a, {'y' * 300}, '#b', ' c  d ']\nkind: '?'\ndate: last May\n"
    one = note(f"---\n{front}---\nx")
    assert (one.title, one.tags, one.kind, origin(one).created_at) == (
        "My note",
        ("a", "b", "c d"),
        None,
        None,
    )
    assert one.original == front


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ("tags: [release, null]", [("tags", foreign.NO_TAGS)]),
        ("tags:\n- a\n- [b, c]", [("tags", foreign.NO_TAGS)]),
        ("tags: {a: b}", [("tags", foreign.NO_TAGS)]),
        (f"tags: [{', '.join(map(str, range(37)))}]", [("tags", foreign.MANY_TAGS.format(5))]),
        (f"tags: [a, {'y' * 201}, '#']", [("tags", foreign.NO_TAG.format(2))]),
        (f"title: {'x' * 201}", [("title", foreign.NO_TITLE)]),
        ("title: |\n  two\n  lines", [("title", foreign.NO_TITLE)]),
        ("title: A\ntitle: B", [("title", foreign.NO_TITLE)]),
        ("kind: '?'\ntype: note", [("kind", foreign.NO_KIND)]),
        ("type: [a, b]", [("type", foreign.NO_KIND)]),
        ("date: last May", [("date", foreign.NO_TIME)]),
        ("id: /etc/passwd", [("id", foreign.NO_NAME)]),
        ("user_id: [a, b]\nproject_id: p", [("user_id", foreign.NO_CLAIM)]),
    ],
)
def test_what_is_not_taken_is_told(front: str, told: list[tuple[str, str]]) -> None:
    """A field that says something of which the record says nothing is told, with the rule; it is kept."""
    raw = f"---\n{front}\n---\nx"
    assert not_taken(raw) == told
    assert note(raw).original == f"{front}\n"


@pytest.mark.parametrize(
    "front",
    [
        "title: T\ntags: [a, a, '#b']\nkind: k\ntype: BigQuery Table\ncreated: 2025-03-01\nid: x",
        "tags: a, b,\ndate: last May\ncreated: 2025-03-01",
        "date: last May\ngenerated: {at: 2025-03-01}",
        "title:\ntags: ~\nkind: null\ntype: # none\ndate: ~",
        "tags: []",
        "cssclasses: [null]\naliases: {a: b}",
    ],
)
def test_what_is_taken_or_says_nothing_is_not_told(front: str) -> None:
    """What the record says too, empty values, and fields that no import reads are no news."""
    assert not_taken(f"---\n{front}\n---\nx") == []


def test_front_matter_that_stays_in_the_text_is_told() -> None:
    """Where none of it is read the reason says so, and a file without any says nothing."""
    assert not_taken(f"---\nnotes: {'x' * 9000}\n---\nbody") == [("front matter", foreign.TOO_LONG)]
    assert not_taken("---\nname: Ada\n---\n") == [("front matter", foreign.NO_BODY)]
    assert not_taken("---\nname: \x07\n---\nbody") == []
    assert not_taken("# Heading\n") == []


def test_what_cannot_be_kept_apart_stays_in_the_text() -> None:
    """Front matter of more than 8 KiB, and front matter without a body, are part of the text."""
    long = f"---\nnotes: {'é' * 5000}\n---\nbody"
    assert (note(long).text, note(long).original) == (long, None)
    alone = "---\nname: Ada\n---\n"
    assert (note(alone).text, note(alone).original) == (alone, None)


@pytest.mark.parametrize("raw", [b"", b" \n\t\r\n", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_no_note(raw: bytes) -> None:
    """A file of spaces, or of a mark alone, is none."""
    assert note_of(raw, "a.md", "v/a.md", None) is None


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_says_what_a_file_is(encoding: str) -> None:
    """A file with a byte order mark is read as it says, the mark no part of the text."""
    one = note("---\ntitle: Grüße\n---\nKäse\r\n".encode(encoding))
    assert (one.title, one.text) == ("Grüße", "Käse\r\n")


def test_nothing_is_guessed() -> None:
    """What is neither marked nor UTF-8 is refused with the way out, and read as what it is said to be."""
    raw = "Käse".encode("latin-1")
    assert "--encoding" in refusal(raw)
    assert note(raw, encoding="latin-1").text == "Käse"
    assert note("Käse", encoding="latin-1").text == "Käse"
    assert "neither UTF-8 nor shift_jis" in refusal(b"\xff\xff\xff", encoding="shift_jis")
    assert "its mark says UTF-16-LE" in refusal(b"\xff\xfeabc")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_each_encoding_is_one_of_texts(encoding: str) -> None:
    """Every encoding that may be said reads what it writes."""
    assert decoded("plain".encode(encoding), encoding) == "plain"


def test_nul_bytes_are_no_text() -> None:
    """A binary file, and UTF-16 without a mark, are refused; the latter is read when it is said."""
    assert "NUL" in refusal(b"a\0b")
    assert "NUL" in refusal(b"\0\0\0")
    assert "NUL" in refusal("Käse".encode("utf-16-le"))
    assert note("Käse".encode("utf-16-le"), encoding="utf-16-le").text == "Käse"


def test_a_long_text_is_refused_whole() -> None:
    """256 KiB are taken, one byte more is not, however the file spells them."""
    assert len(note(b"x" * MAX_TEXT).text) == MAX_TEXT
    assert len(note(("x" * MAX_TEXT).encode("utf-32")).text) == MAX_TEXT
    for raw in (b"x" * (MAX_TEXT + 1), "é".encode() * MAX_TEXT, b"x" * (MAX_FILE + 1)):
        assert str(MAX_TEXT) in refusal(raw)


PIECES = st.sampled_from(
    [
        *(
            "---\n",
            "---\r\n",
            "...\n",
            "title: ",
            "tags: ",
            "kind: ",
            "created: ",
            "id: ",
            "user_id: ",
            "[",
            "]",
        ),
        *(
            "- ",
            "  ",
            "\n",
            "\r\n",
            "\r",
            '"',
            "'",
            "\\",
            "{",
            "}",
            "&a",
            "*a",
            "!!x",
            "|",
            ">",
            "#",
            ":",
            ",",
        ),
        *(
            "\0",
            "\ufeff",
            "\u200b",
            "\u2028",
            "\x85",
            "e\u0301",
            "2025-03-01",
            "x",
            "type: ",
            '"memory"',
            "7",
        ),
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
@settings(max_examples=400)
def test_every_file_is_a_note_or_told(text: str, encoding: str) -> None:
    """Whatever a file holds, it is refused with a rule, empty, or a note that lost nothing."""
    assume(not (encoding == "utf-16" and text.startswith("\0")))  # the mark of UTF-32 begins like that
    try:
        made = note_of(text.encode(encoding), "a.md", "v/a.md", None)
    except Unreadable:
        assert "\0" in text
        return
    if encoding == "utf-8":
        text = text.removeprefix("\ufeff")
    if made is None:
        assert not text.strip()
        return
    one = made.note
    assert text.endswith(one.text)
    if one.original is None:
        assert one.text == text
    else:
        rest = text.removesuffix(one.text).replace(one.original, "", 1)
        assert re.fullmatch(r"---[ \t]*\r?\n(---|\.\.\.)[ \t]*\r?\n", rest)
    check_text(one.text)
    check_ext(None, original=one.original)
    for label in (*one.tags, *([] if one.title is None else [one.title])):
        check_label("label", label)
    assert one.kind is None or check_name("kind", one.kind)


@given(st.binary(max_size=60), st.sampled_from([None, *ENCODINGS]))
@settings(max_examples=400)
def test_no_bytes_are_too_odd(raw: bytes, encoding: str | None) -> None:
    """Any bytes under any encoding are a note, empty, or refused with a rule, and never another error."""
    with contextlib.suppress(Unreadable):
        made = note_of(raw, "a.md", "v/a.md", encoding)
        assert made is None or check_text(made.note.text)


def test_two_paths_have_two_names() -> None:
    """A path that is no label gets a name of its own, always the same, and a usual one is kept."""
    odd = [
        "v/e\u0301.md",
        "v/\xe9\u200b.md",
        "v/a\nb.md",
        "v/a\tb.md",
        "v/\udcff.md",
        "v/" + "x" * 300,
        "~v",
        "/v",
        " v",
    ]
    odd += ["v/" + "y" + "x" * 300, "./v", "C:/v", "file:v"]
    made = [named_item(path) for path in odd]
    assert len(set(made)) == len(odd)
    for name in made:
        ImportedFrom(created_at=None, digest=None, format="f", item=name, record_id=None, scope=None)
    assert made == [named_item(path) for path in odd]
    assert named_item("vault/Notes/é (1).md") == "vault/Notes/é (1).md"


def test_a_bundle_says_so() -> None:
    """Only an index that names the version of its format makes a folder a bundle."""
    assert declares_bundle(b'---\nokf_version: "0.2"\n---\n\n# Records\n')
    assert not declares_bundle(b"# Index\n\nokf_version: 1\n")
    assert not declares_bundle(b"\xff\xfe\xff")
