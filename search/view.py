"""An in-memory view: the terms of exactly the records it was given, ranked by BM25.

Scores are those of tantivy for one field that holds the text, the title and the tags, so that a
view kept in memory and one kept by tantivy answer alike (``docs/design.md`` section 6). What it
counts is for the other half of its view; a caller gets hits, no terms and no counts.
"""

from __future__ import annotations

import heapq
import sys
import threading
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from nsstore.search.analyser import terms
from nsstore.search.scoring import norm_of_step, step_of

FIELDS: Final = ("text", "title", "tags")

MOST_NEW: Final = 16  # records that are looked through one by one, before their terms are entered
NOTHING: Final[Mapping[str, float]] = {}

_FEW: Final = 500
# A posting's key is one number: frequency << 8 | length step. The 256 KiB that a text may have
# (docs/format.md) keep the frequency below 2**24, so a key fits 32 bits.

# Bytes beside the strings themselves: tracemalloc's figures on 64-bit CPython 3.11 and a tenth for
# the allocator. An empty view costs something too, or a cache could keep any number of them.
_BYTES_OF_A_VIEW: Final = 2_000
_BYTES_PER_RECORD: Final = 150
_BYTES_PER_TERM: Final = 290
_BYTES_PER_POSTING: Final = 17
_BYTES_PER_NEW: Final = 110  # of a term that is not entered yet
_BYTES_PER_GAP: Final = 16  # what stays of a removed record: its empty place


def analysed(text: str, title: str, tags: Iterable[str]) -> tuple[list[str], ...]:
    """The terms of each of ``FIELDS``, repeats included."""
    values = zip(FIELDS, (text, title, "\n".join(tags)), strict=True)
    return tuple([terms(value, field=name) if value else [] for name, value in values])


def _nth(scores: Collection[float], k: int) -> float:
    """The ``k``-th largest; sorting is faster than a heap up to some thousands."""
    if len(scores) < _FEW:
        return sorted(scores, reverse=True)[k - 1]
    return heapq.nlargest(k, scores)[-1]


class _Postings:
    """Where one term occurs: places in ascending order, and a key beside each."""

    __slots__ = ("keys", "places", "term")

    def __init__(self, term: str) -> None:
        self.term = term
        self.places = array("I")
        self.keys = array("I")


class _New:
    """A record whose terms are not entered yet: where it is, and how often it holds each."""

    __slots__ = ("_step", "counts", "place")

    def __init__(self, place: int, counts: dict[str, int], step: int) -> None:
        self.place = place
        self.counts = counts
        self._step = step

    def key(self, term: str) -> int:
        """The key of the posting that a term of it has."""
        return self.counts[term] << 8 | self._step


class _Weights(dict[int, float]):
    """What a posting's key weighs at one average length; computed when first met."""

    def __init__(self, average_length: float) -> None:
        self.average_length = average_length

    def __missing__(self, key: int) -> float:
        frequency = key >> 8
        weight = self[key] = frequency / (frequency + norm_of_step(key & 255, self.average_length))
        return weight


class View:
    """Ranks exactly the records added and not removed; what was removed weighs in no score.

    Records are added in ledger order, and ties keep it. Any thread may call any method.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._postings: dict[str, _Postings] = {}
        self._places: dict[str, int] = {}
        self._ids: list[str | None] = []
        self._terms_of: list[tuple[_Postings, ...]] = []
        self._new: list[_New] = []
        self._tokens = 0
        self._weights = _Weights(0.0)
        self._bytes = _BYTES_OF_A_VIEW

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, record_id: str) -> bool:
        return record_id in self._places

    def bytes_used(self) -> int:
        """Return an estimate of the memory this view holds, within about a quarter."""
        return self._bytes

    def add(self, record_id: str, text: str, *, title: str = "", tags: Iterable[str] = ()) -> None:
        """Make the record findable, behind every record added before it.

        Raises ``ValueError`` for a record that is here already: records are written once.
        """
        self.add_terms(record_id, analysed(text, title, tags))

    def add_terms(self, record_id: str, spelled: Sequence[Sequence[str]]) -> None:
        """As :meth:`add`, for a record whose fields were analysed already."""
        text, *others = spelled
        counts, tokens = Counter(text), len(text)
        for found in others:
            tokens += len(found)
            counts.update(found)
        step = step_of(tokens)
        with self._lock:
            if record_id in self._places:
                raise ValueError("this record is in the view already")
            place = self._places[record_id] = len(self._ids)
            self._ids.append(record_id)
            self._tokens += tokens
            self._terms_of.append(())
            self._new.append(_New(place, counts, step))
            self._bytes += self._bytes_of(record_id, len(counts)) + _BYTES_PER_NEW * len(counts)

    def _post(self) -> None:
        """Enter the terms of what was added last: worth its time once it is searched."""
        for one in self._new:
            holders: list[_Postings] = []
            for term in one.counts:
                postings = self._postings.get(term)
                if postings is None:
                    postings = self._postings[term] = _Postings(term)
                    self._bytes += _BYTES_PER_TERM + sys.getsizeof(term)
                postings.places.append(one.place)
                postings.keys.append(one.key(term))
                holders.append(postings)
            self._terms_of[one.place] = tuple(holders)
            self._bytes -= _BYTES_PER_NEW * len(holders)
        self._new = []

    def remove(self, record_id: str) -> bool:
        """Forget the record, its terms and its weight in every score; False if it was not here."""
        with self._lock:
            place = self._places.get(record_id)
            if place is None:
                return False
            self._post()
            del self._places[record_id]
            holders = self._terms_of[place]
            for postings in holders:
                at = bisect_left(postings.places, place)
                self._tokens -= postings.keys[at] >> 8
                del postings.places[at], postings.keys[at]
                if not postings.places:
                    del self._postings[postings.term]
                    self._bytes -= _BYTES_PER_TERM + sys.getsizeof(postings.term)
            self._ids[place] = None
            self._terms_of[place] = ()
            self._bytes -= self._bytes_of(record_id, len(holders)) - _BYTES_PER_GAP
            return True

    @property
    def tokens(self) -> int:
        """How many terms all records hold together, repeats included."""
        return self._tokens

    def holding(self, term: str) -> int:
        """How many records hold a term."""
        if len(self._new) > MOST_NEW:
            with self._lock:
                self._post()
        found, new = self._postings.get(term), self._new
        count = sum([term in one.counts for one in new]) if new else 0
        return count + len(found.places) if found is not None else count

    def ids(self) -> list[str]:
        """The id of every record, in ledger order."""
        with self._lock:
            return list(self._places)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Every record's id and terms with repeats, in ledger order; what is removed meanwhile may lack."""
        with self._lock:
            self._post()
            found = list(self._places.items())
        for record_id, place in found:
            with self._lock:
                spelled: list[str] = []
                for postings in self._terms_of[place]:
                    key = postings.keys[bisect_left(postings.places, place)]
                    spelled += [postings.term] * (key >> 8)
            if record_id in self._places:
                yield record_id, " ".join(spelled)

    def top(
        self, rarities: Mapping[str, float], average_length: float, k: int, *, ties: bool = False
    ) -> list[tuple[str, float]]:
        """The ids and scores of the ``k`` best, by the weights and the average length of a wider whole.

        With ``ties`` all that are as good as the last of them as well.
        """
        with self._lock:
            if len(self._new) > MOST_NEW:
                self._post()
            held, ids = self._held(rarities), self._ids
            best = self._best(held, average_length, k, rarities, ties=ties) if k > 0 else []
            return [(record_id, -score) for score, place in best if (record_id := ids[place]) is not None]

    def _held(self, rarities: Mapping[str, float]) -> list[tuple[float, _Postings]]:
        found = ((weight, self._postings.get(term)) for term, weight in rarities.items())
        return [(weight, postings) for weight, postings in found if postings is not None]

    def _best(
        self,
        held: list[tuple[float, _Postings]],
        average_length: float,
        k: int,
        rarities: Mapping[str, float] = NOTHING,
        *,
        ties: bool = False,
    ) -> list[tuple[float, int]]:
        if average_length != self._weights.average_length:
            self._weights = _Weights(average_length)
        weight_of = self._weights.__getitem__
        scores: dict[int, float] = {}
        score_of = scores.get
        for term_weight, postings in held:
            for place, weight in zip(postings.places, map(weight_of, postings.keys), strict=True):
                scores[place] = score_of(place, 0.0) + term_weight * weight
        for one in self._new:
            score = 0.0
            for term, term_weight in rarities.items():
                if term in one.counts:
                    score += term_weight * weight_of(one.key(term))
            if score:
                scores[one.place] = score
        least = _nth(scores.values(), k) if len(scores) > k else 0.0
        best = [(-score, place) for place, score in scores.items() if score >= least]
        best.sort()
        return best if ties else best[:k]

    @staticmethod
    def _bytes_of(record_id: str, postings: int) -> int:
        return _BYTES_PER_RECORD + sys.getsizeof(record_id) + _BYTES_PER_POSTING * postings
