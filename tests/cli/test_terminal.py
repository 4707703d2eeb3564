"""What a person sees at a real terminal: tables that fit, colours there and nowhere else."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.conftest import Person

HOUSE = Path(__file__).parents[2]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
COLUMNS = 80


def at_terminal(person: Person, *args: str, err: bool = False, **env: str) -> str:
    """Run the program with standard output, or error alone, on a terminal of 80 columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    own = {name: value for name, value in person.env.items() if value is not None}
    running = subprocess.Popen(
        [sys.executable, "-c", "from nsstore.cli.main import main; main()", *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if err else slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", **own, **env},
        cwd=HOUSE,
    )
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 65536):
            shown += chunk
    except OSError:  # the program ended and took its end of the terminal with it
        pass
    running.wait(30)
    os.close(master)
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def full(person: Person) -> Person:
    """A person with records that do not fit into a line."""
    person.remember(
        "The release train leaves on Thursdays. " * 20, "--title", "Trains, and their times. " * 5 + "End"
    )
    person.remember("wide 漢字 and 👩‍🚀 release " * 20)
    person.remember("a release\nof three\nlines \x1b[31mred\x1b[0m")
    return person


@pytest.mark.parametrize("args", [("list",), ("audit",), ("check", "-v")])
def test_tables_fit(full: Person, args: tuple[str, ...]) -> None:
    """No row of a table is wider than the terminal, and no control of a record reaches it."""
    shown = at_terminal(full, *args)
    plain = ESCAPE.sub("", shown)
    rows = [
        line for line in plain.splitlines() if "memory/acme" in line or "2026" in line or "01" in line[:2]
    ]
    assert rows
    assert all(
        len(line) <= COLUMNS for line in plain.splitlines() if not line.startswith(("trust home", "store:"))
    )
    assert "\x1b[31m" not in shown


def test_a_text_keeps_its_lines(full: Person) -> None:
    """A text is shown line by line with its own spaces, however it is asked for; times have their zone."""
    text = "def f():\n    return 1\n\n" + "word " * 30 + "\nend"
    record_id = full.remember(text)
    full.ok("state", "put", "plan", text)
    for args in (("get", record_id), ("get", record_id, "--text"), ("state", "get", "plan", "--text")):
        assert text in at_terminal(full, *args), args
    assert re.search(r"\d\d:\d\dZ ", at_terminal(full, "list"))


def test_notes_fit_the_terminal(full: Person) -> None:
    """What is told on standard error is broken between words; an empty answer says that it is one."""
    shown = at_terminal(full, "search", "release", err=True)
    assert len(shown.splitlines()) > 1
    assert all(len(line) <= COLUMNS for line in shown.splitlines())
    for args in (("list",), ("state", "list")):
        assert "nothing here" in full(*args, NSSTORE_PROJECT="other").stderr


def test_hits_are_laid_out(full: Person) -> None:
    """A search shows title, text, id, time, score and matched words of each hit."""
    shown = ESCAPE.sub("", at_terminal(full, "search", "release", "train"))
    assert "1. Trains, and their times." in shown
    assert "matched releas, train" in shown
    assert re.search(r"score \d\.\d\d", shown)
    assert "\\x1b[31mred" in shown


def test_stale_hits_are_laid_out_apart(full: Person) -> None:
    """What is stale stands below a heading of its own, each hit marked, with its branch and baseline."""
    full.remember("An old release", NSSTORE_BRANCH="old")
    shown = ESCAPE.sub("", at_terminal(full, "search", "release", "--allowed-branch", "old"))
    current, _, stale = shown.partition("\n\nStale, of an allowed other branch or baseline:\n")
    assert "An old release" not in current
    assert stale.startswith("1. stale: An old release\n")
    assert "\n   branch=old  baseline=-\n" in stale


def test_colours_are_for_terminals(full: Person) -> None:
    """Colours come on a terminal, not with NO_COLOR, and never in a pipe."""
    assert "\x1b[" in at_terminal(full, "demo")
    assert "\x1b[" not in at_terminal(full, "demo", NO_COLOR="1")
    assert "\x1b[" not in full.ok("demo")


def test_a_progress_bar_is_for_terminals(full: Person) -> None:
    """An import draws its bar on standard error if that is a terminal, and never with --json."""
    file = full.place / "many.jsonl"
    file.write_text("".join(json.dumps({"text": f"number {number}"}) + "\n" for number in range(300)))
    assert "importing" in at_terminal(full, "import", str(file), err=True)
    assert at_terminal(full, "import", str(file), "--json", err=True) == ""
    assert full("import", str(file)).stderr == ""


def test_an_empty_terminal_waits_for_nobody(full: Person) -> None:
    """`remember` without a text reads standard input only if that is no terminal."""
    master, slave = pty.openpty()
    own = {name: value for name, value in full.env.items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-c", "from nsstore.cli.main import main; main()", "remember"],
        stdin=slave,
        capture_output=True,
        text=True,
        env={**os.environ, **own},
        cwd=HOUSE,
        timeout=30,
        check=False,
    )
    os.close(slave)
    os.close(master)
    assert done.returncode == 3
    assert "which text?" in done.stderr
