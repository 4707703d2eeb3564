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


def at_terminal(person: Person, *args: str, err: bool = False, columns: int = COLUMNS, **env: str) -> str:
    """Run the program with standard output, or error alone, on a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
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
    for args in (("show", record_id), ("show", record_id, "--text"), ("state", "get", "plan", "--text")):
        assert text in at_terminal(full, *args), args
    assert re.search(r"\d\d:\d\dZ\b", at_terminal(full, "list"))


def test_notes_fit_the_terminal(full: Person) -> None:
    """What is told on standard error is broken between words; an empty answer says that it is one."""
    shown = at_terminal(full, "search", "release", err=True, NSSTORE_PROJECT="other")
    assert len(shown.splitlines()) > 1
    assert all(len(line) <= COLUMNS for line in shown.splitlines())
    for args in (("list",), ("state", "list")):
        assert at_terminal(full, *args, NSSTORE_PROJECT="other") == "nothing here in this scope\n"


def test_hits_are_laid_out(full: Person) -> None:
    """A search shows title, text, id, time, score and matched words of each hit."""
    shown = ESCAPE.sub("", at_terminal(full, "search", "release", "train"))
    assert "1. Trains, and their times." in shown
    assert "matched release, train\n" in shown
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
    """Colours and bold come on a terminal, not with NO_COLOR or on a dumb one, and never in a pipe."""
    for args in (("demo",), ("list",), ("check", "-v")):
        assert "\x1b[" in at_terminal(full, *args, NO_COLOR="")
        assert "\x1b[" not in at_terminal(full, *args, NO_COLOR="1")
        assert "\x1b[" not in at_terminal(full, *args, TERM="dumb")
        assert "\x1b[" not in full.ok(*args)


@pytest.mark.parametrize("columns", [30, 50, 60, 66, 80])
def test_an_id_is_never_cut(full: Person, columns: int) -> None:
    """However narrow the terminal, each record id stands whole on a line, and its text is fitted to it."""
    ids = [one["record_id"] for one in full.json("list")["items"]]
    number = full.json("audit", "--json", "-n", "1")["records"][0]
    for args, wanted in ((("list",), ids), (("audit",), [number])):
        shown = ESCAPE.sub("", at_terminal(full, *args, columns=columns))
        assert all(record_id in shown for record_id in wanted)
    shown = ESCAPE.sub("", at_terminal(full, "list", columns=columns))
    assert all(len(line) <= max(columns, 36) for line in shown.splitlines())
    if columns <= 60:
        assert shown.splitlines()[1].startswith("  a release" if columns > 54 else "    2026-")


def test_a_dumb_terminal_gets_no_bar(full: Person) -> None:
    """Where nothing moves the cursor, an import draws nothing."""
    file = full.place / "many.jsonl"
    file.write_text(json.dumps({"text": "one"}) + "\n")
    assert at_terminal(full, "import", str(file), err=True, TERM="dumb") == ""


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
