"""The exit codes: one for each kind of error, so that a script need not read messages."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FOUND_WRONG: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

EXITS: Final[dict[str, int]] = {
    "invalid": 3,
    "not_visible": 4,
    "refused": 5,
    "integrity": 6,
    "escape": 7,
    "witness": 8,
    "os": 9,
}
"""By the kind of :mod:`nsstore.errors`."""

MEANING: Final[dict[int, str]] = {
    OK: "done",
    FOUND_WRONG: "`check`, `accept`, `selftest`, `audit verify` or `demo` found something wrong, `import`"
    " refused a line or a file, `backup` left out what is damaged, or `restore` or `owner accept` leaves"
    " something closed or missing",
    USAGE: "no such command, option or value",
    3: "`invalid`: an id, a dimension, a limit or a setting is wrong or missing",
    4: "`not_visible`: absent or denied, which look the same",
    5: "`refused`: a right, a key or a passphrase is missing, or a document is at another version;"
    " the message says what helps",
    6: "`integrity`: a genuine record was altered, lost, replayed or rolled back",
    7: "`escape`: a link, a foreign device or an open mode stands in the store",
    8: "`witness`: the audit could not take the event, so the operation failed",
    9: "`os`: the system said no: disk full, permissions, limits",
    INTERRUPTED: "interrupted (Ctrl-C)",
    PIPE_CLOSED: "whoever read the output stopped reading",
}
