"""The versions of a record, in whichever session each is, and what whoever writes the next has to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from nsstore.errors import Refused
from nsstore.store import Found, Sight
from nsstore.writers.note import Note

if TYPE_CHECKING:
    from nsstore.session.session import Session

USER: Final = ("user_id", "project_id")
SESSION: Final = ("session_id", "conversation_id")


def require_own(session: Session, found: Found, names: Sequence[str], told: str) -> None:
    """Require that a record has the session's own values of the dimensions that are named.

    Raises :class:`Refused` (``other_scope``) with ``told``, which has a place for what is another's.
    """
    own, whose = session.envelope.scope, found.provenance.scope
    for name in names:
        if whose[name] != getattr(own, name):
            raise Refused(told.format(name.removesuffix("_id")), reason="other_scope")


def related(sights: Sequence[Sight], record_id: str) -> list[tuple[Sight, str]]:
    """What a record supersedes or is superseded by, through any number of readable steps, newest first.

    Versions of one session are in its own order, those of several by their ids.
    """
    met = [(sight, one) for sight in sights for one in sight.newest_first()]
    links: dict[str, set[str]] = {}
    for sight, one in met:
        for old in sight.tag(one).supersedes:
            links.setdefault(old, set()).add(one)
            links.setdefault(one, set()).add(old)
    reached, waiting = {record_id}, [record_id]
    while waiting:
        fresh = links.get(waiting.pop(), set()) - reached
        reached |= fresh
        waiting += fresh
    found = [(sight, one) for sight, one in met if one in reached]
    if len({id(sight) for sight, _ in found}) > 1:
        found.sort(key=lambda one: one[1], reverse=True)
    return found


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
