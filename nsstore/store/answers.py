"""What a caller gets to see of a record: its text and fields, and where it comes from."""

from __future__ import annotations

from typing import Final

import msgspec

from nsstore import layout
from nsstore.record import SCOPE_FIELDS, Header, ImportedFrom, Record
from nsstore.scope import Namespace, Privacy, Sensitivity

ADVISORY: Final = (
    "Memory is advisory: ask the current sources of truth first (runtime, baseline, branch files, the user)."
)


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where an answer comes from: record, scope, path, why it matched, and when it was written.

    ``path`` is relative to the root; ``reason`` is the verb; the matched terms and fields are
    those of a search (redline, "Provenance requirement"). ``imported_from`` is what the source of an
    import claimed: shown, and never believed.
    """

    record_id: str
    scope: dict[str, str | None]
    path: str
    reason: str
    matched_terms: tuple[str, ...]
    matched_fields: tuple[str, ...]
    created_at: str
    source_tool: str
    schema_version: int
    imported_from: ImportedFrom | None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A record as one of its readers gets it; ``stale`` if its branch or baseline is not the current one."""

    record_id: str
    text: str
    kind: str | None
    title: str | None
    tags: tuple[str, ...]
    key: str | None
    supersedes: tuple[str, ...]
    sensitivity: Sensitivity
    retention_class: str
    privacy: Privacy | None
    commit: str | None
    ext: dict[str, object] | None
    created_at: str
    expires_at: str | None
    stale: bool
    provenance: Provenance


def found_of(ns: Namespace, record: Record, *, stale: bool, reason: str) -> Found:
    """A proven and readable record as its reader gets it."""
    header = record.header
    return Found(
        record_id=header.record_id,
        text=record.text,
        kind=header.kind,
        title=header.title,
        tags=header.tags or (),
        key=header.key,
        supersedes=header.supersedes or (),
        sensitivity=header.sensitivity,
        retention_class=header.retention_class,
        privacy=header.privacy,
        commit=header.commit,
        ext=header.ext,
        created_at=header.created_at,
        expires_at=header.expires_at,
        stale=stale,
        provenance=provenance_of(
            header,
            scope=scope_fields(header),
            path=layout.record_path(ns, header.record_id),
            reason=reason,
        ),
    )


def provenance_of(
    header: Header,
    *,
    scope: dict[str, str | None],
    path: str,
    reason: str,
    matched_terms: tuple[str, ...] = (),
    matched_fields: tuple[str, ...] = (),
) -> Provenance:
    """The provenance of a record that is about to be returned; ``scope`` as :func:`scope_fields` tells it."""
    return Provenance(
        record_id=header.record_id,
        scope=scope,
        path=path,
        reason=reason,
        matched_terms=matched_terms,
        matched_fields=matched_fields,
        created_at=header.created_at,
        source_tool=header.source_tool,
        schema_version=header.schema_version,
        imported_from=header.imported_from,
    )


def scope_fields(header: Header) -> dict[str, str | None]:
    """The sealed scope of a record by field name; ``-`` stands for not applicable."""
    return {field: getattr(header, field) for field in SCOPE_FIELDS}
