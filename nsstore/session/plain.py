"""Words of anybody's on their way to a model or a screen: nothing in them is unseen, or moves the rest."""

from __future__ import annotations

import re
from typing import Final

# The property Default_Ignorable_Code_Point (DerivedCoreProperties.txt), and U+2800, which is blank. A row of
# them spells whatever it likes to a program that reads code points, and nothing to whoever looks at it.
_UNSEEN: Final = """
00AD 034F 061C 115F..1160 17B4..17B5 180B..180F 200B..200F 202A..202E 2060..206F 2800 3164 FE00..FE0F FEFF
FFA0 FFF0..FFF8 1BCA0..1BCA3 1D173..1D17A E0000..E0FFF
"""
_SPARE: Final = 8


def _ranges() -> str:
    pairs = (entry.partition("..") for entry in _UNSEEN.split())
    return "".join(f"{chr(int(first, 16))}-{chr(int(last or first, 16))}" for first, _, last in pairs)


_NOT_SHOWN: Final = re.compile(f"[{_ranges()}]")


def seen(text: str) -> str:
    """The text without the code points that a reader does not see."""
    return text if text.isascii() else _NOT_SHOWN.sub("", text)


def one_line(text: str, most: int) -> str:
    """The beginning of a text in one line of at most ``most`` characters.

    Nothing in it breaks the line, reverses it, moves a cursor or stays unseen.
    """
    flat = " ".join(seen(text[: _SPARE * most]).split())
    if not flat.isprintable():
        flat = "".join(one if one.isprintable() else "·" for one in flat)
    return cut(flat, most)


def cut(text: str, most: int) -> str:
    """The beginning of a text, of at most ``most`` characters; one that goes on ends with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
