"""What the guides to a release show of other people's tools: workflows, and lines for pytest."""

import importlib
import math
import re
import shlex
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from nsstore.cli.accept import accept
from nsstore.cli.accept_bench import limits_of
from nsstore.harness import comparing, measured, plugin, timing, worker
from nsstore.harness.case import Ability
from nsstore.harness.report.saved import load_bench
from nsstore.harness.running import cases
from nsstore.harness.world import neighbours
from tests.house.pages import HOUSE, blocks

yaml: Any = importlib.import_module("yaml")
GUIDE = HOUSE / "docs" / "guides" / "gate-your-release.md"
BENCHMARKS = GUIDE.with_name("benchmarks.md")


def of(language: str, page: Path = GUIDE) -> list[str]:
    """The blocks of a guide in a language."""
    return [block.text for block in blocks(page) if block.language == language]


def test_the_workflow_can_be_read() -> None:
    """It is a workflow: when it runs, what it may do, and steps that each use something or run something."""
    (text,) = of("yaml")
    found: dict[Any, Any] = yaml.safe_load(text)
    assert found[True] == ["push", "pull_request"]  # `on`, which YAML 1.1 takes for a yes
    assert found["permissions"] == {"contents": "read"}
    (job,) = found["jobs"].values()
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert ".github/workflows/" in GUIDE.read_text()


def test_its_commands_are_the_programs() -> None:
    """Each line of the workflow that runs nsstore is one that the verb takes."""
    (text,) = of("yaml")
    lines = re.findall(r"- run: (nsstore .*)", text)
    assert lines
    for line in lines:
        program, verb, *args = shlex.split(line)
        assert (program, verb) == ("nsstore", "accept")
        accept.make_context("accept", args)


def test_the_lines_for_pytest_are_the_plugins() -> None:
    """Each option that the guide shows for pytest is the plugin's or pytest's own."""
    text = next(block for block in of("sh") if block.startswith("pytest"))
    assert set(re.findall(r"--[\w-]+", text)) == {plugin.PROVIDER, plugin.FULL}
    assert f"-m {plugin.SUITE}" in text
    assert f"`{plugin.SUITE}::{plugin.FIGURES}`" in GUIDE.read_text()


def test_every_ability_is_in_the_guide() -> None:
    """The table of abilities names each one that a case may need, and no other."""
    section = GUIDE.read_text().partition('## What "not run" means')[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(get_args(Ability))


def test_both_halves_have_their_workflows() -> None:
    """The guide to benchmarks has a workflow for each of two services, whose one line is one of the verb."""
    hub, lab = (yaml.safe_load(text) for text in of("yaml", BENCHMARKS))
    assert hub["permissions"] == {"contents": "read"}
    (job,) = hub["jobs"].values()
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    lines = [step["run"] for step in job["steps"] if "run" in step] + lab["accept"]["script"]
    judged = [shlex.split(line)[2:] for line in lines if line.startswith("nsstore accept ")]
    assert len(judged) == 2
    for args in judged:
        asked = accept.make_context("accept", list(args)).params
        assert asked["is_timed"]
        assert asked["full"]
        assert limits_of(asked["budget"], is_timed=True) == {"search": 2, "remember": 30}
        assert lab["accept"]["artifacts"]["reports"]["junit"] == asked["junit"]


def test_the_lines_that_only_a_machine_can_judge_are_lines_of_the_verb() -> None:
    """What no test runs, since its outcome is the machine's, can be asked as it stands."""
    lines = [line for text in of("sh", BENCHMARKS) for line in text.splitlines() if "adapter:Adapter" in line]
    assert len(lines) == 2
    for line in lines:
        asked = accept.make_context("accept", shlex.split(line)[2:]).params
        limits_of(asked["budget"], is_timed=asked["is_timed"])


def test_the_guide_says_how_it_is_timed() -> None:
    """The numbers in the text are those of the code."""
    text = " ".join(BENCHMARKS.read_text().split())
    assert f"{timing.ROUNDS} rounds for each verb" in text
    assert f"longer than {timing.SECONDS:g} seconds" in text
    assert f"does not come within {worker.DEADLINE:g} seconds" in text
    assert f"{timing.OWN} texts of the own scope and {timing.FOREIGN} of each of nine neighbours" in text
    assert len(neighbours()) == 9
    assert f"nsstore.harness.examples.{timing.BASELINE}" in text
    assert pytest.approx(1 / 3) == comparing.TOLERANCE
    assert math.comb(2 * measured.PARTS, measured.PARTS) == 252


def test_the_example_of_results_is_whole() -> None:
    """Each field of the file that the guide shows is read, and it is met."""
    (text,) = of("json", BENCHMARKS)
    run = load_bench(text.encode(), "today")
    (one,) = run.measured
    assert run.met
    assert (run.version, one.rounds, len(one.parts), one.ours_us) == ("1.5.0", 50, measured.PARTS, 3100)
    assert one.ratio == pytest.approx(3100 / 1000)


def test_the_recipes_of_this_project_are_there() -> None:
    """Each recipe and file that the guide names is the project's."""
    text = BENCHMARKS.read_text()
    recipes = set(re.findall(r"`just ([\w-]+)", text))
    assert recipes == {"bench", "bench-long", "bench-report"}
    named = set(re.findall(r"^([\w-]+)(?: \*\w+)?:", (HOUSE / "Justfile").read_text(), re.MULTILINE))
    assert recipes | {"bench-release"} <= named
    assert (HOUSE / "bench" / "releases" / "README.md").exists()
    assert "`bench/releases/README.md`" in text


@pytest.mark.parametrize("option", [one for one in accept.params if isinstance(one, click.Option)])
def test_every_flag_is_in_the_guide(option: click.Option) -> None:
    """Each flag of the verb is shown, or named, where a newcomer reads."""
    assert any(flag in GUIDE.read_text() for flag in option.opts)


def test_the_ids_are_cases() -> None:
    """Each id that the guide shows is a case of the suite."""
    shown = set(re.findall(r"\b(?:AC|RL|LK|MB)\d\d\b", GUIDE.read_text()))
    assert shown <= {case.id for case in cases(full=True)}
    assert len(shown) > 10
