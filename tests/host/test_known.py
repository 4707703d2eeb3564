"""What is known is asked again as soon as anything it came from changed; otherwise nobody is asked."""

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
