"""Where git tells nothing it can be said why, without running anything of the repository's."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.host import git as asked
from nsstore.host.git import facts_at
from nsstore.host.silence import Silence, silence_of
from tests.host.conftest import commit, git, repository
from tests.host.wrapping import wrap


def bare_by_word(place: Path) -> None:
    """Say of a work tree's repository that it has none."""
    git(place, "config", "core.bare", "true")


def without_objects(place: Path) -> None:
    """Lose what the branch names."""
    for one in (place / ".git" / "objects").glob("??"):
        shutil.rmtree(one)


CASES: dict[str, tuple[Silence, Callable[[Path], object]]] = {
    "no .git": (Silence.NO_REPOSITORY, lambda place: (place / ".git").rename(place / "was")),
    "unborn": (Silence.NO_COMMIT, lambda place: git(place, "checkout", "-q", "--orphan", "new")),
    "bare": (Silence.NO_WORK_TREE, bare_by_word),
    "work tree": (Silence.ELSEWHERE, lambda place: git(place, "config", "core.worktree", "/")),
    "no HEAD": (Silence.NO_ANSWER, lambda place: (place / ".git" / "HEAD").write_text("broken")),
    "no objects": (Silence.NO_ANSWER, without_objects),
}


@pytest.mark.parametrize("case", CASES)
def test_why_there_is_nothing_to_tell(atlas: Path, case: str) -> None:
    """No repository, no commit, no work tree, another's, or damaged: each is told apart."""
    why, change = CASES[case]
    change(atlas)
    assert facts_at(str(atlas)) is None
    assert silence_of(str(atlas)) is why


def test_no_program_and_one_that_is_too_slow(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without git nothing is asked; with one that does not answer nothing is known."""
    wrap(tmp_path, monkeypatch, "rev-parse", "sleep 60")
    monkeypatch.setattr(asked, "SECONDS", 0.5)
    assert silence_of(str(atlas)) is Silence.NO_ANSWER
    monkeypatch.setenv("PATH", "")
    assert silence_of(str(atlas)) is Silence.NO_GIT


@pytest.mark.skipif(os.geteuid() != 0, reason="a file is given away by root alone")
def test_somebody_elses_is_unsafe(tmp_path: Path) -> None:
    """A repository of another user is told as such."""
    place = repository(tmp_path / "theirs")
    commit(place, "b")
    for one in (place, place / ".git"):
        os.chown(one, 12345, 12345)
    assert facts_at(str(place)) is None
    assert silence_of(str(place)) is Silence.UNSAFE
