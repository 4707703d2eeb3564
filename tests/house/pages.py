"""The blocks of the pages, and somebody who tries them at a terminal, in the order in which they stand."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.at_terminal import PROGRAM
from tests.cli.conftest import SCOPE
from tests.cli.test_examples import Reader
from tests.host.conftest import commit, git, repository

HOUSE = Path(__file__).parents[2]
GUIDES = sorted((HOUSE / "docs" / "guides").glob("*.md"))
TYPED = ("sh", "bash")
_FENCE = re.compile(r"^(?:<!-- ([^\n]+?) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = re.compile(r"(~[\w/-]*)\$ (.*)")
_RECORD = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\dZ")
_NEWEST = "import json, sys; print(json.load(sys.stdin)['items'][0]['record_id'])"


class Block(NamedTuple):
    """What stands in one fence, in which language and line, and the remark right above it."""

    page: Path
    line: int
    language: str
    text: str
    remark: str

    @property
    def not_run(self) -> str | None:
        """Why no test runs it, if its page says that none does."""
        return self.remark.removeprefix("not run: ") if self.remark.startswith("not run: ") else None

    @property
    def file(self) -> str | None:
        """The name of the file that it is, if its page says so."""
        return self.remark.removeprefix("file: ") if self.remark.startswith("file: ") else None


class Exchange(NamedTuple):
    """A command of a transcript: where it is typed, and what is shown for it."""

    where: str
    command: str
    shown: str


def blocks(page: Path) -> list[Block]:
    """Every fence of a page."""
    text = page.read_text()
    found = [
        Block(page, text.count("\n", 0, fence.start(3)), fence[2], fence[3], fence[1] or "")
        for fence in _FENCE.finditer(text)
    ]
    assert len(found) * 2 == text.count("```"), f"{page.name} has a fence that does not begin its line"
    return found


def exchanges(block: Block) -> Iterator[Exchange]:
    """The commands of a transcript, each with what the page says is shown."""
    lines = block.text.splitlines()
    prompts = [at for at, line in enumerate(lines) if _PROMPT.fullmatch(line)]
    assert prompts, "a transcript has a prompt"
    assert prompts[0] == 0, "a transcript begins with one"
    for at, end in zip(prompts, [*prompts[1:], len(lines)], strict=True):
        prompt = _PROMPT.fullmatch(lines[at])
        assert prompt
        yield Exchange(prompt[1], prompt[2], "\n".join(lines[at + 1 : end]))


def ids(text: str) -> list[str]:
    """The ids of records in a text, in their order."""
    return _RECORD.findall(text)


def steady(text: str) -> str:
    """What is shown, without what differs from run to run: ids of records, times, spaces at the end."""
    lines = _TIME.sub("TIME", _RECORD.sub("ID", text)).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


class Walker(Reader):
    """Somebody with a home of checkouts and notes who types blocks, in one shell after the other.

    What a block exports, and the directory it ends in, hold for the next one. ``ID`` is the newest record.
    """

    def __init__(self, place: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(place, patch)
        self._state = place / "state.sh"
        self._state.write_text("cd\n")
        here = place / "bin"
        here.mkdir()
        program(here / "nsstore", f'exec {shlex.quote(sys.executable)} -c "{PROGRAM}" "$@"')
        program(here / "newest", f"nsstore list -n 1 --json | {sys.executable} -c {shlex.quote(_NEWEST)}")
        program(here / "nano", 'echo "And on Sundays." >> "$1"')
        self.env |= dict.fromkeys(SCOPE, None)
        self.env |= {
            "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
            "XDG_RUNTIME_DIR": str(place),
            "EDITOR": "nano",
            "USER": "ada",
            "LOGNAME": "ada",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        (self.home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
        for name, value in self.env.items():
            patch.setenv(name, value) if value is not None else patch.delenv(name, raising=False)
        patch.chdir(self.home)

    def furnish(self) -> None:
        """Two checkouts with tags in ``src``, a vault, a place for backups and a passphrase."""
        for name in ("atlas", "borealis"):
            where = repository(self.home / "src" / name, f"git@example.com:acme/{name}.git")
            git(where, "tag", "v1.4")
            commit(where, "later.txt")
        (self.home / "safe").mkdir()
        vault = self.home / "vault"
        vault.mkdir()
        (vault / "release.md").write_text(
            "---\ntitle: Release\ntags: [train]\n---\nIt leaves on Thursdays.\n"
        )
        passphrase = self.home / "passphrase"
        passphrase.write_text("correct horse battery\n")
        passphrase.chmod(0o600)

    def walk(self, block: str, where: str | None = None) -> tuple[int, str]:
        """Type a block in; the exit code at its first command that fails, or 0, and what was shown."""
        script = self.place / "block.sh"
        text = re.sub(r"(?<= )ID\b", '"$(newest)"', block)
        keep = f"{{ export -p; printf 'cd %q\\n' \"$PWD\"; }} > {self._state}"
        script.write_text(
            f". {self._state}\n{f'cd {where}' if where else ''}\nset -e -o pipefail\n{text}\n{keep}\n"
        )
        return self.type(f"exec bash {script}")


def program(file: Path, line: str) -> None:
    """A program of one line."""
    file.write_text(f"#!/bin/sh\n{line}\n")
    file.chmod(0o755)


def run_python(block: Block, names: dict[str, Any]) -> None:
    """Run a block in the names that the blocks before it left; an error shows its line of the page."""
    exec(compile("\n" * block.line + block.text, str(block.page), "exec"), names)


def is_shown(said: str, shown: str) -> bool:
    """Whether a page shows what was shown; a line of ``…`` stands for any number of lines."""
    parts = [re.escape(part.strip("\n")) for part in re.split(r"^…$", steady(said), flags=re.MULTILINE)]
    return re.fullmatch(r"[\s\S]*".join(parts), steady(shown)) is not None
