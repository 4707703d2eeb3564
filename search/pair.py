"""A view as a pair: what was folded into an index, and a tail in memory of what the ledger has more.

Every score is BM25 over the statistics of the whole, as if one index held all of it
(``docs/design.md`` section 6): wherever the line between both halves is, the answer is the same.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from nsstore.ledger import Ledger
from nsstore.search.indexed import Base, Candidate, Joined, among_the_best, seq_of
from nsstore.search.scoring import Scoring, Weigh, rarity
from nsstore.search.view import View
from nsstore.store import Tag

_BYTES_OF_A_READER: Final = 100_000
_BYTES_OF_A_COUNT: Final = 110


class Pair:
    """One view as this process has it, how far along the ledger it has come, and whether it is whole.

    Whoever changes it holds ``lock``. ``tails`` are in ledger order; all but the last one are being
    folded. Every record of it is a member of one of the view's classes that nothing in it supersedes;
    ``ends`` says when those end that do. ``name`` is its directory in the cache home, if it has one.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.base: Base | None = None
        self.name: str | None = None
        self.tails: list[View] = [View()]
        self.ends: dict[str, str] = {}
        self.seq = -1
        self.head = bytes(32)
        self.forgotten = 0
        self.whole = True
        self.uses = 0
        self.folding = False
        self.let_go: set[str] = set()  # forgotten since the fold began
        self.text = 0  # characters of the texts that were taken in
        self.rests_until = 0.0

    def bytes_used(self) -> int:
        """An estimate of the memory this view holds, what is mapped of its index included."""
        held = sum(tail.bytes_used() for tail in self.tails) + 2 * _BYTES_OF_A_COUNT * len(self.ends)
        if self.base is not None:
            held += _BYTES_OF_A_READER + self.base.size
            held += _BYTES_OF_A_COUNT * len(self.base.gone.holding)
        return held

    def is_open(self) -> bool:
        """Whether an index is open, which costs a thread."""
        return self.base is not None

    def records(self) -> int:
        """How many records a search can find."""
        return self.tail_records() + (self.base.records if self.base is not None else 0)

    def tail_records(self) -> int:
        """How many records are in memory."""
        return sum(len(tail) for tail in self.tails)

    def follows(self, ledger: Ledger) -> bool:
        """Whether the ledger goes on from where this view has come."""
        return self.seq < 0 or (self.seq <= ledger.seq and ledger.macs[self.seq] == self.head)

    def is_at(self, ledger: Ledger) -> bool:
        """Whether nothing is to be done before it is searched: nothing joined, was forgotten, or can end."""
        return (
            self.whole
            and self.seq == ledger.seq
            and self.head == ledger.head
            and self.forgotten == len(ledger.forgotten)
            and not self.ends
        )

    def after(self, ledger: Ledger, reached: int) -> list[str]:
        """The members that joined behind where this view has come, up to an event, in order."""
        order = ledger.order
        start = bisect_right(order, self.seq, key=lambda one: seq_of(ledger, one))
        return [one for one in order[start:] if seq_of(ledger, one) <= reached]

    def came_to(self, seq: int, ledger: Ledger) -> None:
        """Note that everything up to an event of the ledger is taken in."""
        self.seq = seq
        self.head = ledger.macs[seq] if seq >= 0 else bytes(32)

    def newly_forgotten(self, ledger: Ledger) -> list[str]:
        """What the ledger forgot since it was asked last."""
        found = list(islice(ledger.forgotten, self.forgotten, None))
        self.forgotten = len(ledger.forgotten)
        return found

    def take_in(
        self,
        record_id: str,
        tag: Tag,
        spelled: Sequence[Sequence[str]],
        superseded: Mapping[str, Sequence[str]],
        *,
        size: int = 0,
    ) -> None:
        """Take in the next record, of these terms in each field; what it supersedes weighs no longer.

        ``superseded`` are the terms of those that the index holds, ``size`` the characters of its text.
        """
        for old in tag.supersedes:
            self.leave_out(old, superseded.get(old))
        if tag.expires_at is not None:
            self.ends[record_id] = tag.expires_at
        self.text += size
        self.tails[-1].add_terms(record_id, spelled)

    def leave_out(self, record_id: str, terms: Sequence[str] | None) -> None:
        """Let a record weigh no longer, wherever it is; ``terms`` are its own if the index holds it."""
        for tail in self.tails:
            tail.remove(record_id)
        self.ends.pop(record_id, None)
        if self.base is not None and terms is not None:
            self.base.gone.add(record_id, terms)

    def holds(self, record_id: str) -> bool:
        """Whether the index holds a record that still weighs."""
        base = self.base
        return base is not None and record_id not in base.gone.ids and base.reader.has(record_id)

    def forget(self, record_id: str) -> bool:
        """Let go of a record for good; ``False`` if the index holds it, which then has to go itself."""
        for tail in self.tails:
            tail.remove(record_id)
        self.ends.pop(record_id, None)
        self.let_go.add(record_id)
        return self.base is None or not self.base.reader.has(record_id)

    def search(
        self, wanted: Sequence[str], ledger: Joined, k: int, weigh: Weigh, *, by_id: bool = False
    ) -> list[tuple[str, float]]:
        """The ids and scores of the ``k`` best records that hold any of the terms.

        ``weigh`` is asked for the score of each that can be among them; what it raises is raised. Ties are in
        ledger order, or in that of the ids.
        """
        with self.lock:
            found, scoring = self._candidates(wanted, ledger, k, by_id=by_id)
        best = among_the_best(found, k) if len(found) > k else found
        scored = [
            (-weigh(one.record_id, scoring), one.record_id if by_id else one.tie, one.record_id)
            for one in best
        ]
        scored.sort()
        return [(record_id, -score) for score, _, record_id in scored[:k]]

    def _candidates(
        self, wanted: Sequence[str], ledger: Joined, k: int, *, by_id: bool
    ) -> tuple[list[Candidate], Scoring]:
        """The records that can be among the best, and what their scores are worked out from."""
        base, tails = self.base, [tail for tail in self.tails if len(tail)]
        if base is not None and not tails and not base.gone.ids:
            return base.best(wanted, ledger, k), Scoring(base.rarities(wanted), base.average_length)
        records = self.records()
        if not records:
            return [], Scoring({}, 1.0)
        halves: list[View | Base] = [*tails, *([base] if base is not None else [])]
        rarities = {term: rarity(records, sum([half.holding(term) for half in halves])) for term in wanted}
        average = sum([half.tokens for half in halves]) / records
        found = [
            Candidate(record_id, score, score, seq_of(ledger, record_id))
            for tail in tails
            for record_id, score in tail.top(rarities, average, k, ties=by_id)
        ]
        if base is not None:
            found += base.contenders(rarities, average, ledger, k, [one.low for one in found])
        return found, Scoring(rarities, average)
