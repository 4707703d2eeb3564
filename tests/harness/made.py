"""Reports made by hand: what a face shows of one does not depend on a suite that was run."""

from collections.abc import Iterable

import msgspec

from nsstore.harness.case import CRITERIA, Case, Document, Metrics, Outcome, Report, Result
from nsstore.harness.measured import BenchRun, Measured
from nsstore.harness.report.saved import Saved, saved

MADE_AT = "2026-11-30T21:40:00.000000Z"
GOOD = Metrics(answers=40, hits=31, foreign_rate=0.0, authorised_recall=1.0, hijack_rate=0.0, drift=0.0)
SENTENCE = "Same user, same project, same session -> records are visible."


def case(id_: str = "AC01", **changes: object) -> Case:
    """One case, of the redline if it is a criterion, else of the reports."""
    document = Document.REDLINE if id_.startswith(("AC", "RL")) else Document.REPORTS
    one = Case(id=id_, title=f"Case {id_}", document=document, sentence=SENTENCE, probe="seen")
    return msgspec.structs.replace(one, **changes)


def result(
    id_: str = "AC01", outcome: Outcome = Outcome.PASSED, seen: str = "as it must be", **changes: object
) -> Result:
    """What came of one case."""
    return Result(case=case(id_, **changes), outcome=outcome, seen=seen, seconds=0.0125)


def report(*others: Result, metrics: Metrics = GOOD, only: bool = False, green: bool | None = None) -> Report:
    """A report of the ten criteria, passed, and of other results; or of these ``only``."""
    named = {one.case.id: one for one in others}
    if not only:
        named = {id_: result(id_) for id_ in CRITERIA} | named
    results = tuple(named[id_] for id_ in sorted(named))
    is_green = not only and metrics == GOOD and all(_is_fine(one) for one in results)
    return Report(
        provider="acme.memory:make",
        suite="1",
        full=False,
        green=is_green if green is None else green,
        results=results,
        metrics=metrics,
        seconds=0.75,
    )


def _is_fine(one: Result) -> bool:
    return one.outcome is Outcome.PASSED or (one.outcome is Outcome.NOT_RUN and one.case.id not in CRITERIA)


RED = (
    result("LK01", Outcome.FAILED, "2 records of acme-corp in a search of acme"),
    result("LK02", Outcome.NOT_RUN, "the provider cannot list", needs=("lists",)),
)


def measured(name: str = "search", ratio: float = 1.2, **changes: object) -> Measured:
    """What was measured of one budget of 1.5."""
    one = Measured(
        name=name, what=f"{name}, p50", baseline=f"base of {name}", ratio=ratio, max_ratio=1.5,
        met=ratio <= 1.5,
    )  # fmt: skip
    return msgspec.structs.replace(one, **changes)


def bench(
    label: str = "now",
    ratios: Iterable[float] = (1.2, 0.8),
    unmeasured: tuple[str, ...] = (),
    **changes: object,
) -> BenchRun:
    """Results of benchmarks: one budget of 1.5 for each ratio."""
    found = tuple(measured(f"budget_{at}", ratio) for at, ratio in enumerate(ratios))
    one = BenchRun(label=label, machine={"python": "3.11"}, measured=found, unmeasured=unmeasured)
    return msgspec.structs.replace(one, **changes)


def whole(
    *others: Result, benches: tuple[BenchRun, ...] = (), against: BenchRun | None = None, **changes: object
) -> Saved:
    """All that one run says."""
    one = report(*others)
    return saved(msgspec.structs.replace(one, **changes), MADE_AT, benches, against)
