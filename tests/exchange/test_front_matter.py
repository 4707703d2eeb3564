"""Other people's front matter: what the small reader takes and leaves, and that nothing can make it run."""

import importlib
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsstore.exchange.front_matter import made_at, split, texts, values


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("title: Plain words", "Plain words"),
        ("title: 'it''s'", "it's"),
        (r'title: "a \"b\" é"', 'a "b" é'),
        ('title: "a" # why', "a"),
        ("title: a # why", "a"),
        ("title: a#b", "a#b"),
        ("Title: x", "x"),
        ('"title": x', "x"),
        ("title: no", "no"),
        ("title: 007", "007"),
        ("title: 2025-03-01", "2025-03-01"),
        ("title: see: also", "see: also"),
        ("title: [a, 'b, c', \"d\"]", ("a", "b, c", "d")),
        ("title: []", ()),
        ("title: [a, b,]", ("a", "b")),
        ("title: [a,\n  b]", ("a", "b")),
        ("title:\n- a\n- 'b'", ("a", "b")),
        ("title:\n  - a\n  # between\n  - b", ("a", "b")),
        ("title: x\r\nother: y\r", "x"),
    ],
)
def test_what_is_understood(spelled: str, value: object) -> None:
    """A plain or quoted text and a list of them are taken, each as the text that stands there."""
    assert values(spelled)["title"] == value


@pytest.mark.parametrize(
    "spelled",
    [
        "title:",
        "title: ~",
        "title: null",
        "title: &a x",
        "title: *a",
        "title: !!python/object/apply:os.system ['true']",
        "title: |\n  a\n  b",
        "title: >-\n  a",
        "title: {a: b}",
        "title: a\n  b",
        "title: [a, [b]]",
        "title: [a",
        "title: [a] b",
        'title: "a',
        'title: "\\x41"',
        "title: 'a' b",
        "title: x\ntitle: y",
        "title: &a x\ntitle: y",
        "title:\n  - &a x",
        "title:\n  deep: er",
        "title: @x",
        "title: '",
    ],
)
def test_what_is_not_understood_is_left(spelled: str) -> None:
    """Anchors, aliases, tags, blocks, nesting, broken quotes and keys that stand twice give no value."""
    assert "title" not in values(f"{spelled}\nother: y")
    assert values(f"{spelled}\nother: y")["other"] == "y"


def test_a_bomb_of_aliases_stays_small() -> None:
    """Nothing is expanded: nine levels of nine aliases are nine texts that are not understood."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{name}: &{name} [{', '.join([f'*{old}'] * 9)}]"
        for old, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert values("\n".join(lines)) == {}


@pytest.mark.parametrize("piece", [" ", "[", '"', "'", "a, ", "- ", "\\", "#", "a: ", "\t"])
def test_its_time_grows_with_its_length(piece: str) -> None:
    """No text of one piece, however long, makes the reader go over it again and again."""
    start = time.process_time()
    for begin in ("title: a", "title: [a", 'title: ["', "title:\n- ", "a"):
        values(begin + piece * (8192 // len(piece)) + "{")
        split("---\n" + begin + piece * (100_000 // len(piece)) + "{\n---\nx")
    assert time.process_time() - start < 2


yaml: Any = importlib.import_module("yaml")
LABEL = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20)


@given(LABEL, st.lists(LABEL, max_size=4), st.sampled_from([None, "'", '"']))
@settings(max_examples=200)
def test_it_never_says_otherwise_than_a_yaml_reader(title: str, tags: list[str], style: str | None) -> None:
    """Of what a YAML program writes, a text that is taken is the text that program reads back."""
    given = {"title": title, "tags": tags}
    front: str = yaml.safe_dump(given, allow_unicode=True, default_style=style)
    found = values(front)
    assert found.get("title", title) == title
    assert found.get("tags", tuple(tags)) == tuple(tags)


@pytest.mark.parametrize(
    "text",
    [
        "no fence",
        "---\nno end\n",
        "---\nJust a rule above, and prose.\n---\nmore",
        "----\na: b\n---\nx",
        " ---\na: b\n---\nx",
        "---\n\n---\nx",
        "text\n---\na: b\n---\n",
    ],
)
def test_what_is_no_front_matter_stays_in_the_text(text: str) -> None:
    """Rules around prose, an open fence and a fence further down are a text like any other."""
    assert split(text) == (None, text)


@pytest.mark.parametrize(
    ("text", "front", "body"),
    [
        ("---\na: b\n---\nx", "a: b\n", "x"),
        ("---\na: b\n---\n\n# T\n", "a: b\n", "\n# T\n"),
        ("---\r\na: b\r\n---\r\nx\r\n", "a: b\r\n", "x\r\n"),
        ("--- \na: b\n...\nx", "a: b\n", "x"),
        ("---\n# why\na: b\n---", "# why\na: b\n", ""),
        ("---\na: b\n---\nx\n---\ny", "a: b\n", "x\n---\ny"),
    ],
)
def test_front_matter_and_body_are_kept_as_they_are(text: str, front: str, body: str) -> None:
    """What stands between the fences and behind them comes back byte for byte."""
    assert split(text) == (front, body)


def test_tags_may_be_one_text() -> None:
    """Tags come as a list, or as one text with commas or spaces between them."""
    assert texts(("a b", "c")) == ("a b", "c")
    assert texts("a, b c") == ("a", "b c")
    assert texts("#a #b") == ("#a", "#b")
    assert texts(None) == ()


@pytest.mark.parametrize(
    "front",
    [
        "generated: { by: x/1, at: 2026-05-28T14:30:00Z }\n",
        "generated:\n  by: x\n  at: '2026-05-28T14:30:00Z'\n",
        'generated: {at: "2026-05-28T14:30:00Z", by: x}\n',
    ],
)
def test_a_concept_says_when_it_was_made(front: str) -> None:
    """``generated.at`` is read from a mapping on one line or several."""
    assert made_at(front) == "2026-05-28T14:30:00Z"
    assert made_at("other: { at: 2026-05-28 }\n") is None
