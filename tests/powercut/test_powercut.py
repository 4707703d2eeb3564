"""The power cut on real disks, and the program that makes it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from bench.powercut.__main__ import is_sound, main
from bench.powercut.trial import Outcome

PROJECT = Path(__file__).parents[2]
LOST = "again, before step 34 (acknowledged): acknowledged and lost: 'a new note'"


def run(*options: str) -> tuple[int, dict[str, Any]]:
    """Run the program: its exit code and what it printed."""
    command = [sys.executable, "-m", "bench.powercut", "--json", *options]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found


@pytest.mark.powercut
def test_ext4() -> None:
    """On ext4 nothing acknowledged is lost at any step, and a store that does not flush is caught."""
    code, found = run("--fs", "ext4")
    assert code == 0, found
    assert sum(one["steps"] for one in found["outcomes"]) >= 250
    assert sum(one["disks"] for one in found["outcomes"]) >= 40
    assert sum(one["acked"] for one in found["outcomes"]) >= 20


@pytest.mark.powercut
def test_a_loss_is_a_failure() -> None:
    """The program exits 1 for a store that acknowledges before it flushes."""
    code, found = run("--fs", "ext4", "--operation", "again", "--sabotage")
    assert code == 1
    assert "acknowledged and lost: 'a new note'" in found["outcomes"][0]["faults"][0]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["xfs", "btrfs"])
def test_other_file_systems(kind: str) -> None:
    """On xfs and btrfs, too, nothing acknowledged is lost at any step."""
    code, found = run("--fs", kind)
    assert code == 0, found
    assert sum(one["disks"] for one in found["outcomes"]) >= 40


def outcome(kind: str, *faults: str) -> Outcome:
    """An outcome with these faults."""
    return Outcome(file_system=kind, operation="again", steps=1, disks=1, acked=1, faults=faults)


def test_the_verdict() -> None:
    """A fault fails the trial, and so does a kind of disk on which no broken store was caught."""
    whole, lost = outcome("ext4"), outcome("ext4", LOST)
    assert is_sound([whole], [lost])
    assert is_sound([whole], [lost, whole])
    assert not is_sound([whole, lost], [lost])
    assert not is_sound([whole], [whole])
    assert not is_sound([whole], [lost, outcome("xfs")])
    assert not is_sound([whole], [outcome("ext4", "list and get differ")])


def test_a_missing_program_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without mkfs.xfs the program exits 2 and says which package has it."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.path.exists", Mock(return_value=True))
    monkeypatch.setattr(shutil, "which", Mock(return_value=None))
    assert main(["--fs", "xfs"]) == 2
    assert "apt-get install xfsprogs" in capsys.readouterr().err
