"""Lines of a reader that gives what it likes: whole ones come out, too long ones do not."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.mcp import lines
from nsstore.mcp.lines import split


def reader(*chunks: bytes) -> Callable[[int], bytes]:
    """A reader that gives these chunks, and then nothing."""
    left = list(chunks)
    return lambda _: left.pop(0) if left else b""


@given(st.lists(st.binary(min_size=1, max_size=9).map(lambda raw: raw.replace(b"\n", b".")), max_size=9))
def test_a_line_is_the_same_however_it_comes(wanted: list[bytes]) -> None:
    """Whole, byte by byte or all at once: the same lines come out."""
    raw = b"".join(one + b"\n" for one in wanted)
    expected = [one.decode("utf-8", "replace") for one in wanted]
    assert list(split(reader(*([raw] if raw else [])))) == expected
    assert list(split(reader(*(raw[at : at + 1] for at in range(len(raw)))))) == expected


def test_what_has_no_end_is_no_line() -> None:
    """The rest behind the last line end is nothing."""
    assert list(split(reader(b"one\ntw", b"o"))) == ["one"]


@pytest.mark.parametrize("size", [9, 100])
def test_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A line above the limit is left out whole, and the next one is read."""
    monkeypatch.setattr(lines, "MOST", 8)
    raw = b"a" * 8 + b"\n" + b"b" * size + b"\n" + b"c\n"
    for step in (1, 3, 7, 1000):
        chunks = [raw[at : at + step] for at in range(0, len(raw), step)]
        assert list(split(reader(*chunks))) == ["a" * 8, "c"]
