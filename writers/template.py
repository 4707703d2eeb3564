"""What a scope says in one way, checked and encoded once: notes that differ in their text share it."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Final

from nsstore import record
from nsstore.clock import utc_now
from nsstore.policy import decide_write
from nsstore.record import Header
from nsstore.scope import (
    Area,
    Namespace,
    Privacy,
    ScopeEnvelope,
    Sensitivity,
    check_choice,
    check_texts,
    text_of,
)
from nsstore.store import Draft, tag_of

ZERO: Final = "0" * 64
_SALT_BYTES: Final = 16


class Template:
    """The form of a note, what is remembered of its records, and whether its scope may write it."""

    def __init__(self, envelope: ScopeEnvelope, header: Header) -> None:
        self.form = record.Form(header)
        self.tag = tag_of(header)
        self.decision = decide_write(envelope, header, ()) if header.supersedes is None else None

    def draft(self, text: str, same_key: tuple[str, ...] = (), now: str | None = None) -> Draft:
        """A draft with an id, a time (``now``, if it was taken before) and a salt of its own.

        Raises :class:`InvalidInput` for a text that no record may have.
        """
        return Draft(
            form=self.form,
            tag=self.tag,
            decision=self.decision,
            record_id=record.new_record_id(),
            created_at=now or utc_now(),
            salt=os.urandom(_SALT_BYTES).hex(),
            text=record.check_text(text),
            same_key=same_key,
        )


@lru_cache(maxsize=512, typed=True)
def template(  # noqa: PLR0917 - one argument for each thing a caller may say
    envelope: ScopeEnvelope,
    key_id: str,
    area: Area,
    key: str | None,
    kind: str | None,
    title: str | None,
    tags: tuple[str, ...],
    sensitivity: Sensitivity | str,
    retention_class: str,
    privacy: Privacy | str,
    supersedes: tuple[str, ...],
) -> Template:
    """The template of what a scope says in this way. Raises :class:`InvalidInput` naming the field."""
    scope = envelope.scope
    header = Header(
        type=area,
        schema_version=record.SCHEMA_VERSION,
        record_id=record.new_record_id(),
        tenant_id=scope.tenant_id,
        group_id=scope.group_id,
        user_id=scope.user_id,
        project_id=scope.project_id,
        session_id=scope.session_id,
        conversation_id=scope.conversation_id,
        workspace_id=text_of(scope.workspace_id),
        branch=text_of(scope.branch),
        baseline=text_of(scope.baseline),
        agent_id=scope.agent_id,
        tool_context=scope.tool_context,
        task_id=scope.task_id,
        commit=envelope.commit,
        source_tool=envelope.source_tool,
        created_at=utc_now(),
        sensitivity=check_choice("sensitivity", Sensitivity, sensitivity),
        retention_class=retention_class,
        expires_at=None,
        privacy=check_choice("privacy", Privacy, privacy),
        kind=kind,
        title=title,
        tags=_sorted("tags", tags),
        supersedes=_sorted("supersedes", supersedes),
        key=key,
        idempotency=None,
        imported_from=None,
        ext=None,
        seq=record.MAX_SEQ,  # the widest place: what fits there fits anywhere
        prev=ZERO,
        salt=os.urandom(_SALT_BYTES).hex(),
        seal=record.blank_seal(key_id),
    )
    return Template(envelope, header)


def forget_templates(_ns: Namespace, _records: tuple[str, ...]) -> None:
    """Let go of every template: one of them may hold the title and the tags of what is forgotten."""
    template.cache_clear()


def _sorted(field: str, values: object) -> tuple[str, ...] | None:
    return tuple(sorted(set(check_texts(field, values)))) or None
