"""Reading an audit back: the events, and whether the chain is whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

import msgspec

from nsstore import layout
from nsstore.audit.ending import months_in
from nsstore.audit.events import AuditLine, EventKind, read_line
from nsstore.audit.log import AuditLog
from nsstore.root import FileLock
from nsstore.trust import Anchor, BadLine, NoValidSlot

INVALID: Final = Anchor(generation=0, seq=-1, head=b"")
_MONTH_LIMIT: Final = 1024 * 1024 * 1024


class AuditVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a tenant's audit is one whole chain up to its head in the trust home.

    ``events`` counts the valid lines; ``faults`` says in words what is not as it was written;
    ``gaps`` counts events that a power cut or a hand took away and that the chain itself tells of.
    """

    events: int
    whole: bool
    gaps: int
    faults: tuple[str, ...]


def read_events(log: AuditLog, tenant: tuple[str, str]) -> Iterator[AuditLine]:
    """Every verified event of one tenant, oldest first; other lines are left out (``verify`` tells)."""
    return (line for line in read_lines(log, tenant) if line is not None)


def read_lines(log: AuditLog, tenant: tuple[str, str]) -> Iterator[AuditLine | None]:
    """Every verified event of one tenant, oldest first, and ``None`` for each line that is none."""
    for line, _, _ in _lines(log, tenant):
        yield line


def verify(log: AuditLog, tenant: tuple[str, str]) -> AuditVerdict:
    """Check every line, every link between lines and months, and the head in the trust home.

    A head that is behind is proven by its own event: a writer that was killed left it there, and the
    next event moves it up. A line that is none is no fault where a later event tells of its repair.
    """
    anchor = _head(log, tenant)  # before the lines, so that a writer at work cannot be ahead of them
    walk = _Walk(anchor.seq if anchor else -1)
    for line, mac, where in _lines(log, tenant):
        walk.take(line, mac, where)
    faults = [*walk.faults, *(f"{where}: a line that is not the audit's" for _, where in walk.foreign)]
    if anchor is INVALID:
        faults.append("the head in the trust home is not valid")
    elif anchor is None and walk.events:
        if _head(log, tenant) is not None:
            return verify(log, tenant)  # its first event was being written just now
        faults.append("the trust home has no head for this audit")
    elif anchor is not None and walk.anchored != anchor.head:
        faults.append(f"the trust home knows event {anchor.seq}, the last one here is {walk.seq}")
    whole = not faults and not walk.gaps
    return AuditVerdict(events=walk.events, whole=whole, gaps=walk.gaps, faults=tuple(faults))


class _Walk:
    """What a chain turned out to be on the way through its lines."""

    def __init__(self, anchor_seq: int) -> None:
        self._anchor_seq = anchor_seq
        self._head = bytes(32)
        self.anchored: bytes | None = None
        self.events, self.gaps, self.seq = 0, 0, -1
        self.faults: list[str] = []
        self.foreign: list[tuple[int, str]] = []

    def take(self, line: AuditLine | None, mac: bytes, where: str) -> None:
        """Take the next line, or what stands where one should."""
        if line is None:
            self.foreign.append((int.from_bytes(mac, "big"), where))
            return
        lost = line.seq - self.seq - 1
        if line.event is EventKind.GAP and 0 < lost == line.count:
            self.gaps += lost
        elif lost or line.prev != self._head.hex():
            self.faults.append(f"{where}: event {line.seq} does not follow event {self.seq}")
        if line.event is EventKind.REPAIRED:
            closed = [one for one in self.foreign if one[0] == line.bytes]
            self.foreign = [one for one in self.foreign if one not in closed[:1]]
        self.events, self.seq, self._head = self.events + 1, line.seq, mac
        if line.seq == self._anchor_seq:
            self.anchored = mac


def _head(log: AuditLog, tenant: tuple[str, str]) -> Anchor | None:
    try:
        return log.trust.anchors.read(layout.audit_head_path(tenant), log.chain(tenant))
    except NoValidSlot:
        return INVALID


def _lines(log: AuditLog, tenant: tuple[str, str]) -> Iterator[tuple[AuditLine | None, bytes, str]]:
    """Each line with its MAC and place; for a line that is none, its size stands for the MAC."""
    directory = log.root.dir(layout.audit_dir(tenant))
    if directory is None:
        return
    chain = log.chain(tenant)
    with directory:
        with contextlib.ExitStack() as held:
            # Whoever took the lock file away hides nothing by it.
            with contextlib.suppress(FileNotFoundError):
                held.enter_context(FileLock(directory, "audit.lock", shared=True))
            raws = [(month, directory.read(f"{month}.jsonl", _MONTH_LIMIT)) for month in months_in(directory)]
        for month, raw in raws:
            lines = (raw or b"").split(b"\n")
            torn = lines.pop()
            for number, one in enumerate(lines, 1):
                place = f"{month} line {number}"
                try:
                    line, mac = read_line(log.trust.keys, chain, one + b"\n")
                except BadLine:
                    yield None, len(one).to_bytes(8, "big"), place
                else:
                    yield line, mac, place
            if torn:
                yield None, len(torn).to_bytes(8, "big"), f"{month} line {len(lines) + 1}, not ended"
