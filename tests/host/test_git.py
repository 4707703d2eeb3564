"""What git says is asked anew each time, and nothing that a repository brings along runs or escapes."""

import os
from pathlib import Path

import pytest

from nsstore.host import git as asked
from nsstore.host.git import Facts, facts_of, proposal, remote_name, remote_of
from tests.host.conftest import commit, git, repository


def test_the_facts_of_a_work_tree(atlas: Path) -> None:
    """Commit, branch, first commit as baseline and the remote without user or protocol."""
    head = git(atlas, "rev-parse", "HEAD")
    (atlas / "below").mkdir()
    facts = facts_of(str(atlas / "below"))
    assert facts is not None
    assert (facts.top, facts.commit, facts.branch) == (str(atlas), head, "main")
    assert (facts.baseline, remote_of(facts)) == (head, "example.com/acme/atlas")


def test_facts_follow_the_work_tree(atlas: Path) -> None:
    """A new branch, commit or tag is seen on the next call; a detached HEAD is on no branch."""
    first = git(atlas, "rev-parse", "HEAD")
    git(atlas, "checkout", "-q", "-b", "feature/x")
    second = commit(atlas, "b")
    facts = facts_of(str(atlas))
    assert facts is not None
    assert (facts.branch, facts.commit, facts.baseline) == ("feature/x", second, first)
    git(atlas, "tag", "v1.4", first)
    git(atlas, "checkout", "-q", "--detach")
    facts = facts_of(str(atlas))
    assert facts is not None
    assert (facts.branch, facts.baseline) == ("-", "v1.4")


def test_a_tag_of_the_branchs_name_confuses_nothing(atlas: Path) -> None:
    """A branch has its short name also where a tag is called the same."""
    git(atlas, "tag", "main")
    facts = facts_of(str(atlas))
    assert facts is not None
    assert facts.branch == "main"


def test_the_first_commit_is_one(atlas: Path) -> None:
    """A merged history of its own changes nothing about the baseline."""
    first = git(atlas, "rev-parse", "HEAD")
    git(atlas, "checkout", "-q", "--orphan", "other")
    commit(atlas, "b")
    git(atlas, "checkout", "-q", "main")
    git(atlas, "merge", "-q", "--allow-unrelated-histories", "-m", "m", "other")
    facts = facts_of(str(atlas))
    assert facts is not None
    assert facts.baseline == first


def test_a_shallow_clone_has_no_first_commit(atlas: Path, tmp_path: Path) -> None:
    """Where the history is cut off, the place of the cut is not taken for its beginning."""
    commit(atlas, "b")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{atlas}", "shallow")
    facts = facts_of(str(tmp_path / "shallow"))
    assert facts is not None
    assert facts.baseline is None


def test_what_is_no_work_tree_has_no_facts(
    tmp_path: Path, atlas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No repository, an unborn branch, a bare repository, no directory, no git: nothing is made up."""
    git(tmp_path, "init", "-q", "unborn")
    git(tmp_path, "init", "-q", "--bare", "bare")
    for place in (tmp_path, tmp_path / "unborn", tmp_path / "bare", tmp_path / "none"):
        assert facts_of(str(place)) is None
    monkeypatch.setenv("PATH", "")
    assert facts_of(str(atlas)) is None


def test_worktrees_and_clones_propose_the_same(atlas: Path, tmp_path: Path) -> None:
    """A work tree of its own, a clone by https and the first one propose one project."""
    git(atlas, "worktree", "add", "-q", "-b", "x", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", str(atlas), "clone")
    git(
        tmp_path / "clone",
        "remote",
        "set-url",
        "origin",
        "https://ada:secret@EXAMPLE.com:443/acme/atlas.git/",
    )
    found = {proposal(str(one), facts_of(str(one))) for one in (atlas, tmp_path / "tree", tmp_path / "clone")}
    assert found == {"example.com/acme/atlas"}


def test_without_a_remote_the_main_directory_is_proposed(tmp_path: Path) -> None:
    """Work trees of a repository without a remote propose the name of its main directory."""
    alone = repository(tmp_path / "alone")
    git(alone, "worktree", "add", "-q", "-b", "x", str(tmp_path / "elsewhere"))
    facts = facts_of(str(tmp_path / "elsewhere"))
    assert proposal(str(tmp_path / "elsewhere"), facts) == "alone"
    assert proposal("/some/notes", None) == "notes"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:a/b.git", "github.com/a/b"),
        ("ssh://git@GitHub.com:22/a/b", "github.com/a/b"),
        ("https://u:p@github.com/a/b.git/", "github.com/a/b"),
        ("git://[::1]:9418/a/b", "[::1]/a/b"),
        ("/srv/a.git", None),
        ("../a", None),
        ("file:///srv/a.git", None),
        ("https://github.com/", None),
        ("ext::sh -c evil", None),
        ("", None),
    ],
)
def test_a_remote_has_one_spelling(url: str, name: str | None) -> None:
    """Protocol, user, password, port and suffix are no part of a remote's name."""
    assert remote_name(url) == name


def _facts(top: Path) -> Facts:
    found = facts_of(str(top))
    assert found is not None
    return found


def test_ancestry_is_proven(atlas: Path) -> None:
    """The lineage is what HEAD descends from, itself among it, and follows branches and merges."""
    first = git(atlas, "rev-parse", "HEAD")
    git(atlas, "checkout", "-q", "-b", "side")
    side = commit(atlas, "s")
    git(atlas, "checkout", "-q", "main")
    second = commit(atlas, "b")
    assert _facts(atlas).lineage == {first, second}
    git(atlas, "merge", "-q", "-m", "m", "side")
    assert _facts(atlas).lineage == {first, second, side, git(atlas, "rev-parse", "HEAD")}


def test_a_long_history_is_followed_as_far_as_is_said(atlas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the newest commits are the lineage; the first commit is the baseline all the same."""
    first = git(atlas, "rev-parse", "HEAD")
    newer = {commit(atlas, "b"), commit(atlas, "c")}
    monkeypatch.setattr(asked, "LINEAGE", 2)
    facts = _facts(atlas)
    assert facts.lineage == newer
    assert facts.baseline == first


def test_a_replaced_history_proves_nothing(atlas: Path) -> None:
    """A replace ref or a graft that makes a foreign commit an ancestor is not believed."""
    git(atlas, "checkout", "-q", "--orphan", "other")
    other = commit(atlas, "o")
    git(atlas, "checkout", "-q", "main")
    head = git(atlas, "rev-parse", "HEAD")
    git(atlas, "replace", "--graft", head, other)
    assert git(atlas, "merge-base", other, "HEAD") == other
    assert _facts(atlas).lineage == {head}
    git(atlas, "replace", "-d", head)
    (atlas / ".git" / "info" / "grafts").write_text(f"{head} {other}\n")
    assert _facts(atlas).lineage == {head}


HOSTILE = {
    "core.fsmonitor": "touch {ran}",
    "core.hooksPath": "{hooks}",
    "core.pager": "touch {ran}",
    "core.sshCommand": "touch {ran}",
    "core.askPass": "{hooks}/post-checkout",
    "core.alternateRefsCommand": "touch {ran}",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "remote.origin.url": "ext::sh -c touch% {ran}",
    "remote.origin.promisor": "true",
    "extensions.partialClone": "origin",
    "alias.rev-parse": "!touch {ran}",
    "gpg.program": "touch {ran}",
    "log.showSignature": "true",
    "diff.external": "touch {ran}",
    "credential.helper": "!touch {ran}",
}


def test_a_hostile_repository_runs_nothing(atlas: Path, tmp_path: Path) -> None:
    """No program that a repository's configuration, hooks or a missing object could start is started."""
    ran, hooks = tmp_path / "ran", tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (hooks / name).chmod(0o755)
    git(atlas, "config", "core.repositoryFormatVersion", "1")
    for name, value in HOSTILE.items():
        git(atlas, "config", name, value.format(ran=ran, hooks=hooks))
    facts = facts_of(str(atlas))
    assert facts is not None
    remote_of(facts)
    assert not ran.exists()


def test_a_git_of_the_repository_is_not_run(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PATH that names where we stand does not make a file called git there the program."""
    (atlas / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (atlas / "git").chmod(0o755)
    monkeypatch.chdir(atlas)
    monkeypatch.setenv("PATH", f".:{os.pathsep}{os.environ['PATH']}")
    assert facts_of(str(atlas)) is not None
    assert not (tmp_path / "ran").exists()


def test_the_callers_git_variables_do_not_count(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT_DIR and the like, as a hook of git has them, do not make another repository answer."""
    other = repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    facts = facts_of(str(atlas))
    assert facts is not None
    assert facts.top == str(atlas)
