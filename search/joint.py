"""A view over several namespaces that ranks as one: an index in memory, and a tail of what came since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Final

import msgspec

from nsstore.clock import utc_now
from nsstore.ledger import Ledger
from nsstore.policy import ReadClass, Retention, expiry_clock
from nsstore.scope import Namespace
from nsstore.search.indexed import Base
from nsstore.search.matches import spell
from nsstore.search.pair import Pair
from nsstore.search.scoring import Scoring, step_of
from nsstore.search.tantivy_door import IndexFailed, MemoryIndex, Row
from nsstore.search.view import View
from nsstore.search.words import LEAST_TERMS, NONE, Words
from nsstore.store import Sight

Classes = dict[Namespace, frozenset[ReadClass]]
Ranked = tuple[str, float, tuple[str, ...]]
Key = frozenset[tuple[Namespace, frozenset[ReadClass]]]
LEAST_TAIL: Final = 1_000  # records from which on the tail is worth an index,
TAIL_SHARE: Final = 8  # and one of so many of it
_BYTES_PER_RECORD: Final = 500


class _Met(msgspec.Struct, frozen=True):
    """When a record was taken in, by which the index finds it again."""

    seq: int


class Joint:
    """What one set of readable classes of a project holds, and how far along each ledger it has come.

    ``order`` and ``members`` are the records as they were met: no answer shows it. Whoever uses one
    holds the lock of its sessions.
    """

    def __init__(self) -> None:
        self.pair = Pair()
        self.where: dict[str, Namespace] = {}
        self.order: list[str] = []
        self.members: dict[str, _Met] = {}
        self.classes: Classes = {}
        self.key: Key | None = None
        self.upto = 0  # how far along the changes of its sessions
        self._spelled: dict[str, str] = {}
        self._gone: set[str] = set()
        self._superseding: set[str] = set()
        self._come: dict[Namespace, tuple[int, int]] = {}
        self._newest: dict[Namespace, str] = {}
        self._index: MemoryIndex | None = None

    def bytes_used(self) -> int:
        """An estimate of the memory this holds."""
        return self.pair.bytes_used() + _BYTES_PER_RECORD * len(self.where) + 300 * len(self._come)

    def is_open(self) -> bool:
        """Whether an index of the disk is open: never."""
        return False

    def search(self, words: Sequence[str], k: int) -> list[Ranked]:
        """The ``k`` best records that hold any of the words, their scores, and which words they hold.

        Ties are in the order of the ids, which are made in order of time: in that of meeting them a
        record that nobody here may read, or another one's question, could show.
        """
        holds: dict[str, tuple[str, ...]] = {}

        def weigh(record_id: str, scoring: Scoring) -> float:
            spelled = self._spelled[record_id]

            def often(term: str) -> int:
                return spelled.count(f" {term} ")

            score, holds[record_id] = scoring.weigh(often, step_of(_length(spelled)))
            return score

        found = self.pair.search(words, self, k, weigh, by_id=True)
        return [(record_id, score, holds[record_id]) for record_id, score in found]

    def take_in(self, sight: Sight, readable: frozenset[ReadClass], words: Words) -> None:
        """Take in what a namespace has more than before, of these classes or more than those before.

        ``words`` keeps what records spell from one process to the next.

        Raises as :meth:`Sight.prove`; what was taken in half is not used again (``pair.whole``).
        """
        ns, ledger = sight.leaf.place.ns, sight.ledger
        joined, forgotten = self._come.get(ns, (0, 0)) if self.classes.get(ns) == readable else (0, 0)
        held, self.pair.whole = self.pair.whole, False
        for record_id in islice(ledger.forgotten, forgotten, None):
            held = self.pair.forget(record_id) and held and record_id not in self._superseding
            self.where.pop(record_id, None)
            self._spelled.pop(record_id, None)
        joining = [
            record_id
            for record_id in _after(ledger, joined)
            if record_id not in self.where and sight.tag(record_id).readable in readable
        ]
        known = words.of(sight.leaf, ledger) if len(joining) >= LEAST_TERMS else NONE
        fresh: dict[str, str] = {}
        for record_id in joining:
            terms = known.get(record_id)
            if terms is None:
                terms = fresh[record_id] = " ".join(chain.from_iterable(spell(sight.prove(record_id)[0])))
            self._take(sight, record_id, terms.split())
        words.consider(sight.leaf, ledger, known, fresh)
        self._newest[ns] = ledger.newest
        self._come[ns] = (ledger.seq + 1, len(ledger.forgotten))
        self.classes[ns] = readable
        self.pair.whole = held  # an index that holds what was forgotten goes with it

    def settle(self, sight: Sight) -> None:
        """Leave out what has ended, and fold a tail that has grown long."""
        if self.pair.ends:
            self._leave_out_what_ended(sight.leaf.store.kept(sight.leaf.place.ns.tenant))
        tail, base = self.pair.tails[-1], self.pair.base
        if len(tail) >= LEAST_TAIL and (base is None or len(tail) * TAIL_SHARE >= base.records):
            with suppress(IndexFailed):
                self._fold(tail, base)

    def _leave_out_what_ended(self, kept: Retention) -> None:
        """What ends is decided by the clock of its own namespace, whoever asks."""
        now, clocks = utc_now(), dict[Namespace, str]()
        for record_id, end in list(self.pair.ends.items()):
            ns = self.where[record_id]
            if ns not in clocks:
                clocks[ns] = expiry_clock(now, self._newest[ns], kept)
            if end <= clocks[ns]:
                self._leave_out(record_id)

    def _take(self, sight: Sight, record_id: str, terms: list[str]) -> None:
        tag = sight.tag(record_id)
        for old in tag.supersedes:
            self._gone.add(old)
            self._superseding.add(record_id)
            self._leave_out(old)
        self.order.append(record_id)
        self.members[record_id] = _Met(len(self.order))
        self.where[record_id] = sight.leaf.place.ns
        self._spelled[record_id] = _padded(terms)
        self.pair.take_in(record_id, tag, (terms,), {})
        if record_id in self._gone or not sight.decision(record_id).allowed:
            self._leave_out(record_id)

    def _leave_out(self, record_id: str) -> None:
        spelled = self._spelled.get(record_id)
        held = spelled is not None and self.pair.holds(record_id)
        self.pair.leave_out(record_id, spelled.split() if held and spelled is not None else None)

    def _fold(self, tail: View, base: Base | None) -> None:
        """Move the tail into the index."""
        rows = [Row(one, self.members[one].seq, " ".join(self._spelled[one].split())) for one in tail.ids()]
        index = self._index or MemoryIndex()
        reader = index.add(rows)
        tokens, size = sum(row.length for row in rows), sum(len(row.terms) for row in rows)
        made = Base(reader, tokens=tokens, size=size)
        if base is not None:
            made = Base(reader, tokens=tokens + base.folded_tokens, size=size + base.size)
            made.gone = base.gone
        self._index, self.pair.base, self.pair.tails = index, made, [View()]


def _padded(terms: Iterable[str]) -> str:
    """Terms with a space of its own on each side of each, so that one is found by the spaces around it."""
    joined = "  ".join(terms)
    return f" {joined} " if joined else ""


def _length(padded: str) -> int:
    """How many terms there are."""
    return padded.count("  ") + 1 if padded else 0


def _after(ledger: Ledger, seq: int) -> Iterator[str]:
    """The members that joined with this event or later, in order."""
    fresh: list[str] = []
    for record_id in reversed(ledger.order):
        if ledger.members[record_id].seq < seq:
            break
        fresh.append(record_id)
    return reversed(fresh)
