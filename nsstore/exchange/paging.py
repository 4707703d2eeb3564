"""Every record that a session may read, a page at a time, whatever is forgotten meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsstore.errors import NotVisible
from nsstore.session import Session
from nsstore.store import Found

PAGE: Final = 250
"""Records that are held at once, each of up to 256 KiB."""


def every(session: Session, *, include_superseded: bool) -> Iterator[Found]:
    """Each readable record once, newest first; one that is written after the first page may be left out."""
    seen: set[str] = set()
    ends: list[str] = []
    while True:
        try:
            page = session.list(
                limit=PAGE, include_superseded=include_superseded, before=ends[-1] if ends else None
            )
        except NotVisible:  # where the page before ended was forgotten: go on from the one before that
            ends.pop()
            continue
        for one in page.items:
            if one.record_id not in seen:
                seen.add(one.record_id)
                yield one
        if not page.older:
            return
        ends.append(page.items[-1].record_id)
