"""Bytes of somebody's file as text: what they are is read from a mark, or said, and never guessed."""

from __future__ import annotations

from typing import Final

ENCODINGS: Final = (
    *("latin-1", "iso-8859-2", "iso-8859-15", "cp1250", "cp1251", "cp1252", "koi8-r", "mac-roman"),
    *("shift_jis", "euc-jp", "euc-kr", "big5", "gb18030", "utf-16-le", "utf-16-be"),
)
"""What a file that is not UTF-8 may be said to be in."""
MARKS: Final = (  # the longer of two that begin alike comes first
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
NUL_BYTES: Final = (
    "it holds NUL bytes, so it is no text; if it is UTF-16 without a mark, give --encoding utf-16-le"
)
NOT_UTF8: Final = "it is not UTF-8: say what it is with --encoding, as latin-1"


class Unreadable(ValueError):
    """A file that is no text, or no record; the message is the rule it breaks."""


def decoded(raw: bytes, encoding: str | None) -> str:
    """The text of a file: as its byte order mark says, else UTF-8, else as ``encoding`` says.

    The mark is no part of the text, and line ends are left as they are. Raises :class:`Unreadable`.
    """
    for mark, name in MARKS:
        if raw.startswith(mark):
            return _strict(raw[len(mark) :], name, f"its mark says {name.upper()}, and it is not")
    if b"\0" in raw and encoding in {"utf-16-le", "utf-16-be"}:
        return _strict(raw, encoding, f"it is not {encoding}")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        if encoding is None:
            raise Unreadable(NUL_BYTES if b"\0" in raw else NOT_UTF8) from None
        return _strict(raw, encoding, f"it is neither UTF-8 nor {encoding}")


def _strict(raw: bytes, encoding: str, otherwise: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise Unreadable(otherwise) from None
