"""The newest time at which a statement was found to have expired, kept in the trust home."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from nsstore import layout
from nsstore.errors import StoreError
from nsstore.rights.listing import Listing
from nsstore.rights.statements import spelled_time, time_of
from nsstore.trust import Chain, NoValidSlot, Trust

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Clock:
    """A clock that is set back revives nothing: the time that was seen once is a cell like any head.

    It is counted anew for a list that begins anew, which is the owner's way out of a clock that was
    once far ahead.
    """

    def __init__(self, trust: Trust, listing: Listing) -> None:
        era = str(listing.known[0].statement.seq)
        self._trust = trust
        self._chain = Chain(trust.store_id, "rights", (("store", trust.store_id.hex()), ("clock", era)))

    def read(self) -> str:
        """The time, or an empty text. Raises :class:`NoValidSlot` if its cell proves nothing."""
        found = self._trust.anchors.read(layout.RIGHTS_HEAD, self._chain)
        return "" if found is None else spelled_time(_EPOCH + found.seq * _MICROSECOND)

    def note(self, now: str) -> None:
        """Keep a later time, durably; where the trust home takes nothing, this process alone knows."""
        seq = (time_of(now) - _EPOCH) // _MICROSECOND
        with suppress(StoreError, NoValidSlot):
            cell = self._trust.anchors.open(layout.RIGHTS_HEAD, self._chain)
            if cell is None:
                self._trust.anchors.create(layout.RIGHTS_HEAD, self._chain, lambda: (seq, bytes(32)))
                return
            with cell:
                cell.hold()
                cell.advance(seq, bytes(32))
                cell.file.flush()


def time_of_id(record_id: str) -> str:
    """The time that a record id begins with, as statements spell it; an empty text for none."""
    if not record_id:
        return ""
    return spelled_time(_EPOCH + timedelta(milliseconds=int(record_id[:8] + record_id[9:13], 16)))
