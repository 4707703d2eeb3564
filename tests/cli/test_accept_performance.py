"""The other half of `nsstore accept`: benchmarks from files or timed now, and one verdict on both."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from nsstore.harness import timing
from nsstore.harness.measured import BenchRun
from nsstore.harness.report.saved import load, save, saved
from tests.cli.conftest import Person
from tests.cli.test_accept_verb import DICT, LEAKY
from tests.harness.made import MADE_AT, bench, measured


@pytest.fixture
def here(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with a leaky provider in it, where the person stands; little is timed there."""
    del person
    (tmp_path / "leaky_memory.py").write_text(LEAKY)
    monkeypatch.chdir(tmp_path)
    for name, value in (("ROUNDS", 10), ("OWN", 12), ("FOREIGN", 2)):
        monkeypatch.setattr(timing, name, value)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    sys.modules.pop("leaky_memory", None)


def results(place: Path, ratio: float, name: str = "search_vs_fts5") -> str:
    """A file of results, as benchmarks write them."""
    budget = {"name": name, "what": "search, p50", "baseline": "fts5", "max_ratio": 1.5}
    verdict = {"budget": budget, "ratio": ratio, "met": ratio <= 1.5}
    found = {"met": ratio <= 1.5, "verdicts": [verdict], "unmeasured": [], "machine": {"python": "3.11"}}
    file = place / f"at-{ratio}.json"
    file.write_bytes(msgspec.json.encode(found))
    return str(file)


def earlier(place: Path, run: BenchRun) -> str:
    """A saved report of an earlier run that timed something."""
    file = place / "earlier.json"
    file.write_bytes(save(saved(None, MADE_AT, (run,))))
    return str(file)


def test_both_halves_are_one_verdict(person: Person, here: Path) -> None:
    """The newest results decide with the cases, and older ones are their history on the page."""
    met, missed = results(here, 1.2), results(here, 1.7)
    args = ("accept", "--provider", DICT, "--html", "page.html")
    shown = person.ok(*args, "--bench", missed, "--bench", met)
    assert "Performance (at-1.2: 1 of 1 budgets met)" in shown
    assert shown.splitlines()[-1].startswith("green: isolation green (")
    assert shown.splitlines()[-1].endswith(", performance green (1 of 1 budgets met)")
    assert "Before: at-1.7 1.70, at-1.2 1.20" in (here / "page.html").read_text()
    done = person(*args, "--bench", met, "--bench", missed)
    assert done.exit_code == 1
    assert "✗ search_vs_fts5: 1.70 times fts5, at most 1.50" in done.stdout
    assert "red: isolation green (" in done.stdout
    assert "- search_vs_fts5: 1.70 times fts5, at most 1.50" in done.stdout
    assert "Performance is red" in (here / "page.html").read_text()


def test_benchmarks_make_no_leak_good(person: Person, here: Path) -> None:
    """A leaky provider whose budgets are all met is red."""
    done = person("accept", "--provider", "leaky_memory:Leaky", "--bench", results(here, 0.1))
    assert done.exit_code == 1
    assert "red: isolation red (" in done.stdout


def test_some_cases_and_benchmarks_are_no_verdict(person: Person, here: Path) -> None:
    """With some cases alone there is no verdict, whatever the benchmarks are."""
    shown = person.ok("accept", "--provider", DICT, "--only", "AC01", "--bench", results(here, 1.2))
    assert "no verdict: isolation partial (1 passed, 0 failed), performance green" in shown


def test_results_that_are_none(person: Person, here: Path) -> None:
    """A file that is not there, or holds something else, stops it before a case is tried."""
    (here / "other.json").write_text(json.dumps({"verdicts": 3}))
    for name, code in (("other.json", 3), ("absent.json", 9)):
        for flags in (("--bench", name), ("--bench", results(here, 1.2), "--against", name)):
            done = person("accept", "--provider", "leaky_memory:Leaky", *flags)
            assert done.exit_code == code
            assert "made one" not in done.stderr


def test_it_is_timed(person: Person, here: Path) -> None:
    """Timed without a budget both verbs have a figure, and the other half stays what it is."""
    del here
    shown = person.ok("accept", "--provider", DICT, "--only", "AC01", "--time")
    assert "○ remember: " in shown
    assert "○ search: " in shown
    assert "times sqlite_fts" in shown
    assert "timed answers with" in shown
    whole = person.ok("accept", "--provider", DICT, "--time")
    assert whole.splitlines()[-1].startswith("isolation green: ")
    assert whole.splitlines()[-1].endswith("; performance: 2 timed without a budget")


def test_a_budget_is_held_to(person: Person, here: Path) -> None:
    """A verb that takes more than its budget is red, one within it is met, in the XML as well."""
    args = ("accept", "--provider", DICT, "--time", "--junit", "cases.xml")
    done = person(*args, "--budget", "search=0.000001", "--budget", "remember=1000000")
    assert done.exit_code == 1
    assert "✓ remember: " in done.stdout
    assert "✗ search: " in done.stdout
    root = ET.parse(here / "cases.xml")
    failed = [one.attrib["name"] for one in root.iter("testcase") if one.find("failure") is not None]
    assert failed == ["search"]
    assert person.ok(*args, "--budget", "search=1e9").splitlines()[-1].startswith("green: ")


def test_a_leak_has_no_figure(person: Person, here: Path) -> None:
    """A timed answer that holds what its asker may not read is red, and no ratio is given for it."""
    del here
    done = person("accept", "--provider", "leaky_memory:Leaky", "--only", "AC01", "--time")
    assert done.exit_code == 1
    assert "✗ A timed search: search showed" in done.stdout
    assert "search: " not in done.stdout.replace("timed search: ", "")


@pytest.mark.parametrize(("ratio", "code"), [(1e-6, 1), (1e6, 0)])
def test_an_earlier_run_is_compared_with(person: Person, here: Path, ratio: float, code: int) -> None:
    """Slower than an earlier run of the same is red, and a run that was saved as JSON is such a file."""
    found = tuple(measured(verb, ratio, baseline="sqlite_fts", max_ratio=None) for verb in timing.VERBS)
    then = earlier(here, bench("old", measured=found))
    done = person("accept", "--provider", DICT, "--time", "--bench", then, "--against", then, "--json")
    assert done.exit_code == code
    one = load(done.stdout.encode())
    assert one.verdict.performance.word == ("red" if code else "green")
    assert [run.label for run in one.benches] == ["earlier", "now"]
    assert one.against is not None
    (here / "now.json").write_text(done.stdout)
    shown = person("accept", "--provider", DICT, "--bench", "now.json", "--against", then)
    assert shown.exit_code == code
    assert ("slower than earlier" in shown.stdout.splitlines()[-1]) is not bool(code)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--budget", "search=1"), "--budget is for what --time measures"),
        (("--time", "--budget", "list=1"), "--budget is remember=2.5 or search=2.5"),
        (("--time", "--budget", "search"), "--budget is remember=2.5 or search=2.5"),
        (("--time", "--budget", "search=0"), "--budget is remember=2.5 or search=2.5"),
        (("--time", "--budget", "search=nan"), "--budget is remember=2.5 or search=2.5"),
        (("--time", "--budget", "search=1", "--budget", "search=2"), "each once"),
        (("--against", "x.json"), "--against compares what --time or --bench gives"),
    ],
)
def test_what_cannot_be_asked(person: Person, here: Path, flags: tuple[str, ...], words: str) -> None:
    """A budget or a comparison of nothing is invalid, and nothing is tried."""
    del here
    done = person("accept", "--provider", "leaky_memory:Leaky", *flags)
    assert done.exit_code == 3
    assert words in " ".join(done.stderr.split())
    assert "made one" not in done.stderr
