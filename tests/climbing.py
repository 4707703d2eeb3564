"""Names that try to climb out of where they belong."""

CLIMBING = [
    "..",
    ".",
    "../x",
    "../../x",
    "a/../b",
    "a/..",
    "./a",
    "...",
    "....//",
    "a//b",
    "/",
    "a/",
    "..\n",
]
