"""Work trees to ask about, made by the git program under a configuration of nobody."""

import os
import subprocess
from pathlib import Path

import pytest

from nsstore.host import handover

NOBODY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{role}_{part}": f"ada{at}"
        for role in ("AUTHOR", "COMMITTER")
        for part, at in (("NAME", ""), ("EMAIL", "@x"))
    },
}


def git(where: Path, *args: str) -> str:
    """Run git in a directory and return what it printed."""
    env = {**os.environ, **NOBODY}
    done = subprocess.run(["git", *args], cwd=where, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(where: Path, name: str = "a") -> str:
    """Commit a new file, and return the whole id of the commit."""
    (where / name).write_text(name)
    git(where, "add", name)
    git(where, "commit", "-q", "-m", name)
    return git(where, "rev-parse", "HEAD")


def repository(where: Path, remote: str | None = None) -> Path:
    """A repository of one commit on the branch main."""
    where.mkdir(parents=True)
    git(where, "init", "-q", "-b", "main")
    if remote is not None:
        git(where, "remote", "add", "origin", remote)
    commit(where)
    return where


@pytest.fixture
def atlas(tmp_path: Path) -> Path:
    """A repository whose remote is on some host."""
    return repository(tmp_path / "atlas", "git@example.com:acme/atlas.git")


@pytest.fixture(autouse=True)
def this_is_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever started the tests, this process is the client: nothing above it is asked for."""
    monkeypatch.setattr(handover, "client_process", lambda: handover.process("self"))
