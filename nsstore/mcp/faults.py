"""What an agent hears when a call fails: the kind, the rule, and the way out; never a path of the host."""

from __future__ import annotations

from typing import Final

import msgspec

from nsstore.errors import InvalidInput, Refused, StoreError, SystemFailure

SCOPE_WORDS: Final = frozenset(
    {
        *("tenant", "group", "user", "project", "session", "conversation", "workspace", "branch", "baseline"),
        *(
            "agent",
            "tool_context",
            "task",
            "clearance",
            "role",
            "purpose",
            "commit",
            "scope",
            "store",
            "path",
        ),
        *("allowed_branches", "allowed_baselines", "source_tool"),
    }
)
BOUND: Final = "the scope is bound by the host program, and no tool takes a part of it: leave it out"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a call failed: ``kind`` as in the table of errors, ``reason`` where the caller's right is missing.

    ``retryable`` says that the very same call may succeed later.
    """

    kind: str
    message: str
    reason: str | None = None
    retryable: bool = False

    @property
    def line(self) -> str:
        """The same in one line of text."""
        named = self.kind if self.reason is None else f"{self.kind} ({self.reason})"
        return f"{named}: {self.message}"


def fault_of(err: BaseException) -> Fault:
    """What is told of an error; of one that nobody foresaw only that it happened."""
    if isinstance(err, StoreError):
        reason = err.reason if isinstance(err, Refused) else None
        return Fault(kind=err.kind, message=str(err), reason=reason, retryable=err.retryable)
    if isinstance(err, OSError):
        return fault_of(SystemFailure("this call", err))
    return Fault(
        kind="error",
        message=f"the server failed ({type(err).__name__}): nothing is promised about this call; ask again"
        " with what you know, and tell the user if it stays so",
    )


def unknown_argument(tool: str, name: str) -> InvalidInput:
    """The refusal of an argument that a tool does not take."""
    shown = name if name.isidentifier() and len(name) <= 40 else "an argument of that name"
    if name in SCOPE_WORDS or name.removesuffix("_id") in SCOPE_WORDS:
        return InvalidInput(f"{tool} takes no {shown}: {BOUND}")
    return InvalidInput(f"{tool} takes no {shown}: its schema names what it takes")
