"""Where a tenant's audit chain ends, found again from the disk, and what had to be repaired."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from nsstore.audit.events import LONGEST, AuditEvent, AuditLine, EventKind, digest_of, read_line
from nsstore.clock import utc_now
from nsstore.errors import EscapeError, StoreError, SystemFailure
from nsstore.incident import IncidentKind, new_incident_id
from nsstore.root import NOT_OURS, READ, WRITE, Dir, File, Root
from nsstore.trust import BadLine, Cell, Chain, Keys, Trust

HEAD_LOST: Final = "head_lost"
MAX_TOLD: Final = 16
SHORTEST: Final = 250  # the keys of a line, two MACs and a time are longer
_MONTH: Final = ".jsonl"
_NAME: Final = re.compile(r"[0-9]{4}-[0-9]{2}(\.[2-9])?\.jsonl")
_CHUNK: Final = 1024 * 1024
_FIRST_LOOK: Final = 64 * 1024
_LAST_LOOK: Final = 2 * (LONGEST + 1)  # a torn line, and a whole one before it

Stray = tuple[str, IncidentKind]
Mark = tuple[int, int, int]
"""Inode, size and time of change: equal for a file that is as it was when it was read."""


class End(msgspec.Struct, kw_only=True):
    """The end of a chain: the month's file, the last event, and repairs still to be told.

    ``strays`` are the names among the months that are not the audit's, told or among the repairs, and
    ``passed`` what those were that had to be read to know it. ``torn`` are the months whose last line is
    not ended: who writes into one of them next ends it.
    """

    month: str
    size: int
    inode: int
    seq: int
    head: bytes
    repairs: tuple[AuditEvent, ...]
    strays: frozenset[Stray] = frozenset()
    passed: dict[str, Mark] = msgspec.field(default_factory=dict[str, "Mark"])
    torn: frozenset[str] = frozenset()

    @property
    def lacks_events(self) -> bool:
        """Whether the chain is shorter here than its head in the trust home."""
        return any(one.event is EventKind.GAP and one.count for one in self.repairs)

    def is_at(self, month: str, inode: int, size: int, head: bytes) -> bool:
        """Whether nobody went on since: the month's file and the head are as they were left."""
        return self.size == size and self.inode == inode and self.head == head and self.month == month

    def goes_on(self, head: bytes, size: int) -> None:
        """Move on by one event, in the same file."""
        self.seq, self.head, self.size = self.seq + 1, head, size

    def left_at(self, month: str, inode: int, size: int) -> None:
        """Keep where the chain was left, with nothing more to tell."""
        self.month, self.inode, self.size, self.repairs, self.torn = month, inode, size, (), frozenset()


def month_file(month: str) -> str:
    """The name of a month's file."""
    return month + _MONTH


def is_month_file(name: str) -> bool:
    """Whether a name is a month's file: ``2026-11.jsonl``, or a further one of it, ``2026-11.2.jsonl``."""
    return _NAME.fullmatch(name) is not None


def further(month: str) -> str | None:
    """The month's next name, for when something else stands under this one; ``None`` after the ninth."""
    base, _, number = month.partition(".")
    return None if number == "9" else f"{base}.{int(number or 1) + 1}"


def months_in(where: Dir) -> list[str]:
    """The months that a tenant's audit has names for, oldest first, each before its further names."""
    return sorted(name[: -len(_MONTH)] for name in where.names() if is_month_file(name))


def open_month(where: Dir, month: str, flags: int = READ) -> File | str | None:
    """A month's file, or in words why the name is not the store's own, or ``None`` if it is gone."""
    try:
        return where.open(month_file(month), flags)
    except (EscapeError, SystemFailure) as err:
        if not is_taken(err):
            raise
        return str(err)


def is_taken(err: StoreError) -> bool:
    """Whether a month did not open because something else stands under its name."""
    return isinstance(err, EscapeError) or (isinstance(err, SystemFailure) and err.errno in NOT_OURS)


def find_end(
    root: Root, trust: Trust, chain: Chain, folder: str, cell: Cell | None, *, before: End | None = None
) -> End:
    """Find the last event, and what of a torn line stands behind it; nothing is written.

    A chain that is shorter than its head in the trust home is carried on from the head, and the gap
    is an event of the chain; so is a head that the trust home lost, with no number of events. A name
    among the months that is not the audit's is passed by, and is an incident of the chain: once for
    as long as ``before`` is the end that was found last. What that has still to tell is told too.
    """
    anchor = cell.anchor if cell else None
    end = End(month="", size=0, inode=0, seq=-1, head=bytes(32), repairs=())
    end.passed = dict(before.passed) if before else {}
    strays: list[Stray] = []
    with root.make_dir(folder) as where:
        for month in reversed(months_in(where)):
            # Whether a further name was needed, only the month's own tells: a copy of it takes no event.
            if end.seq >= (anchor.seq if anchor else 0) and not end.month.startswith(f"{month[:7]}."):
                break
            if kind := _take_over(trust.keys, chain, where, month, end):
                strays.append((month_file(month), kind))
    known = before.strays if before else frozenset[Stray]()
    fresh = [one for one in strays if one not in known]
    untold = [one for one in before.repairs if one.event is EventKind.CONTAMINATION] if before else []
    end.strays = known.union(strays)
    end.repairs = (*end.repairs, *untold, *_incidents(trust.keys, chain, fresh))
    if anchor is not None and end.seq < anchor.seq:
        gap = AuditEvent(event=EventKind.GAP, count=anchor.seq - end.seq)
        end.seq, end.head, end.repairs = anchor.seq, anchor.head, (gap, *end.repairs)
    if anchor is None and end.seq > 0:  # a writer that died before there was a head left one event only
        end.repairs = (AuditEvent(event=EventKind.GAP, reason=HEAD_LOST, count=0), *end.repairs)
    return end


def _take_over(keys: Keys, chain: Chain, where: Dir, month: str, end: End) -> IncidentKind | None:
    """Take over a month's last event if it is the newest so far; or say why the month is not the audit's."""
    file = open_month(where, month, WRITE)
    if file is None:
        return None
    if isinstance(file, str):
        return IncidentKind.LINKED
    with file:
        found = file.stat()
        mark = (found.st_ino, found.st_size, found.st_ctime_ns)
        if end.passed.get(month) == mark:
            return IncidentKind.STRAY
        torn, last = last_event(keys, chain, file, file.size)
        ours = last is not None and (
            last[0].at.startswith(month[:7]) or has_event_of(keys, chain, file, file.size, month)
        )
        entered = month[:7] <= utc_now()[:7]  # the next event may come to stand behind what is here
        stray = file.size > 0 and not ours and (last is not None or not entered)
        if torn and end.seq < 0 and (ours or entered):
            end.torn |= {month}
            end.repairs = (*end.repairs, AuditEvent(event=EventKind.REPAIRED, bytes=torn))
        if stray:
            end.passed[month] = mark
    if last is not None and ours and last[0].seq >= end.seq:
        end.month, end.seq, end.head = month, last[0].seq, last[1]
    return IncidentKind.STRAY if stray else None


def _incidents(keys: Keys, chain: Chain, strays: list[Stray]) -> list[AuditEvent]:
    """One incident for each of the first names, and one with the number of the others."""
    key = keys.tenant(keys.active, chain.tenant)
    assert key is not None
    events = [
        AuditEvent(
            event=EventKind.CONTAMINATION,
            reason=kind.value,
            incident=new_incident_id(),
            digest=digest_of(key, chain, name.encode()),
        )
        for name, kind in strays[:MAX_TOLD]
    ]
    if len(strays) > MAX_TOLD:
        kind, reason = EventKind.CONTAMINATION, IncidentKind.STRAY.value
        others = len(strays) - MAX_TOLD
        events.append(AuditEvent(event=kind, reason=reason, incident=new_incident_id(), count=others))
    return events


def verified(keys: Keys, chain: Chain, raw: bytes | None) -> tuple[AuditLine, bytes] | None:
    """The event that a line without its newline is, and its MAC; ``None`` if it is none of the chain's."""
    if raw is None or len(raw) < SHORTEST or not (raw.startswith(b'{"seq":') and raw.endswith(b'"}')):
        return None
    try:
        return read_line(keys, chain, raw + b"\n")
    except BadLine:
        return None


def last_event(keys: Keys, chain: Chain, file: File, size: int) -> tuple[int, tuple[AuditLine, bytes] | None]:
    """How many bytes of a line that was not ended a file has, and the last event in or before them.

    It is looked for no farther back than a torn line and a whole one before it can reach.
    """
    look = _FIRST_LOOK
    while True:
        start = max(0, size - look)
        raw = file.read_at(start, size - start)
        lines = (verified(keys, chain, line) for line in _from_behind(raw, whole=start == 0))
        found = next(filter(None, lines), None)
        if found or start == 0 or look == _LAST_LOOK:
            return len(raw) - raw.rfind(b"\n") - 1, found
        look = min(look * 4, _LAST_LOOK)


def _from_behind(raw: bytes, *, whole: bool) -> Iterator[bytes]:
    """The lines that end as an event does, the last one first; it may lack its newline and nothing else.

    The first line of ``raw`` counts only if that is ``whole``, not cut out of something longer. What
    does not begin as an event does is passed over, whatever there is of it.
    """
    at, end = len(raw), len(raw)
    while (at := raw.rfind(b'{"seq":', 0, at)) >= 0:
        if raw[at - 1 : at] == b"\n" or (at == 0 and whole):
            yield raw[at : end if (stop := raw.find(b"\n", at, end)) < 0 else stop]
            end = at


def has_event_of(keys: Keys, chain: Chain, file: File, size: int, month: str) -> bool:
    """Whether a file begins with events of the month itself, as the month's own and its further ones do.

    Later ones may be of a month before, where the clock went back. A copy of another month holds
    none of this one.
    """
    lines = (verified(keys, chain, raw) for raw, _, _ in lines_of(file, min(size, LONGEST)))
    return any(found is not None and found[0].at.startswith(month[:7]) for found in lines)


def lines_of(file: File, size: int, start: int = 0) -> Iterator[tuple[bytes | None, int, bool]]:
    """Each line in the first ``size`` bytes without its newline, its length, and whether it was ended.

    ``start`` is where the first of them begins. A line that is longer than any event's is ``None`` and is
    not kept: a file of any size is read in the memory of a few lines.
    """
    at, length, held = start, 0, list[bytes]()
    while at < size and (chunk := file.read_at(at, min(_CHUNK, size - at))):
        at += len(chunk)
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            length += len(piece)
            yield b"".join((*held, piece)) if length < LONGEST else None, length, True
            length, held = 0, []
        length += len(rest)
        held = [*held, rest] if length < LONGEST else []
    if length:
        yield b"".join(held) if length < LONGEST else None, length, False
