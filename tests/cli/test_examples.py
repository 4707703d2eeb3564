"""Every example of every help is run, in a shell at a terminal, and does what it says."""

import os
import re
import select
import shlex
import sys
from pathlib import Path

import click
import pytest

from nsstore.cli.examples import EXAMPLES
from nsstore.cli.main import cli
from nsstore.cli.reference import commands
from nsstore.cli.verbs import PROGRAM
from tests.cli.at_terminal import PATIENCE, at_terminal
from tests.cli.at_terminal import PROGRAM as CODE
from tests.cli.test_setup_verb import PASSPHRASE, Newcomer
from tests.host.conftest import commit, repository

QUESTIONS = {r"(?i)(passphrase|same again)[^\n]*: ?$": PASSPHRASE, r"\[y/N\]: ?$": "y", r"\]: ?$": ""}


class Reader(Newcomer):
    """Somebody who types each example as it stands, and answers what is asked."""

    def type(self, line: str) -> tuple[int, str]:
        """Run one line in a shell at a terminal; its exit code, and what was shown."""
        line = line.replace(" ID", f" {self.newest()}") if " ID" in line else line
        if line.startswith("nsstore mcp"):
            line += " < /dev/null"  # the client went away at once
        running, ours = at_terminal(["sh", "-c", line], self, self.atlas)
        shown = last = ""
        try:
            while running.poll() is None or select.select([ours], [], [], 0.05)[0]:
                if not select.select([ours], [], [], PATIENCE)[0]:
                    raise AssertionError(shown)
                try:
                    piece = os.read(ours, 4096).decode(errors="replace")
                except OSError:  # the program ended
                    break
                shown, last = shown + piece, last + piece
                typed = next(
                    (typed for question, typed in QUESTIONS.items() if re.search(question, last)), None
                )
                if typed is not None and not select.select([ours], [], [], 0.2)[0]:
                    os.write(ours, f"{typed}\n".encode())
                    last = ""
            return running.wait(PATIENCE), shown
        finally:
            running.kill()
            running.wait()
            os.close(ours)

    def newest(self) -> str:
        """The id of the newest record."""
        found: str = self.json("list", "-n", "1")["items"][0]["record_id"]
        return found


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Somebody with a home, two checkouts, some notes and an editor, who reads the help."""
    someone = Reader(tmp_path, monkeypatch)
    repository(someone.home / "borealis")
    commit(someone.atlas, "The cache went.")
    someone.env |= {"NSSTORE_TENANT": "acme", "NSSTORE_USER": "ada", "NSSTORE_SESSION": "monday"}
    someone.env |= {"NSSTORE_STORE": str(someone.store), "XDG_RUNTIME_DIR": str(tmp_path)}
    _program(tmp_path / "bin" / "nsstore", f'exec {shlex.quote(sys.executable)} -c "{CODE}" "$@"')
    _program(tmp_path / "bin" / "nano", 'echo "And on Sundays." >> "$1"')
    someone.env["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    for name, text in (
        ("todo.txt", "Ask Grace.\n"),
        ("notes.jsonl", '{"text": "The staging server is called Atlas."}\n'),
    ):
        (someone.atlas / name).write_text(text)
    vault = someone.home / "vault"
    vault.mkdir()
    (vault / "release.md").write_text("---\ntitle: Release\n---\nOn Thursdays.\n")
    return someone


def _program(file: Path, line: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{line}\n")
    file.chmod(0o755)


def test_every_example_runs(reader: Reader) -> None:
    """Typed one after the other, as they stand, all end with 0; the store is lost before it is restored."""
    for path, lines in EXAMPLES.items():
        if path == "restore":
            reader.store.rename(reader.store.with_name("lost"))
        for line in lines:
            code, shown = reader.type(line)
            assert code == 0, (path, line, shown)


def test_every_command_has_examples() -> None:
    """Each command that is no group has some, each names it, and the help ends with them at 80 columns."""
    found = {
        path.partition(" ")[2]: command
        for path, command in commands(cli, PROGRAM)
        if not isinstance(command, click.Group)
    }
    assert found.keys() == EXAMPLES.keys()
    for path, command in found.items():
        shown = command.get_help(click.Context(command, terminal_width=80))
        lines = "\n".join(EXAMPLES[path]).split("\n")
        assert shown.endswith("\n".join(f"    {line}" for line in lines))
        assert all(len(line) <= 76 for line in lines)
        assert all(re.search(rf"\b{PROGRAM} {path}( |$)", line) for line in EXAMPLES[path])
