"""The README's first screen is true: its two commands and its ten lines."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]


def marked(name: str) -> list[str]:
    """The lines of the fence between two markers of the README."""
    text = (HOUSE / "README.md").read_text()
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```\n<!-- /{name} -->", text, re.DOTALL)
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


def test_the_two_sessions(tmp_path: Path) -> None:
    """The transcript is what happens in a home that was set up for an agent, with two checkouts in it."""
    home = tmp_path / "home"
    program = [str(Path(sys.executable).with_name("nsstore"))]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("NSSTORE_", "XDG_"))}
    env = {
        **plain,
        "HOME": str(home),
        "NSSTORE_TRUST_HOME": str(home / "trust"),
        "XDG_CONFIG_HOME": str(home / "config"),
    }

    def told(command: list[str], folder: str, **more: str) -> str:
        done = subprocess.run(
            command, cwd=home / folder, env={**env, **more}, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    for folder in ("atlas", "borealis"):
        (home / folder).mkdir(parents=True)
        for git in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
            named = ["-c", "user.email=ada@example.org", "-c", "user.name=ada"]
            subprocess.run(["git", *named, *git], cwd=home / folder, env=env, check=True)
    secret = home / "passphrase"
    secret.write_text("correct horse battery staple")
    secret.chmod(0o600)
    who = ["--store", str(home / "notes"), "--session", "terminal", "--tenant", "home", "--user", "ada"]
    unattended = ["--unattended", "--passphrase-file", str(secret)]
    made = told([*program, "setup", "claude-code", *unattended, *who, "--project", "atlas"], "atlas")
    assert made.startswith("Done."), made
    assert "bound" in told([*program, "allow", "--unattended", "--project", "borealis"], "borealis")
    said, record_id = "", ""
    for line in marked("sessions"):
        if found := re.fullmatch(r"~/(\w+)\$ (?:NSSTORE_SESSION=(\w+) )?nsstore (.*)", line):
            folder, session, words = found.groups()
            command = [*program, *shlex.split(words.replace(" ID", f" {record_id}"))]
            said = told(command, folder, **({"NSSTORE_SESSION": session} if session else {}))
            record_id = record_id or said.split()[0]
        else:
            assert line in said
