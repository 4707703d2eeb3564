"""Lists of records, newest first: of the own session, or of every one that rights open to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from nsstore.errors import EscapeError, IntegrityError
from nsstore.store import Found, Sight, found_of
from nsstore.store.sight import CURRENT

VERB = "list"


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Readable records, newest first; ``total`` counts the readable ones, listed here or not.

    ``older`` counts those behind the last one that is listed. ``incomplete`` says that a session which rights
    open to this one is damaged, and was left out.
    """

    items: tuple[Found, ...]
    total: int
    older: int
    incomplete: bool = False


class _Damaged(NamedTuple):
    """Which session cannot be listed, and why."""

    sight: Sight
    why: IntegrityError | EscapeError


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of a list is asked for; each way to make it is ``None`` if ``before`` is not in it."""

    limit: int
    include_superseded: bool
    before: str | None

    def of_own(self, sight: Sight) -> Listing | None:
        """The records of the own session, in the order of its ledger."""
        readable = list(sight.newest_first())
        hidden = frozenset[str]() if self.include_superseded else sight.superseded()
        older = self._older(readable)
        if older is None:
            return None
        ids = [record_id for record_id in older if record_id not in hidden]
        items = tuple(_found(sight, record_id) for record_id in ids[: self.limit])
        total = sum(record_id not in hidden for record_id in readable)
        return Listing(items=items, total=total, older=len(ids) - len(items))

    def of_every_session(self, own: Sight, sights: Sequence[Sight], *, incomplete: bool) -> Listing | None:
        """The current records of the sessions of the own project that are open, newest first by their ids.

        Another session that turns out to be damaged is left out whole; the own one's damage is raised.
        """
        place = own.leaf.place.ns.dimensions[:3]
        left = [one for one in sights if one.leaf.place.ns.dimensions[:3] == place]
        while True:
            listing = self._of_several(left)
            if not isinstance(listing, _Damaged):
                return listing and msgspec.structs.replace(listing, incomplete=incomplete)
            if listing.sight is own:
                raise listing.why
            left.remove(listing.sight)
            incomplete = True

    def _of_several(self, sights: Sequence[Sight]) -> Listing | _Damaged | None:
        hidden, where = set[str](), dict[str, Sight]()
        sight = sights[0]
        try:
            for sight in sights:
                if not self.include_superseded:
                    hidden |= sight.superseded()
                where |= {one: sight for one in sight.newest_first() if sight.decision(one) == CURRENT}
            ids = sorted(where.keys() - hidden, reverse=True)
            older = self._older(ids)
            if older is None:
                return None
            items: list[Found] = []
            for record_id in older[: self.limit]:
                sight = where[record_id]
                items.append(_found(sight, record_id))
        except (IntegrityError, EscapeError) as err:
            return _Damaged(sight, err)
        return Listing(items=tuple(items), total=len(ids), older=len(older) - len(items))

    def _older(self, ids: list[str]) -> list[str] | None:
        if self.before is None:
            return ids
        return ids[ids.index(self.before) + 1 :] if self.before in ids else None


def _found(sight: Sight, record_id: str) -> Found:
    found, decision = sight.read(record_id)
    return found_of(sight.leaf.place.ns, found, stale=decision.stale, reason=VERB)
