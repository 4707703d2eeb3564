"""What git says is asked anew each time, and nothing that a repository brings along runs or escapes."""

import os
import time
from pathlib import Path

import pytest

from nsstore.host import git as asked
from nsstore.host.git import Facts, facts_of, proposal, remote_name, remote_of
from tests.host.conftest import commit, git, repository
from tests.host.wrapping import wrap


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


@pytest.mark.parametrize("place", [".", "{top}", "{top}/.venv/bin"])
def test_a_git_of_the_repository_is_not_run(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A PATH that names where we stand, or a directory of the work tree, makes no file there the program."""
    (atlas / ".venv" / "bin").mkdir(parents=True)
    for folder in (atlas, atlas / ".venv" / "bin"):
        (folder / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (folder / "git").chmod(0o755)
    monkeypatch.chdir(atlas)
    monkeypatch.setenv("PATH", f"{place.format(top=atlas)}:{os.pathsep}{os.environ['PATH']}")
    facts = facts_of(str(atlas))
    assert facts is not None
    remote_of(facts)
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


@pytest.mark.parametrize("word", ["describe", "for-each-ref", "rev-list"])
def test_a_question_that_fails_is_none_answered_with_no(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """One that takes too long or fails leaves unknown what it was about, and nothing else."""
    git(atlas, "tag", "v1")
    commit(atlas, "b")
    assert _facts(atlas).whole
    wrap(tmp_path, monkeypatch, word, f"test -e {tmp_path}/fails && exit 1; sleep 60")
    monkeypatch.setattr(asked, "SECONDS", 1.0)
    for _ in range(2):
        facts = _facts(atlas)
        assert (facts.branch, facts.whole) == ("main", False)
        assert facts.baseline == ("v1" if word == "rev-list" else None)
        assert facts.lineage == ({facts.commit} if word == "rev-list" else set(_log(atlas)))
        (tmp_path / "fails").touch()


def _log(top: Path) -> list[str]:
    return git(top, "rev-list", "HEAD").split()


@pytest.mark.parametrize("word", ["rev-parse", "cat-file"])
def test_where_nothing_is_sure_nothing_is_told(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Without an answer about HEAD itself, a branch is not taken for none: there are no facts."""
    wrap(tmp_path, monkeypatch, word, "exit 1")
    assert facts_of(str(atlas)) is None


def test_a_tag_that_cannot_be_read_hides_no_nearer_one(atlas: Path) -> None:
    """Where the object of a tag is gone, neither an older tag nor the first commit is the baseline."""
    git(atlas, "tag", "v1")
    commit(atlas, "b")
    git(atlas, "tag", "-a", "-m", "x", "v2")
    assert _facts(atlas).baseline == "v2"
    gone = git(atlas, "rev-parse", "refs/tags/v2")
    (atlas / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    assert git(atlas, "describe", "--tags", "--abbrev=0") == "v1"
    assert (_facts(atlas).baseline, _facts(atlas).whole) == (None, False)


def test_tags_of_every_kind(atlas: Path) -> None:
    """The name of the ref counts, with whatever dashes; of the tag of a tag it is not known."""
    git(atlas, "tag", "-a", "-m", "x", "v1-0-g123")
    assert _facts(atlas).baseline == "v1-0-g123"
    commit(atlas, "b")
    assert _facts(atlas).baseline == "v1-0-g123"
    git(atlas, "tag", "-a", "-m", "x", "v2")
    git(atlas, "tag", "-a", "-m", "x", "v3", "v2")
    git(atlas, "tag", "-d", "v2")
    assert _facts(atlas).baseline is None


def test_a_tag_is_called_as_its_ref(atlas: Path) -> None:
    """What a tag calls itself is not its name; where two may be meant, it is not known which."""
    git(atlas, "tag", "-a", "-m", "x", "within")
    git(atlas, "update-ref", "refs/tags/v9", "refs/tags/within")
    git(atlas, "tag", "-d", "within")
    assert git(atlas, "describe", "HEAD").startswith("within")
    assert _facts(atlas).baseline == "v9"
    git(atlas, "tag", "within", git(atlas, "commit-tree", "-m", "x", "HEAD^{tree}"))
    assert _facts(atlas).baseline is None


@pytest.mark.parametrize("kind", ["heads", "tags"])
def test_a_ref_called_like_none_is_not_known(atlas: Path, kind: str) -> None:
    """A branch or a tag called ``-`` does not say that there is none."""
    git(atlas, "update-ref", f"refs/{kind}/-", "HEAD")
    if kind == "heads":
        git(atlas, "symbolic-ref", "HEAD", "refs/heads/-")
    facts = _facts(atlas)
    assert (facts.branch if kind == "heads" else facts.baseline) is None


def test_a_head_that_is_no_branch_is_not_detached(atlas: Path) -> None:
    """A HEAD that names a ref which is none of the branches is on no known branch."""
    git(atlas, "update-ref", "refs/odd/x", "HEAD")
    git(atlas, "symbolic-ref", "HEAD", "refs/odd/x")
    assert _facts(atlas).branch is None


def test_refs_called_head_confuse_nothing(atlas: Path) -> None:
    """Branches and tags called HEAD are not taken for it."""
    head = commit(atlas, "b")
    for kind in ("heads", "tags"):
        git(atlas, "update-ref", f"refs/{kind}/HEAD", "HEAD~1")
    facts = _facts(atlas)
    assert (facts.commit, facts.branch) == (head, "main")


@pytest.mark.parametrize("word", ["rev-parse", "describe", "rev-list", "cat-file", "for-each-ref"])
def test_all_facts_are_of_one_moment(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Whichever question is late, the branch is not told with the commit or the tag of another."""
    git(atlas, "tag", "old")
    git(atlas, "checkout", "-q", "-b", "feature")
    commit(atlas, "f")
    git(atlas, "tag", "new")
    git(atlas, "checkout", "-q", "main")
    late = f"sleep 0.2; $git -C {atlas} checkout -q feature"
    wrap(tmp_path, monkeypatch, word, late, once=True)
    facts = _facts(atlas)
    assert facts.branch is not None
    assert facts.commit == git(atlas, "rev-parse", facts.branch)
    assert facts.baseline == {"main": "old", "feature": "new"}[facts.branch]
    assert facts.lineage == set(git(atlas, "rev-list", facts.branch).split())


def test_a_head_that_never_rests_is_not_told(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where HEAD is another one each time it is looked at again, there are no facts."""
    move = f"$git -C {atlas} -c user.name=a -c user.email=a@x commit -q --allow-empty -m x"
    wrap(tmp_path, monkeypatch, "describe", f"sleep 0.1; {move}")
    assert facts_of(str(atlas)) is None


def test_a_pipe_in_the_place_of_head_holds_nobody_up(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of time holds for a git that a script starts, too."""
    (atlas / ".git" / "HEAD").unlink()
    os.mkfifo(atlas / ".git" / "HEAD")
    wrap(tmp_path, monkeypatch, "-C", "true")
    monkeypatch.setattr(asked, "SECONDS", 0.5)
    began = time.monotonic()
    assert facts_of(str(atlas)) is None
    assert time.monotonic() - began < 3
