"""A person at a terminal, with a store of their own."""

import json
import os
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench.keeping import PASS
from nsstore.cli.main import cli
from nsstore.gate.testing import VARIABLE as GATE

SCOPE = {
    "NSSTORE_TENANT": "acme",
    "NSSTORE_USER": "ada",
    "NSSTORE_PROJECT": "atlas",
    "NSSTORE_SESSION": "monday",
    "NSSTORE_WORKSPACE": "-",
    "NSSTORE_BRANCH": "-",
    "NSSTORE_BASELINE": "-",
}
BY_FLAG = ("store", "tenant", "user", "project", "workspace", "branch", "baseline", "agent")
_SPLIT: dict[str, Any] = (
    {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
)  # click 8.1


def flags_of(env: Mapping[str, str | None]) -> list[str]:
    """A scope of variables as flags, but for the session: so a user writes it into a client's settings."""
    said = {name: env.get(f"NSSTORE_{name.upper()}") for name in BY_FLAG}
    return [word for name, value in said.items() if value is not None for word in (f"--{name}", value)]


class Person:
    """Runs commands with a whole scope in the environment; ``env`` may be changed between them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.store = place / "store"
        self.trust = place / "trust"
        self.env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("NSSTORE_")}
        self.env |= {GATE: os.environ.get(GATE), **SCOPE}
        self.env |= {"NSSTORE_STORE": str(self.store), "NSSTORE_TRUST_HOME": str(self.trust)}

    def __call__(self, *args: str, given: str | bytes | None = None, **env: str | None) -> Result:
        """Run one command; what it raises beside an exit is raised here."""
        runner: Callable[..., CliRunner] = CliRunner
        return runner(**_SPLIT).invoke(
            cli, list(args), input=given, env={**self.env, **env}, catch_exceptions=False
        )

    def ok(self, *args: str, given: str | bytes | None = None, **env: str | None) -> str:
        """Run a command that has to end with 0, and return what it printed."""
        done = self(*args, given=given, **env)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    def json(self, *args: str, given: str | bytes | None = None, **env: str | None) -> dict[str, Any]:
        """Run a command with ``--json`` and return the one object it printed, whatever its exit code."""
        found: dict[str, Any] = json.loads(self(*args, "--json", given=given, **env).stdout)
        return found

    def remember(self, text: str, *args: str, **env: str | None) -> str:
        """Remember a text and return its record id."""
        return self.ok("remember", text, *args, **env).strip()

    def file_of(self, record_id: str) -> Path:
        """The file of a record, wherever it is."""
        (found,) = self.store.rglob(f"{record_id}.md")
        return found


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """A person whose store was just made."""
    someone = Person(tmp_path)
    someone.ok("init", str(someone.store))
    return someone


@pytest.fixture
def owner(person: Person) -> Person:
    """A person who is the owner of the store."""
    person.ok("owner", "init", "--name", "Ada", *unattended(person))
    return person


def unattended(person: Person, passphrase: str = PASS) -> tuple[str, ...]:
    """The flags that give a passphrase without asking."""
    file = person.place / f"passphrase-{len(passphrase)}"
    file.write_text(passphrase + "\n")
    file.chmod(0o600)
    return ("--unattended", "--passphrase-file", str(file))
