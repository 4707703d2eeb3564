"""Every example of the guides is run as it stands, one page after the other, each in a home of its own."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.pages import GUIDES, HOUSE, TYPED, Block, Walker, blocks, exchanges, is_shown, run_python

LANGUAGES = {*TYPED, "python", "json", "console", "yaml"}
README = HOUSE / "README.md"


@pytest.fixture
def walker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walker:
    """Somebody who reads a guide, in a furnished home."""
    someone = Walker(tmp_path, monkeypatch)
    someone.furnish()
    monkeypatch.setattr("sys.path", [str(someone.home), *sys.path])  # the next block imports a page's file
    return someone


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_every_example_of_a_guide_runs(walker: Walker, page: Path) -> None:
    """Typed and run in the order of the page, no command fails and no line of Python raises."""
    _go_through(walker, page)


def _go_through(walker: Walker, page: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.not_run is None:
            _try(walker, block, names)


def _try(walker: Walker, block: Block, names: dict[str, Any]) -> None:
    where = f"{block.page.name}, line {block.line}"
    if block.file is not None:
        (walker.home / block.file).write_text(block.text)
    if block.language in TYPED:
        code, shown = walker.walk(block.text)
        assert code == 0, (where, shown)
    elif block.language == "python":
        run_python(block, names)
    elif block.language == "console":
        for one in exchanges(block):
            _, shown = walker.walk(one.command, one.where)
            assert is_shown(one.shown, shown), (where, one.command, shown)
    elif block.language == "json":
        for line in block.text.splitlines():
            told = json.loads(line)
            if "command" in told:
                _start(walker, told)


def _start(walker: Walker, told: dict[str, Any]) -> None:
    """Start a server as a client would that goes away at once."""
    line = " ".join([told["command"], *told["args"]])
    assert walker.walk(f"{line} < /dev/null")[0] == 0, line


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nfalse | cat\ntrue\n```\n",
        "```sh\nexport NAME=ada\n```\n```sh\ntest $NAME = eve\n```\n",
        "```console\n~$ echo one; echo two\none\n```\n",
        "```console\n~$ echo one; echo two\n…\none\n```\n",
        "```json\n{'a': 1}\n```\n",
        '```json\n{"command": "false", "args": []}\n```\n',
        "```python\nx = 1\n```\n```python\nassert x == 2\n```\n",
    ],
)
def test_an_example_that_is_wrong_is_found(walker: Walker, tmp_path: Path, text: str) -> None:
    """A command that fails, another output, what is no JSON and a line that raises end a page."""
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises((AssertionError, ValueError)):
        _go_through(walker, page)


@pytest.mark.parametrize("page", [README, *GUIDES], ids=lambda page: page.stem)
def test_every_block_is_of_a_known_kind(page: Path) -> None:
    """A fence says its language, and one that no test runs says why, in so many words."""
    for block in blocks(page):
        assert block.language in LANGUAGES, (page.name, block.line)
        assert block.not_run is None or len(block.not_run.split()) > 3, (page.name, block.line)


def test_the_guides_are_found() -> None:
    """The README and the list link every guide, and each begins with what it is about."""
    for page, folder in ((README, "docs/guides"), (HOUSE / "docs" / "guide.md", "guides")):
        linked = re.findall(rf"\]\({folder}/([\w-]+\.md)\)", page.read_text())
        assert sorted(set(linked)) == [guide.name for guide in GUIDES]
    assert len(GUIDES) > 4
    for page in GUIDES:
        assert re.match(r"# .+\n\n[A-Z]", page.read_text()), page.name
