"""A run of benchmarks beside an earlier one: what changed, and whether that is more than noise."""

from __future__ import annotations

from typing import Final

import msgspec

from nsstore.harness.measured import BenchRun, Measured

TOLERANCE: Final = 1 / 3
"""By how much of itself a ratio may have grown and still count as no slower.

The same code measured again and again on two processors that others used as well, with a throttled disk: the
ratios of searches moved by up to 10 %, those of durable writes by up to 30 %.
"""
MOVING: Final = frozenset({"flush_best_us", "flush_p50_us", "load"})
"""What is said of a machine that is another figure in each run on the same one."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One budget now and then; ``then`` is ``None`` where the earlier run has none by the same baseline.

    ``change`` is by how much of itself the ratio grew. ``regressed`` says that it is slower beyond what noise
    allows: at the median by more than :data:`TOLERANCE`, and in each part of this run slower than in any of
    the earlier one. Where nothing changed the five parts of both come to lie so in 1 of 252 comparisons.
    """

    now: Measured
    then: Measured | None
    change: float | None
    regressed: bool

    def told(self, label: str) -> str:
        """The change in words, as against the run of that label; empty where there is none to tell."""
        if self.then is None or self.change is None:
            return ""
        return f"{self.then.ratio:.2f} in {label} ({signed(self.change)})"


def changes(now: BenchRun, then: BenchRun) -> tuple[Change, ...]:
    """Each budget that was measured now beside what the earlier run measured of it, in the order of now."""
    return tuple(_change(one, then.of(one.name)) for one in now.measured)


def other_machine(now: BenchRun, then: BenchRun) -> tuple[str, ...]:
    """What differs between the machines of two runs. Ratios carry over to another one better than times do,
    but not wholly.
    """
    return tuple(
        f"{name.replace('_', ' ')} {then.machine[name]} then, {value} now"
        for name, value in now.machine.items()
        if name not in MOVING and name in then.machine and then.machine[name] != value
    )


def signed(change: float) -> str:
    """A change in percent, with its sign."""
    return f"{100 * change:+.0f} %"


def _change(now: Measured, then: Measured | None) -> Change:
    if then is None or then.baseline != now.baseline or then.ratio <= 0:
        return Change(now=now, then=None, change=None, regressed=False)
    change = now.ratio / then.ratio - 1
    apart = not (now.parts and then.parts) or min(now.parts) > max(then.parts)
    return Change(now=now, then=then, change=change, regressed=change > TOLERANCE and apart)
