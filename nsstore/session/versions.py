"""The next version of a record: what whoever writes one, by whatever face, has to know first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsstore.errors import Refused
from nsstore.store import Found
from nsstore.writers.note import Note

if TYPE_CHECKING:
    from nsstore.session.session import Session

_PLACE: Final = ("user_id", "project_id", "session_id", "conversation_id")


def require_own(session: Session, found: Found, told: str) -> None:
    """Require a record of the session's own, not one that a grant opens and that another place holds.

    Raises :class:`Refused` (``other_scope``) with ``told``, which has a place for what is another's.
    """
    own, whose = session.envelope.scope, found.provenance.scope
    for name in _PLACE:
        if whose[name] != getattr(own, name):
            raise Refused(told.format(name.removesuffix("_id")), reason="other_scope")


def newer_than(session: Session, record_id: str) -> list[str]:
    """The readable versions that took the place of a record at once. Raises as :meth:`Session.history`."""
    return [one.record_id for one in session.history(record_id) if record_id in one.supersedes]


def next_version(found: Found, text: str) -> Note:
    """A note that takes a record's place: all that was said of it, and another text."""
    return Note(
        text=text,
        kind=found.kind,
        title=found.title,
        tags=found.tags,
        sensitivity=found.sensitivity,
        retention_class=found.retention_class,
        privacy=found.privacy or "project_only",
        supersedes=(found.record_id,),
        ext=found.ext,
        expires_at=found.expires_at,
    )
