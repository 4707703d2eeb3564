"""``nsstore selftest``: with and without a store, into the trust home or into a file."""

import json
from pathlib import Path

import pytest
from click.testing import Result

import nsstore
from nsstore import opening
from nsstore.errors import SystemFailure
from nsstore.gate import Home, Kept
from nsstore.gate.testing import VARIABLE
from tests.cli.conftest import Person
from tests.gate.conftest import GREEN, RED, Tries, start_afresh


@pytest.fixture
def person(
    tmp_path: Path,
    tries: Tries,
    code: object,  # noqa: ARG001 - that program is run
    monkeypatch: pytest.MonkeyPatch,
) -> Person:
    """A person whose store was just made, and whose program is tested by what the test says."""
    monkeypatch.setattr(opening, "prove", tries)
    (tmp_path / "etc").mkdir(mode=0o700)
    someone = Person(tmp_path)
    someone.ok("init", str(someone.store))
    return someone


def kept(person: Person) -> Kept:
    """What the trust home keeps."""
    return Home(str(person.trust)).read()


def run(person: Person, *args: str, **env: str | None) -> Result:
    """Run the verb in a process that starts now."""
    start_afresh()
    return person("selftest", *args, **env)


def test_green_is_said_and_kept(person: Person, tries: Tries) -> None:
    """It says what was tested and that it is green, and whoever opens the store next finds the result."""
    done = run(person)
    assert done.exit_code == 0
    assert done.stdout.endswith("green: 3 cases passed\n")
    assert "file system" in done.stdout
    assert kept(person).results[0].green
    start_afresh()
    person.remember("the train leaves")
    assert "train" in person.ok("search", "train")
    assert tries.count == 1


def test_red_is_said_and_closes(person: Person, tries: Tries) -> None:
    """Exit code 1, the case that failed; search is refused until a later test is green."""
    person.remember("the train leaves")
    tries.proof = RED
    done = run(person)
    assert done.exit_code == 1
    assert "failed: AC05" in done.stdout
    assert "search is closed" in done.stdout
    start_afresh()
    refused = person("search", "train")
    assert refused.exit_code == 5
    assert "AC05" in refused.stderr
    assert "train" in person.ok("list")
    tries.proof = GREEN
    assert run(person).exit_code == 0
    start_afresh()
    assert "train" in person.ok("search", "train")


def test_json_says_all_of_it(person: Person) -> None:
    """One value: the result with its whole fingerprint, and whether it could be kept."""
    said = json.loads(run(person, "--json").stdout)
    assert said["unkept"] is None
    assert said["result"]["green"] is True
    assert set(said["result"]["fingerprint"]) == {
        "code", "suite", "python", "tantivy", "msgspec", "filesystem",
    }  # fmt: skip


def test_out_makes_a_file_to_be_named(person: Person, tries: Tries) -> None:
    """The file opens search wherever it is named, to any user; the trust home is left as it was."""
    file = person.place / "etc" / "gate"
    assert run(person, "--out", str(file)).exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o644
    assert kept(person).results == ()
    start_afresh()
    with nsstore.open(person.store, trust_home=person.trust, gate=file) as store:
        assert store.gate.green
    assert tries.count == 1


def test_out_needs_no_store(tmp_path: Path, person: Person, tries: Tries) -> None:
    """An image is tested before there is any store or trust home, and none is made for it."""
    file = tmp_path / "etc" / "gate"
    nobody = tmp_path / "nobody"
    done = run(person, "--out", str(file), NSSTORE_STORE=None, NSSTORE_TRUST_HOME=str(nobody))
    assert done.exit_code == 0, done.stderr
    assert file.exists()
    assert run(person, "--out", f"{file}2", NSSTORE_STORE=str(tmp_path / "later")).exit_code == 0
    assert tries.folders[-1].is_relative_to(tmp_path)
    assert not (tmp_path / "later").exists()
    assert not nobody.exists()


@pytest.mark.parametrize("where", ["taken", "inside"])
def test_out_overwrites_nothing(person: Person, tries: Tries, where: str) -> None:
    """A name that is taken, and one inside the store, are refused before anything is run."""
    taken = person.place / "etc" / "gate"
    taken.write_text("mine")
    file = {"taken": taken, "inside": person.store / "gate"}[where]
    assert run(person, "--out", str(file)).exit_code == 3
    assert taken.read_text() == "mine"
    assert tries.count == 0


def test_what_cannot_be_kept_is_said(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that the trust home takes not is told, with why."""

    def full(*_: object) -> None:
        raise SystemFailure("writing", OSError(28, ""))

    monkeypatch.setattr(Home, "keep", full)
    done = run(person)
    assert done.exit_code == 0
    assert "could not be kept in the trust home: writing: No space left on device" in done.stderr


def test_a_test_that_cannot_run_is_an_error(person: Person, tries: Tries) -> None:
    """It is neither green nor red: the failure of the system, or a refusal, with its own exit code."""

    def fail(_: Path) -> None:
        raise RuntimeError

    tries.meanwhile = fail
    done = run(person)
    assert done.exit_code == 5
    assert "proves nothing" in done.stderr

    def full(_: Path) -> None:
        raise SystemFailure("writing", OSError(28, ""))

    tries.meanwhile = full
    assert run(person).exit_code == 9


def test_a_result_that_was_named_is_outlived(person: Person, tries: Tries) -> None:
    """A red test is heard although the variable names an older green result."""
    file = person.place / "etc" / "gate"
    run(person, "--out", str(file))
    tries.proof = RED
    assert run(person, **{VARIABLE: str(file)}).exit_code == 1
    start_afresh()
    assert person("search", "x", **{VARIABLE: str(file)}).exit_code == 5


def test_a_store_without_its_keys_is_refused(person: Person, tmp_path: Path) -> None:
    """What cannot be opened is not tested in: the same error as every verb gives."""
    assert run(person, NSSTORE_TRUST_HOME=str(tmp_path / "other")).exit_code == 5
