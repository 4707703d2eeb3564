"""How a command ends: its exit code, its one line or JSON value, and never a traceback."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import click
import pytest

from nsstore.cli import exits, printing
from nsstore.errors import (
    KINDS,
    EscapeError,
    IntegrityError,
    InvalidInput,
    NotVisible,
    Refused,
    StoreError,
    SystemFailure,
    WitnessError,
)
from tests.cli.conftest import SCOPE, Person

HOUSE = Path(__file__).parents[2]
ERRORS = (
    InvalidInput("a rule"),
    NotVisible("it"),
    Refused("a reason", reason="because", retryable=True),
    IntegrityError("changed", incident_id="0123456789abcdef", incident_kind="altered"),
    EscapeError("a link"),
    WitnessError("no audit"),
    SystemFailure("writing", OSError(28, "")),
)


def command(*args: str) -> list[str]:
    """The program itself, as a shell runs it."""
    return [sys.executable, "-c", "from nsstore.cli.main import main; main()", *args]


def shell_env(person: Person) -> dict[str, str]:
    """The environment of a shell of that person."""
    own = {name: value for name, value in person.env.items() if value is not None}
    return {name: value for name, value in os.environ.items() if not name.startswith("NSSTORE_")} | own


def test_every_kind_has_its_code() -> None:
    """Each kind of error has one code of its own, and each code its meaning."""
    assert set(exits.EXITS) == {kind.kind for kind in KINDS}
    codes = [
        *exits.EXITS.values(),
        exits.OK,
        exits.FOUND_WRONG,
        exits.USAGE,
        exits.INTERRUPTED,
        exits.PIPE_CLOSED,
    ]
    assert len(set(codes)) == len(codes)
    assert set(exits.MEANING) == set(codes)
    assert all(exits.MEANING[code].startswith(f"`{kind}`: ") for kind, code in exits.EXITS.items())
    assert {type(error) for error in ERRORS} == set(KINDS)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.kind)
def test_an_error_is_one_line_or_one_value(
    person: Person, monkeypatch: pytest.MonkeyPatch, error: StoreError
) -> None:
    """Whatever the library raises comes out as one line on standard error, or as one JSON value."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("nsstore.session.session.Session.get", fail)
    done = person("show", "any")
    assert done.exit_code == exits.EXITS[error.kind]
    assert (done.stdout, done.stderr) == ("", f"nsstore: {error.kind}: {printing.words_of(error)}\n")
    assert printing.words_of(error).startswith(str(error))
    told = person("show", "any", "--json")
    assert told.exit_code == exits.EXITS[error.kind]
    assert told.stderr == ""
    assert json.loads(told.stdout) == {
        "error": {"kind": error.kind, "message": printing.words_of(error), "retryable": error.retryable}
    }


@pytest.mark.parametrize(
    "args", [("nothing",), ("list", "--nothing"), ("search",), ("show",), ("list", "--purpose", "fun")]
)
def test_usage_is_one_line_too(person: Person, args: tuple[str, ...]) -> None:
    """A command, option or value that does not exist ends with 2 and names the help that lists them."""
    done = person(*args)
    assert done.exit_code == exits.USAGE
    assert done.stderr.startswith("nsstore: usage: ")
    assert done.stderr.count("\n") == 1
    assert "--help`)" in done.stderr
    assert person.json(*args)["error"]["kind"] == "usage"


@pytest.mark.parametrize(
    "args", [(), ("state",), ("keys",), ("--help",), ("-h",), ("state", "--help"), ("--version",)]
)
def test_help_is_no_error(person: Person, args: tuple[str, ...]) -> None:
    """A group without a verb prints its help and ends with 0."""
    assert person.ok(*args)


def test_no_message_holds_a_host_path(person: Person) -> None:
    """No error shows where the store, its trust home or a named file lies."""
    person.remember("x")
    missing = str(person.place / "nowhere")
    wrong = str(person.place / "elsewhere")
    attempts: list[tuple[tuple[str, ...], dict[str, str]]] = [
        (("list", "--store", missing), {}),
        (("list", "--store", str(person.place)), {}),
        (("import", missing), {}),
        (("init", str(person.store)), {}),
        (("keys", "restore", missing), {}),
        (("list",), {"NSSTORE_TRUST_HOME": wrong}),
        (("list",), {"NSSTORE_TRUST_HOME": str(person.store / "x")}),
    ]
    for args, env in attempts:
        done = person(*args, **env)
        assert done.exit_code in {3, 5, 7, 9}, (args, done.stderr)
        assert str(person.place) not in done.output, args
        assert "Traceback" not in done.output, args


def test_a_failing_output_is_an_error_of_the_system(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk behind standard output ends with the code of `os`, without a traceback."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/some/where")

    monkeypatch.setattr(printing, "emit", full)
    done = person("list", "--json")
    assert done.exit_code == exits.EXITS["os"]
    assert json.loads(done.stdout)["error"]["message"] == "this command: No space left on device"


def test_a_warning_is_one_line(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning of the library is one line on standard error, without a file name of the program."""

    def warn(*_: object, **__: object) -> None:
        warnings.warn("mind the gap", stacklevel=1)
        raise NotVisible("it")

    monkeypatch.setattr("nsstore.session.session.Session.get", warn)
    assert (
        person("show", "x").stderr
        == "nsstore: warning: mind the gap\nnsstore: not_visible: it is not visible in this scope\n"
    )


def test_a_closed_pipe_is_quiet(person: Person) -> None:
    """When the reader of a pipe goes away the program ends with 141 and says nothing."""
    for number in range(40):
        person.remember(f"{number} " + "x" * 4096)
    running = subprocess.Popen(
        command("list", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=shell_env(person),
        cwd=HOUSE,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.close()
    with running.stderr as stderr:
        assert stderr.read() == b""
    assert running.wait(30) == exits.PIPE_CLOSED


def test_an_interrupt_ends_with_130(person: Person) -> None:
    """Ctrl-C while the program waits for a text ends it at once with 130 and without a traceback."""
    running = subprocess.Popen(
        command("remember", "-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=shell_env(person),
        cwd=HOUSE,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - it only sets a signal, and the child execs next
    )
    _wait_for_open(running.pid, str(person.store))
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (exits.INTERRUPTED, b"")
    assert b"Traceback" not in err


def _heed_interrupts() -> None:
    """As in a shell's foreground, whoever runs the tests."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _leads_to(link: Path, path: str) -> bool:
    """Whether a descriptor is this directory; one that was closed since it was listed is not."""
    try:
        return str(link.readlink()) == path
    except FileNotFoundError:
        return False


def _wait_for_open(pid: int, path: str) -> None:
    """Wait until a process holds a directory open: then it is past its start, and waits for its text."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if any(_leads_to(Path(f"/proc/{pid}/fd/{name}"), path) for name in os.listdir(f"/proc/{pid}/fd")):
            time.sleep(0.1)
            return
        time.sleep(0.01)
    pytest.fail("the program never opened its store")


def test_the_program_runs_as_installed(person: Person) -> None:
    """A real process remembers and a second one finds, with nothing but the environment between them."""
    first = subprocess.run(
        command("remember", "two processes"),
        env=shell_env(person),
        capture_output=True,
        text=True,
        check=True,
    )
    second = subprocess.run(
        command("show", first.stdout.strip(), "--text"),
        env=shell_env(person),
        capture_output=True,
        text=True,
        check=True,
    )
    assert (second.stdout, second.stderr) == ("two processes", "")
    assert set(SCOPE) <= set(shell_env(person))
    assert click.style("x", dim=True) not in second.stdout
