"""`nsstore scope` shows each value and where it came from, and other verbs use the same."""

import re
from pathlib import Path

import pytest

from nsstore.root import system
from tests.cli.conftest import SCOPE, Person, unattended
from tests.host.conftest import commit, git, repository
from tests.host.test_checkouts import untold

BARE = {**dict.fromkeys(SCOPE, None), "NSSTORE_STORE": None}


@pytest.fixture
def at_work(person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout that the person allowed, who has a configuration, and stands in it."""
    config, atlas = person.place / "config.toml", repository(person.place / "atlas")
    config.write_text(f'store = "{person.store}"\ntenant = "acme"\nuser = "ada"\nsession = "terminal"\n')
    person.env |= {**BARE, "NSSTORE_CONFIG": str(config)}
    monkeypatch.chdir(atlas)
    person.ok("allow", "--project", "atlas", "--unattended")
    return atlas


@pytest.mark.usefixtures("at_work")
def test_each_value_has_its_source(person: Person) -> None:
    """Flag, variable, configuration, checkout, git and the stated defaults are told apart."""
    found = person.json("scope", "--user", "eve", NSSTORE_BASELINE="v1")["values"]
    sources = {name: one["source"] for name, one in found.items()}
    assert sources == {
        "store": "configuration", "tenant": "configuration", "user": "flag", "project": "checkout",
        "session": "configuration", "workspace": "checkout", "branch": "git", "baseline": "variable",
        "agent": "default", "commit": "git", "clearance": "default", "purpose": "default",
    }  # fmt: skip
    assert found["baseline"]["value"] == "v1"
    assert "branch\tmain\tgit" in person.ok("scope")


def test_what_is_missing_is_shown_as_missing(person: Person) -> None:
    """Without anything, each required dimension is told as missing, and what helps."""
    done = person("scope", **BARE)
    assert done.exit_code == 0
    rows = dict(line.split("\t", 1) for line in done.stdout.splitlines())
    assert {name for name, rest in rows.items() if rest == "\tmissing"} == {
        "store", "tenant", "user", "project", "session", "workspace", "branch", "baseline"
    }  # fmt: skip
    assert "nsstore setup" in done.stderr


def test_an_unbound_directory_is_told_what_binds_it(
    person: Person, at_work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verb that binds is named, also for a checkout that was moved, and for another project."""
    (person.place / "notes").mkdir()
    monkeypatch.chdir(person.place / "notes")
    assert "`nsstore allow`" in person("scope").stderr
    monkeypatch.chdir(person.place)
    assert "contains the store" in person("scope").stderr
    at_work.rename(person.place / "moved")
    monkeypatch.chdir(person.place / "moved")
    assert f"--same-as {at_work}" in person("scope").stderr
    person.ok("allow", "--same-as", str(at_work), "--unattended")
    assert "another project" in person("scope", "--project", "other").stderr


def test_a_refusal_names_the_command_that_helps(
    person: Person, at_work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a work tree that is not bound, in a moved checkout and before the first commit, any verb says it."""

    def refused() -> str:
        done = person("search", "trains")
        assert done.exit_code == 3
        assert "--branch (NSSTORE_BRANCH" in done.stderr
        return " ".join(done.stderr.split())

    tree = person.place / "tree"
    git(at_work, "worktree", "add", "-q", "-b", "x", str(tree))
    (tree / "src").mkdir()
    monkeypatch.chdir(tree / "src")
    assert "`nsstore allow`" in refused()
    monkeypatch.chdir(at_work)
    git(at_work, "checkout", "-q", "--orphan", "new")
    assert "no commit here yet" in refused()
    monkeypatch.chdir(person.place)
    at_work.rename(person.place / "moved")
    monkeypatch.chdir(person.place / "moved")
    assert f"`nsstore allow --same-as {at_work}`" in refused()


def test_who_asks_is_no_matter_of_the_checkout(
    person: Person, at_work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the user is missing as well, binding the checkout is not said to be all that helps."""
    monkeypatch.chdir(person.place)
    done = person("list", NSSTORE_CONFIG=str(at_work / "none.toml"), NSSTORE_STORE=str(person.store))
    assert done.exit_code == 3
    assert "--user (NSSTORE_USER)" in done.stderr
    assert "`nsstore scope`" in done.stderr


def test_a_record_carries_what_was_inferred(person: Person, at_work: Path) -> None:
    """A note remembered with no flag at all has branch, commit and workspace of the checkout."""
    record_id = person.remember("The train leaves on Thursdays.")
    scope = person.json("show", record_id)["provenance"]["scope"]
    told = {name: one["value"] for name, one in person.json("scope")["values"].items()}
    assert (scope["project_id"], scope["branch"], scope["workspace_id"]) == (
        "atlas",
        "main",
        told["workspace"],
    )
    assert scope["baseline"] == git(at_work, "rev-parse", "HEAD")
    assert f"commit: {told['commit']}".encode() in person.file_of(record_id).read_bytes().replace(b'"', b"")


def test_memory_follows_the_history_only_by_the_owners_word(person: Person, at_work: Path) -> None:
    """On a new branch an older record is not visible until the policy says that lineage counts."""
    record_id = person.remember("The train leaves on Thursdays.")
    git(at_work, "checkout", "-q", "-b", "feature/x")
    commit(at_work, "b")
    assert person("show", record_id).exit_code == 4
    unlock = unattended(person)
    person.ok("owner", "init", "--name", "ada", *unlock)
    person.ok(
        "owner", "grant", "lineage", "--tenant", "acme", "--user", "ada", "--every-project",
        "--agent", "human", "--purpose", "recall", "--days", "9", "--why", "history", *unlock,
    )  # fmt: skip
    assert person("show", record_id).exit_code == 0
    git(at_work, "checkout", "-q", "--orphan", "other")
    commit(at_work, "c")
    assert person("show", record_id).exit_code == 4


def test_an_unbound_repository_is_given_nothing(
    person: Person, at_work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive whose .git names the private remote, even inside the checkout, reads nothing."""
    person.remember("The key is under the mat.")
    evil = repository(at_work / "vendor" / "evil", "git@example.com:acme/atlas.git")
    monkeypatch.chdir(evil)
    for verb in (("list",), ("search", "key"), ("remember", "x")):
        done = person(*verb)
        assert done.exit_code == 3
        assert "--project" in done.stderr


@pytest.mark.usefixtures("at_work")
def test_a_file_system_without_births_is_told(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a directory's birth is not kept, what another one in its place could pass for is said."""
    assert person("scope").stderr == ""
    person.ok("allow", "--end")
    monkeypatch.setattr(system, "birth", untold)
    person.ok("allow", "--project", "atlas", "--unattended")
    done = person("scope")
    assert "atlas\tcheckout" in done.stdout
    assert "let go of it before you remove it" in done.stderr


@pytest.mark.usefixtures("at_work")
def test_a_checkout_of_before_is_told(person: Person) -> None:
    """What was bound before births were kept says nothing, and what helps is named."""
    (file,) = person.trust.rglob("checkouts.json")
    file.write_text(re.sub(r',"birth":\d+', "", file.read_text()))
    done = person("scope")
    assert "project\t\tmissing" in done.stdout
    assert "was bound before" in done.stderr
    person.ok("allow", "--project", "atlas", "--unattended")
    assert "atlas\tcheckout" in person("scope").stdout
