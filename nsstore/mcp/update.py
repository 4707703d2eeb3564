"""A new text in the place of a record's, with all that was said of the record before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import structs

from nsstore.errors import Refused
from nsstore.session.versions import USER, newer_than, next_version, require_own

if TYPE_CHECKING:
    from nsstore.mcp.arguments import Update
    from nsstore.session import Session
    from nsstore.writers.note import Receipt

NEWER: Final = "a newer version took the place of this record: update that one, {}"
OTHER: Final = "this record is of another {}, who alone changes it: remember what holds now as one of its own"


def updated(session: Session, given: Update) -> Receipt:
    """Write the next version of a record of the user's own, in this session.

    Raises :class:`nsstore.Refused` for one that a newer one took the place of, or of another user
    (``superseded``, ``other_scope``), and as :meth:`nsstore.Session.remember`.
    """
    found = session.get(given.record_id)
    require_own(session, found, USER, OTHER)
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
