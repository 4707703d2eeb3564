"""What one run of benchmarks measured: how many times a baseline's time something took, in the same run."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import msgspec

PARTS: Final = 5
"""Into how many consecutive parts the rounds of a run are divided, to see how it moves by itself."""
LEAST: Final = 2
"""Rounds that a part must have."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One budget and what was measured: ``ratio`` is how many times a baseline's time something took.

    Without a ``max_ratio`` there was nothing to meet. ``parts`` are the ratios in consecutive parts of the
    same rounds; ``spread`` is how many times its own median the slowest hundredth took, bounded by
    ``max_spread``.
    """

    name: str
    what: str
    baseline: str
    ratio: float
    max_ratio: float | None = None
    met: bool
    parts: tuple[float, ...] = ()
    rounds: int = 0
    ours_us: float | None = None
    theirs_us: float | None = None
    spread: float = 0.0
    max_spread: float | None = None

    def told(self) -> str:
        """The figure and its budget, in words."""
        limit = "" if self.max_ratio is None else f", at most {self.max_ratio:.2f}"
        wide = ""
        if self.max_spread is not None and self.spread > self.max_spread:
            wide = (
                f"; the slowest hundredth {self.spread:.1f} times the median, at most {self.max_spread:.1f}"
            )
        return f"{self.ratio:.2f} times {self.baseline}{limit}{wide}"


class BenchRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of benchmarks.

    ``faults`` say why something has no figure: what was seen in an answer that was timed. ``answers`` is how
    many timed answers were looked through for what their asker may not read, ``hits`` what they held.
    """

    label: str
    machine: Mapping[str, str | int | float] = {}
    measured: tuple[Measured, ...]
    unmeasured: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    answers: int = 0
    hits: int = 0
    version: str | None = None
    made_at: str | None = None

    @property
    def met(self) -> bool:
        """Whether every budget was measured and is met, and nothing came in the way."""
        return not self.unmeasured and not self.faults and all(one.met for one in self.measured)

    def of(self, name: str) -> Measured | None:
        """What was measured of a budget, if it was."""
        return next((one for one in self.measured if one.name == name), None)

    def told(self) -> str:
        """The whole run in one line."""
        bounded = [one for one in self.measured if one.max_ratio is not None]
        free = len(self.measured) - len(bounded)
        words = [f"{sum(one.met for one in bounded)} of {len(bounded)} budgets met"] if bounded else []
        words += [f"{free} timed without a budget"] if free else []
        words += [f"{len(self.unmeasured)} not measured"] if self.unmeasured else []
        words += [f"{len(self.faults)} without a figure"] if self.faults else []
        return ", ".join(words) or "nothing was measured"

    def where(self) -> str:
        """The machine, in words."""
        return ", ".join(f"{name.replace('_', ' ')} {_shown(of)}" for name, of in self.machine.items())


def part_medians(times: Sequence[float]) -> tuple[float, ...]:
    """The median of each of :data:`PARTS` consecutive parts of some times, in the order in which they were
    taken; none where there are too few of them.
    """
    if len(times) < PARTS * LEAST:
        return ()
    ends = [len(times) * at // PARTS for at in range(PARTS + 1)]
    return tuple(statistics.median(times[start:end]) for start, end in pairwise(ends))


def part_ratios(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, ...]:
    """The ratio in each part, of part medians; none where one of the two has none."""
    return tuple(one / other for one, other in zip(ours, theirs, strict=False))


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
