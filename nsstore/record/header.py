"""The sealed header: what a record is, whose it is and where it stands, in the 34 fields of version 1."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
import uuid_utils

from nsstore.errors import InvalidInput
from nsstore.record.checks import (
    HEX32,
    HEX64,
    SEAL,
    check_id_or_dash,
    check_integer,
    check_list,
    check_member,
    check_shape,
    check_time,
)
from nsstore.record.ext import check_sealed_ext
from nsstore.record.fields import SCHEMA_VERSION
from nsstore.record.imported import ImportedFrom
from nsstore.scope import (
    NOT_APPLICABLE,
    NOT_APPLICABLE_TEXT,
    NotApplicable,
    Privacy,
    Scope,
    Sensitivity,
    check_commit,
    check_id,
    check_label,
    check_name,
    check_record_id,
)
from nsstore.scope.envelope import one_of

MAX_TAGS: Final = 32
MAX_SUPERSEDES: Final = 16
MAX_SEQ: Final = 2**63 - 1


def new_record_id() -> str:
    """A fresh record id: a lowercase UUIDv7, never one again, in no other process either.

    It tells roughly when a record was made; order comes from the ledger, not from here.
    """
    return str(uuid_utils.uuid7())


class Header(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A header that exists is valid: each field obeys ``docs/format.md``, made here or read from bytes.

    Fields stand in the order of the file's lines; an absent value is ``None`` and an empty list or
    object is refused. ``workspace_id``, ``branch`` and ``baseline`` are ``-`` where not applicable.
    Times are UTC; ``seq`` counts a namespace's events. Raises :class:`InvalidInput`, which names
    the field and the rule and never the value.
    """

    type: Literal["memory", "state"]
    schema_version: int
    record_id: str
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
    source_tool: str
    created_at: str
    sensitivity: Sensitivity
    retention_class: str
    expires_at: str | None
    privacy: Privacy | None
    kind: str | None
    title: str | None
    tags: tuple[str, ...] | None
    supersedes: tuple[str, ...] | None
    key: str | None
    idempotency: str | None
    imported_from: ImportedFrom | None
    ext: dict[str, object] | None
    seq: int
    prev: str
    salt: str
    seal: str

    def __post_init__(self) -> None:
        _check_what(self)
        _check_whose(self)
        _check_rules(self)
        _check_words(self)
        _check_origin(self)
        if self.ext is not None:
            # An own copy: what the caller holds can change after the check, this cannot.
            msgspec.structs.force_setattr(self, "ext", check_sealed_ext(self.ext))

    def scope(self) -> Scope:
        """The scope these fields seal."""
        return Scope(
            tenant_id=self.tenant_id,
            group_id=self.group_id,
            user_id=self.user_id,
            project_id=self.project_id,
            session_id=self.session_id,
            conversation_id=self.conversation_id,
            workspace_id=_id_or_na(self.workspace_id),
            branch=_id_or_na(self.branch),
            baseline=_id_or_na(self.baseline),
            agent_id=self.agent_id,
            tool_context=self.tool_context,
            task_id=self.task_id,
        )


def _id_or_na(text: str) -> str | NotApplicable:
    return NOT_APPLICABLE if text == NOT_APPLICABLE_TEXT else text


def _check_what(header: Header) -> None:
    _check_area(header.type, header.key)
    check_integer("schema_version", header.schema_version, SCHEMA_VERSION, SCHEMA_VERSION)
    check_record_id("record_id", header.record_id)
    check_integer("seq", header.seq, 1, MAX_SEQ)
    check_shape("prev", header.prev, HEX64)
    check_shape("salt", header.salt, HEX32)
    check_shape("seal", header.seal, SEAL)


def _check_area(area: object, key: object) -> None:
    if type(area) is not str or area not in {"memory", "state"}:
        raise InvalidInput("type must be one of: memory, state")
    if area == "state":
        check_label("key", key)
    elif key is not None:
        raise InvalidInput("key must be null in a memory record")


def _check_whose(header: Header) -> None:
    one_of("tenant_id", header.tenant_id, "group_id", header.group_id)
    check_id("user_id", header.user_id)
    check_id("project_id", header.project_id)
    one_of("session_id", header.session_id, "conversation_id", header.conversation_id)
    check_id_or_dash("workspace_id", header.workspace_id)
    check_id_or_dash("branch", header.branch)
    check_id_or_dash("baseline", header.baseline)
    check_id("agent_id", header.agent_id)
    if header.tool_context is not None:
        check_id("tool_context", header.tool_context)
    if header.task_id is not None:
        check_id("task_id", header.task_id)


def _check_rules(header: Header) -> None:
    check_member("sensitivity", header.sensitivity, Sensitivity)
    check_name("retention_class", header.retention_class)
    if header.expires_at is not None:
        check_time("expires_at", header.expires_at)
    if header.privacy is not None:
        check_member("privacy", header.privacy, Privacy)


def _check_words(header: Header) -> None:
    if header.kind is not None:
        check_name("kind", header.kind)
    if header.title is not None:
        check_label("title", header.title)
    if header.tags is not None:
        check_list("tags", header.tags, MAX_TAGS, check_label)
    if header.supersedes is not None:
        check_list("supersedes", header.supersedes, MAX_SUPERSEDES, check_record_id)
        _check_not_itself(header.record_id, header.supersedes)


def _check_not_itself(record_id: str, supersedes: tuple[str, ...] | None) -> None:
    if supersedes is not None and record_id in supersedes:
        raise InvalidInput("supersedes must not name the record itself")


def _check_origin(header: Header) -> None:
    check_id("source_tool", header.source_tool)
    check_time("created_at", header.created_at)
    if header.commit is not None:
        check_commit(header.commit)
    if header.idempotency is not None:
        check_shape("idempotency", header.idempotency, HEX64)
    if header.imported_from is not None:
        check_member("imported_from", header.imported_from, ImportedFrom)
