"""A git that is not quite git: a script before it, as a loaded machine or a race would have it."""

import os
import shutil
from pathlib import Path

import pytest


def wrap(place: Path, monkeypatch: pytest.MonkeyPatch, word: str, script: str, *, once: bool = False) -> None:
    """Run a script of the shell before each question to git that has a word in it; ``git`` is the real one.

    With ``once`` only before the first of them.
    """
    real = shutil.which("git")
    assert real is not None
    folder = place / "wrapped"
    folder.mkdir()
    first = f"mkdir {folder}/first 2>/dev/null" if once else "true"
    chosen = f'case " $* " in *" {word} "*) if {first}; then {script}; fi;; esac'
    (folder / "git").write_text(f'#!/bin/sh\ngit={real}\n{chosen}\n$git "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
