"""What a session holds already of what is imported, and which version of each of its files."""

from __future__ import annotations

from typing import NamedTuple

from nsstore.exchange.paging import every
from nsstore.session import Session


class Version(NamedTuple):
    """The newest record of a file, and the digest of the bytes it was made of."""

    record_id: str
    digest: str | None


class Earlier:
    """The files that imports before brought in, as this very scope may read them now."""

    def __init__(self, session: Session, format_: str) -> None:
        self._newest: dict[str, Version] = {}
        self._newer: dict[str, str] = {}
        for one in every(session, include_superseded=True):
            if one.stale:
                continue
            for old in one.supersedes:
                self._newer.setdefault(old, one.record_id)
            origin = one.provenance.imported_from
            if origin is not None and origin.format == format_ and origin.item is not None:
                self._newest.setdefault(origin.item, Version(one.record_id, origin.digest))

    def version(self, item: str) -> Version | None:
        """The version of a file that was imported last."""
        return self._newest.get(item)

    def head(self, record_id: str) -> str:
        """What took the place of a record in the end, by whatever hand; itself if nothing did."""
        while (newer := self._newer.get(record_id)) is not None:
            record_id = newer
        return record_id
