"""Memory for AI agents in plain files, in which nothing crosses from one scope to another.

``open`` a store, ``bind`` it to a scope, ``remember`` and ``search``: see ``README.md``. The rooms
behind these names are imported when one of them is first used, so that a command can say ``--help``
at once.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nsstore.errors import (
    EscapeError,
    IntegrityError,
    InvalidInput,
    NotVisible,
    Refused,
    StoreError,
    SystemFailure,
    WitnessError,
)

if TYPE_CHECKING:
    from nsstore.opening import open_store as open  # noqa: A004 - `nsstore.open` is the name of the verb
    from nsstore.scope import NA, NOT_APPLICABLE, Privacy, Purpose, Sensitivity
    from nsstore.search.engine import Answer, Hit
    from nsstore.session import Listing, OpenStore, Session, StateDocuments
    from nsstore.store import Found, Provenance
    from nsstore.writers.forget import ForgetReceipt
    from nsstore.writers.note import Note, Receipt
else:

    def __getattr__(name: str) -> object:
        """Import the rooms behind the names of ``__all__``, once, and keep the names."""
        if name in __all__:
            rooms = _rooms()
            globals().update({known: rooms[known] for known in __all__ if known in rooms})
            if name in globals():
                return globals()[name]
        raise AttributeError(f"module 'nsstore' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted(["__version__", *__all__])

    def _rooms() -> dict[str, object]:
        from nsstore import scope

        if sys.platform == "win32":
            return {**vars(scope), "open": _refuse}
        from nsstore import opening, session, store
        from nsstore.search import engine
        from nsstore.writers import forget, note

        rooms = (forget, note, engine, store, session, scope)
        return {key: value for room in rooms for key, value in vars(room).items()} | {
            "open": opening.open_store
        }

    def _refuse(*_: object, **__: object) -> None:
        """Refuse: there are no private modes and no beneath-opening on Windows."""
        raise Refused(
            "nsstore does not run on Windows itself: open the store from WSL", reason="unsupported_system"
        )


__version__ = "0.1.0"
__all__ = [
    "NA",
    "NOT_APPLICABLE",
    "Answer",
    "EscapeError",
    "ForgetReceipt",
    "Found",
    "Hit",
    "IntegrityError",
    "InvalidInput",
    "Listing",
    "NotVisible",
    "Note",
    "OpenStore",
    "Privacy",
    "Provenance",
    "Purpose",
    "Receipt",
    "Refused",
    "Sensitivity",
    "Session",
    "StateDocuments",
    "StoreError",
    "SystemFailure",
    "WitnessError",
    "open",
]
