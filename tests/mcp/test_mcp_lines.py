"""Lines of a reader that gives what it likes: whole ones come out, of too long ones their ends."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.mcp import lines
from nsstore.mcp.lines import EDGE, Long, split


def reader(*chunks: bytes) -> Callable[[int], bytes]:
    """A reader that gives these chunks, and then nothing."""
    left = list(chunks)
    return lambda _: left.pop(0) if left else b""


@given(st.lists(st.binary(min_size=1, max_size=9).map(lambda raw: raw.replace(b"\n", b".")), max_size=9))
def test_a_line_is_the_same_however_it_comes(wanted: list[bytes]) -> None:
    """Whole, byte by byte or all at once: the same lines come out."""
    raw = b"".join(one + b"\n" for one in wanted)
    assert list(split(reader(*([raw] if raw else [])))) == wanted
    assert list(split(reader(*(raw[at : at + 1] for at in range(len(raw)))))) == wanted


def test_what_has_no_end_is_no_line() -> None:
    """The rest behind the last line end is nothing."""
    assert list(split(reader(b"one\ntw", b"o"))) == [b"one"]


@pytest.mark.parametrize("size", [EDGE + 1, EDGE + 100, 3 * EDGE])
def test_of_a_line_that_is_too_long_the_ends_are_kept(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A line above the limit is never kept whole: its beginning and end come, and the next one is read."""
    monkeypatch.setattr(lines, "MOST", EDGE)
    long = bytes(33 + at % 90 for at in range(size))
    raw = b"a" * EDGE + b"\n" + long + b"\n" + b"c\n"
    for step in (1, 3, 7, 1000, 100_000):
        chunks = [raw[at : at + step] for at in range(0, len(raw), step)]
        assert list(split(reader(*chunks))) == [b"a" * EDGE, Long(long[:EDGE], long[-EDGE:]), b"c"]
