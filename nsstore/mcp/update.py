"""A new text in the place of a record's, with all that was said of the record before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsstore.errors import Refused
from nsstore.writers.note import Note, Receipt

if TYPE_CHECKING:
    from nsstore.mcp.arguments import Update
    from nsstore.session import Session
    from nsstore.store import Found

NEWER: Final = "a newer version took the place of this record: update that one, {}"
OTHER: Final = (
    "this record is of another {}, and is changed and forgotten from there alone: remember what holds now as"
    " a record of its own, and tell the user, who can edit or forget the old one with `nsstore edit` or"
    " `nsstore forget`"
)
_PLACE: Final = ("user_id", "project_id", "session_id", "conversation_id")


def updated(session: Session, given: Update) -> Receipt:
    """Write the next version of a record of the session's own.

    Raises :class:`nsstore.Refused` for one that a newer one took the place of, or of another session
    (``superseded``, ``other_scope``), and as :meth:`nsstore.Session.remember`.
    """
    found = session.get(given.record_id)
    require_own(session, found)
    newer = [one.record_id for one in session.history(given.record_id) if given.record_id in one.supersedes]
    if newer and given.idempotency_key is None:
        raise Refused(NEWER.format(newer[0]), reason="superseded")
    (receipt,) = session.remember_many([_next(found, given)])
    return receipt


def require_own(session: Session, found: Found) -> None:
    """Raise :class:`nsstore.Refused` for a record that may be read here, and is of another place."""
    own, whose = session.envelope.scope, found.provenance.scope
    for name in _PLACE:
        if whose[name] != getattr(own, name):
            raise Refused(OTHER.format(name.removesuffix("_id")), reason="other_scope")


def _next(found: Found, given: Update) -> Note:
    return Note(
        text=given.text,
        kind=found.kind if given.kind is None else given.kind,
        title=found.title if given.title is None else given.title,
        tags=found.tags if given.tags is None else tuple(given.tags),
        sensitivity=found.sensitivity,
        retention_class=found.retention_class,
        privacy=found.privacy or "project_only",
        supersedes=(found.record_id,),
        ext=found.ext,
        expires_at=found.expires_at,
        idempotency_key=given.idempotency_key,
    )
