"""What is known is asked again as soon as anything it came from changed; otherwise nobody is asked."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.host import known
from nsstore.host.inference import Inferred, infer
from nsstore.host.known import Known
from tests.cli.conftest import Person
from tests.host.test_truth import git


class Desk:
    """A bound checkout, and what is known in it; ``asked`` counts how often everything was asked anew."""

    def __init__(self, person: Person, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.known = Known()
        self.asked = 0
        self.env = {name: value for name, value in person.env.items() if value is not None}
        (self.trust,) = (one for one in person.trust.iterdir() if (one / "checkouts.json").exists())

        def counted(*given: object) -> Inferred:
            self.asked += 1
            return infer(*given)  # type: ignore[arg-type] # handed on as it came

        monkeypatch.setattr(known, "infer", counted)

    def now(self) -> Inferred:
        """What is known now."""
        return self.known.of({}, self.env, str(self.trust))

    def settle(self) -> Inferred:
        """What is known when nothing changed for a moment."""
        time.sleep(0.03)
        self.now()
        return self.now()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A checkout with one commit, bound to a project."""
    monkeypatch.setenv("NSSTORE_TRUST_HOME", str(tmp_path / "trust"))
    person = Person(tmp_path)
    for name in ("NSSTORE_PROJECT", "NSSTORE_WORKSPACE", "NSSTORE_BRANCH", "NSSTORE_BASELINE"):
        person.env[name] = None
    person.env |= {"NSSTORE_CONFIG": str(tmp_path / "config.toml"), "NSSTORE_AGENT": "claude"}
    person.ok("init", str(person.store))
    place = tmp_path / "tree"
    place.mkdir()
    git(place, "init", "-q")
    git(place, "commit", "-q", "--allow-empty", "-m", "The beginning")
    git(place, "branch", "other")
    monkeypatch.chdir(place)
    person.ok("allow", "--project", "atlas", "--unattended")
    return Desk(person, place, monkeypatch)


def test_nobody_is_asked_twice(desk: Desk) -> None:
    """As long as nothing changed the same answer is given, and no program is started for it."""
    first = desk.settle()
    assert first["branch"] == "main"
    asked = desk.asked
    assert all(desk.now() is first for _ in range(5))
    assert desk.asked == asked


def commit(place: Path) -> None:
    """Make a commit."""
    git(place, "commit", "-q", "--allow-empty", "-m", "More")


CHANGES: dict[str, Callable[[Path], object]] = {
    "commit": commit,
    "switch": lambda place: git(place, "switch", "-q", "other"),
    "detach": lambda place: git(place, "switch", "-q", "--detach"),
    "new branch": lambda place: git(place, "switch", "-qc", "feature/deep/er"),
    "tag": lambda place: git(place, "tag", "v1"),
    "deep tag": lambda place: git(place, "tag", "release/1/0"),
    "pack": lambda place: (git(place, "tag", "v2"), git(place, "pack-refs", "--all")),
    "update-ref": lambda place: git(
        place, "update-ref", "refs/heads/main", git(place, "commit-tree", "-m", "x", "HEAD^{tree}")
    ),
    "no repository": lambda place: (place / ".git").rename(place / "was"),
    "configuration": lambda place: (place.parent / "config.toml").write_text('session = "s-9"\n'),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen_at_once(desk: Desk, change: str) -> None:
    """After each kind of change the very next answer is the one that asking anew gives."""
    before = desk.settle()
    CHANGES[change](desk.place)
    after = desk.now()
    assert after.values == infer({}, desk.env, None).values
    if change != "configuration":  # a session that the variables name already
        assert after.values != before.values


def test_a_repository_in_between_is_seen(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory below that becomes a repository of its own is no part of the checkout from then on."""
    below = desk.place / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert desk.settle()["project"] == "atlas"
    git(below, "init", "-q")
    assert desk.now()["project"] is None


def test_many_quick_changes_are_seen(desk: Desk) -> None:
    """Changes that follow each other at once are each seen, whatever the disk's clock can tell apart."""
    for _ in range(10):
        desk.now()
        commit(desk.place)
        assert desk.now()["commit"] == git(desk.place, "rev-parse", "HEAD")


def test_too_many_folders_are_asked_each_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is too much to look at, git is asked on each call."""
    monkeypatch.setattr(known, "MOST_FOLDERS", 1)
    desk.settle()
    asked = desk.asked
    desk.now()
    assert desk.asked == asked + 1


def test_the_first_commit_is_seen(desk: Desk) -> None:
    """Where git tells nothing yet it is asked on each call: a commit changes no file that was looked at."""
    git(desk.place, "switch", "-q", "--orphan", "new")
    assert desk.settle()["commit"] is None
    commit(desk.place)
    assert desk.now()["commit"] == git(desk.place, "rev-parse", "HEAD")


def test_what_is_repaired_is_seen(desk: Desk) -> None:
    """An answer that was not whole is not kept."""
    git(desk.place, "tag", "-a", "-m", "x", "v1")
    gone = git(desk.place, "rev-parse", "refs/tags/v1")
    kept = desk.place / ".git" / "objects" / gone[:2] / gone[2:]
    kept.rename(desk.place / "kept")
    assert desk.settle()["baseline"] is None
    (desk.place / "kept").rename(kept)
    assert desk.now()["baseline"] == "v1"


def behind(link: Path) -> Path:
    """Put a link to a file of its own in the place of a file, and return that one."""
    real = link.with_name(f"{link.name}.real")
    link.rename(real)
    link.symlink_to(real.name)
    return real


def test_a_linked_configuration_is_looked_at(desk: Desk) -> None:
    """What changes in the file that a linked configuration leads to is seen."""
    config = Path(desk.env["NSSTORE_CONFIG"])
    config.write_text('agent = "one"\n')
    real = behind(config)
    del desk.env["NSSTORE_AGENT"]
    assert desk.settle()["agent"] == "one"
    real.write_text('agent = "two"\n')
    assert desk.now()["agent"] == "two"


def test_linked_refs_are_looked_at(desk: Desk) -> None:
    """What changes in the file that linked packed refs lead to is seen."""
    git(desk.place, "pack-refs", "--all")
    real = behind(desk.place / ".git" / "packed-refs")
    assert desk.settle()["branch"] == "main"
    head = git(desk.place, "rev-parse", "HEAD")
    with real.open("a") as file:
        file.write(f"{head} refs/tags/v9\n")
    assert desk.now()["baseline"] == "v9"


def test_a_linked_branch_is_asked_for_each_time(desk: Desk) -> None:
    """What a link among the refs leads to would not show, so git is asked on each call."""
    heads = desk.place / ".git" / "refs" / "heads"
    behind(heads / "main")
    desk.settle()
    asked = desk.asked
    desk.now()
    assert desk.asked == asked + 1


def test_a_linked_git_directory_is_looked_at(desk: Desk) -> None:
    """Another directory in the place of the one that a linked .git leads to is seen."""
    real = desk.place.parent / "apart"
    (desk.place / ".git").rename(real)
    git(real, "config", "core.worktree", str(desk.place))
    (desk.place / ".git").symlink_to(real)
    assert desk.settle()["branch"] == "main"
    shutil.copytree(real, real.with_name("again"))
    real.rename(real.with_name("was"))
    (real.parent / "again" / "HEAD").write_text("ref: refs/heads/other\n")
    real.with_name("again").rename(real)
    assert desk.now()["branch"] == "other"
