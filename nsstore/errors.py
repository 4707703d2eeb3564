"""The closed set of errors a caller can meet.

Each class is one kind of the table in ``docs/design.md``; a message names the rule that was
broken and the way out, never a host path, another scope's name or the text of a record.
"""

from __future__ import annotations

import os
from typing import ClassVar


class StoreError(Exception):
    """Every error nsstore raises on purpose is one of the kinds below, and no other."""

    kind: ClassVar[str] = "error"

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class InvalidInput(StoreError):
    """An id, a dimension, a limit or a setting is wrong; the message says which, and the rule."""

    kind = "invalid"


class NotVisible(StoreError):
    """What was asked for is absent or denied: one class and one message for both."""

    kind = "not_visible"

    def __init__(self, asked: str) -> None:
        super().__init__(f"{asked} is not visible in this scope")


class Refused(StoreError):
    """The caller's own right is missing; the message gives the reason and what helps."""

    kind = "refused"

    def __init__(self, message: str, *, reason: str, retryable: bool = False) -> None:
        super().__init__(message, retryable=retryable)
        self.reason = reason


class IntegrityError(StoreError):
    """Something genuine was altered, lost, replayed or rolled back; the id leads to the evidence."""

    kind = "integrity"

    def __init__(self, message: str, *, incident_id: str, incident_kind: str) -> None:
        super().__init__(f"{message} (incident {incident_id})")
        self.incident_id = incident_id
        self.incident_kind = incident_kind


class EscapeError(StoreError):
    """A link, a foreign device or a swapped directory was met on the way; never retried."""

    kind = "escape"


class WitnessError(StoreError):
    """The audit could not take the event, so the operation it belongs to failed."""

    kind = "witness"


class SystemFailure(StoreError):
    """The operating system said no; the message is the errno in words, without a path."""

    kind = "os"

    def __init__(self, doing: str, cause: OSError, *, retryable: bool = False) -> None:
        self.errno = cause.errno
        words = os.strerror(cause.errno) if cause.errno else "unknown system error"
        super().__init__(f"{doing}: {words}", retryable=retryable)


KINDS: tuple[type[StoreError], ...] = (
    InvalidInput,
    NotVisible,
    Refused,
    IntegrityError,
    EscapeError,
    WitnessError,
    SystemFailure,
)
