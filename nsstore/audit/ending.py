"""Where a tenant's audit chain ends, found again from the disk, and what had to be repaired."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from nsstore.audit.events import AuditEvent, EventKind, read_line
from nsstore.root import Dir, File, Root
from nsstore.trust import BadLine, Cell, Chain, Trust

HEAD_LOST: Final = "head_lost"
_MONTH: Final = ".jsonl"
_NAME: Final = re.compile(r"[0-9]{4}-[0-9]{2}\.jsonl")
_TAIL_BYTES: Final = 256 * 1024


class End(msgspec.Struct, kw_only=True):
    """The end of a chain: the month's file, the last event, and repairs still to be told."""

    month: str
    size: int
    inode: int
    seq: int
    head: bytes
    repairs: tuple[AuditEvent, ...]

    def is_at(self, month: str, inode: int, size: int, head: bytes) -> bool:
        """Whether nobody went on since: the month's file and the head are as they were left."""
        return (self.month, self.inode, self.size, self.head) == (month, inode, size, head)

    def left_at(self, month: str, inode: int, size: int) -> None:
        """Keep where the chain was left, with nothing more to tell."""
        self.month, self.inode, self.size, self.repairs = month, inode, size, ()


def month_file(month: str) -> str:
    """The name of a month's file."""
    return month + _MONTH


def months_in(where: Dir) -> list[str]:
    """The months a tenant's audit has, oldest first."""
    return sorted(name[: -len(_MONTH)] for name in where.names() if _NAME.fullmatch(name))


def find_end(root: Root, trust: Trust, chain: Chain, folder: str, cell: Cell | None) -> End:
    """Find the last event and close a torn line behind it.

    A chain that is shorter than its head in the trust home is carried on from the head, and the gap
    is an event of the chain; so is a head that the trust home lost, with no number of events.
    """
    anchor = cell.anchor if cell else None
    end = End(month="", size=0, inode=0, seq=-1, head=bytes(32), repairs=())
    with root.make_dir(folder) as where:
        for older in reversed(months_in(where)):
            with where.open_or_make(month_file(older)) as file:
                if _take_last(trust, chain, file, end):
                    end.month = older
                    break
    if anchor is not None and end.seq < anchor.seq:
        gap = AuditEvent(event=EventKind.GAP, count=anchor.seq - end.seq)
        end.seq, end.head, end.repairs = anchor.seq, anchor.head, (gap, *end.repairs)
    if anchor is None and end.seq > 0:  # a writer that died before there was a head left one event only
        end.repairs = (AuditEvent(event=EventKind.GAP, reason=HEAD_LOST, count=0), *end.repairs)
    return end


def _take_last(trust: Trust, chain: Chain, file: File, end: End) -> bool:
    """Take over the last event of a month's file; ``False`` if it has none."""
    start = max(0, file.stat().st_size - _TAIL_BYTES)
    body, _, torn = file.read_at(start, _TAIL_BYTES).rpartition(b"\n")
    if torn:
        file.append(b"\n")
        file.flush()
        end.repairs = (*end.repairs, AuditEvent(event=EventKind.REPAIRED, bytes=len(torn)))
    for raw in (torn, *reversed(body.split(b"\n"))):  # a line may lack its newline and nothing else
        try:
            line, mac = read_line(trust.keys, chain, raw + b"\n")
        except BadLine:
            continue
        end.seq, end.head = line.seq, mac
        return True
    return False
