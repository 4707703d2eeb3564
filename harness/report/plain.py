"""Texts of a provider's, as a report may show them: nothing in them hides or breaks what is shown."""

from __future__ import annotations

import html
import re
from typing import Final

# Controls, what turns the direction, what takes no room, lone surrogates, and what no XML may hold.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
MOST: Final = 2000
"""Characters of one text that a report shows."""


def plain(text: str, most: int = MOST) -> str:
    """The text with each character that nobody sees as an escape, cut to ``most`` characters."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return _UNSEEN.sub(_escape, cut)


def escaped(text: str, most: int = MOST) -> str:
    """The text as it stands in HTML or XML, between tags or between quotes; its line ends are kept."""
    return html.escape(plain(text, most)).replace("\n", "&#10;").replace("\t", "&#9;")


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")
