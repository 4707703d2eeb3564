"""A new text in the place of a record's, with all that was said of the record before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import structs

from nsstore.errors import Refused
from nsstore.session.versions import newer_than, next_version, require_own

if TYPE_CHECKING:
    from nsstore.mcp.arguments import Update
    from nsstore.session import Session
    from nsstore.writers.note import Receipt

NEWER: Final = "a newer version took the place of this record: update that one, {}"
OTHER: Final = (
    "this record is of another {}, and is changed and forgotten from there alone: remember what holds now as"
    " a record of its own, and tell the user, who can edit or forget the old one with `nsstore edit` or"
    " `nsstore forget`"
)


def updated(session: Session, given: Update) -> Receipt:
    """Write the next version of a record of the session's own.

    Raises :class:`nsstore.Refused` for one that a newer one took the place of, or of another session
    (``superseded``, ``other_scope``), and as :meth:`nsstore.Session.remember`.
    """
    found = session.get(given.record_id)
    require_own(session, found, OTHER)
    newer = newer_than(session, given.record_id)
    if newer and given.idempotency_key is None:
        raise Refused(NEWER.format(newer[0]), reason="superseded")
    said = {
        "title": given.title,
        "kind": given.kind,
        "tags": None if given.tags is None else tuple(given.tags),
    }
    changed = {name: value for name, value in said.items() if value is not None}
    note = structs.replace(next_version(found, given.text), idempotency_key=given.idempotency_key, **changed)
    (receipt,) = session.remember_many([note])
    return receipt
