"""The index half of a view: an open index, what of it is gone, and how its scores fit a wider whole."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from nsstore.search.manifest import Manifest
from nsstore.search.shelf import Opened
from nsstore.search.tantivy_door import Match, Reader
from nsstore.search.view import norm, rarity
from nsstore.store import Vanished

_MORE = 16  # records asked for beyond those wanted, when scores have to be set right
_DIGITS = 5  # tantivy's scores are 32-bit: what is equal up to here is equal


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


class Candidate:
    """A record that may be among the best: its score lies from ``low`` to ``high``."""

    __slots__ = ("high", "low", "match", "record_id", "seq")

    def __init__(self, record_id: str, seq: int, low: float, high: float) -> None:
        self.record_id = record_id
        self.seq = seq
        self.low = round(low, _DIGITS)
        self.high = round(high, _DIGITS)
        self.match: Match | None = None

    @property
    def place(self) -> tuple[float, int]:
        """Where it comes: by score, then in ledger order."""
        return -self.low, self.seq


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

    def best(self, wanted: Sequence[str], ledger: Joined, k: int) -> list[tuple[str, float]]:
        """The ``k`` best of an index that is the whole view and that nothing is gone from, with scores."""
        plain = [(term, 1.0) for term in wanted]
        limit = k + 1
        while True:
            matches = self.reader.best(plain, limit, lengths=False)
            # Of those that tie at the end tantivy gives any: they are asked for until none is left out.
            if len(matches) < limit or matches[-1].score < matches[k - 1].score:
                break
            limit *= 4
        matches.sort(key=_best_first)
        found = [(record_at(ledger, match.seq), match.score) for match in matches[:k]]
        return [(record_id, score) for record_id, score in found if record_id is not None]

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
            if len(matches) < limit or matches[-1].score * widest < _nth(found, others, k):
                return found
            limit *= 4

    def settle(self, one: Candidate, rarities: Mapping[str, float], average: float) -> None:
        """Give a candidate of the index the very score it has in the whole."""
        if one.match is not None and one.low != one.high:
            shift = norm(one.match.length, average)
            score = 0.0
            for term, weight in rarities.items():
                frequency = self.reader.frequency(term, one.match)
                score += weight * frequency / (frequency + shift)
            one.low = one.high = round(score, _DIGITS)

    def _bounded(self, match: Match, ledger: Joined, average: float) -> Candidate | None:
        own, whole = norm(match.length, self.average_length), norm(match.length, average)
        return self._candidate(match, ledger, match.score * (1 + own) / (1 + whole))

    def _candidate(self, match: Match, ledger: Joined, shifted: float) -> Candidate | None:
        record_id = record_at(ledger, match.seq)
        if record_id is None or record_id in self.gone.ids:
            return None
        bounds = (match.score, shifted) if match.score < shifted else (shifted, match.score)
        one = Candidate(record_id, match.seq, *bounds)
        one.match = match
        return one


def _best_first(match: Match) -> tuple[float, int]:
    return -match.score, match.seq


def _place(one: Candidate) -> tuple[float, int]:
    return one.place


def _nth(found: Sequence[Candidate], others: Sequence[float], k: int) -> float:
    """The score that ``k`` records have at least; below every score if there are fewer."""
    least = sorted([*(one.low for one in found), *others], reverse=True)
    return least[k - 1] if len(least) >= k else -1.0


def choose(
    candidates: list[Candidate],
    k: int,
    base: Base | None,
    rarities: Mapping[str, float],
    average: float,
) -> list[Candidate]:
    """The ``k`` best; where their scores leave it open which, those scores are made exact first."""
    if len(candidates) > k and base is not None:
        least = sorted((one.low for one in candidates), reverse=True)[k - 1]
        candidates = [one for one in candidates if one.high >= least]
        if len(candidates) > k:
            beyond = sorted((one.high for one in candidates), reverse=True)[k]
            for one in candidates:
                if one.low <= beyond:
                    base.settle(one, rarities, average)
    candidates.sort(key=_place)
    return candidates[:k]


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
