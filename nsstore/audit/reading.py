"""Reading an audit back: the events, and whether the chain is whole."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from nsstore import layout
from nsstore.audit.ending import has_event_of, last_event, lines_of, months_in, open_month, verified
from nsstore.audit.events import AuditLine, EventKind
from nsstore.audit.log import AuditLog
from nsstore.root import Dir, File, FileLock
from nsstore.trust import Anchor, Chain, NoValidSlot

INVALID: Final = Anchor(generation=0, seq=-1, head=b"")
CHANGED: Final = "a file that was replaced or cut while it was read"
OTHER_MONTHS: Final = "a file with the lines of other months"
MAX_FAULTS: Final = 1000
Accepts = Callable[[int, int], bool]


class _Seen(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An event and its MAC, or the size of a line that is none, or why a whole file is not the audit's."""

    month: str
    number: int = 0
    ended: bool = True
    line: AuditLine | None = None
    mac: bytes = b""
    size: int = 0
    alien: str | None = None

    @property
    def where(self) -> str:
        """The place of the line, or of the file."""
        where = f"{self.month} line {self.number}" if self.number else self.month
        return where if self.ended else f"{where}, not ended"


class AuditVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a tenant's audit is one whole chain up to its head in the trust home.

    ``events`` counts the valid lines; ``faults`` says in words what is not as it was written;
    ``gaps`` counts events that a power cut or a hand took away and that the chain itself tells of, but for
    those that the owner ``accepted``. ``lost`` are the first and the last number of each gap that can be
    accepted: those, and what is missing behind the last event of an audit with no other fault.
    """

    events: int
    whole: bool
    gaps: int
    faults: tuple[str, ...]
    accepted: int = 0
    lost: tuple[tuple[int, int], ...] = ()


def read_events(log: AuditLog, tenant: tuple[str, str]) -> Iterator[AuditLine]:
    """Every verified event of one tenant, oldest first; other lines are left out (``verify`` tells)."""
    return (line for line in read_lines(log, tenant) if line is not None)


def read_lines(log: AuditLog, tenant: tuple[str, str]) -> Iterator[AuditLine | None]:
    """Every verified event of one tenant, oldest first, and ``None`` for each line or file that is none."""
    for seen in _seen(log, tenant):
        yield seen.line


def verify(log: AuditLog, tenant: tuple[str, str], accepted: Accepts | None = None) -> AuditVerdict:
    """Check every line, every link between lines and months, and the head in the trust home.

    ``accepted`` says of a gap, by the numbers of its first and last event, whether the owner gave it up.

    A head that is behind is proven by its own event: a writer that was killed left it there, and the
    next event moves it up. A line that is none is no fault where a later event tells of its repair.
    """
    accepted = accepted or _none_accepted
    anchor = _head(log, tenant)  # before the lines, so that a writer at work cannot be ahead of them
    walk = _Walk(anchor.seq if anchor else -1)
    for seen in _seen(log, tenant):
        walk.take(seen)
    faults = walk.told()
    if anchor is INVALID:
        faults.append("the head in the trust home is not valid")
    elif anchor is None and walk.events:
        if _head(log, tenant) is not None:
            return verify(log, tenant, accepted)  # its first event was being written just now
        faults.append("the trust home has no head for this audit")
    elif anchor is not None and walk.anchored != anchor.head:
        behind = (walk.seq + 1, anchor.seq)  # the next event tells of it
        if walk.seq < anchor.seq and not faults:
            walk.gaps.append(behind)
        if behind not in walk.gaps or not accepted(*behind):
            faults.append(f"the trust home knows event {anchor.seq}, the last one here is {walk.seq}")
    lost = tuple(gap for gap in walk.gaps if not accepted(*gap))
    gaps = sum(_events(*gap) for gap in lost if gap[1] < walk.seq)
    return AuditVerdict(
        events=walk.events,
        whole=not faults and not gaps,
        gaps=gaps,
        faults=tuple(faults),
        accepted=sum(_events(*gap) for gap in walk.gaps if gap not in lost),
        lost=lost,
    )


def _events(first: int, last: int) -> int:
    return last - first + 1


def _none_accepted(_first: int, _last: int) -> bool:
    return False


class _Walk:
    """What a chain turned out to be on the way through its lines; so many faults are kept and no more."""

    def __init__(self, anchor_seq: int) -> None:
        self._anchor_seq = anchor_seq
        self._head = bytes(32)
        self._faults: list[str] = []
        self._foreign: list[tuple[int, str]] = []
        self._more = 0
        self.anchored: bytes | None = None
        self.gaps: list[tuple[int, int]] = []
        self.events, self.seq = 0, -1

    def take(self, seen: _Seen) -> None:
        """Take the next line, or what stands where one should."""
        line = seen.line
        if line is None:
            if seen.alien:
                self._fault(f"{seen.where}: {seen.alien}")
            elif len(self._foreign) < MAX_FAULTS:
                self._foreign.append((seen.size, seen.where))
            else:
                self._more += 1
            return
        lost = line.seq - self.seq - 1
        if line.event is EventKind.GAP and 0 < lost == line.count:
            self.gaps.append((self.seq + 1, line.seq - 1))
        elif lost or line.prev != self._head.hex():
            self._fault(f"{seen.where}: event {line.seq} does not follow event {self.seq}")
        if line.event is EventKind.REPAIRED:
            closed = [one for one in self._foreign if one[0] == line.bytes]
            self._foreign = [one for one in self._foreign if one not in closed[:1]]
        self.events, self.seq, self._head = self.events + 1, line.seq, seen.mac
        if line.seq == self._anchor_seq:
            self.anchored = seen.mac

    def told(self) -> list[str]:
        """The faults in words."""
        faults = [*self._faults, *(f"{where}: a line that is not the audit's" for _, where in self._foreign)]
        return [*faults, f"and {self._more} more like these"] if self._more else faults

    def _fault(self, words: str) -> None:
        if len(self._faults) < MAX_FAULTS:
            self._faults.append(words)
        else:
            self._more += 1


def _head(log: AuditLog, tenant: tuple[str, str]) -> Anchor | None:
    try:
        return log.trust.anchors.read(layout.audit_head_path(tenant), log.chain(tenant))
    except NoValidSlot:
        return INVALID


def _seen(log: AuditLog, tenant: tuple[str, str]) -> Iterator[_Seen]:
    """What is in the months, oldest first: the lines that were there while the lock was held."""
    directory = log.root.dir(layout.audit_dir(tenant))
    if directory is None:
        return
    with directory:
        with contextlib.ExitStack() as held:
            # Whoever took the lock file away hides nothing by it.
            with contextlib.suppress(FileNotFoundError):
                held.enter_context(FileLock(directory, "audit.lock", shared=True))
            with contextlib.suppress(NoValidSlot):
                held.enter_context(
                    log.trust.anchors.watched(layout.audit_head_path(tenant), log.chain(tenant))
                )
            found = [(month, _measure(directory, month)) for month in months_in(directory)]
        for month, measured in found:
            yield from _month(log, log.chain(tenant), directory, month, measured)


def _measure(directory: Dir, month: str) -> tuple[int, int]:
    """The inode and the size of a month's file: lines are only ever added behind it."""
    file = open_month(directory, month)
    if not isinstance(file, File):
        return 0, 0
    with file:
        return file.inode, file.size


def _month(
    log: AuditLog, chain: Chain, directory: Dir, month: str, measured: tuple[int, int]
) -> Iterator[_Seen]:
    """The lines of one month as they were when it was measured, or why it is not the audit's."""
    keys, (inode, until) = log.trust.keys, measured
    file = open_month(directory, month) or CHANGED
    if isinstance(file, str):
        yield _Seen(month=month, alien=file)
        return
    with file:
        if file.inode != inode or file.size < until:
            yield _Seen(month=month, alien=CHANGED)
            return
        _, last = last_event(keys, chain, file, until)
        if last and not (last[0].at.startswith(month[:7]) or has_event_of(keys, chain, file, until, month)):
            yield _Seen(month=month, alien=OTHER_MONTHS)
            return
        for number, (raw, size, ended) in enumerate(lines_of(file, until), 1):
            line, mac = (verified(keys, chain, raw) if ended else None) or (None, b"")
            yield _Seen(month=month, number=number, ended=ended, line=line, mac=mac, size=size)
