"""``imported_from``: what an import's source claimed, kept as provenance and never believed."""

from __future__ import annotations

import re
from typing import Final, cast

import msgspec

from nsstore.errors import InvalidInput
from nsstore.record.checks import HEX64, check_shape
from nsstore.record.fields import SCOPE_FIELDS
from nsstore.scope import check_label, check_name

_HOST_PATH: Final = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|file:", re.IGNORECASE)


class ImportedFrom(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an import's source claimed about a record: kept as provenance, never believed.

    ``format`` names the reader; ``item`` is the record's name inside the source, never a path on
    the host; ``digest`` is 64 hex digits over the source's bytes; ``scope`` holds claimed scope
    fields. Raises :class:`InvalidInput`.
    """

    created_at: str | None
    digest: str | None
    format: str
    item: str | None
    record_id: str | None
    scope: dict[str, str] | None

    def __post_init__(self) -> None:
        if self.created_at is not None and len(check_label("imported_from.created_at", self.created_at)) > 64:
            raise InvalidInput("imported_from.created_at must have 1 to 64 characters")
        if self.digest is not None:
            check_shape("imported_from.digest", self.digest, HEX64)
        check_name("imported_from.format", self.format)
        _name_in_source("imported_from.item", self.item)
        _name_in_source("imported_from.record_id", self.record_id)
        if self.scope is not None:
            msgspec.structs.force_setattr(self, "scope", _claimed_scope(self.scope))

    @property
    def complete(self) -> bool:
        """Whether the source's bytes, the time it claimed, and the place in it are all named."""
        named = self.item is not None or self.record_id is not None
        return named and self.digest is not None and self.created_at is not None


def _name_in_source(field: str, value: object) -> None:
    if value is not None and _HOST_PATH.match(check_label(field, value)):
        raise InvalidInput(f"{field} must be a name inside the source, not a path on the host")


def _claimed_scope(scope: object) -> dict[str, str]:
    claims = cast("dict[object, object]", scope)
    if type(scope) is not dict or not claims or not claims.keys() <= set(SCOPE_FIELDS):
        raise InvalidInput(
            f"imported_from.scope must be an object of scope fields, or null: {', '.join(SCOPE_FIELDS)}"
        )
    return {
        field: check_label(f"imported_from.scope.{field}", claims[field])
        for field in SCOPE_FIELDS
        if field in claims
    }
