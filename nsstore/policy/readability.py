"""The readability class of a record: everything about it that a decision to read looks at."""

from __future__ import annotations

from typing import Final

import msgspec

from nsstore.errors import InvalidInput
from nsstore.record import Header
from nsstore.scope import Area, Sensitivity


class ReadClass(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, cache_hash=True):
    """Records of equal class are readable by the same requests; a class can be a dict key.

    Fields have the spelling of the header; ``area`` is its ``type``. ``reportable`` is false of an
    import with incomplete provenance. Raises :class:`InvalidInput` for a field of a wrong type.
    """

    area: Area
    tenant_id: str | None
    group_id: str | None
    user_id: str
    project_id: str
    session_id: str | None
    conversation_id: str | None
    workspace_id: str
    branch: str
    baseline: str
    agent_id: str
    tool_context: str | None
    task_id: str | None
    commit: str | None
    sensitivity: Sensitivity
    reportable: bool

    def __post_init__(self) -> None:
        if not (
            _one_text(self.tenant_id, self.group_id)
            and _one_text(self.session_id, self.conversation_id)
            and type(self.user_id) is type(self.project_id) is type(self.workspace_id) is str
            and type(self.branch) is type(self.baseline) is type(self.agent_id) is str
            and (self.tool_context is None or type(self.tool_context) is str)
            and (self.task_id is None or type(self.task_id) is str)
            and (self.commit is None or type(self.commit) is str)
            and _is_area(self.area)
            and type(self.sensitivity) is Sensitivity
            and type(self.reportable) is bool
        ):
            raise InvalidInput("a readability class has a field of a wrong type")

    @property
    def session(self) -> tuple[str, str]:
        """Which of session and conversation, and its id."""
        if self.session_id is not None:
            return ("session", self.session_id)
        assert self.conversation_id is not None
        return ("conversation", self.conversation_id)


def _one_text(one: object, other: object) -> bool:
    return (one is None and type(other) is str) or (type(one) is str and other is None)


def _is_area(value: object) -> bool:
    return type(value) is str and value in ("memory", "state")


_MOST_KNOWN: Final = 4096
_known: Final[dict[tuple[object, ...], ReadClass]] = {}


def readability_class(meta: Header) -> ReadClass:
    """The class of a record, from its header alone; headers of equal class share one value."""
    reportable = meta.imported_from is None or meta.imported_from.complete
    key = (
        *(meta.tenant_id, meta.group_id, meta.user_id, meta.project_id, meta.session_id),
        *(meta.conversation_id, meta.workspace_id, meta.branch, meta.baseline, meta.agent_id),
        *(meta.tool_context, meta.task_id, meta.sensitivity, reportable, meta.type, meta.commit),
    )
    known = _known.get(key)
    if known is None:
        known = ReadClass(
            area=meta.type,
            tenant_id=meta.tenant_id,
            group_id=meta.group_id,
            user_id=meta.user_id,
            project_id=meta.project_id,
            session_id=meta.session_id,
            conversation_id=meta.conversation_id,
            workspace_id=meta.workspace_id,
            branch=meta.branch,
            baseline=meta.baseline,
            agent_id=meta.agent_id,
            tool_context=meta.tool_context,
            task_id=meta.task_id,
            commit=meta.commit,
            sensitivity=meta.sensitivity,
            reportable=reportable,
        )
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = known
    return known
