"""The JUnit XML of a report, as a service for builds reads it."""

from xml.etree import ElementTree as ET

import pytest

from nsstore.harness.case import Outcome
from nsstore.harness.report.junit import MARK, junit
from nsstore.harness.report.saved import Saved, saved
from tests.harness.made import GOOD, MADE_AT, RED, bench, report, result, whole
from tests.harness.test_saved import worse


def suite_of(one: Saved) -> ET.Element:
    """The one suite of the XML, read again."""
    root = ET.fromstring(junit(one))
    (suite,) = root.findall("testsuite")
    return suite


def told(one: Saved, tag: str) -> dict[str, str]:
    """The test cases that have such an element, by name, with its message."""
    found = {
        case.attrib["name"]: case.find(tag)
        for case in suite_of(one).iter("testcase")
        if case.find(tag) is not None
    }
    return {name: element.attrib["message"] for name, element in found.items() if element is not None}


def test_every_case_and_figure_is_a_test() -> None:
    """Each case stands there under its id and title, in the report's order, and each figure behind them."""
    suite = suite_of(whole())
    names = [case.attrib["name"] for case in suite.iter("testcase")]
    assert names[:10] == [f"AC{number:02} Case AC{number:02}" for number in range(1, 11)]
    assert names[10:] == ["foreign_rate", "authorised_recall", "hijack_rate", "drift"]
    assert suite.attrib["tests"] == "14"
    assert suite.attrib["timestamp"] == "2026-11-30T21:40:00"
    assert float(next(suite.iter("testcase")).attrib["time"]) == pytest.approx(0.0125, abs=0.001)
    assert MARK.encode() in junit(whole())


def test_red_is_red_there() -> None:
    """A failed case is a failure with what was seen; one that could not be run is skipped, and says why."""
    one = whole(*RED)
    assert told(one, "failure") == {"LK01 Case LK01": "2 records of acme-corp in a search of acme"}
    assert told(one, "skipped") == {"LK02 Case LK02": "not run: the provider cannot list"}
    assert told(one, "error") == {}
    suite = suite_of(one)
    assert [suite.attrib[name] for name in ("failures", "errors", "skipped")] == ["1", "0", "1"]
    failure = next(suite.iter("failure"))
    assert failure.text is not None
    assert result().case.sentence in failure.text


def test_a_criterion_that_was_not_run_is_an_error() -> None:
    """It is no failure, and still the service turns red, as the verdict does."""
    one = whole(result("AC06", Outcome.NOT_RUN, "no files"))
    assert told(one, "error") == {"AC06 Case AC06": "not run: no files"}
    assert suite_of(one).attrib["errors"] == "1"
    assert told(one, "skipped") == {}


def test_figures_and_budgets_fail_too() -> None:
    """A figure that is not good is a failure, a missed budget too; an unmeasured one is an error."""
    bad = saved(report(metrics=worse(foreign_rate=0.25)), MADE_AT)
    assert list(told(bad, "failure")) == ["foreign_rate"]
    assert "0.25" in told(bad, "failure")["foreign_rate"]
    slow = whole(benches=(bench("now", (1.2, 1.6), ("search",)),))
    assert list(told(slow, "failure")) == ["budget_1"]
    assert "1.60 times base of budget_1, at most 1.50" in told(slow, "failure")["budget_1"]
    assert list(told(slow, "error")) == ["search"]
    leaky = whole(benches=(bench("now", faults=("A timed search: search showed 1 of 10",)),))
    assert list(told(leaky, "failure").values()) == ["A timed search: search showed 1 of 10"]


def test_what_is_slower_than_before_fails_too() -> None:
    """Each budget that an earlier run has is a test beside it, and fails if it is slower beyond noise."""
    one = whole(benches=(bench("now", (1.4, 0.8)),), against=bench("0.1", (1.0, 0.8)))
    assert told(one, "failure") == {"budget_0": "budget_0, p50: 1.40, 1.00 in 0.1 (+40 %)"}
    beside = [case for case in suite_of(one).iter("testcase") if case.attrib["classname"] == "against 0.1"]
    assert [case.attrib["name"] for case in beside] == ["budget_0", "budget_1"]
    apart = whole(benches=(bench(),), against=bench("0.1", ()))
    assert told(apart, "error") == {"compared": "nothing that was measured is in it"}


def test_the_figures_are_properties() -> None:
    """The verdict, the suite's version and each figure can be read without reading a test case."""
    one = whole(benches=(bench(),))
    found = {one.attrib["name"]: one.attrib["value"] for one in suite_of(one).iter("property")}
    assert found["verdict"] == found["isolation"] == found["performance"] == "green"
    assert found["suite"] == "1"
    assert found["full"] == "false"
    assert found["answers"] == str(GOOD.answers)
    assert found["authorised_recall"] == "1"


@pytest.mark.parametrize(
    "one",
    [
        whole(),
        whole(*RED),
        saved(None, MADE_AT, (bench(),)),
        saved(None, MADE_AT, (bench("now", (9.0,)),)),
        saved(None, MADE_AT),
        whole(benches=(bench("now", (1.4,)),), against=bench("0.1", (1.0,))),
        whole(benches=(bench(faults=("no answer",)),)),
        whole(benches=(bench(),), against=bench("0.1", ())),
        whole(result("AC06", Outcome.NOT_RUN, "no files"), benches=(bench(),)),
    ],
)
def test_a_service_is_red_where_the_verdict_is(one: Saved) -> None:
    """Some test of the file fails exactly if the one verdict is red; a half that is missing fails nothing."""
    suite = suite_of(one)
    assert (suite.attrib["failures"] + suite.attrib["errors"] != "00") is one.verdict.fails
    found = {prop.attrib["name"]: prop.attrib["value"] for prop in suite.iter("property")}
    assert found["verdict"] == one.verdict.word


HOSTILE = "]]><testcase/>\x00\x1b[31m\ud800\ufffe\u202e&\"'\n\ttext"


def test_what_a_provider_says_stays_text() -> None:
    """Controls, lone surrogates, markup and line ends of a provider's come back as text and break nothing."""
    one = whole(result("LK01", Outcome.FAILED, HOSTILE))
    suite = suite_of(one)
    assert suite.attrib["failures"] == "1"
    (message,) = told(one, "failure").values()
    assert message == "]]><testcase/>\\x00\\x1b[31m\\ud800\\ufffe\\u202e&\"'\n\ttext"
    assert len(list(suite.iter("testcase"))) == 15
