"""The command that would open something: whole, with every value that is known, so that it can be pasted."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Final

import click

from nsstore.policy import Row
from nsstore.policy.explaining import NEVER
from nsstore.scope import ScopeEnvelope

DAYS: Final = 90
UNKNOWN: Final = "ID"
KINDS: Final = {
    "user": ("group_share", "--open-user"),
    "session": ("cross_session", "--open-session"),
    "workspace": ("cross_workspace", "--open-workspace"),
    "agent": ("cross_agent", "--open-agent"),
    "tool_context": ("cross_agent", "--open-tool-context"),
    "task": ("cross_agent", "--open-task"),
}
STALE: Final = {"branch": "--open-branch", "baseline": "--open-baseline"}
LINEAGE: Final = "lineage"
Parts = tuple[str, ...]


class Suggestion:
    """What would open a dimension, or a record, to one asker."""

    def __init__(self, envelope: ScopeEnvelope) -> None:
        scope = envelope.scope
        kind, tenant = scope.tenant
        self._to = (
            f"--{kind} {quote(tenant)}",
            f"--user {quote(scope.user_id)}",
            f"--project {quote(scope.project_id)}",
            f"--agent {quote(scope.agent_id)}",
            f"--purpose {envelope.purpose.value}",
        )

    def first(self, rows: Sequence[Row]) -> Parts:
        """The command for the first dimension of a request that an id of somebody else's would open."""
        own = [row for row in rows if row.dimension in KINDS and row.dimension != "user"]
        row = next((row for row in own if not row.opened), None)
        return () if row is None else self._of(row)

    def for_record(self, rows: Sequence[Row]) -> Parts:
        """The one command that opens a record as far as its dimensions are closed; none if nothing can.

        A grant on another user's records stands alone, so it names all in which they differ.
        """
        if any(row.how == "closed" and row.command == NEVER for row in rows):
            return ()
        shared = any(row.dimension == "user" and row.how != "equal" for row in rows)
        wanted = [row for row in rows if row.how == "closed" or (shared and row.how == "granted")]
        if not any(row.how == "closed" for row in rows):
            return ()
        kinds = tuple(dict.fromkeys(KINDS[row.dimension][0] for row in wanted if row.dimension in KINDS))
        flags = tuple(_flag(row.dimension, row.value or UNKNOWN) for row in wanted)
        return self._command(kinds or (LINEAGE,), flags)

    def told(self, row: Row, whole: Parts | None = None) -> dict[str, object]:
        """A row as a program reads it: ``command`` is whole, or ``None`` and ``reason`` says why."""
        command: str | None = None
        if row.command is not None and row.command != NEVER:
            command = " ".join(self._of(row) if whole is None else whole) or None
        return {
            "dimension": row.dimension,
            "value": row.value,
            "how": row.how,
            "opened": row.opened,
            "command": command,
            "reason": NEVER if row.command == NEVER else None,
        }

    def brief(self, row: Row, *, of_record: bool) -> str:
        """What would open a row, in a few words; of a record one command says it below."""
        if row.command is None or row.command == NEVER or of_record:
            return NEVER if row.command == NEVER else ""
        if row.dimension in STALE:
            return LINEAGE
        kind, flag = KINDS[row.dimension]
        return f"{kind} {flag} {UNKNOWN}"

    def _of(self, row: Row) -> Parts:
        """The command for one dimension, of which no value is known."""
        if row.dimension in STALE:
            return self._command((LINEAGE,), ())
        return self._command((KINDS[row.dimension][0],), (f"{KINDS[row.dimension][1]} {UNKNOWN}",))

    def _command(self, kinds: Parts, flags: Parts) -> Parts:
        ctx = click.get_current_context()
        typed = ctx.get_parameter_source("store") is click.core.ParameterSource.COMMANDLINE
        store = (f"--store {quote(str(ctx.params['store']))}",) if typed else ()
        named = f"nsstore owner grant {' '.join(kinds)}"
        return (named, *self._to, *flags, f"--days {DAYS}", "--why TEXT", *store)


def _flag(dimension: str, value: str) -> str:
    """The flag that opens a value of a dimension; a session's value says which of two it is."""
    if dimension == "session":
        kind, _, value = value.partition("=")
        return f"--open-{kind} {quote(value)}"
    flag = STALE[dimension] if dimension in STALE else KINDS[dimension][1]
    return f"{flag} {quote(value)}"
