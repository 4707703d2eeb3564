"""Putting audits back: each month as it was backed up, and behind it what is left of the store proves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

from nsstore import layout
from nsstore.audit import AuditLine, EventKind
from nsstore.audit.ending import is_month_file, lines_of, month_file, months_in, verified
from nsstore.audit.events import LONGEST, ZERO
from nsstore.errors import InvalidInput
from nsstore.root import File
from nsstore.store.archive import changed
from nsstore.store.remains import Remains
from nsstore.store.site import Site
from nsstore.trust import Chain, Keys

_TOGETHER: Final = 1024 * 1024


class _End:
    """Where a tenant's audit ends, as far as it is put back."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.seq = -1
        self.head = ZERO
        self.month = ""

    def follows(self, line: AuditLine) -> bool:
        """Whether an event is the next one, or tells of the very gap before it."""
        lost = line.seq - self.seq - 1
        if line.event is EventKind.GAP and lost:
            return 0 < lost == line.count
        return not lost and line.prev == self.head

    def goes_on(self, line: AuditLine, mac: bytes) -> None:
        self.seq, self.head = line.seq, mac.hex()


class PuttingAudits:
    """Puts the months of each tenant's audit back, oldest first.

    What is left of the store goes on from there: of its lines those that are proven and follow, one after
    the other. ``brought`` counts them. A line that is none of the chain is left where it is.
    """

    def __init__(self, site: Site, store_id: bytes, keys: Keys, remains: Remains | None) -> None:
        self._site = site
        self._store_id = store_id
        self._keys = keys
        self._remains = remains
        self._ends: dict[str, _End | None] = {}
        self.brought = 0

    def take(self, path: str, pieces: Iterator[bytes]) -> None:
        """Put one month back. Raises :class:`Refused` for a path that no month of an audit has."""
        top, middle, tenant, name, *rest = *path.split("/"), "", "", ""
        try:
            layout.decode("tenant", tenant)
        except InvalidInput:
            raise changed() from None
        if (top, middle, len(rest)) != ("audit", "tenants", 3) or not is_month_file(name):
            raise changed()
        end = self._end_of(tenant)
        with ExitStack() as held:
            folder = held.enter_context(self._site.folder(f"audit/tenants/{tenant}"))
            later = None
            if self._remains is not None and end is not None:
                end.month = name.removesuffix(".jsonl")
                later = self._remains.file(path)
                if later is not None:
                    held.enter_context(later)
                pieces = self._carried_on(end, pieces, later)
            self._site.put(folder, path, pieces)

    def finish(self) -> None:
        """Take over the months that came after the backup, of tenants that were begun after it as well."""
        if self._remains is None:
            return
        for component in sorted(self._remains.known.audits):
            end = self._end_of(component)
            path = f"audit/tenants/{component}"
            folder = self._remains.folder(path) if end is not None else None
            if end is None or folder is None:
                continue
            with folder:
                months = [month for month in months_in(folder) if month > end.month]
            for month in months:
                end.month = month
                file = self._remains.file(f"{path}/{month_file(month)}")
                if file is not None:
                    with file:
                        self._put_new(end, f"{path}/{month_file(month)}", file)

    def _put_new(self, end: _End, path: str, file: File) -> None:
        pieces = self._following(end, file, 0)
        first = next(pieces, None)
        if first is not None:
            with self._site.folder(path.rpartition("/")[0]) as folder:
                self._site.put(folder, path, _chained(first, pieces))

    def _end_of(self, component: str) -> _End | None:
        """The end of a tenant's audit; ``None`` where nothing says whose it is."""
        if component not in self._ends:
            tenant = self._remains.tenant(component) if self._remains is not None else None
            chain = Chain(self._store_id, "audit", (tenant,)) if tenant is not None else None
            self._ends[component] = _End(chain) if chain is not None else None
        return self._ends[component]

    def _carried_on(self, end: _End, pieces: Iterator[bytes], later: File | None) -> Iterator[bytes]:
        """A month as it was backed up, and the lines that follow in what is left of it."""
        tail, size, same = b"", 0, later is not None
        for piece in pieces:
            same = same and later is not None and later.read_at(size, len(piece)) == piece
            size += len(piece)
            tail = (tail + piece)[-2 * LONGEST :]
            yield piece
        lines = (verified(self._keys, end.chain, one) for one in reversed(tail.split(b"\n")))
        if (last := next(filter(None, lines), None)) is not None:
            end.goes_on(*last)
        if later is not None:
            yield from self._following(end, later, size if same else 0)

    def _following(self, end: _End, file: File, start: int) -> Iterator[bytes]:
        """The lines of a file from ``start`` on that follow the end, many at once.

        One that was written when the next month had come belongs to that month: here it is a copy.
        """
        held, size = list[bytes](), 0
        for raw, _, ended in lines_of(file, file.size, start):
            found = verified(self._keys, end.chain, raw) if raw is not None and ended else None
            if raw is None or found is None or not end.follows(found[0]) or found[0].at[:7] > end.month[:7]:
                continue
            end.goes_on(*found)
            held.append(raw + b"\n")
            size += len(raw)
            self.brought += 1
            if size > _TOGETHER:
                yield b"".join(held)
                held, size = [], 0
        if held:
            yield b"".join(held)


def _chained(first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from others
