"""What somebody meets who does not know the program yet: errors that name what was given, and what helps."""

import json
from pathlib import Path

import pytest

import nsstore
from nsstore.cli import printing
from tests.cli.conftest import Person


def test_the_trust_home_is_named(person: Person) -> None:
    """What is wrong with the trust home is not said of the store."""
    (home,) = person.trust.iterdir()
    (keys,) = home.glob("keys*")
    for path, mode in ((home, 0o755), (keys, 0o644)):
        before = path.stat().st_mode & 0o777
        path.chmod(mode)
        done = person("list")
        assert done.exit_code == 7
        assert "part of the trust home is open to other users" in done.stderr
        path.chmod(before)
    home.rename(home.with_name("elsewhere"))
    home.symlink_to("loop")
    home.with_name("loop").symlink_to(home)
    assert "opening the trust home" in person("list").stderr


def test_an_option_before_the_verb(person: Person) -> None:
    """An option of the verbs that stands in front of them is said to go behind."""
    done = person("--json", "list")
    assert done.exit_code == 2
    assert "--json goes after the verb" in done.stdout
    assert "--store goes after the verb" in person("--store", "x", "list").stderr
    assert "goes after" not in person("--nothing", "list").stderr


def test_a_backup_that_is_there(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked for a passphrase before the name is known to be free."""

    def asked(*_: object, **__: object) -> str:
        raise AssertionError("asked")

    monkeypatch.setattr(printing, "somebody_answers", lambda: True)
    monkeypatch.setattr("nsstore.cli.keys.passphrase_from", asked)
    file = person.place / "notes.backup"
    file.write_text("x")
    done = person("keys", "backup", str(file))
    assert done.exit_code == 3
    assert "notes.backup (the backup) must be a new file" in done.stderr


def test_a_store_that_is_there(person: Person) -> None:
    """`init` says that the place it was given is a store already, or what else is in the way."""
    done = person("init", str(person.store))
    assert (done.exit_code, done.stderr.count("there is a store already")) == (3, 1)
    assert "store (the path of a store)" in done.stderr
    other = person.place / "other"
    other.mkdir()
    (other / "x").write_text("x")
    assert "absent or empty directory" in person("init", str(other)).stderr


def test_older_versions_of_a_document(person: Person) -> None:
    """A version is read by its id, and only under its own key and in its own scope."""
    first = person.ok("state", "put", "plan", "first").strip()
    second = person.ok("state", "put", "plan", "second").strip()
    other = person.ok("state", "put", "other", "x").strip()
    for version, text in ((first, "first"), (second, "second")):
        assert person.ok("state", "get", "plan", "--version", version, "--text") == text
    assert person.ok("state", "get", "plan", "--text") == "second"
    assert person("state", "get", "plan", "--version", other).exit_code == 4
    assert person("state", "get", "plan", "--version", first, "--agent", "codex").exit_code == 4
    assert person("state", "get", "plan", "--version", "x").exit_code == 3


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux what this process may do")
def test_what_is_not_there_is_no_stray(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory that a user may not look into is told, and nothing in it that never was."""
    from nsstore.errors import SystemFailure
    from nsstore.root import Root

    person.remember("one")
    opened = Root.dir

    def closed(root: Root, path: str) -> object:
        if path.startswith("ledger/"):
            raise SystemFailure("opening a directory of the store", PermissionError(13, "no"))
        return opened(root, path)

    monkeypatch.setattr(Root, "dir", closed)
    paths = [one["path"] for one in person.json("check")["findings"] if one["kind"] == "stray"]
    assert "ledger/memory" in paths
    assert "ledger/state" not in paths


def test_only_public_names_are_shown() -> None:
    """`dir` lists what the package promises, and nothing that it imports for itself."""
    assert dir(nsstore) == sorted([*nsstore.__all__, "__version__"])


def test_a_list_goes_on(person: Person) -> None:
    """Page by page a list shows each record once, newest first, superseded ones where they are asked for."""
    ids = [person.remember(f"number {number}") for number in range(7)]
    newest = person.remember("instead", "--supersedes", ids[3])
    for flags, wanted in (((), [newest, *reversed(ids[:3] + ids[4:])]), (("--all",), [newest, *ids[::-1]])):
        shown, before = list[str](), list[str]()
        while True:
            page = json.loads(person.ok("list", "-n", "3", "--json", *flags, *before))
            shown += [one["record_id"] for one in page["items"]]
            assert page["total"] == len(wanted)
            if not page["older"]:
                break
            before = ["--before", shown[-1]]
        assert shown == wanted
