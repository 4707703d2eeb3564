"""The names of version 1: which lines a header has, in which order, and which of them are its scope."""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 1
MAX_HEADER: Final = 16 * 1024
"""Bytes from the first ``---`` to the end of the second."""
MAX_TEXT: Final = 256 * 1024
"""Bytes of text, as UTF-8."""

FIELDS: Final = (
    "type",
    "schema_version",
    "record_id",
    "tenant_id",
    "group_id",
    "user_id",
    "project_id",
    "session_id",
    "conversation_id",
    "workspace_id",
    "branch",
    "baseline",
    "agent_id",
    "tool_context",
    "task_id",
    "commit",
    "source_tool",
    "created_at",
    "sensitivity",
    "retention_class",
    "expires_at",
    "privacy",
    "kind",
    "title",
    "tags",
    "supersedes",
    "key",
    "idempotency",
    "imported_from",
    "ext",
    "seq",
    "prev",
    "salt",
    "seal",
)
SCOPE_FIELDS: Final = FIELDS[3:15]


class Malformed(ValueError):
    """The bytes are not a record of version 1; ``rule`` says which rule they break, never what they hold.

    Whoever read them decides what that means: for a file on the disk it is an incident.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule
