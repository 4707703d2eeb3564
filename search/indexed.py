"""The index half of a view: an open index, what of it is gone, and how its scores fit a wider whole."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from nsstore.search.manifest import Manifest
from nsstore.search.scoring import EPSILON, norm, rarity
from nsstore.search.shelf import Opened
from nsstore.search.tantivy_door import Match, Reader
from nsstore.store import Vanished

_MORE = 16  # records asked for beyond those wanted, when scores have to be set right
MOST_TIES: Final = 16
MOST_KNOWN: Final = 4_096
_UP: Final = 1 + EPSILON
_DOWN: Final = 1 - EPSILON


class Member(Protocol):
    """A record that joined: by which event."""

    @property
    def seq(self) -> int: ...


class Joined(Protocol):
    """What ranks in which order where scores tie: a ledger, or several that are followed as one."""

    @property
    def order(self) -> Sequence[str]: ...

    @property
    def members(self) -> Mapping[str, Member]: ...


class Gone:
    """What was superseded since the index took it in: found no longer, and of no weight in any score."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.tokens = 0
        self.holding: Counter[str] = Counter()

    def add(self, record_id: str, terms: Sequence[str]) -> None:
        """Count a record out; a second time does nothing."""
        if record_id not in self.ids:
            self.ids.add(record_id)
            self.tokens += len(terms)
            self.holding.update(set(terms))


class Candidate(NamedTuple):
    """A record that may be among the best: its score lies from ``low`` to ``high``, exact if they meet.

    Where scores tie, ``tie`` decides.
    """

    record_id: str
    low: float
    high: float
    tie: int | str


class Base:
    """An open index, what it was folded of, and what of it is gone."""

    def __init__(self, reader: Reader, *, tokens: int, size: int, manifest: Manifest | None = None) -> None:
        """``tokens`` counts the terms of all that was folded, repeats included; ``size`` is in bytes.

        ``manifest`` is what the disk keeps of it, if it is kept there.
        """
        self.reader = reader
        self.manifest = manifest
        self.folded_tokens = tokens
        self.size = size
        self.gone = Gone()
        self._rarities: dict[str, float] = {}
        self.average_length = tokens / max(1, reader.records)

    @classmethod
    def of(cls, opened: Opened) -> Base:
        """The half that was just opened."""
        manifest = opened.manifest
        return cls(opened.reader, tokens=manifest.tokens, size=manifest.size, manifest=manifest)

    @property
    def records(self) -> int:
        """How many records of it can be found."""
        return self.reader.records - len(self.gone.ids)

    @property
    def tokens(self) -> int:
        """How many terms these hold together, repeats included."""
        return self.folded_tokens - self.gone.tokens

    def holding(self, term: str) -> int:
        """How many of these hold a term."""
        return self.reader.holding(term) - self.gone.holding[term]

    def rarities(self, wanted: Sequence[str]) -> dict[str, float]:
        """What each term weighs where this is the whole view and nothing of it is gone."""
        known = self._rarities
        if len(known) > MOST_KNOWN:
            known.clear()
        for term in wanted:
            if term not in known:
                known[term] = rarity(self.reader.records, self.reader.holding(term))
        return {term: known[term] for term in wanted}

    def best(self, wanted: Sequence[str], ledger: Joined, k: int) -> list[Candidate]:
        """Those that can be among the ``k`` best of an index that is the whole view, nothing gone from it."""
        limit = k + 1
        while True:
            matches = self.reader.first(wanted, limit)
            least = matches[k - 1][0] * _DOWN if len(matches) >= k else 0.0
            # Of those that tie at the end tantivy gives any: they are asked for until none is left out.
            if len(matches) < limit or matches[-1][0] * _UP < least:
                break
            limit *= 4
        found: list[Candidate] = []
        for score, seq in matches:
            high = score * _UP
            if high >= least and (record_id := record_at(ledger, seq)) is not None:
                found.append(Candidate(record_id, score * _DOWN, high, seq))
        return found

    def contenders(
        self, rarities: Mapping[str, float], average: float, ledger: Joined, k: int, others: Sequence[float]
    ) -> list[Candidate]:
        """The records of the index that can be among the ``k`` best of a wider whole.

        ``rarities`` and ``average`` are the whole's; ``others`` are the scores of its other half. What a
        term weighs is set right by a boost. The length a score was normed by cannot be: a term that
        occurs once shifts most, one that fills its record not at all, and the score lies between.
        """
        boosted = [
            (term, weight / rarity(self.reader.records, count))
            for term, weight in rarities.items()
            if (count := self.reader.holding(term))
        ]
        if not boosted or k < 1:
            return []
        widest = max(1.0, self.average_length and average / self.average_length)
        limit = k + len(self.gone.ids) + _MORE
        while True:
            matches = self.reader.best(boosted, limit)
            found = [one for match in matches if (one := self._bounded(match, ledger, average))]
            if len(matches) < limit or matches[-1].score * widest * _UP < _nth(found, others, k):
                return found
            limit *= 4

    def _bounded(self, match: Match, ledger: Joined, average: float) -> Candidate | None:
        record_id = record_at(ledger, match.seq)
        if record_id is None or record_id in self.gone.ids:
            return None
        own, whole = norm(match.length, self.average_length), norm(match.length, average)
        shifted = match.score * (1 + own) / (1 + whole)
        low, high = min(match.score, shifted), max(match.score, shifted)
        return Candidate(record_id, low * _DOWN, high * _UP, match.seq)


def _nth(found: Sequence[Candidate], others: Sequence[float], k: int) -> float:
    """The score that ``k`` records have at least; below every score if there are fewer."""
    least = sorted([*(one.low for one in found), *others], reverse=True)
    return least[k - 1] if len(least) >= k else -1.0


def among_the_best(candidates: list[Candidate], k: int) -> list[Candidate]:
    """Those of which none can be said to be worse than ``k`` others.

    Where very many are as good as each other, as many as are worth working out.
    """
    if len(candidates) > k:
        least = sorted([one.low for one in candidates], reverse=True)[k - 1]
        candidates = [one for one in candidates if one.high >= least]
    if len(candidates) > (most := MOST_TIES * k + MOST_TIES):
        candidates = sorted(candidates, key=lambda one: (-one.high, one.tie))[:most]
    return candidates


def seq_of(ledger: Joined, record_id: str) -> int:
    """The event by which a member joined. Raises :class:`Vanished` for one that was forgotten meanwhile."""
    member = ledger.members.get(record_id)
    if member is None:
        raise Vanished
    return member.seq


def record_at(ledger: Joined, seq: int) -> str | None:
    """The member that joined by an event, or ``None`` if it is none (any more)."""
    order, members = ledger.order, ledger.members
    at = seq - 1  # where each event so far was a record that joined
    if 0 <= at < len(order) and (member := members.get(order[at])) is not None and member.seq == seq:
        return order[at]
    at = bisect_left(order, seq, key=lambda one: seq_of(ledger, one))
    return order[at] if at < len(order) and seq_of(ledger, order[at]) == seq else None
