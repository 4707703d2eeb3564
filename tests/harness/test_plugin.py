"""The plugin in somebody else's repository: one test for each case of the suite."""

from pathlib import Path

import pytest

from nsstore.harness.examples import plain_dict, sqlite_fts
from nsstore.harness.running import cases
from tests.cli.test_accept_verb import LEAKY

pytest_plugins = ["pytester"]
OPTION = "--isolation-provider"
GREEN = len(cases()) + 1
"""The cases, and the figures behind them."""


@pytest.fixture
def repository(pytester: pytest.Pytester) -> pytest.Pytester:
    """A repository with a test of its own and two adapters, one in a package and one beside it."""
    pytester.makepyfile(test_own="def test_own():\n    pass\n", leaky_memory=LEAKY)
    package = pytester.mkpydir("shop")
    for module in (plain_dict, sqlite_fts):
        assert module.__file__ is not None
        (package / f"{module.__name__.rpartition('.')[2]}.py").write_text(Path(module.__file__).read_text())
    pytester.makeini("[pytest]\naddopts = --strict-markers --strict-config\nfilterwarnings = error\n")
    return pytester


def ran(repository: pytest.Pytester, *args: str) -> pytest.RunResult:
    """One run of pytest there, in a process of its own."""
    return repository.runpytest_subprocess("-p", "no:cacheprovider", *args)


def test_it_does_nothing_unasked(repository: pytest.Pytester) -> None:
    """Without the option a run is what it was, and nothing of the suite is imported."""
    repository.makeconftest(
        "import sys\n"
        "def pytest_sessionfinish():\n"
        "    found = [name for name in sys.modules if name.startswith('nsstore.')]\n"
        "    assert sorted(found) == ['nsstore.errors', 'nsstore.harness', 'nsstore.harness.plugin'], found\n"
    )
    ran(repository).assert_outcomes(passed=1)


def test_each_case_is_a_test(repository: pytest.Pytester) -> None:
    """Each case has a test of its id behind the repository's own, and so do the figures."""
    done = ran(repository, "--collect-only", "-q", OPTION, "shop.plain_dict:make")
    expected = ["test_own.py::test_own", *(f"isolation::{case.id}" for case in cases()), "isolation::figures"]
    assert done.outlines[: len(expected)] == expected
    full = ran(repository, "--collect-only", "-q", OPTION, "shop.plain_dict:make", "--isolation-full")
    more = [f"isolation::{case.id}" for case in cases(full=True)]
    assert [line for line in full.outlines if line.startswith("isolation::")] == [*more, "isolation::figures"]
    assert len(more) >= len(cases())


def test_a_good_memory_passes(repository: pytest.Pytester) -> None:
    """What it can be tried in passes, what it lacks is skipped with the reason, and the run ends with 0."""
    done = ran(repository, "-rs", OPTION, "shop.plain_dict:make")
    outcomes = done.parseoutcomes()
    assert set(outcomes) == {"passed", "skipped"}
    assert sum(outcomes.values()) == GREEN + 1
    assert done.ret == 0
    done.stdout.fnmatch_lines(["SKIPPED*the provider cannot do it: on_files*"])


def test_a_leaky_memory_fails(repository: pytest.Pytester) -> None:
    """Each failed case tells what was seen and whose sentence it is, without a traceback."""
    done = ran(repository, OPTION, "leaky_memory:Leaky", "-k", "AC03 or AC05 or figures")
    done.assert_outcomes(failed=3, deselected=GREEN + 1 - 3)
    done.stdout.fnmatch_lines(
        [
            "*AC03 another project of the same user*",
            "search showed * that the scope may not read",
            "redline: Same user, different project -> denied by default.",
            "*Foreign hits by hits: *, and only 0 is good",
            "FAILED isolation::AC03 - search showed * that the scope may not read",
            "FAILED isolation::figures - Foreign hits by hits: *",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*witness.py*")
    assert done.ret == 1


def test_the_cases_are_chosen_by_their_marker(repository: pytest.Pytester) -> None:
    """`-m isolation` runs the suite alone, and `-m "not isolation"` everything else."""
    alone = ran(repository, OPTION, "shop.plain_dict:make", "-m", "isolation").parseoutcomes()
    assert alone.pop("deselected") == 1
    assert sum(alone.values()) == GREEN
    ran(repository, OPTION, "shop.plain_dict:make", "-m", "not isolation").assert_outcomes(
        passed=1, deselected=GREEN
    )


def test_a_criterion_that_cannot_run_fails(repository: pytest.Pytester) -> None:
    """A case that is skipped is no green: of the ten criteria each has to run."""
    repository.makeconftest(
        "import msgspec\n"
        "from nsstore.harness import cases\n"
        "lacking = {'AC08': ('guards',)}\n"
        "given = tuple(\n"
        "    msgspec.structs.replace(one, needs=lacking.get(one.id, one.needs)) for one in cases.CASES\n"
        ")\n"
        "cases.CASES = given\n"
        "from nsstore.harness import running\n"
        "running.CASES = given\n"
    )
    done = ran(repository, OPTION, "shop.plain_dict:make", "-k", "AC08")
    done.assert_outcomes(failed=1, deselected=GREEN)
    done.stdout.fnmatch_lines(["not run, and nothing is green without it: the provider cannot do it: guards"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere:make", "there is no module nowhere"),
        ("leaky_memory:broken", "made nothing: RuntimeError: no database here"),
        ("leaky_memory", "module:factory"),
    ],
)
def test_what_is_no_provider_is_a_usage_error(repository: pytest.Pytester, name: str, words: str) -> None:
    """A name that leads to no provider stops the run with what is in the way, and fails no test."""
    done = ran(repository, OPTION, name)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: {OPTION}: *{words}*"])


def test_it_tries_nsstore_itself(repository: pytest.Pytester) -> None:
    """`nsstore` is a provider's name too, and everything passes."""
    done = ran(repository, OPTION, "nsstore", "-m", "isolation")
    done.assert_outcomes(passed=GREEN, deselected=1)


def test_what_was_seen_is_in_the_xml(repository: pytest.Pytester) -> None:
    """The JUnit file that pytest writes holds the sentence of each case, and what was seen."""
    ran(repository, OPTION, "shop.plain_dict:make", "-k", "AC05", "--junit-xml=cases.xml")
    written = (repository.path / "cases.xml").read_text()
    assert 'name="sentence" value="Different tenant/group -&gt; denied."' in written
    assert 'name="seen" value="another tenant is denied, both ways"' in written


def test_a_run_can_be_repeated_and_stopped(repository: pytest.Pytester) -> None:
    """`-x` stops at the first red case, and `--lf` runs what failed once more and nothing else."""
    first = repository.runpytest_subprocess(OPTION, "shop.sqlite_fts:make", "-m", "isolation", "-x")
    assert first.parseoutcomes()["failed"] == 1
    again = repository.runpytest_subprocess(OPTION, "shop.sqlite_fts:make", "--lf")
    assert again.parseoutcomes()["failed"] == 1
    assert "passed" not in again.parseoutcomes()
