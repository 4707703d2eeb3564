"""One verdict over both halves: green only if both are there and green."""

from itertools import product

import msgspec
import pytest

from nsstore.harness.case import Outcome, Report
from nsstore.harness.measured import BenchRun
from nsstore.harness.report.verdict import Word
from nsstore.harness.verdict import Verdict, verdict_of
from tests.harness.made import RED, bench, measured, report, result

REPORTS: dict[Word, Report | None] = {
    Word.GREEN: report(),
    Word.RED: report(*RED),
    Word.PARTIAL: report(result("AC03"), only=True),
    Word.MISSING: None,
}
BENCHES: dict[Word, BenchRun | None] = {
    Word.GREEN: bench(),
    Word.RED: bench("now", (9.0,)),
    Word.PARTIAL: BenchRun(label="now", measured=(measured(max_ratio=None),)),
    Word.MISSING: None,
}


@pytest.mark.parametrize(("isolation", "performance"), list(product(Word, Word)))
def test_both_halves_make_one(isolation: Word, performance: Word) -> None:
    """Red if a half is red, green only if both are green, and no verdict for anything less."""
    found = verdict_of(REPORTS[isolation], BENCHES[performance])
    assert (found.isolation.word, found.performance.word) == (isolation, performance)
    assert found.fails is (Word.RED in (isolation, performance))
    if not found.fails:
        both = isolation is performance is Word.GREEN
        assert found.word is (Word.GREEN if both else Word.PARTIAL)
    assert (found.why == ()) is (found.word is Word.GREEN)


def test_a_missing_half_says_so() -> None:
    """What was not tried or not measured is told in a sentence, beside a green half as well."""
    assert verdict_of(report(), None).why == ("Performance was not measured",)
    assert verdict_of(None, bench()).why == ("Isolation was not tried",)
    assert len(verdict_of(None, None).why) == 2


def test_it_goes_through_json() -> None:
    """Every verdict comes back from JSON as it was."""
    for one, other in product(REPORTS.values(), BENCHES.values()):
        found = verdict_of(one, other)
        assert msgspec.json.decode(msgspec.json.encode(found), type=Verdict) == found


def test_each_way_to_be_red_has_its_sentence() -> None:
    """A missed budget, one that was not measured, a fault and a wide spread are told apart."""
    wide = measured("wide", baseline="base", met=False, spread=9.0, max_spread=6.0)
    run = BenchRun(
        label="now",
        measured=(measured("slow", 1.7), wide, measured("good")),
        unmeasured=("later",),
        faults=("A timed search: search showed 1 of 10 that the scope may not read",),
    )
    assert verdict_of(report(), run).performance.why == (
        "A timed search: search showed 1 of 10 that the scope may not read",
        "slow: 1.70 times base of slow, at most 1.50",
        "wide: 1.20 times base, at most 1.50; the slowest hundredth 9.0 times the median, at most 6.0",
        "Not measured, so not met: later",
    )
    assert run.told() == "1 of 3 budgets met, 1 not measured, 1 without a figure"


def test_nothing_to_meet_is_not_green() -> None:
    """Figures without a budget, and a run that measured nothing, are no green half."""
    free = verdict_of(report(), BENCHES[Word.PARTIAL]).performance
    assert free.why == ("There was no budget to meet",)
    assert free.told == "1 timed without a budget"
    empty = verdict_of(report(), BenchRun(label="now", measured=())).performance
    assert (empty.word, empty.why) == (Word.PARTIAL, ("Nothing was measured",))


def test_slower_than_before_is_red_where_that_is_asked() -> None:
    """A run that meets its budgets is red beside one that was faster, and green without it."""
    now, then = bench("now", (1.4, 0.8)), bench("0.1", (1.0, 0.8))
    assert verdict_of(report(), now).word is Word.GREEN
    found = verdict_of(report(), now, then)
    assert found.word is Word.RED
    assert found.why == ("budget_0 is slower: 1.40, 1.00 in 0.1 (+40 %)",)
    assert found.performance.told.endswith("1 of 2 slower than 0.1")
    assert verdict_of(report(), now, now).word is Word.GREEN


def test_an_earlier_run_is_a_budget() -> None:
    """What was timed without one is green if it is no slower than before."""
    free = BENCHES[Word.PARTIAL]
    assert verdict_of(report(), free, free).word is Word.GREEN


def test_what_could_not_be_compared_is_red() -> None:
    """A comparison that was asked for and compared nothing has shown nothing."""
    found = verdict_of(report(), bench(), bench("0.1", ()))
    assert found.why == ("Nothing measured is in 0.1, so nothing was compared",)
    assert found.word is Word.RED


def test_a_criterion_that_was_not_run_is_red() -> None:
    """Good benchmarks make up for nothing."""
    assert verdict_of(report(result("AC06", Outcome.NOT_RUN, "no files")), bench()).word is Word.RED
