"""What a process came to know of a namespace, in a form that the next one can go on from.

A class decides who may read, and a ledger who is a member, so both are believed only of the very chain
they were told of, as this store's own word: whoever keeps them seals them. Anchor, ledger and directory
are compared with them as with what this process saw itself, and a record is read, proven and decided
again before it is served.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore.ledger import Brief, Ledger
from nsstore.policy import ReadClass
from nsstore.store.sealing import Tag
from nsstore.store.survey import Stamp

_AT_ONCE: Final = 100

if TYPE_CHECKING:
    from nsstore.store.leaf import Leaf


class Apart(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a member's tag has beyond its class."""

    supersedes: tuple[str, ...]
    key: str | None
    expires_at: str | None


class Recollection(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, kw_only=True):
    """A namespace up to an event of its ledger: the ledger in brief, and the tag of every member.

    ``stamps`` are those of the ledger and of the directory when both agreed with the anchor. A run is
    (first seq, last seq, number of its class): every member that joined in it is of the class; ``apart``
    holds what is not a class.
    """

    ledger: Brief
    stamps: tuple[Stamp, Stamp] | None
    classes: tuple[ReadClass, ...]
    runs: tuple[tuple[int, int, int], ...]
    apart: dict[str, Apart]


def recollect(leaf: Leaf, ledger: Ledger, give_way: Callable[[], None]) -> Recollection | None:
    """What a leaf knows by now, or ``None`` if it does not know the tag of every member.

    ``None`` as well if members came or went meanwhile. ``give_way`` is called again and again on the way.
    """
    numbers: dict[ReadClass, int] = {}
    runs: list[tuple[int, int, int]] = []
    apart: dict[str, Apart] = {}
    order = list(ledger.order)
    for at, record_id in enumerate(order):
        if not at % _AT_ONCE:
            give_way()
        tag, member = leaf.known_tag(record_id), ledger.members.get(record_id)
        if tag is None or member is None:
            return None
        seq, number = member.seq, numbers.setdefault(tag.readable, len(numbers))
        if runs and runs[-1][2] == number:
            runs[-1] = (runs[-1][0], seq, number)
        else:
            runs.append((seq, seq, number))
        if tag.supersedes or tag.key is not None or tag.expires_at is not None:
            apart[record_id] = Apart(tag.supersedes, tag.key, tag.expires_at)
    with leaf.lock:
        brief = ledger.brief() if ledger.order == order else None
        if brief is None:
            return None
        return Recollection(
            ledger=brief, stamps=leaf.stamps(), classes=tuple(numbers), runs=tuple(runs), apart=apart
        )


class RecalledTags:
    """The tags of every member that joined up to an event of one chain."""

    def __init__(self, kept: Recollection) -> None:
        brief = kept.ledger
        self.seq, self.head = brief.seq, brief.head
        self.count = len(brief.members)
        self._forgotten = len(brief.forgotten)
        self._plain = [Tag(one, (), None, None) for one in kept.classes]
        self._runs = kept.runs
        self._apart = kept.apart

    def are_of(self, ledger: Ledger) -> bool:
        """Whether a ledger is of the chain they were told of."""
        return self.seq <= ledger.seq and ledger.macs[self.seq] == self.head

    def are_all_of(self, ledger: Ledger) -> bool:
        """Whether none of these members was forgotten since."""
        return len(ledger.forgotten) == self._forgotten

    def of(self, record_id: str, seq: int) -> Tag | None:
        """The tag of the member that joined by an event, or ``None`` if it joined later."""
        if seq > self.seq:
            return None
        first, last, number = self._runs[bisect_left(self._runs, seq, key=_last)]
        assert first <= seq <= last
        tag, more = self._plain[number], self._apart.get(record_id)
        return tag if more is None else Tag(tag.readable, more.supersedes, more.key, more.expires_at)

    def firsts(self) -> Mapping[ReadClass, int]:
        """The classes of these members, and by which event the first one of each joined."""
        found: dict[ReadClass, int] = {}
        for first, _, number in self._runs:
            found.setdefault(self._plain[number].readable, first)
        return found


def _last(run: tuple[int, int, int]) -> int:
    return run[1]
