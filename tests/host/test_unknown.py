"""Where git tells nothing of a checkout the cause is told, each from the others, and nothing foreign runs."""

from pathlib import Path

import pytest

from nsstore.host import git as asked
from nsstore.host import unknown
from nsstore.host.checkouts import Checkout
from nsstore.host.git import facts_at
from nsstore.host.inference import Inferred, Source, Value
from nsstore.host.unknown import why_silent
from tests.host.conftest import commit, git, repository


def told(top: Path) -> str:
    """Why git tells nothing here; it does tell nothing."""
    assert facts_at(str(top)) is None
    return why_silent(str(top))


def test_no_commit_yet(tmp_path: Path) -> None:
    """A repository that was just made waits for its first commit, in a work tree of its own too."""
    git(tmp_path, "init", "-q", "-b", "main")
    assert told(tmp_path) == unknown.NO_COMMIT


def found(top: Path) -> str | None:
    """Why something is not known in a bound checkout."""
    facts = facts_at(str(top))
    assert facts is not None
    told = {"store": "/store", "branch": facts.branch, "baseline": facts.baseline}
    return unknown.why_unknown(
        Inferred(
            values={name: Value(value, Source.GIT) for name, value in told.items()},
            directory=str(top),
            checkout=Checkout(
                project_id="atlas",
                workspace_id="w",
                device=1,
                inode=1,
                path=str(top),
                remote=None,
                versioned=True,
            ),
            facts=facts,
        )
    )


def test_a_branch_that_is_not_told(atlas: Path) -> None:
    """A HEAD on no branch that has a name to tell is told as such, and a plain one needs no word."""
    assert found(atlas) is None
    git(atlas, "symbolic-ref", "HEAD", "refs/heads/-")
    git(atlas, "update-ref", "refs/heads/-", "main")
    assert found(atlas) == unknown.NO_BRANCH


def test_a_baseline_that_is_not_told(atlas: Path, tmp_path: Path) -> None:
    """A history that is cut off is told apart from a tag that is damaged."""
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{atlas}", "shallow")
    assert found(tmp_path / "shallow") is None
    commit(atlas, "b")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{atlas}", "cut")
    assert found(tmp_path / "cut") == unknown.NO_BASELINE
    git(atlas, "tag", "-a", "-m", "x", "v1")
    gone = git(atlas, "rev-parse", "refs/tags/v1")
    (atlas / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    assert found(atlas) == unknown.NOT_WHOLE


def test_anothers_repository(atlas: Path, tmp_path: Path) -> None:
    """One that a file or a link borrows is told as not this directory's, though git itself would speak."""
    place = tmp_path / "place"
    place.mkdir()
    (place / ".git").write_text(f"gitdir: {atlas}/.git\n")
    assert told(place) == unknown.ELSEWHERE


def test_another_work_tree(atlas: Path, tmp_path: Path) -> None:
    """A repository that names another directory is said to, whether that is there or not."""
    for other in (repository(tmp_path / "other"), tmp_path / "none"):
        git(atlas, "config", "core.worktree", str(other))
        assert told(atlas) == unknown.ELSEWHERE


def test_a_bare_repository(atlas: Path) -> None:
    """One that calls itself bare has no checkout."""
    git(atlas, "config", "core.bare", "true")
    assert told(atlas) == unknown.BARE


def test_no_repository_any_more(atlas: Path) -> None:
    """Without its .git it is told as gone, and nothing above it is asked."""
    (atlas / ".git").rename(atlas / "git-away")
    assert told(atlas) == unknown.GONE


def test_no_git(atlas: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the program is missing, that is what is told."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert told(atlas) == unknown.NO_GIT


def test_another_users_repository(atlas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git holds unsafe for its owner is told apart from what is damaged."""
    monkeypatch.setattr(asked, "_OF_THE_USER", ())  # whatever the user of the tests calls safe
    environment = {"LC_ALL": "C", "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "GIT_CONFIG_NOSYSTEM": "1"}
    monkeypatch.setattr(asked, "_ENVIRONMENT", environment)
    assert told(atlas) == unknown.FOREIGN


@pytest.mark.parametrize("name", ["config", "HEAD"])
def test_a_damaged_repository(atlas: Path, name: str) -> None:
    """What git cannot read is left to git to explain, and a repository around it is not asked instead."""
    git(atlas.parent, "init", "-q", "-b", "main")
    (atlas / ".git" / name).write_text("[garbage")
    assert told(atlas) == unknown.UNREADABLE


def test_a_branch_of_no_commit_in_a_full_repository(atlas: Path) -> None:
    """An orphan branch waits for its first commit; a HEAD that leads to nothing else is damaged."""
    git(atlas, "checkout", "-q", "--orphan", "other")
    assert told(atlas) == unknown.NO_COMMIT
    (atlas / ".git" / "HEAD").write_text("0" * 39 + "1\n")
    assert told(atlas) == unknown.UNREADABLE
