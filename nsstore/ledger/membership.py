"""The verified state of one ledger: which records are members, in which order, up to which head."""

from __future__ import annotations

from typing import Final

from nsstore import digests
from nsstore.ledger.brief import Brief, Member
from nsstore.ledger.lines import (
    ZERO,
    Erased,
    Event,
    Forgotten,
    Genesis,
    Line,
    Recovered,
    Resumed,
    Void,
    Written,
    read_line,
)
from nsstore.trust import BadLine, Chain, Keys

_MAC: Final = 32


class Ledger:
    """Membership and order of a namespace, as its chain of keyed events tells it.

    ``apply`` accepts only the event that continues the head; nothing is ever taken out of order.
    ``seq`` and ``head`` are the newest event's seq and MAC: -1 and zeros without even a genesis.
    ``members`` and ``order`` hold no forgotten record; ``forgotten`` does, in the order they were
    forgotten, each with the seq of the line that forgot it, and ``unfinished`` those whose erasing no
    line tells yet. ``newest`` is the greatest record id that ever joined: no sealed time is later.
    ``macs`` holds the MAC of each event by its seq, empty for one that was given up; of these ``given_up``
    knows the last, by its seq.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.macs: list[bytes] = []
        self.members: dict[str, Written | Member] = {}
        self.order: list[str] = []
        self.void: set[str] = set()
        self.idempotent: dict[str, tuple[str, ...]] = {}
        self.forgotten: dict[str, int] = {}
        self.unfinished: tuple[str, ...] = ()
        self.spent: set[str] = set()
        self.given_up: dict[int, bytes] = {}
        self.newest = ""
        self.size = 0
        self.seq = -1
        self.head = bytes(32)
        self._tip = ZERO
        self._before: tuple[tuple[int, bytes], ...] = ()
        self._bytes = digests.running(digests.DIGEST)

    def apply(self, line: Line) -> None:
        """Take the next event. Raises :class:`BadLine` if it does not continue the chain."""
        event = line.event
        if event.prev != self._tip or (event.seq != self.seq + 1 and not isinstance(event, Resumed)):
            raise BadLine("an event that does not continue the chain")
        if isinstance(event, Written) and event.seq:
            self._join(event)
        elif isinstance(event, Genesis) != (event.seq == 0):
            raise BadLine("a chain that does not begin with its genesis")
        else:
            self._take(event)
        self.macs.append(line.mac)
        self.seq, self.head, self._tip = event.seq, line.mac, line.mac.hex()
        self.size += len(line.raw)
        self._bytes.update(line.raw)

    def _take(self, event: Event) -> None:
        """Take what is no record that joins."""
        if isinstance(event, Genesis):
            if event.area != self.chain.area or event.ids != self.chain.dimensions:
                raise BadLine("the genesis of another namespace")
        elif isinstance(event, Void):
            self._bar(event)
        elif isinstance(event, Forgotten):
            self._forget(event)
        elif isinstance(event, Erased):
            self._finish(event)
        elif isinstance(event, Resumed):
            self._resume(event)
        elif isinstance(event, Recovered) and not 0 < event.first <= event.last == event.seq - 1:
            raise BadLine("a recovery of other lines than the ones before it")

    def _join(self, event: Written) -> None:
        record = event.record
        if record in self.members or record in self.void or record in self.forgotten:
            raise BadLine("a record that joins twice")
        self.members[record] = event
        if record > self.newest:  # noqa: PLR1730 - on the way of every write, and a call costs twice as much
            self.newest = record
        self.order.append(record)
        if event.idem is not None:
            self.idempotent[event.idem] = (*self.idempotent.get(event.idem, ()), record)

    def _bar(self, event: Void) -> None:
        records = set(event.records)
        known = self.members.keys() | self.void | self.forgotten.keys()
        if not records or len(records) != len(event.records) or records & known:
            raise BadLine("a void of nothing, of a member, or of what is void")
        self.void |= records

    def _forget(self, event: Forgotten) -> None:
        records = dict.fromkeys(event.records, event.seq)
        if not records or len(records) != len(event.records) or not records.keys() <= self.members.keys():
            raise BadLine("a forgetting of nothing, of what is no member, or of one twice")
        for record in records:
            del self.members[record]
        # A new list: who goes through the old one at this moment finds each id once, and no member.
        self.order = [record for record in self.order if record not in records]
        self.forgotten |= records
        self.unfinished += event.records
        self.spent.update(event.spent)

    def _finish(self, event: Erased) -> None:
        if not self.unfinished or event.first != self.forgotten[self.unfinished[0]]:
            raise BadLine("an erasing of nothing, or of other records than the forgotten ones")
        self.unfinished = ()

    def _resume(self, event: Resumed) -> None:
        lost, head = event.gives_up - self.seq, bytes.fromhex(event.head)
        if event.seq != event.gives_up + 1 or self.seq < 0 or lost < 0:
            raise BadLine("a chain that goes on behind something else than it gives up")
        self.macs += [b""] * lost
        if head != self.head:
            self.given_up[event.gives_up] = head

    def is_spelled(self, raw: bytes) -> bool:
        """Whether ``raw`` is, byte for byte, the lines taken so far."""
        at = 0
        for size, told in self._before:
            if digests.digest(digests.DIGEST, raw[at : at + size]) != told:
                return False
            at += size
        return digests.digest(digests.DIGEST, raw[at:]) == self._bytes.digest()

    def begins_with(self, count: int, last: str | None) -> bool:
        """Whether ``count`` records joined first, the last of which was ``last``.

        Who followed the order so far asks it: a reader may have foreseen lines that were never written.
        """
        return not count or self.order[count - 1 : count] == [last]

    def brief(self) -> Brief:
        """What it came to, for :meth:`of`; not for another thread while this one takes events."""
        parts = self._before
        if rest := self.size - sum(size for size, _ in parts):
            parts = (*parts, (rest, self._bytes.digest()))
        return Brief(
            seq=self.seq,
            head=self.head,
            parts=parts,
            macs=b"".join(mac or bytes(_MAC) for mac in self.macs),
            lost=tuple(seq for seq, mac in enumerate(self.macs) if not mac),
            members={one: Member(event.seq, event.seal) for one, event in self.members.items()},
            void=tuple(self.void),
            idempotent=dict(self.idempotent),
            forgotten=dict(self.forgotten),
            unfinished=self.unfinished,
            spent=tuple(self.spent),
            given_up=dict(self.given_up),
            newest=self.newest,
        )

    @classmethod
    def of(cls, chain: Chain, brief: Brief) -> Ledger:
        """The ledger that was told in brief; it is carried on like any other."""
        self = cls(chain)
        macs = brief.macs
        self.macs = [macs[at : at + _MAC] for at in range(0, len(macs), _MAC)]
        for seq in brief.lost:
            self.macs[seq] = b""
        self.members.update(brief.members)
        self.order = list(brief.members)
        self.void, self.spent = set(brief.void), set(brief.spent)
        self.idempotent, self.forgotten, self.given_up = brief.idempotent, brief.forgotten, brief.given_up
        self.unfinished, self.newest = brief.unfinished, brief.newest
        self._before, self.size = brief.parts, sum(size for size, _ in brief.parts)
        self.seq, self.head, self._tip = brief.seq, brief.head, brief.head.hex()
        return self

    def copy(self) -> Ledger:
        """A ledger that can be carried on without changing this one."""
        other = Ledger(self.chain)
        other.macs, other.members, other.order = list(self.macs), dict(self.members), list(self.order)
        other.void, other.idempotent = set(self.void), dict(self.idempotent)
        other.forgotten, other.unfinished = dict(self.forgotten), self.unfinished
        other.spent, other.newest = set(self.spent), self.newest
        other.given_up = dict(self.given_up)
        other.size, other.seq, other.head, other._tip = self.size, self.seq, self.head, self._tip
        other._before, other._bytes = self._before, self._bytes.copy()
        return other


def extend(keys: Keys, ledger: Ledger, raw: bytes) -> int:
    """Verify and take the whole lines of ``raw`` after the ledger's end; return the torn rest's size.

    Raises :class:`BadLine` at the first line that is none of this chain.
    """
    start = 0
    while (end := raw.find(b"\n", start)) >= 0:
        ledger.apply(read_line(keys, ledger.chain, raw[start : end + 1]))
        start = end + 1
    return len(raw) - start
