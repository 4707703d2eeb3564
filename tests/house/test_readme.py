"""The README's first screen is true: its two commands and its ten lines."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.conftest import repository
from tests.house.pages import HOUSE, Walker, blocks, exchanges, ids, is_shown

README = HOUSE / "README.md"


def marked(name: str) -> list[str]:
    """The lines of the fence between two markers of the README."""
    text = README.read_text()
    found = re.search(
        rf"<!-- {name} -->\n(?:<!-- .+ -->\n)?```\w+\n(.*?)```\n<!-- /{name} -->", text, re.DOTALL
    )
    assert found, f"README.md has no fence between its {name} markers"
    return found[1].splitlines()


def run(lines: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    """Run lines of Python in an empty folder with a trust home of its own."""
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=place,
        env={**os.environ, "NSSTORE_TRUST_HOME": str(place / "trust")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_block_is_tried_here() -> None:
    """Each fence of the README is one that a test below runs, or says why none does."""
    tried = {"setup", "sessions", "example", "both"}
    assert [one.line for one in blocks(README) if one.not_run is None and one.remark not in tried] == []


def test_there_are_two_commands_and_one_demo() -> None:
    """The first command ends with the demo and the second with the tests."""
    first, second = marked("commands")
    assert first.endswith("nsstore demo")
    assert second.endswith("pytest")


def test_the_example_finds_what_it_remembered(tmp_path: Path) -> None:
    """The example has ten lines, and all but the last two run and print what was remembered."""
    lines = marked("example")
    assert len([line for line in lines if line]) == 10
    done = run(lines[:-2], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "The release train leaves on Thursdays.\n"


def test_both_fail_in_one_run(tmp_path: Path) -> None:
    """What stands in the place of the last two lines shows both errors, and that nothing crossed."""
    done = run([*marked("example")[:-2], *marked("both")], tmp_path)
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first == "The release train leaves on Thursdays."
    assert second.startswith("NotVisible: ")
    assert third.startswith("InvalidInput: project_id")


@pytest.mark.parametrize(("line", "error"), [(-2, "NotVisible"), (-1, "InvalidInput")])
def test_the_last_two_lines_fail(tmp_path: Path, line: int, error: str) -> None:
    """Each of the last two lines fails for its own reason and shows nothing of what was remembered."""
    lines = marked("example")
    done = run([*lines[:-2], lines[line]], tmp_path)
    assert done.returncode == 1
    assert f"nsstore.errors.{error}: " in done.stderr
    assert "Thursdays" not in done.stderr.splitlines()[-1]


def test_the_two_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The transcript is what a terminal shows in a home that was set up as the README says, line by line."""
    walker = Walker(tmp_path, monkeypatch)
    for name in ("atlas", "borealis"):
        repository(walker.home / name)
    code, shown = walker.walk("\n".join(marked("setup")))
    assert code == 0, shown
    (transcript,) = (block for block in blocks(README) if block.language == "console")
    real: dict[str, str] = {}
    for one in exchanges(transcript):
        command = one.command
        for told, meant in real.items():
            command = command.replace(told, meant)
        _, shown = walker.walk(command, one.where)
        assert is_shown(one.shown, shown), (command, shown)
        real |= zip(ids(one.shown), ids(shown), strict=True)
