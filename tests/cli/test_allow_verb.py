"""`nsstore allow`: the owner's word binds a checkout, and nothing else does."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from nsstore.cli.exits import EXITS
from tests.cli.at_terminal import answer
from tests.cli.conftest import Person
from tests.cli.test_terminal import at_terminal
from tests.host.conftest import git, repository

REMOTE = "git@example.com:acme/atlas.git"


def bound(person: Person) -> list[dict[str, object]]:
    """What the trust home says is bound."""
    files = list(person.trust.rglob("checkouts.json"))
    return json.loads(files[0].read_text())["checkouts"] if files else []


def test_a_remote_only_proposes(person: Person, tmp_path: Path) -> None:
    """Where nobody is asked, a repository that names a private remote is bound to nothing."""
    evil = repository(tmp_path / "evil", REMOTE)
    assert person("allow", str(evil)).exit_code == 5
    assert person("allow", str(evil), "--unattended").exit_code == 3
    assert bound(person) == []


def test_the_owner_is_asked_at_the_terminal(person: Person, tmp_path: Path) -> None:
    """The proposal is the remote's, whatever its protocol; Enter takes it, another answer wins."""
    atlas = repository(tmp_path / "atlas", "https://ada@example.com/acme/atlas")
    code, shown = answer(person, atlas, ["allow"], [("Project [", "")])
    assert (code, "example.com/acme/atlas" in shown) == (0, True)
    other = repository(tmp_path / "other", REMOTE)
    code, shown = answer(person, other, ["allow"], [("Project [", "*"), ("Project [", "else")])
    assert (code, "only if you trust" in shown) == (0, True)
    assert [one["project_id"] for one in bound(person)] == ["example.com/acme/atlas", "else"]


def test_a_moved_checkout_is_asked_about(person: Person, tmp_path: Path) -> None:
    """After a move the owner is asked whether it is the same, and its workspace comes along."""
    atlas = repository(tmp_path / "atlas")
    person.ok("allow", str(atlas), "--project", "atlas", "--unattended")
    before = bound(person)[0]["workspace_id"]
    atlas.rename(tmp_path / "moved")
    code, _ = answer(person, tmp_path / "moved", ["allow"], [("moved here?", "y")])
    assert code == 0
    assert [(one["path"], one["workspace_id"]) for one in bound(person)] == [
        (str(tmp_path / "moved"), before)
    ]


def test_the_whole_work_tree_is_bound(person: Person, tmp_path: Path) -> None:
    """From a directory below, the work tree's top is bound; each work tree has its own workspace."""
    atlas = repository(tmp_path / "atlas", REMOTE)
    (atlas / "src").mkdir()
    git(atlas, "worktree", "add", "-q", "-b", "x", str(tmp_path / "tree"))
    first = person.json("allow", str(atlas / "src"), "--project", "atlas", "--unattended")
    second = person.json("allow", str(tmp_path / "tree"), "--same-as", "atlas", "--unattended")
    assert first["path"] == str(atlas)
    assert second["project"] == "atlas"
    assert first["workspace"] != second["workspace"]


def test_same_as_names_the_old_path_or_a_project(person: Person, tmp_path: Path) -> None:
    """The workspace comes along with what was moved, and with nothing that still is where it was."""
    atlas, clone = repository(tmp_path / "atlas"), repository(tmp_path / "clone")
    first = person.json("allow", str(atlas), "--project", "atlas", "--unattended")
    second = person.json("allow", str(clone), "--same-as", str(atlas), "--unattended")
    assert (second["project"], second["workspace"] == first["workspace"]) == ("atlas", False)
    atlas.rename(tmp_path / "moved")
    third = person.json("allow", str(tmp_path / "moved"), "--same-as", str(atlas), "--unattended")
    assert third["workspace"] == first["workspace"]
    assert person("allow", str(clone), "--same-as", "nothing", "--unattended").exit_code == 3


def test_the_owner_lets_go(person: Person, tmp_path: Path) -> None:
    """--end unbinds; a directory that is bound to nothing is refused."""
    atlas = repository(tmp_path / "atlas")
    person.ok("allow", str(atlas), "--project", "atlas", "--unattended")
    assert person("allow", str(atlas), "--project", "other", "--unattended").exit_code == 3
    person.ok("allow", str(atlas), "--end")
    assert bound(person) == []
    assert person("allow", str(atlas), "--end").exit_code == 3


@pytest.mark.parametrize("project", ["*", "", "..", "/etc"])
def test_a_project_is_an_id(person: Person, tmp_path: Path, project: str) -> None:
    """What is no id is refused, and binds nothing."""
    atlas = repository(tmp_path / "atlas")
    assert person("allow", str(atlas), "--project", project, "--unattended").exit_code == 3
    assert bound(person) == []


def test_a_foreign_work_tree_is_not_bound_through_git(person: Person, tmp_path: Path) -> None:
    """A repository whose configuration names another directory as its work tree binds itself or nothing."""
    private, evil = repository(tmp_path / "private"), repository(tmp_path / "evil")
    for named in (private, tmp_path):
        git(evil, "config", "core.worktree", str(named))
        assert person.json("allow", str(evil), "--project", "evil", "--unattended")["path"] == str(evil)
    assert [one["path"] for one in bound(person)] == [str(evil)]


def test_a_whole_project_is_named_by_a_program(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody is asked, what is forgotten whole follows from no checkout that somebody stands in."""
    atlas = repository(tmp_path / "atlas")
    person.ok("allow", str(atlas), "--project", "atlas", "--unattended")
    monkeypatch.chdir(atlas)
    person.env["NSSTORE_PROJECT"] = None
    done = person("forget", "--whole", "project", "--unattended")
    assert done.exit_code == 3
    assert "--project (NSSTORE_PROJECT)" in done.stderr
    assert person("forget", "--whole", "project", "--unattended", "--project", "atlas").exit_code == 0


def without_births(person: Person) -> None:
    """Make the list as it was written before times of birth were kept."""
    (file,) = person.trust.rglob("checkouts.json")
    file.write_text(re.sub(r',"birth":\d+', "", file.read_text()))


def test_a_checkout_that_is_only_away_keeps_its_workspace(person: Person, tmp_path: Path) -> None:
    """On a disk that is not mounted just now it stays bound; whoever names it shares its project alone."""
    atlas, other = repository(tmp_path / "atlas"), repository(tmp_path / "other")
    first = person.json("allow", str(atlas), "--project", "atlas", "--unattended")
    away = atlas.rename(tmp_path / "unmounted")
    done = person("allow", str(other), "--same-as", str(atlas), "--unattended", "--json")
    second = json.loads(done.stdout)
    assert (second["project"], second["workspace"] == first["workspace"]) == ("atlas", False)
    assert "another directory" in done.stderr
    away.rename(atlas)
    assert [one["path"] for one in bound(person)] == [str(atlas), str(other)]
    assert person.json("allow", str(atlas), "--project", "atlas", "--unattended") == first


def test_a_list_of_before_waits_for_the_owner(person: Person, tmp_path: Path) -> None:
    """Where no birth was kept the owner is asked whether it is the same; only yes keeps the workspace."""
    atlas = repository(tmp_path / "atlas")
    first = person.json("allow", str(atlas), "--project", "atlas", "--unattended")
    without_births(person)
    code, _ = answer(person, atlas, ["allow"], [("same checkout?", "y")])
    assert (code, bound(person)[0]["workspace_id"]) == (0, first["workspace"])
    assert "birth" in bound(person)[0]
    without_births(person)
    code, _ = answer(person, atlas, ["allow"], [("same checkout?", "n"), ("Project [", "atlas")])
    assert code == 0
    second = bound(person)[0]["workspace_id"]
    assert second != first["workspace"]
    without_births(person)
    third = person.json("allow", str(atlas), "--project", "atlas", "--unattended")
    assert third["workspace"] == second


def told(person: Person) -> list[dict[str, Any]]:
    """What the audit was told of checkouts."""
    lines = map(json.loads, person.ok("audit", "--json").splitlines())
    return [one for one in lines if one["verb"] == "allow"]


def test_the_audit_is_told(person: Person, tmp_path: Path) -> None:
    """Binding and letting go are events of the tenant: who, which project, and whether somebody was asked."""
    atlas = repository(tmp_path / "atlas", REMOTE)
    first = person.json("allow", str(atlas), "--project", "atlas", "--unattended")
    person.ok("allow", str(atlas), "--project", "atlas", "--unattended")
    person.ok("allow", str(atlas), "--end")
    answer(person, atlas, ["allow"], [("Project [", "")])
    bind, end, again = told(person)
    assert (bind["event"], end["event"], again["event"]) == ("granted", "revoked", "granted")
    assert (bind["reason"], end["reason"], again["reason"]) == ("unattended", "unattended", "terminal")
    assert bind["scope"] == {
        "tenant_id": "acme", "user_id": "ada", "project_id": "atlas", "workspace_id": first["workspace"],
    }  # fmt: skip
    assert bind["digest"] == end["digest"] == again["digest"]
    assert str(tmp_path) not in person.ok("audit", "--json")
    assert "allow by ada atlas" in at_terminal(person, "audit", columns=200)
    assert person("audit", "verify").exit_code == 0


def test_what_the_audit_does_not_take_is_not_bound(person: Person, tmp_path: Path) -> None:
    """Without a tenant to tell, or where its audit takes nothing, nothing is bound or let go of."""
    atlas, other = repository(tmp_path / "atlas"), repository(tmp_path / "other")
    person.ok("allow", str(atlas), "--project", "atlas", "--unattended")
    before = bound(person)
    bind, end = ("allow", str(other), "--project", "atlas", "--unattended"), ("allow", str(atlas), "--end")
    for args in (bind, end):
        done = person(*args, NSSTORE_TENANT=None)
        assert (done.exit_code, "--tenant" in done.stderr) == (3, True)
    (folder,) = (person.store / "audit" / "tenants").iterdir()
    folder.rename(folder.with_name("away"))
    folder.write_text("in the way")
    for args in (bind, end):
        assert person(*args).exit_code == EXITS["witness"]
    assert bound(person) == before
