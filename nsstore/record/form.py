"""A checked header's bytes, cut at the values that each record has of its own.

A host writes many notes that differ in their text alone: what was checked and encoded for the first
one holds for the next, byte for byte.
"""

from __future__ import annotations

import copy
from typing import Final

import msgspec

from nsstore.record.codec import encode
from nsstore.record.header import Header

OWN: Final = ("record_id", "created_at", "seq", "prev", "salt")


class Form:
    """Makes the bytes of records whose headers differ in id, time, place, salt and seal alone.

    Whoever fills it in answers for the six values: an id from ``new_record_id``, a time as
    ``docs/format.md`` spells it, a ``seq`` not longer than the header's own, hex digits.
    """

    def __init__(self, header: Header) -> None:
        rest = encode(header, "-")[:-1]
        shape: list[bytes] = []
        for name in OWN:
            before, line, behind = rest.partition(f"\n{name}: ".encode())
            shape.append((before + line).replace(b"%", b"%%") + (b"%d" if name == "seq" else b'"%b"'))
            rest = behind[behind.index(b"\n") :]
        before, line, behind = rest.partition(b"\nseal: ")
        shape.append((before + line).replace(b"%", b"%%") + b'"1:%b:')
        self.header = header
        self._shape = b"".join(shape)
        self._after = b'"' + behind[behind.index(b"\n") :]

    def around_seal(
        self, own: tuple[str, str, int, str, str], key_id: str, text: bytes
    ) -> tuple[bytes, bytes]:
        """The whole file as the bytes before and after the digits of its seal, for the values of ``OWN``."""
        record_id, created_at, seq, prev, salt = own
        values = (record_id.encode(), created_at.encode(), seq, prev.encode(), salt.encode(), key_id.encode())
        return self._shape % values, self._after + text

    def header_with(self, own: tuple[str, str, int, str, str], seal: str) -> Header:
        """The header of the record that these values of ``OWN`` and this seal make: checked already."""
        header = copy.copy(self.header)
        for name, value in zip(OWN, own, strict=True):
            msgspec.structs.force_setattr(header, name, value)
        msgspec.structs.force_setattr(header, "seal", seal)
        return header
