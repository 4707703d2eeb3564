"""`nsstore accept` as whoever gates a release meets it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsstore.harness.report.page import MARK as PAGE
from nsstore.harness.report.saved import load
from nsstore.harness.running import cases
from tests.cli.conftest import Person
from tests.cli.test_startup import imported

DICT = "nsstore.harness.examples.plain_dict:make"
LEAKY = '''
"""Everybody's texts in one list."""
from nsstore.harness.provider import DIMENSIONS, Kept, ScopeProperties

class Leaky:
    def __init__(self):
        print("made one")
        self.kept = []

    def scope_properties(self):
        return ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=True)

    def remember(self, scope, text):
        self.kept.append(text)
        return str(len(self.kept))

    def search(self, scope, query, k):
        asked = set(query.split())
        found = [(str(at), text) for at, text in enumerate(self.kept, 1) if asked & set(text.split())]
        return [Kept(record_id=at, text=text) for at, text in found[:k]]

    def close(self):
        pass

NOT_CALLABLE = 3
class Halves:
    def remember(self, scope, text):
        pass
    def close(self):
        pass

def broken():
    raise RuntimeError("no database here")
'''


@pytest.fixture
def here(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with a leaky provider in it, where the person stands; nothing of it outlives the test."""
    del person
    (tmp_path / "leaky_memory.py").write_text(LEAKY)
    (tmp_path / "needs_more.py").write_text("import no_such_module_at_all\n")
    (tmp_path / "bad_syntax.py").write_text("def\n")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in ("leaky_memory", "needs_more", "bad_syntax"):
        sys.modules.pop(name, None)


def test_it_judges_nsstore_itself(person: Person) -> None:
    """Without a provider it is the store that is tried: every case passes, green, and the exit code is 0.

    What was not measured is said beside it.
    """
    shown = person.ok("accept", **dict.fromkeys(person.env, None))
    assert "✗" not in shown
    assert shown.count("✓") == len(cases())
    assert "User data isolation redline" in shown
    told = f"isolation green: {len(cases())} passed, 0 failed; performance not measured"
    assert shown.splitlines()[-1] == told


def test_it_leaves_no_trace(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stores that it tries lie in a temporary folder, with their keys, and are gone afterwards."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    person.ok("accept", "--only", "AC01", NSSTORE_TRUST_HOME=str(tmp_path / "untouched"))
    assert list((tmp_path / "scratch").iterdir()) == []
    assert not (tmp_path / "untouched").exists()


def test_it_judges_somebody_elses(person: Person, here: Path) -> None:
    """A leaky provider of this directory is red: exit code 1, and what was seen under each failed case."""
    del here
    done = person("accept", "--provider", "leaky_memory:Leaky")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if "✗ AC03" in line)
    assert "that the scope may not read" in lines[at + 1]
    assert any(line.startswith("red: ") for line in lines)
    assert any("failed: AC0" in line for line in lines)
    assert "○" in done.stdout
    assert "made one" not in done.stdout
    assert "made one" in done.stderr


def test_a_part_is_no_verdict(person: Person) -> None:
    """Some cases alone are tried, in full where they need it, and their passing is not called green."""
    shown = person.ok("accept", "--provider", DICT, "--only", "AC03", "--only", "LK18", "-v")
    assert "✓ AC03" in shown
    assert "✓ LK18" in shown
    assert "AC04" not in shown
    assert "“Same user, different project -> denied by default.”" in shown
    assert "another project is denied" in shown
    assert "no verdict: 2 passed, 0 failed" in shown
    assert "green" not in shown


def test_json_is_the_saved_report(person: Person, here: Path) -> None:
    """--json prints the one value that is read back as a report, whatever the provider prints meanwhile."""
    del here
    done = person("accept", "--provider", "leaky_memory:Leaky", "--only", "AC05", "--json")
    assert done.exit_code == 1
    found = load(done.stdout.encode())
    assert found.verdict.word == found.verdict.isolation.word == "red"
    assert found.verdict.performance.word == "missing"
    assert found.report is not None
    assert [one.case.id for one in found.report.results] == ["AC05"]
    assert found.report.provider == "leaky_memory:Leaky"


def test_pages_and_xml_are_written(person: Person, here: Path) -> None:
    """--html and --junit write their files, beside what is printed, whatever the verdict is."""
    done = person(
        "accept", "--provider", "leaky_memory:Leaky", "--html", "out/page.html", "--junit", "cases.xml"
    )
    assert done.exit_code == 1
    page = (here / "out" / "page.html").read_text()
    assert "leaky_memory:Leaky" in page
    assert "nsstore accept --provider leaky_memory:Leaky --only AC03" in page
    assert (here / "cases.xml").read_text().startswith("<?xml ")
    assert "red: " in done.stdout


def test_a_report_takes_the_place_of_a_report_alone(person: Person, here: Path) -> None:
    """A second run replaces the files of the first; any other file is refused before a case is tried."""
    args = ("accept", "--provider", DICT, "--only", "AC01", "--html", "page.html", "--junit", "cases.xml")
    person.ok(*args)
    (here / "page.html").write_text(f"<!DOCTYPE html>{PAGE} an old one")
    person.ok(*args)
    assert "an old one" not in (here / "page.html").read_text()
    (here / "notes.html").write_text("my notes")
    for flag in ("--html", "--junit"):
        done = person("accept", "--provider", "leaky_memory:Leaky", flag, "notes.html")
        assert done.exit_code == 3
        assert "is no such report" in done.stderr
        assert "made one" not in done.stderr
    assert (here / "notes.html").read_text() == "my notes"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("leaky_memory", "module:factory"),
        ("leaky_memory:", "module:factory"),
        (":make", "module:factory"),
        ("leaky memory:make", "module:factory"),
        ("../leaky_memory.py", "module:factory"),
        ("no_such_memory:make", "there is no module no_such_memory, neither installed nor in this directory"),
        ("nsstore.no_such:make", "there is no module nsstore.no_such"),
        ("needs_more:make", "needs_more needs a module that is not here: no_such_module_at_all"),
        ("bad_syntax:make", "bad_syntax could not be imported: SyntaxError"),
        ("leaky_memory:nothing", "leaky_memory has no nothing"),
        ("leaky_memory:NOT_CALLABLE", "must be a function or a class"),
        ("leaky_memory:Halves", "made a Halves, which has no scope_properties and no search"),
        ("leaky_memory:broken", "made nothing: RuntimeError: no database here"),
    ],
)
def test_what_is_no_provider_is_told(person: Person, here: Path, name: str, words: str) -> None:
    """What cannot be tried is an error with what is in the way, never a failed case."""
    del here
    done = person("accept", "--provider", name)
    assert done.exit_code == 3
    assert words in done.stderr
    assert done.stdout == ""


def test_a_case_that_there_is_not(person: Person) -> None:
    """An id that no case has is invalid, with or without --json."""
    done = person("accept", "--only", "AC99")
    assert done.exit_code == 3
    assert "AC99" in done.stderr
    assert person.json("accept", "--only", "AC99")["error"]["kind"] == "invalid"


def test_help_needs_no_suite() -> None:
    """The help of the verb imports nothing of the suite."""
    assert imported("accept", "--help") == set()
