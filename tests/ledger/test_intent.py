"""The intent: 512 bytes that a dying writer leaves, believed only when whole, and never more than a hint."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from nsstore.ledger import Intent, read_intent, write_intent
from nsstore.root import File, Root
from nsstore.root.steps import hooked

INTENT = Intent(seq=7, first_id="01934f2e-8b7a-7c3d-9e21-0123456789ab", count=3)


@pytest.fixture
def lock(tmp_path: Path) -> Generator[File]:
    """An empty lock file."""
    with Root.make(tmp_path / "root") as root, root.top() as top, top.open_or_make("x.lock") as file:
        yield file


def raw(lock: File) -> bytes:
    """What stands in the lock file."""
    return lock.read_at(0, 4096)


def test_round_trip_in_one_write(lock: File) -> None:
    """An intent is one unflushed write of 512 bytes at the beginning; a newer one replaces it."""
    calls: list[str] = []
    with hooked(calls.append):
        write_intent(lock, INTENT)
    assert calls == ["write"]
    assert len(raw(lock)) == 512
    assert raw(lock).startswith(b"7 01934f2e-8b7a-7c3d-9e21-0123456789ab 3 ")
    assert read_intent(lock) == INTENT
    biggest = Intent(seq=2**62, first_id=INTENT.first_id, count=256)
    write_intent(lock, biggest)
    assert read_intent(lock) == biggest
    write_intent(lock, Intent(seq=8, first_id=INTENT.first_id, count=1))
    assert len(raw(lock)) == 512
    assert read_intent(lock) == Intent(seq=8, first_id=INTENT.first_id, count=1)


def test_blank_is_no_intent(lock: File) -> None:
    """An empty lock file, zeros, spaces or a newline say nothing."""
    assert read_intent(lock) is None
    for blank in (b"\0" * 512, b" " * 512, b"\n", b"\0"):
        lock.write_at(0, blank.ljust(512, b"\0"))
        assert read_intent(lock) is None


def test_every_torn_intent_is_none(lock: File) -> None:
    """An intent of which only the first bytes were written over another is none, or one of the two."""
    write_intent(lock, INTENT)
    new = raw(lock)
    other = Intent(seq=123, first_id="01934f2e-8b7a-7c3d-9e21-ffffffffffff", count=1)
    write_intent(lock, other)
    old = raw(lock)
    for cut in range(512):
        lock.write_at(0, new[:cut] + old[cut:])
        assert read_intent(lock) in (None, INTENT, other), cut
        lock.write_at(0, new[:cut].ljust(512, b"\0"))
        assert read_intent(lock) in (None, INTENT), cut


@pytest.mark.parametrize("bit", range(8))
def test_every_changed_bit_is_none(lock: File, bit: int) -> None:
    """One changed bit in the words or their checksum is noticed: it is no MAC, but no accident passes it."""
    write_intent(lock, INTENT)
    whole = raw(lock)
    used = len(whole.rstrip())
    for position in range(used):
        changed = bytearray(whole)
        changed[position] ^= 1 << bit
        lock.write_at(0, bytes(changed))
        found = read_intent(lock)
        assert found is None or (found == INTENT and whole[position : position + 1].isspace()), position


@pytest.mark.parametrize(
    "words",
    [
        "7 id 3 00000000",
        "-7 id 3",
        "7 id",
        "7 id 3 4 5",
        "x id 3",
        "7.0 id 3",
        "\u0667 id 3",
        "7 id \u00b3",
        "",
    ],
)
def test_what_was_forged_badly(lock: File, words: str) -> None:
    """Words that are not a number, an id and a number, with or without a right checksum, are none."""
    import zlib

    for line in (words, f"{words} {zlib.crc32(words.encode()):08x}"):
        lock.write_at(0, line.encode().ljust(512))
        assert read_intent(lock) is None


def test_what_is_not_there_to_be_read(lock: File) -> None:
    """Bytes that are no text, and a lock file that is longer than an intent, raise nothing."""
    lock.write_at(0, b"\xff" * 4096)
    assert read_intent(lock) is None
    write_intent(lock, INTENT)
    assert read_intent(lock) == INTENT
