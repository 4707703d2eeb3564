"""docs/cli.md and the guides are what the program is."""

import re
from pathlib import Path

import click
import pytest

from nsstore.cli.flags import DIMENSIONS
from nsstore.cli.hook import CAPTURE, RECALL
from nsstore.cli.main import cli
from nsstore.cli.reference import commands, reference
from nsstore.cli.verbs import PROGRAM
from nsstore.harness.plugin import FULL, PROVIDER
from tests.cli.conftest import Person

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS.parent / "README.md", *sorted((DOCS / "guides").glob("*.md"))]
OF_GIT = {"--allow-empty", "--format", "--squash"}
OF_PYTEST = {PROVIDER, FULL, "--junit-xml", "--lf"}
OF_THE_TESTS = "NSSTORE_DATA"


def listed(help_text: str) -> list[str]:
    """The commands that a help text lists."""
    _, _, tail = help_text.partition("\nCommands:\n")
    return [line.split()[0] for line in tail.splitlines() if line.strip()]


def test_the_page_is_the_programs() -> None:
    """docs/cli.md is, byte for byte, what the program says of itself now."""
    assert (DOCS / "cli.md").read_text() == reference()


def test_help_and_page_list_the_same_commands(person: Person) -> None:
    """Every command that --help lists, at every level, has its section, and no other has one."""
    found: list[str] = []
    waiting: list[list[str]] = [[]]
    while waiting:
        path = waiting.pop(0)
        for name in listed(person.ok(*path, "--help")):
            found.append(" ".join((PROGRAM, *path, name)))
            waiting.append([*path, name])
    headings = re.findall(rf"^## ({PROGRAM} .+)$", (DOCS / "cli.md").read_text(), re.MULTILINE)
    assert sorted(headings) == sorted(found)
    assert len(found) > 15


def test_every_flag_is_on_the_page() -> None:
    """Each flag of each command stands in its own section or in the table of the scope."""
    page = (DOCS / "cli.md").read_text()
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    scope = {one.name for one in DIMENSIONS}
    assert all(f"| `{one.flag}` | `{one.variable}` |" in sections["Scope"] for one in DIMENSIONS)
    for path, command in commands(cli, PROGRAM):
        for option in command.params:
            if isinstance(option, click.Option) and option.name not in scope:
                assert option.opts[0] in sections[path], (path, option.opts)


def test_every_command_says_what_it_does() -> None:
    """Each command has a help whose first sentence fits beside its name, and each flag has one too."""
    for path, command in commands(cli, PROGRAM):
        assert command.help, path
        assert not command.get_short_help_str(64).endswith("..."), path
        assert all(one.help for one in command.params if isinstance(one, click.Option)), path


def test_every_printing_command_takes_json() -> None:
    """Each command that is no group takes --json."""
    without = [
        path
        for path, command in commands(cli, PROGRAM)
        if not isinstance(command, click.Group) and "as_json" not in {one.name for one in command.params}
    ]
    assert without == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_guide_names_only_what_exists(page: Path) -> None:
    """Every command, subcommand, flag and variable that a guide or the README shows is the program's."""
    guide = page.read_text()
    every = dict(commands(cli, PROGRAM))
    names = {path.split()[1] for path in every}
    assert set(re.findall(rf"\b{PROGRAM} ([a-z]+)", guide)) <= names
    for path, command in every.items():
        if isinstance(command, click.Group):
            assert set(re.findall(rf"\b{path} ([a-z-]+)", guide)) <= set(command.commands), path
    flags = {flag for command in every.values() for one in command.params for flag in one.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", guide)) <= flags | OF_GIT | OF_PYTEST
    variables = {one.variable for one in DIMENSIONS} | {"NSSTORE_STORE", "NSSTORE_TRUST_HOME"}
    variables |= {"NSSTORE_CACHE_HOME", RECALL, CAPTURE, OF_THE_TESTS}
    assert set(re.findall(r"\bNSSTORE_[A-Z_]+\b", guide)) <= variables
