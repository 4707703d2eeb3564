"""Streams that are closed or full, names that are no text: one line and an exit code, never a traceback."""

import json
import subprocess
from pathlib import Path

import pytest

from nsstore.cli import exits
from tests.cli.conftest import Person
from tests.cli.test_endings import HOUSE, command, shell_env


def shell(person: Person, line: str, *args: bytes | str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the program through a shell that redirects its streams."""
    return subprocess.run(
        ["/bin/sh", "-c", f'"$@" {line}', "sh", *command(), *args],
        cwd=HOUSE, env=shell_env(person) | env, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("line", [">/dev/full", ">&-"])
@pytest.mark.parametrize(
    "args", [("list",), ("list", "--json"), ("audit", "--json"), ("show", "x", "--json")]
)
def test_an_output_that_takes_nothing(person: Person, line: str, args: tuple[str, ...]) -> None:
    """A full or closed standard output ends with the code of its error and one line on standard error."""
    person.remember("one")
    done = shell(person, line, *args)
    expected = 3 if (args[0], line) == ("show", ">/dev/full") else exits.EXITS["os"]
    assert (done.returncode, done.stderr.count("\n")) == (expected, 1), done.stderr
    assert done.stderr.startswith("nsstore: ")


def test_a_closed_error_stream_changes_no_answer(person: Person) -> None:
    """With standard error closed, or full, the answer and the exit code are as ever."""
    record_id = person.remember("one")
    for line in ("2>&-", "2>/dev/full"):
        assert shell(person, line, "show", record_id, "--text").stdout == "one"
        assert shell(person, line, "show", "x").returncode == 3


@pytest.mark.parametrize("args", [("remember", "-"), ("remember",), ("import", "-", "--source", "x")])
def test_a_closed_input_is_told(person: Person, args: tuple[str, ...]) -> None:
    """A command that would read a closed standard input says so, and nothing is written."""
    done = shell(person, "<&-", *args)
    assert done.returncode == 3
    assert done.stderr.startswith("nsstore: invalid: standard input is closed: ")
    assert person.json("list")["total"] == 0


def test_nobody_is_asked_where_the_input_is_closed(person: Person) -> None:
    """A passphrase is refused as without a terminal."""
    assert shell(person, "<&-", "keys", "backup", str(person.place / "b")).returncode == 5


def test_an_argument_that_is_no_text(person: Person, tmp_path: Path) -> None:
    """Bytes that are not UTF-8, as an argument, a variable or the place, are refused; nothing is made."""
    homes = sorted(person.trust.iterdir())
    done = shell(person, "", "init", b"bad\xff")
    assert (done.returncode, done.stderr) == (3, "nsstore: invalid: an argument is not UTF-8\n")
    done = shell(person, "", "list", NSSTORE_USER="ad\udcff")
    assert (done.returncode, done.stderr) == (3, "nsstore: invalid: NSSTORE_USER is not UTF-8\n")
    bad = tmp_path / "bad\udcff"
    bad.mkdir()
    (tmp_path / "link").symlink_to(bad)
    done = shell(person, "", "init", str(tmp_path / "link" / "store"))
    assert (done.returncode, done.stderr) == (3, "nsstore: invalid: the path of a store must be UTF-8\n")
    assert not (bad / "store").exists()
    assert sorted(person.trust.iterdir()) == homes


def test_a_variable_of_completion_alone_is_no_shell(person: Person) -> None:
    """The variable of completion without what a shell says beside it is a usage error."""
    done = shell(person, "", _NSSTORE_COMPLETE="bash_complete")
    assert (done.returncode, done.stderr.count("\n")) == (exits.USAGE, 1)


@pytest.mark.parametrize(
    ("words", "kind"),
    [("import ", "file"), ("keys backup ", "file"), ("init ", "dir"), ("list --store ", "dir")],
)
def test_names_of_files_complete(person: Person, words: str, kind: str) -> None:
    """A shell is told to complete files and directories where they are named."""
    count = str(len(words.split()) + 1)
    done = shell(
        person, "", _NSSTORE_COMPLETE="bash_complete", COMP_WORDS=f"nsstore {words}x", COMP_CWORD=count
    )
    assert done.stdout == f"{kind},x\n"


def test_the_package_runs(person: Person) -> None:
    """`python -m nsstore` is the program."""
    python = command()[0]
    done = subprocess.run(
        [python, "-m", "nsstore", "list", "--json"],
        cwd=HOUSE, env=shell_env(person), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["total"] == 0
