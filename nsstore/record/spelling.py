"""How a value is spelled in a header line: compact JSON in characters that every YAML reader takes."""

from __future__ import annotations

import re
from typing import Final

import msgspec

_json: Final = msgspec.json.Encoder(order="sorted").encode

# Legal raw in JSON, but YAML readers refuse DEL, C1, U+FFFE and U+FFFF, fold U+0085, U+2028 and
# U+2029 as line ends, and may drop U+FEFF. All of them stand only inside strings.
_UNREADABLE: Final = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]")


def spell(value: object) -> bytes:
    """One value as JSON, object keys sorted, so that equal values have equal bytes.

    Raises :class:`UnicodeEncodeError` for a text with a lone surrogate.
    """
    return _json(value)


def escape(raw: bytes) -> bytes:
    """The same JSON with each character that YAML readers break on escaped, and no other changed."""
    if raw.isascii() and b"\x7f" not in raw:
        return raw
    return _UNREADABLE.sub(_escaped, raw)


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())
