"""A record's score, the same to the last bit wherever a view holds it.

An index scores in 32 bits and by its own average length, a tail in 64 bits and by the whole's. Which
records are in which half depends on what others asked and wrote, so neither half's figure is shown: they
say which records can be among the best, and the score of those is worked out here, from the record's own
terms and the counts of the whole view (``docs/design.md`` section 6).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Final

EPSILON: Final = 1e-5  # relative; tantivy's 32 bits err by less than a tenth of it

_K1: Final = 1.2
_B: Final = 0.75

# Lucene's 256 steps for a length, which tantivy shares: 0 to 39 exactly, then eight steps an octave.
STEPS: Final = tuple(
    step if step < 24 + 16 else 24 + ((step - 24) % 8 + 8 << (step - 24) // 8 - 1) for step in range(256)
)


Often = Callable[[str], int | None]
"""How often a record holds a term; ``None`` or 0 for never."""


class Scoring:
    """What scores are worked out from: what each wanted term weighs in the whole, and its average length."""

    __slots__ = ("_average", "_rarities", "_shifts")

    def __init__(self, rarities: Mapping[str, float], average: float) -> None:
        self._rarities = tuple(rarities.items())
        self._average = average
        self._shifts: dict[int, float] = {}

    def weigh(self, often: Often, step: int) -> tuple[float, tuple[str, ...]]:
        """The score of a record whose length is of a step, and which of the wanted terms it holds.

        It is BM25, the terms added up in the order in which they were asked for.
        """
        shift = self._shifts.get(step)
        if shift is None:
            shift = self._shifts[step] = norm_of_step(step, self._average)
        score, held = 0.0, list[str]()
        for term, weight in self._rarities:
            if frequency := often(term):
                held.append(term)
                score += weight * (frequency / (frequency + shift))
        return score, tuple(held)


Weigh = Callable[[str, Scoring], float]
"""The score of the record with an id; raises what reading it raises."""


def rarity(records: int, holding: int) -> float:
    """What a term weighs that ``holding`` of ``records`` records hold: BM25's idf, times k1 + 1."""
    return math.log(1 + (records - holding + 0.5) / (holding + 0.5)) * (1 + _K1)


def step_of(tokens: int) -> int:
    """The number of the step that a record of so many terms counts as."""
    return bisect_right(STEPS, tokens) - 1


def norm(tokens: int, average_length: float) -> float:
    """BM25's norm of a record of ``tokens`` terms."""
    return norm_of_step(step_of(tokens), average_length)


def norm_of_step(step: int, average_length: float) -> float:
    """BM25's norm of a record whose length is of a step."""
    return _K1 * (1 - _B + _B * STEPS[step] / average_length)
