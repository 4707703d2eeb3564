"""What may be an id, a label, a name, a commit and a record id."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.errors import InvalidInput
from nsstore.scope import check_commit, check_id, check_label, check_name, check_record_id

UUID7 = "0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
CANARY = "zq7f3acme"

GOOD = (
    *("acme", "Acme", "a", "1", "acme-corp", "john_doe", "my project", "my.project", "feature/x", "v1.2.3"),
    *(
        "github.com/a/b",
        "aa:b",
        "aa|b",
        "user@host",
        "alice.",
        ".alice",
        "con",
        "nul.txt",
        "a~b",
        "a$b",
        "a%b",
    ),
    *(
        "-a",
        "a-",
        "(x)",
        "it's",
        "新聞",
        "暫存",
        "Ünïcödé",
        "שלום",
        "नमस्ते",
        "👍",
        "\U0001d504\U0001d52b",
        "\u0301x",
    ),
)

Check = Callable[[str, object], str]


class Subclass(str):
    """A str that is not exactly a str."""

    __slots__ = ()


class Chosen(StrEnum):
    """A str by another route."""

    ACME = "acme"


@pytest.mark.parametrize("value", GOOD)
def test_visible_name_is_an_id(value: str) -> None:
    """Names as people give them, in any script, are ids, and come back as the same object."""
    assert check_id("user_id", value) is value


@pytest.mark.parametrize("length", [1, 200])
def test_id_may_have_up_to_200_characters(length: int) -> None:
    """One and 200 characters are inside the limit, whatever their bytes."""
    assert check_id("user_id", "é" * length) == "é" * length


@pytest.mark.parametrize("length", [0, 201, 255, 256, 1_000_000])
@pytest.mark.parametrize("check", [check_id, check_label])
def test_length_is_limited(check: Check, length: int) -> None:
    """None and 201 characters are outside, said before anything else looks at the text."""
    with pytest.raises(InvalidInput, match="1 to 200 characters"):
        check("user_id", "a" * length)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (f"{CANARY}\n", "visible characters"),
        (f"{CANARY}\u2028", "visible characters"),
        (f"{CANARY}\ud800", "visible characters"),
        (f"{CANARY}e\u0301", "NFC"),
        (f"{CANARY}\u212b", "NFC"),
        (f" {CANARY}", "space"),
        (f"{CANARY} ", "space"),
    ],
)
@pytest.mark.parametrize("check", [check_id, check_label])
def test_characters_are_refused_by_their_rule(check: Check, value: str, rule: str) -> None:
    """Ids and labels share the character class; the refusal names field and rule, never the value."""
    with pytest.raises(InvalidInput, match=rule) as refusal:
        check("title", value)
    assert str(refusal.value).startswith("title ")
    assert CANARY not in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("-", "not applicable"),
        (f"{CANARY}*", "pattern"),
        (f"{CANARY}?", "pattern"),
        (f"[{CANARY}]", "pattern"),
        (f"{CANARY}]", "pattern"),
        (f"/{CANARY}", "path"),
        (f"\\{CANARY}", "path"),
        (f"~{CANARY}", "path"),
        (f"${CANARY}", "variable"),
        (f"%{CANARY}%", "variable"),
        (f"C:{CANARY}", "drive"),
        (f"z:{CANARY}", "drive"),
        (f"../{CANARY}", "only dots"),
        (f"{CANARY}/./x", "only dots"),
        (f"{CANARY}\\....", "only dots"),
        (f"{CANARY}//x", "empty"),
        (f"{CANARY}/", "empty"),
        ("_", "punctuation"),
        ("--", "punctuation"),
        ("<>", "punctuation"),
        ("null", "absent"),
        ("NULL", "absent"),
        ("None", "absent"),
        ("Undefined", "absent"),
        ("nil", "absent"),
        ("NaN", "absent"),
    ],
)
def test_path_pattern_and_placeholder_are_no_ids(value: str, rule: str) -> None:
    """What reads as a path, pattern, variable or placeholder is no id, though it may be a label."""
    with pytest.raises(InvalidInput, match=rule) as refusal:
        check_id("user_id", value)
    assert str(refusal.value).startswith("user_id ")
    assert CANARY not in str(refusal.value)
    assert check_label("title", value) is value


@pytest.mark.parametrize(
    "value",
    [None, 0, 1, False, 1.5, b"acme", [], ["acme"], ("acme",), {}, object(), Subclass("acme"), Chosen.ACME],
)
@pytest.mark.parametrize("check", [check_id, check_label, check_name, check_record_id])
def test_only_an_exact_str_is_taken(check: Check, value: object) -> None:
    """No other type is coerced, and a subclass is refused even after its text was accepted."""
    assert check_id("kind", "acme") == check_label("kind", "acme") == check_name("kind", "acme") == "acme"
    with pytest.raises(InvalidInput, match="kind must be a str"):
        check("kind", value)


@pytest.mark.parametrize("value", ["a", "note", "decision_2", "x" * 32])
def test_name_is_a_small_letter_word(value: str) -> None:
    """Kinds, classes and roles are short small-letter words."""
    assert check_name("kind", value) is value


@pytest.mark.parametrize("value", ["", "A", "1a", "_a", "a-b", "a b", "note\n", "é", "x" * 33, "\uff41"])
def test_other_words_are_no_names(value: str) -> None:
    """Anything else is refused, a final newline included."""
    with pytest.raises(InvalidInput, match="kind must be a small letter"):
        check_name("kind", value)


@pytest.mark.parametrize("value", ["0123456789abcdef" * 4, "0123456789" * 4])
def test_whole_git_object_id_is_a_commit(value: str) -> None:
    """SHA-1 and SHA-256 object ids are commits."""
    assert check_commit(value) is value


@pytest.mark.parametrize(
    "value",
    [None, "", "HEAD", "main", "abc1234", "A" * 40, "a" * 39, "a" * 41, "a" * 63, "a" * 40 + "\n", "g" * 40],
)
def test_abbreviated_commit_is_refused(value: object) -> None:
    """Names, short forms and capitals are refused: they may mean another commit tomorrow."""
    with pytest.raises(InvalidInput, match="commit"):
        check_commit(value)


def test_lowercase_uuid7_is_a_record_id() -> None:
    """The one spelling of a record id is taken."""
    assert check_record_id("record_id", UUID7) is UUID7


@pytest.mark.parametrize(
    "value",
    [
        "",
        "r1",
        UUID7.upper(),
        UUID7.replace("-", ""),
        "{" + UUID7 + "}",
        UUID7 + "\n",
        UUID7 + ".md",
        "../" + UUID7,
        UUID7.replace("-7", "-4"),
        UUID7.replace("-8", "-c"),
        UUID7.replace("0", "\uff10"),
        UUID7.replace("0", "\u0660"),
    ],
)
def test_other_spellings_are_no_record_ids(value: str) -> None:
    """Another case, version, variant, digit script or surrounding is refused."""
    with pytest.raises(InvalidInput, match="record_id must be"):
        check_record_id("record_id", value)


@given(st.text(st.characters(), max_size=220) | st.text(" .-/\\:*?[]~$%Aanul", max_size=8))
def test_any_text_is_an_id_or_refused(value: str) -> None:
    """Over all of Unicode a text is taken as it is or refused by name, and what is taken obeys the rule."""
    refusal = ""
    try:
        assert check_id("user_id", value) is value
    except InvalidInput as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith("user_id ")
        return
    assert unicodedata.normalize("NFC", value) == value
    assert value == value.strip()
    assert 1 <= len(value) <= 200
    assert not set(value) & set("*?[]\x00\n")
    assert all(part.strip(".") for part in value.replace("\\", "/").split("/"))
    assert check_label("title", value) is value
