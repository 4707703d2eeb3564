"""The committed table of code points: what is in it, and that it is Unicode 14.0 and nothing newer."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.scope.codepoints import RANGES, UNICODE_VERSION, visible

CLOSED_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}

# DerivedCoreProperties-14.0.0.txt, Default_Ignorable_Code_Point: 4174 code points.
DEFAULT_IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)

INVISIBLE = (
    *(0x00, 0x0A, 0x20, 0x7F, 0x85, 0xA0, 0x2028, 0x3000),  # controls and spaces
    *(
        0xAD,
        0x200B,
        0x200D,
        0x202E,
        0x2066,
        0x2800,
        0x3164,
        0xFE0F,
        0xFEFF,
        0xE0041,
        0xE0100,
    ),  # nothing to see
    *(0x0378, 0xD800, 0xDFFF, 0xE000, 0xFDD0, 0xFFFE, 0xFFFF, 0x10FFFF),  # no characters
)


def members(ranges: tuple[tuple[int, int], ...]) -> set[int]:
    """Every code point of the ranges, ends included."""
    return {code for first, last in ranges for code in range(first, last + 1)}


def test_table_is_the_one_of_the_rule() -> None:
    """Recomputed from the rule, the table is the committed one, code point by code point."""
    if unicodedata.unidata_version != UNICODE_VERSION:
        pytest.skip(
            f"this interpreter has Unicode {unicodedata.unidata_version}, the table is {UNICODE_VERSION}"
        )
    closed = members(DEFAULT_IGNORABLE) | {0x2800}
    expected = {
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) not in CLOSED_CATEGORIES and code not in closed
    }
    assert members(RANGES) == expected


def test_ignorable_list_has_the_published_size() -> None:
    """The list that no Python module carries has as many entries as Unicode says."""
    assert len(members(DEFAULT_IGNORABLE)) == 4174


def test_table_does_not_change() -> None:
    """On every interpreter the table has the same size, and its ranges are apart and in order."""
    assert (len(RANGES), len(members(RANGES))) == (706, 144_247)
    edges = [edge for pair in RANGES for edge in pair]
    assert edges == sorted(edges)
    assert all(later > last + 1 for (_, last), (later, _) in pairwise(RANGES))


def test_visible_is_membership_in_the_table() -> None:
    """For each of the 1,114,112 code points ``visible`` says what the table says."""
    assert {code for code in range(0x110000) if visible(chr(code))} == members(RANGES)


@pytest.mark.parametrize("code", INVISIBLE)
def test_invisible_code_point_is_out(code: int) -> None:
    """Controls, spaces, bidi, ignorable, surrogate, private, unassigned: each is out, named one by one."""
    assert not visible(f"a{chr(code)}b")


def test_newer_unicode_is_out() -> None:
    """A character first assigned in Unicode 15.0 is out on every interpreter (U+1FAE8, shaking face)."""
    assert not visible("\U0001fae8")


@given(st.text())
def test_text_is_visible_exactly_if_each_character_is(text: str) -> None:
    """The short cut for ASCII text gives the same answer as character by character."""
    assert visible(text) == all(visible(character + "é") for character in text)
