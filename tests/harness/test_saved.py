"""What a report comes to, and its way through JSON."""

from pathlib import Path

import msgspec
import pytest

from bench import budgets
from bench.report import report as bench_report
from nsstore.errors import InvalidInput
from nsstore.harness.case import CRITERIA, LEAST_DRIFT, Metrics, Outcome
from nsstore.harness.report.saved import load, load_bench, save, saved
from nsstore.harness.report.verdict import Word, figures, reasons, word
from nsstore.harness.running import run
from tests.harness.made import GOOD, MADE_AT, RED, bench, report, result, whole


def worse(**changes: float) -> Metrics:
    """Good figures, but for these."""
    return msgspec.structs.replace(GOOD, **changes)


def test_green_is_what_the_suite_calls_green() -> None:
    """All ten criteria passed and nothing failed: green, and there is no reason for anything else."""
    one = report(result("LK02", Outcome.NOT_RUN, "no lists"))
    assert word(one) is Word.GREEN
    assert reasons(one) == ()
    assert word(report(green=False)) is Word.RED
    assert len(reasons(report(green=False))) == 1


def test_a_failed_case_is_red() -> None:
    """One failed case of any document is enough, and it is named."""
    assert word(report(*RED)) is Word.RED
    assert reasons(report(*RED)) == ("1 of 11 failed: LK01",)


@pytest.mark.parametrize("id_", CRITERIA)
def test_a_criterion_that_was_not_run_is_red(id_: str) -> None:
    """What could not be run is no failure, but without one of the ten there is no green."""
    one = report(result(id_, Outcome.NOT_RUN, "cannot"))
    assert one.failed() == ()
    assert word(one) is Word.RED
    assert reasons(one) == (f"Not run, and nothing is green without it: {id_}",)


def test_some_cases_are_no_verdict() -> None:
    """A run of some cases is neither green nor red, unless one of them fails."""
    assert word(report(result("AC03"), only=True)) is Word.PARTIAL
    assert word(report(*RED, only=True)) is Word.RED
    assert len(reasons(report(result("AC03"), only=True))) == 1
    assert word(report(result("AC03"), only=True, metrics=worse(foreign_rate=0.1))) is Word.RED


@pytest.mark.parametrize(
    ("name", "value"),
    [("foreign_rate", 1e-9), ("authorised_recall", 0.999999999), ("hijack_rate", 0.5), ("drift", 0.01)],
)
def test_a_figure_says_when_it_is_not_good(name: str, value: float) -> None:
    """Each figure has one good value; the least difference is told, and not rounded away."""
    told = {one.name: one for one in figures(worse(**{name: value}))}
    assert [one.name for one in told.values() if not one.good] == [name]
    assert [one.name for one in figures(GOOD) if not one.good] == []
    assert told[name].value != told[name].wanted
    assert any(told[name].value in reason for reason in reasons(report(metrics=worse(**{name: value}))))


def test_a_drift_that_no_case_minds_is_none() -> None:
    """What the cases count as unmoved is not told as moved."""
    assert all(one.good for one in figures(worse(drift=LEAST_DRIFT)))
    assert not all(one.good for one in figures(worse(drift=2 * LEAST_DRIFT)))
    assert all(one.good for one in figures(worse(drift=1e-7)))


def test_json_is_read_back() -> None:
    """A report, its verdict and its benchmarks come back as they were written."""
    one = whole(*RED, benches=(bench("0.1"), bench("now", (1.6, 0.2))), against=bench("0.1"))
    assert load(save(one)) == one
    assert save(load(save(one))) == save(one)
    alone = saved(None, MADE_AT, (bench(),))
    assert load(save(alone)) == alone


def test_the_real_report_is_read_back() -> None:
    """So does that of a suite that was run."""
    from nsstore.harness.examples.plain_dict import make

    one = saved(run(make, only={"AC05"}), MADE_AT)
    assert load(save(one)) == one


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"format": 1}', b"\xff"])
def test_what_is_no_report_is_refused(raw: bytes) -> None:
    """Anything else than a saved report is invalid, and never half read."""
    with pytest.raises(InvalidInput, match="no saved report"):
        load(raw)


def test_a_verdict_that_does_not_follow_is_refused() -> None:
    """Whoever writes green above what is red, or above half of it, is not believed."""
    good = whole(benches=(bench(),)).verdict
    for one in (whole(*RED, benches=(bench(),)), whole(), whole(benches=(bench("now", (9.0,)),))):
        with pytest.raises(InvalidInput, match="says green and comes to"):
            load(save(msgspec.structs.replace(one, verdict=good)))


def test_a_later_format_is_refused() -> None:
    """A report of a format that this version does not know is not guessed at."""
    later = msgspec.structs.replace(whole(), format=2)
    with pytest.raises(InvalidInput, match="format 2"):
        load(msgspec.json.encode(later))


def test_the_benchmarks_own_results_are_read(tmp_path: Path) -> None:
    """What `pytest bench --json` writes is what is read here, budget by budget."""
    table = budgets.BUDGETS[:3]
    verdicts = [_verdict(budget, ratio) for budget, ratio in zip(table, (0.5, 9.0), strict=False)]
    found = bench_report(table, verdicts, "ext4", [0.0002, 0.0003], 0.25)
    file = tmp_path / "now.json"
    file.write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    read = load_bench(file.read_bytes(), "now")
    assert [(one.name, one.ratio, one.met) for one in read.measured] == [
        (table[0].name, 0.5, True),
        (table[1].name, 9.0, False),
    ]
    first = read.measured[0]
    assert (first.max_ratio, first.baseline) == (table[0].max_ratio, table[0].baseline)
    assert first.rounds == 10
    assert [first.ours_us, first.theirs_us] == pytest.approx([0.5, 1.0])
    assert first.parts == pytest.approx([0.5] * 5)
    assert read.unmeasured == (table[2].name,)
    assert not read.met
    assert read.machine["file_system"] == "ext4"
    assert read.machine["load"] == 0.25
    assert (read.version, read.made_at) == (found.version, found.made_at)


def _verdict(budget: budgets.Budget, ratio: float) -> budgets.Verdict:
    ours = budgets.summarize("nsstore", [ratio / 1e6] * 10, 1)
    return budgets.judge(budget, ours, budgets.summarize(budget.baseline, [1 / 1e6] * 10, 1))


def test_a_run_that_says_it_is_not_met_is_not() -> None:
    """A claim of results is taken where it is worse than what stands beside it, never where it is better."""
    met = b'{"met": %s, "verdicts": [{"budget": %s, "ratio": %s, "met": true}]}'
    budget = b'{"name": "search", "what": "search", "baseline": "fts5", "max_ratio": 1.5}'
    assert load_bench(met % (b"true", budget, b"1.2"), "now").met
    assert not load_bench(met % (b"false", budget, b"1.2"), "now").met
    assert not load_bench(met % (b"true", budget, b"1.7"), "now").met


def test_results_of_a_later_format_are_refused() -> None:
    """Results that a later version wrote are not guessed at."""
    with pytest.raises(InvalidInput, match="now: results of format 2"):
        load_bench(b'{"format": 2, "met": true, "verdicts": []}', "now")


def test_the_newest_results_of_a_report_are_read() -> None:
    """A saved report stands for its own results of benchmarks, under the name of its file; one has them."""
    one = whole(benches=(bench("old"), bench("now", (1.1,))))
    assert load_bench(save(one), "0.3") == msgspec.structs.replace(bench("now", (1.1,)), label="0.3")
    with pytest.raises(InvalidInput, match=r"0\.3: no results of benchmarks"):
        load_bench(save(whole()), "0.3")


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"met": true, "verdicts": [{}]}'])
def test_what_is_no_benchmark_is_refused(raw: bytes) -> None:
    """A file that holds anything else is invalid, and is named."""
    with pytest.raises(InvalidInput, match="old: no results of benchmarks"):
        load_bench(raw, "old")
