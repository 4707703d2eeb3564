"""A repository answers in the work trees that are its own, and in no other that points at it."""

import os
import shutil
from pathlib import Path

import pytest

from nsstore.host.git import facts_at
from tests.host.conftest import commit, git, repository


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A repository that is somebody else's, in words."""
    return repository(tmp_path / "secret")


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A directory that came from anywhere."""
    place = tmp_path / "evil"
    place.mkdir()
    return place


def answers(place: Path) -> bool:
    """Whether git tells of a work tree."""
    return facts_at(str(place)) is not None


def test_work_trees_and_submodules_answer(secret: Path, tmp_path: Path) -> None:
    """A linked work tree, also after it was moved by git, a submodule, and a work tree of a submodule."""
    git(secret, "worktree", "add", "-q", "-b", "x", str(tmp_path / "tree"))
    assert answers(tmp_path / "tree")
    git(secret, "worktree", "move", str(tmp_path / "tree"), str(tmp_path / "moved"))
    assert answers(tmp_path / "moved")
    whole = repository(tmp_path / "whole")
    git(whole, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(secret), "part")
    assert answers(whole / "part")
    git(whole / "part", "worktree", "add", "-q", "-b", "y", str(tmp_path / "part"))
    assert answers(tmp_path / "part")


def test_a_git_directory_apart_has_to_name_its_work_tree(tmp_path: Path) -> None:
    """What lies elsewhere and does not say whose it is says nothing until it does."""
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "apart"), str(tmp_path / "tree"))
    commit(tmp_path / "tree")
    assert not answers(tmp_path / "tree")
    git(tmp_path / "tree", "config", "core.worktree", str(tmp_path / "tree"))
    assert answers(tmp_path / "tree")


def test_a_file_makes_no_repository_its_own(secret: Path, evil: Path, tmp_path: Path) -> None:
    """A .git that names another's git directory gets no word from it: main, linked, or a submodule's."""
    git(secret, "worktree", "add", "-q", "-b", "x", str(tmp_path / "tree"))
    git(secret, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(secret), "part")
    for at in (".git", ".git/worktrees/tree", ".git/modules/part"):
        (evil / ".git").write_text(f"gitdir: {secret}/{at}\n")
        assert git(evil, "log", "-1", "--format=%s") == "a"
        assert not answers(evil)


def test_a_git_directory_of_ones_own_making_does_not_speak_for_another(secret: Path, evil: Path) -> None:
    """One that names this work tree, but shares a repository that does not know it."""
    made = evil / "made"
    made.mkdir()
    shutil.copy(secret / ".git" / "HEAD", made)
    (made / "commondir").write_text(f"{secret}/.git\n")
    (made / "gitdir").write_text(f"{evil}/.git\n")
    (evil / ".git").write_text(f"gitdir: {made}\n")
    assert git(evil, "log", "-1", "--format=%s") == "a"
    assert not answers(evil)


LINKED = [".git", ".git/refs", ".git/refs/heads", ".git/refs/heads/main", ".git/objects", ".git/config"]


@pytest.mark.parametrize("name", LINKED)
def test_a_link_makes_no_repository_its_own(secret: Path, evil: Path, name: str) -> None:
    """Where what git reads is another's by a link, it says nothing; as what it is, it would."""
    shutil.copytree(secret / ".git", evil / ".git")
    assert answers(evil)
    kept = evil / name
    shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
    kept.symlink_to(secret / name)
    assert git(evil, "log", "-1", "--format=%s") == "a"
    assert not answers(evil)


def test_a_shared_directory_makes_no_repository_its_own(secret: Path, evil: Path) -> None:
    """A git directory that says it shares another's is no main one."""
    git(evil, "init", "-q", "-b", "main")
    (evil / ".git" / "commondir").write_text(f"{secret}/.git\n")
    assert git(evil, "log", "-1", "--format=%s") == "a"
    assert not answers(evil)


def test_a_link_within_stays_within(secret: Path) -> None:
    """A HEAD that is a link to its branch, as git once made it, is one of its own."""
    (secret / ".git" / "HEAD").unlink()
    os.symlink("refs/heads/main", secret / ".git" / "HEAD")
    facts = facts_at(str(secret))
    assert facts is not None
    assert facts.branch == "main"
