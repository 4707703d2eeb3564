"""What is imported is declared, what is declared is imported, and each has its reason in the documents."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
INSTALLED = ("nsstore", "search", "writers", "harness")
OWN = {"nsstore", "bench", "tests"}
APART = {"harness/plugin.py": "pytest", "harness/examples/langgraph_store.py": "langgraph"}
"""Files of what is installed that only somebody imports who has this, and nobody needs it else."""


def declared() -> dict[str, set[str]]:
    """The distributions each part of the project may use: to run, to test, to change it, to show."""
    with (HOUSE / "pyproject.toml").open("rb") as opened:
        project = tomllib.load(opened)["project"]
    extras = project["optional-dependencies"]
    lists = {"run": project["dependencies"], **extras}
    return {part: {re.split(r"[\[<>=]", line)[0] for line in lines} for part, lines in lists.items()}


def modules_of(files: Iterable[Path]) -> set[str]:
    """The top modules of others that some files import from, the standard library aside."""
    modules: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module.partition(".")[0])
    return modules - sys.stdlib_module_names - OWN


def imported(*folders: str) -> set[str]:
    """The distributions that the modules of some folders import from."""
    files = {file.resolve() for folder in folders for file in (HOUSE / folder).rglob("*.py")}
    known = packages_distributions()
    outside = modules_of(files - {HOUSE / name for name in APART})
    return {known.get(name, [name])[0].lower().replace("_", "-") for name in outside}


def test_the_library_imports_what_it_declares() -> None:
    """What is installed imports exactly its declared dependencies."""
    assert imported(*INSTALLED) == declared()["run"]


def test_what_stands_apart_says_what_it_needs() -> None:
    """The plugin needs pytest and the example its store; nothing of the library imports either of them."""
    for name, needed in APART.items():
        assert modules_of([HOUSE / name]) - {"_pytest"} == {needed}, name
    modules = {f"nsstore.{name.removesuffix('.py').replace('/', '.')}" for name in APART}
    texts = [file.read_text() for folder in INSTALLED for file in (HOUSE / folder).rglob("*.py")]
    assert [
        one
        for text in texts
        for one in re.findall(r"^\s*(?:from|import) ([\w.]+)", text, re.MULTILINE)
        if one in modules
    ] == []


def test_the_tests_import_what_they_declare() -> None:
    """The tests need no more than the library's dependencies and those of the extra `test`."""
    assert imported("tests") - declared()["run"] - declared()["test"] == set()


def test_the_benches_import_what_they_declare() -> None:
    """The benches need no more than what somebody who changes the project has."""
    assert imported("bench") - set().union(*declared().values()) == set()


@pytest.mark.parametrize(
    ("part", "heading"),
    [
        ("run", "## To run"),
        ("test", "## To test"),
        ("dev", "## To change it"),
        ("examples", "## To try an example"),
        ("mutation", "## To change the code by machine"),
    ],
)
def test_every_dependency_has_its_reason(part: str, heading: str) -> None:
    """Each declared distribution has its row in docs/dependencies.md, and each row is declared."""
    text = (HOUSE / "docs" / "dependencies.md").read_text()
    table = text.partition(heading)[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([^`|]+)` \|", table, re.MULTILINE)) == declared()[part] - {"nsstore"}
