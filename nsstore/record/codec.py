"""A record's one spelling in bytes: ``---`` header ``---`` text; nothing else decodes."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from nsstore.errors import InvalidInput
from nsstore.record.fields import FIELDS, MAX_HEADER, MAX_TEXT, Malformed
from nsstore.record.header import Header
from nsstore.record.spelling import escape, spell
from nsstore.scope import Scope

_FENCE: Final = b"---\n"
_LINES: Final = _FENCE + b"".join(b"%s: %%s\n" % name.encode() for name in FIELDS) + _FENCE
_SHAPE: Final = re.compile(_FENCE + b"".join(b"%s: (.+)\n" % name.encode() for name in FIELDS) + _FENCE)
_OBJECT: Final = b"{" + b",".join(b'"%s":%%s' % name.encode() for name in FIELDS) + b"}"
_header_from: Final = msgspec.json.Decoder(Header).decode


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One sealed header and its text, byte for byte as it was given."""

    header: Header
    text: str

    @property
    def scope(self) -> Scope:
        return self.header.scope()


def encode(header: Header, text: str) -> bytes:
    """The whole file: 34 lines in the order of ``docs/format.md``, then the text, nothing added or stripped.

    Raises :class:`InvalidInput` above 16 KiB of header or 256 KiB of text, for an empty text, and
    for one that UTF-8 cannot encode.
    """
    head = _head(header)
    if len(head) > MAX_HEADER:
        raise InvalidInput(f"a record's header must be at most {MAX_HEADER} bytes")
    return head + check_text(text)


def check_text(text: object) -> bytes:
    """The text as UTF-8: 1 byte to 256 KiB. Raises :class:`InvalidInput`."""
    if type(text) is not str:
        raise InvalidInput("text must be a str, not a subclass and not another type")
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("text must be valid UTF-8: it holds a lone surrogate") from None
    if not 1 <= len(raw) <= MAX_TEXT:
        raise InvalidInput(f"text must be 1 to {MAX_TEXT} bytes of UTF-8")
    return raw


def decode(raw: bytes) -> Record:
    """The one record whose bytes are exactly these; no other bytes decode to it.

    What was decoded is encoded again, and a single different byte refuses: order, spacing,
    doubled keys, escapes and other spellings of a number need no rule of their own. Checks no
    seal. Raises :class:`Malformed`, which names the rule and never the content.
    """
    if not raw.startswith(_FENCE):
        raise Malformed("no header: the file does not begin with ---")
    found = _SHAPE.match(raw, 0, MAX_HEADER)
    if found is None:
        raise Malformed(f"the header is not the {len(FIELDS)} lines of version 1 within {MAX_HEADER} bytes")
    try:
        header = _header_from(_OBJECT % found.groups())
        head = _head(header)
    except InvalidInput as broken:
        raise Malformed(str(broken)) from None
    except (ValueError, RecursionError):
        # The decoder's message may quote the value, so it is not passed on.
        raise Malformed("a header value is not JSON of its field's type") from None
    if head != found[0]:
        raise Malformed("the header is not in its one spelling")
    return Record(header=header, text=_text(raw[found.end() :]))


def _head(header: Header) -> bytes:
    return escape(_LINES % tuple(map(spell, msgspec.structs.astuple(header))))


def _text(raw: bytes) -> str:
    if not 1 <= len(raw) <= MAX_TEXT:
        raise Malformed(f"the text is not 1 to {MAX_TEXT} bytes")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Malformed("the text is not valid UTF-8") from None
