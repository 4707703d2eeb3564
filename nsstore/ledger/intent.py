"""The intent in a namespace's lock file: what a writer is about to do, so that its death is noticed."""

from __future__ import annotations

import zlib
from typing import Final

import msgspec

from nsstore.root import File

SIZE: Final = 512


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """The seq and record id of the first event a writer is about to add, and how many follow."""

    seq: int
    first_id: str
    count: int


def write_intent(lock: File, intent: Intent) -> bytes:
    """Replace the intent by one unflushed write of fixed size, and return the bytes written."""
    words = b"%d %b %d" % (intent.seq, intent.first_id.encode(), intent.count)
    raw = (b"%b %08x\n" % (words, zlib.crc32(words))).ljust(SIZE)
    lock.write_at(0, raw)
    return raw


def read_intent(lock: File, known: tuple[bytes, Intent] | None = None) -> Intent | None:
    """The intent of the last writer, or ``None`` if there is none or it was torn (then all is compared).

    ``known`` is an intent the caller wrote, with its bytes: the same bytes need no parsing.
    """
    raw = lock.read_at(0, SIZE)
    if known is not None and raw == known[0]:
        return known[1]
    words = raw.decode("ascii", "replace").split()
    if len(words) != 4 or words[3] != _checksum(" ".join(words[:3])):
        return None
    if not (words[0].isdigit() and words[2].isdigit()):
        return None
    return Intent(seq=int(words[0]), first_id=words[1], count=int(words[2]))


def _checksum(words: str) -> str:
    return f"{zlib.crc32(words.encode()):08x}"
