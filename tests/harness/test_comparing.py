"""Two runs side by side: what is slower, and what is only noise."""

import random

import msgspec
import pytest

from nsstore.harness.comparing import TOLERANCE, Change, changes, other_machine
from nsstore.harness.measured import PARTS, BenchRun, Measured, part_medians, part_ratios
from tests.harness.made import bench, measured


def run(*found: Measured, label: str = "now") -> BenchRun:
    """A run of these."""
    return BenchRun(label=label, measured=found)


def beside(now: Measured, then: Measured) -> Change:
    """The one change between two runs of one budget."""
    (found,) = changes(run(now), run(then, label="0.1"))
    return found


@pytest.mark.parametrize(
    ("ratio", "regressed"), [(0.5, False), (1.0, False), (1.0 + TOLERANCE, False), (1.34, True), (9.0, True)]
)
def test_the_tolerance_is_stated(ratio: float, regressed: bool) -> None:  # noqa: FBT001 - a column of the table
    """A ratio may grow by a third of itself, and no further."""
    found = beside(measured(ratio=ratio), measured(ratio=1.0))
    assert found.regressed is regressed
    assert found.change == pytest.approx(ratio - 1)


def test_noise_is_no_regression() -> None:
    """Where parts of both runs overlap, a larger median is what such runs do by themselves."""
    then = measured(ratio=1.0, parts=(0.8, 0.9, 1.0, 1.1, 1.5))
    assert not beside(measured(ratio=1.6, parts=(1.4, 1.5, 1.6, 1.7, 1.8)), then).regressed
    assert beside(measured(ratio=1.7, parts=(1.6, 1.6, 1.7, 1.8, 1.9)), then).regressed


def test_a_small_change_is_none_however_sure() -> None:
    """Parts that lie apart by a few percent are no regression."""
    then = measured(ratio=1.0, parts=(0.99, 1.0, 1.0, 1.0, 1.01))
    assert not beside(measured(ratio=1.2, parts=(1.19, 1.2, 1.2, 1.2, 1.21)), then).regressed


def test_the_same_speed_is_rarely_called_slower() -> None:
    """Of runs that differ by their noise alone, however wide, next to none is called a regression."""
    dice = random.Random(3)

    def noisy() -> Measured:
        parts = tuple(dice.lognormvariate(0, 0.6) for _ in range(PARTS))
        return measured(ratio=sorted(parts)[PARTS // 2], parts=parts)

    called = sum(beside(noisy(), noisy()).regressed for _ in range(2_000))
    assert called <= 2_000 / 252 * 2


def test_another_baseline_is_not_compared() -> None:
    """A ratio to something else, or a budget that was not there, is no earlier figure."""
    assert beside(measured(), measured(baseline="other")).then is None
    assert beside(measured(), measured("other")).then is None
    assert not beside(measured(ratio=9.0), measured(baseline="other")).regressed
    assert beside(measured(), measured("other")).told("0.1") == ""


def test_a_change_is_told() -> None:
    """The earlier figure and the change stand in words, with a sign."""
    assert beside(measured(ratio=1.2), measured(ratio=1.0)).told("0.1") == "1.00 in 0.1 (+20 %)"
    assert beside(measured(ratio=0.5), measured(ratio=1.0)).told("0.1") == "1.00 in 0.1 (-50 %)"


def test_another_machine_is_told() -> None:
    """What makes a machine another one is named; what differs in each run on the same one is not."""
    then = bench("0.1", machine={"python": "3.11.2", "cores": 2, "load": 0.1, "kernel": "6.1"})
    now = msgspec.structs.replace(
        then, machine={"python": "3.12.1", "cores": 2, "load": 3.0, "sqlite": "3.45"}
    )
    assert other_machine(now, then) == ("python 3.11.2 then, 3.12.1 now",)
    assert other_machine(now, now) == ()


def test_parts_are_consecutive() -> None:
    """The medians of a run's parts are in the order in which they ran, and every round is in one of them."""
    assert part_medians([float(at // 20) for at in range(100)]) == (0.0, 1.0, 2.0, 3.0, 4.0)
    assert part_medians([1.0] * 9) == ()
    assert len(part_medians([1.0] * 11)) == PARTS
    assert part_medians([0.0, 2.0] * 5) == (1.0,) * PARTS
    assert part_ratios((2.0, 3.0), (1.0, 2.0)) == (2.0, 1.5)
    assert part_ratios((), (1.0,)) == ()
