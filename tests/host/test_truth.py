"""What git says of a checkout comes as truth, and a hostile repository runs nothing by being looked at."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from nsstore.host import truth
from nsstore.host.git import Facts, facts_of
from nsstore.host.truth import Unanswered, git_sources
from nsstore.session import Statement
from tests.host.test_history import bomb
from tests.host.wrapping import wrap

WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")


def git(place: Path, *args: str) -> str:
    """Run git as a person does."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", "-C", place, *WHO, *args], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A work tree with two commits behind a tag, on a branch."""
    place = tmp_path / "tree"
    (place / "src").mkdir(parents=True)
    git(place, "init", "-q")
    (place / "src" / "uploader.py").write_text("one\n")
    (place / "README.md").write_text("hello\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "The beginning")
    git(place, "tag", "v1")
    git(place, "checkout", "-qb", "feature/x")
    (place / "src" / "uploader.py").write_text("two\n")
    git(place, "commit", "-qam", "The uploader tries again")
    (place / "README.md").write_text("hello again\n")
    git(place, "commit", "-qam", "Say hello again")
    return place


def facts(tree: Path) -> Facts:
    """What git knows of the tree."""
    found = facts_of(str(tree))
    assert found is not None
    return found


def said(tree: Path, topic: str = "") -> dict[str, list[tuple[str, str]]]:
    """What each source says to a topic."""
    return {one.name: [(it.about, it.text) for it in one.ask(topic)] for one in git_sources(facts(tree))}


def test_how_it_is_now(tree: Path) -> None:
    """Branch, commit and changed files; baseline; the last commits; in the order of the redline."""
    found = said(tree)
    assert list(found) == ["get_runtime_status", "get_baseline", "list_patches", "current_branch_files"]
    status = dict(found["get_runtime_status"])
    assert status["branch"] == "feature/x"
    assert status["commit"].endswith(" Say hello again")
    assert status["changed files"] == "none"
    assert found["get_baseline"] == [("baseline", "v1, 2 commits before this one")]
    assert [text.split(" ", 2)[2] for _, text in found["list_patches"]] == [
        "Say hello again",
        "The uploader tries again",
        "The beginning",
    ]
    assert found["current_branch_files"] == []


def test_what_changed(tree: Path) -> None:
    """A changed, a staged and a new file are named; what is ignored is not."""
    (tree / "README.md").write_text("changed\n")
    (tree / "staged.txt").write_text("x")
    git(tree, "add", "staged.txt")
    (tree / ".git" / "info" / "exclude").write_text("*.log\n")
    (tree / "new.txt").write_text("x")
    (tree / "old.log").write_text("x")
    assert dict(said(tree)["get_runtime_status"])["changed files"] == "README.md, staged.txt, new.txt"


@pytest.mark.parametrize("topic", ["why does uploader fail", "look at src/uploader.py.", "UPLOADER.PY?"])
def test_what_the_topic_names(tree: Path, topic: str) -> None:
    """A file that the topic names by path, name or stem comes with its own commits and its state."""
    (tree / "src" / "uploader.py").write_text("three\n")
    found = said(tree, topic)
    assert [text.split(" ", 2)[2] for _, text in found["list_patches"]] == [
        "The uploader tries again",
        "The beginning",
    ]
    assert found["current_branch_files"] == [("src/uploader.py", "changed since the commit")]


def test_a_detached_head_and_a_root_commit(tree: Path) -> None:
    """Without a branch that is said, and without a tag the root commit is the baseline."""
    git(tree, "tag", "-d", "v1")
    git(tree, "checkout", "-q", "--detach")
    found = said(tree)
    assert dict(found["get_runtime_status"])["branch"] == "none: HEAD is detached"
    assert found["get_baseline"][0][1].endswith(", 2 commits before this one")


def test_a_hostile_repository_runs_nothing(tree: Path, tmp_path: Path) -> None:
    """Filters, a monitor, a pager, signatures and hooks that a repository names are not run.

    Plain git runs the filter, so that what is not run here would have been.
    """
    ran = tmp_path / "ran"
    evil = f"touch {ran}"
    for key in (
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.a.b=c.clean"),
        *("core.fsmonitor", "core.pager", "gpg.program", "diff.external", "core.alternateRefsCommand"),
    ):
        git(tree, "config", key, evil)
    git(tree, "config", "log.showSignature", "true")
    git(tree, "config", "filter.evil.required", "true")
    (tree / ".gitattributes").write_text("*.py filter=evil\n*.md filter=a.b=c\n")
    (tree / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    for name in ("post-index-change", "pre-commit", "reference-transaction"):
        hook = tree / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\n{evil}\n")
        hook.chmod(0o755)
    (tree / "src" / "uploader.py").write_text("same size\n")
    found = said(tree, "uploader README.md")
    assert "src/uploader.py" in dict(found["get_runtime_status"])["changed files"]
    assert not ran.exists()
    subprocess.run(["git", "-C", tree, "status"], capture_output=True, check=False)
    assert ran.exists()


def test_names_that_play_tricks(tree: Path) -> None:
    """A file, a branch or a commit whose words hold control characters puts none of them into a statement."""
    (tree / "a\x1b[2Jb\u202e.txt").write_text("x")
    git(tree, "commit", "-q", "--allow-empty", "-m", "red\x1b[31m\u202e text")
    for statements in said(tree, "anything").values():
        assert all(text.isprintable() and about.isprintable() for about, text in statements)


def test_what_cannot_be_asked_is_not_known(tree: Path) -> None:
    """Where git gives no answer a source raises, so that evidence names it silent; it never says none."""
    found = facts(tree)
    (tree / ".git" / "HEAD").write_text("broken")
    for source in git_sources(found)[:3]:
        with pytest.raises(Exception, match=r"\A\Z"):
            source.ask("")


def test_pathspec_magic_is_a_name(tree: Path) -> None:
    """A topic that looks like a pattern of git's names no file by it."""
    assert said(tree, ":(top)** :!README.md *.py --all")["current_branch_files"] == [
        ("README.md", "as in the commit")
    ]


def test_a_statement_says_one_thing() -> None:
    """A statement is a value with two texts."""
    assert Statement(about="a", text="b") == Statement(text="b", about="a")


def test_filters_that_are_not_known_are_not_run(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where git does not say which filters there are, the files are not compared, since that runs them."""
    ran = tmp_path / "ran"
    git(tree, "config", "filter.evil.clean", f"touch {ran}")
    (tree / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    (tree / "src" / "uploader.py").write_text("three\n")
    found = facts(tree)
    wrap(tmp_path, monkeypatch, "config", "exit 3")
    status = git_sources(found)[0]
    with pytest.raises(Unanswered):
        status.ask("")
    assert not ran.exists()


def test_a_long_subject_is_cut(tree: Path) -> None:
    """Of a subject of megabytes the beginning is told, and no more of it is taken in."""
    git(tree, "update-ref", "refs/heads/feature/x", bomb(tree, 4))
    (line, *_) = said(tree)["list_patches"]
    assert line[1].endswith("a b a ..")
    assert len(line[1]) < 250


def test_many_and_long_names_are_cut(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told of a work tree stays small, whatever lies in it; how many more there are is said."""
    folder = tree / "/".join(["d" * 200] * 5)
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"deploy.{number}").write_text("x")
    git(tree, "add", ".")
    found = said(tree, "deploy")
    assert sum(len(about) + len(text) for one in found.values() for about, text in one) < 10_000
    changed = dict(found["get_runtime_status"])["changed files"]
    assert changed.endswith(" and 10 more")
    monkeypatch.setattr(truth, "MOST_CHANGED", 30_000)
    changed = dict(said(tree)["get_runtime_status"])["changed files"]
    assert re.search(r" and more than \d more\Z", changed)


def test_what_is_not_listed_whole_is_not_told_as_unchanged(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not all changes were looked at, no file is said to be as in the commit."""
    for number in range(50):
        (tree / f"a{number}").write_text("x")
    assert said(tree, "uploader")["current_branch_files"] == [("src/uploader.py", "as in the commit")]
    monkeypatch.setattr(truth, "MOST_CHANGED", 100)
    assert said(tree, "uploader")["current_branch_files"] == []


def test_what_is_told_is_of_one_commit(tree: Path) -> None:
    """When HEAD is another one by now, the last commits are those of before, and changes are not told."""
    found = facts(tree)
    git(tree, "checkout", "-q", "main")
    git(tree, "commit", "-q", "--allow-empty", "-m", "Elsewhere")
    status, baseline, patches, _ = git_sources(found)
    assert patches.ask("")[0].text.endswith(" Say hello again")
    assert baseline.ask("")[0].text == "v1, 2 commits before this one"
    with pytest.raises(Unanswered):
        status.ask("")


def test_names_with_spaces_and_conflicts(tree: Path) -> None:
    """A changed file is told by its whole name, also where a merge left it in conflict."""
    git(tree, "checkout", "-q", "main")
    (tree / "a b  c.txt").write_text("x")
    (tree / "README.md").write_text("other\n")
    git(tree, "commit", "-qam", "Other")
    with pytest.raises(subprocess.CalledProcessError):
        git(tree, "merge", "feature/x")
    changed = dict(said(tree)["get_runtime_status"])["changed files"]
    assert set(changed.split(", ")) == {"README.md", "src/uploader.py", "a b c.txt"}
