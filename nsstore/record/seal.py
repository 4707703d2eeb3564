"""Where the seal stands in a record's bytes, and what exactly it covers; keys live in ``nsstore.trust``."""

from __future__ import annotations

import re
from typing import Final

from nsstore.digests import SIZE, lp
from nsstore.record.fields import MAX_HEADER, Malformed
from nsstore.scope import Area

ZEROS: Final = b"0" * (2 * SIZE)
_LINE: Final = re.compile(rb'seal: "(1:[0-9a-f]{8}:[0-9a-f]{64})"')
_HEADER_END: Final = b"\n---\n"


def blank_seal(key_id: str) -> str:
    """The seal of a record not yet sealed under ``key_id``: its 64 digits are zero."""
    return seal_text(key_id, bytes(SIZE))


def seal_text(key_id: str, mac: bytes) -> str:
    """The seal as it stands in the header, for a key id of 8 hex digits and a MAC of 32 bytes."""
    return f"1:{key_id}:{mac.hex()}"


def seal_parts(seal: str) -> tuple[str, bytes]:
    """The key id and the MAC that a valid header's seal states."""
    _, key_id, digits = seal.split(":")
    return key_id, bytes.fromhex(digits)


def seal_of(raw: bytes) -> str:
    """The seal that a record's bytes state, found without decoding them, so that it can be checked first.

    Raises :class:`Malformed` if the header does not end in a seal.
    """
    end = _digits_end(raw)
    return raw[end - len("1:") - 8 - len(":") - len(ZEROS) : end].decode()


def seal_chunks(store_id: bytes, area: Area, raw: bytes) -> tuple[bytes, ...]:
    """What the seal covers, in order: version, store id (16 bytes), area, and the file with zeroed digits.

    Whatever digits stand in ``raw``, the chunks are the same, so sealing and checking are one
    computation (``docs/format.md``, "Record"). Raises :class:`Malformed` as :func:`seal_of`.
    """
    end = _digits_end(raw)
    return (lp("1", store_id, area), raw[: end - len(ZEROS)], ZEROS, raw[end:])


def with_seal(raw: bytes, seal: str) -> bytes:
    """The same record stating ``seal`` instead. Raises :class:`Malformed` as :func:`seal_of`."""
    end = _digits_end(raw)
    return raw[: end - len(seal)] + seal.encode() + raw[end:]


def _digits_end(raw: bytes) -> int:
    # Header lines hold no raw newline, so the first fence after the first line ends the header.
    stop = raw.find(_HEADER_END, 0, MAX_HEADER)
    if stop < 0 or _LINE.fullmatch(raw, raw.rfind(b"\n", 0, stop) + 1, stop) is None:
        raise Malformed("the header does not end in a seal")
    return stop - 1
