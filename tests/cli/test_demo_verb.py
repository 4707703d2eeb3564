"""`nsstore demo` as a newcomer meets it."""

from pathlib import Path

import pytest

from nsstore.harness import demo
from nsstore.root import Root
from tests.cli.conftest import Person


def test_it_needs_nothing(person: Person) -> None:
    """Without a store, a scope or a trust home of one's own, it runs and ends with 0."""
    shown = person.ok("demo", **dict.fromkeys(person.env, None))
    assert "✗" not in shown
    assert shown.count("✓") >= 15
    assert 'type: "memory"' in shown
    assert "store/memory/acme/ada/atlas/monday/" in shown


def test_json_is_the_verdict(person: Person) -> None:
    """--json prints the whole verdict."""
    verdict = person.json("demo")
    assert tuple(verdict) == ("held", "steps", "tree", "record", "seconds")
    assert verdict["held"] is True


def test_it_fails_when_something_is_not_so(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """If one step does not hold, it is marked, the last line counts it, and the exit code is 1."""

    def do_nothing(root: Root, path: str) -> None:
        del root, path

    monkeypatch.setattr(demo, "flip", do_nothing)
    done = person("demo")
    assert done.exit_code == 1
    assert done.stdout.count("✗") == 2
    assert "did not hold" in done.stdout
    assert person("demo", "--json").exit_code == 1


def test_it_leaves_the_users_trust_home_alone(person: Person, tmp_path: Path) -> None:
    """It keeps its keys in its own temporary folder."""
    person.ok("demo", NSSTORE_TRUST_HOME=str(tmp_path / "untouched"))
    assert not (tmp_path / "untouched").exists()
