"""Backup, restore and acceptance at the terminal."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Person, unattended

pytestmark = pytest.mark.usefixtures("quick_keys")
OWNERS = "owner's own passphrase"


def test_another_machine(person: Person) -> None:
    """One file and a passphrase are the whole store on a machine that never saw it."""
    one = person.remember("the heron stands in the reeds")
    file, other = str(person.place / "b"), str(person.place / "other")
    made = person.json("backup", file, *unattended(person))
    assert (made["records"], made["namespaces"], made["audits"], made["left_out"]) == (1, 1, 1, [])
    assert made["bytes"] == Path(file).stat().st_size
    env = {"NSSTORE_STORE": other, "NSSTORE_TRUST_HOME": str(person.place / "other-trust")}
    done = person.json("restore", file, other, *unattended(person), **env)
    assert (done["records"], done["lost"], done["closed"], done["rights"]) == (1, [], [], None)
    assert person.json("show", one, **env)["text"] == "the heron stands in the reeds"
    assert person.ok("check", **env)
    words = person.ok("backup", str(person.place / "c"), *unattended(person))
    assert "1 record of 1 namespace, 1 audit" in words


def test_an_older_state_and_its_acceptance(person: Person) -> None:
    """What the trust home knows and the backup lacks is told, stays closed, and opens by the owner's word."""
    person.ok("owner", "init", "--name", "Ada", *unattended(person, OWNERS))
    kept, gone = person.remember("kept"), person.remember("forgotten later")
    file = str(person.place / "b")
    person.ok("backup", file, *unattended(person))
    person.ok("forget", gone)
    person.remember("after the backup")
    again = person("restore", file, str(person.place / "again"), *unattended(person))
    assert (again.exit_code, "still stands" in again.stderr) == (5, True)
    shutil.rmtree(person.store)
    done = person("restore", file, str(person.store), *unattended(person))
    assert done.exit_code == 1
    assert "memory/acme/ada/atlas/monday" in done.stdout
    assert "what was forgotten since is among what was put back" in done.stderr
    assert person("list").exit_code == 6
    look = person.json("owner", "accept", "--dry-run")
    assert look["statement"] is None
    assert [(one["events"], one["records"]) for one in look["lost"]] == [(3, [])]
    assert person("owner", "accept", *unattended(person, OWNERS)).exit_code == 3
    words = person.ok("owner", "accept", "--why", "the disk", *unattended(person, OWNERS))
    assert "statement 1 gives it up: 1 namespace is open again" in words
    assert [person.json("show", one)["text"] for one in (kept, gone)] == ["kept", "forgotten later"]
    shown = json.loads(person.ok("owner", "show", "1", "--json"))
    assert (shown["kind"], shown["namespaces"], shown["events"]) == ("accepted", 1, 3)
    assert "given up: namespaces: 1; events: 3; records: 0" in person.ok("owner", "list")
    assert person("owner", "revoke", "1", "--why", "no", *unattended(person, OWNERS)).exit_code == 3
    person.remember("it goes on")
    assert "nothing is lost" in person.ok("owner", "accept", "--why", "no", *unattended(person, OWNERS))


def test_what_is_left_of_it(person: Person) -> None:
    """With the directory of the damaged store, what was forgotten after the backup stays forgotten."""
    kept, gone = person.remember("kept"), person.remember("forgotten later")
    file, old = str(person.place / "b"), person.place / "old"
    person.ok("backup", file, *unattended(person))
    person.ok("forget", gone)
    later = person.remember("after the backup")
    person.store.rename(old)
    nowhere = person("restore", file, str(person.store), "--old", str(old / "no"), *unattended(person))
    assert (nowhere.exit_code, person.store.exists()) == (3, False)
    words = person.ok("restore", file, str(person.store), "--old", str(old), *unattended(person))
    assert f"memory/acme/ada/atlas/monday/{gone}.md" in words
    assert [person.json("show", one)["text"] for one in (kept, later)] == ["kept", "after the backup"]
    assert person("show", gone).exit_code == 4


def test_something_else_among_what_is_left(person: Person) -> None:
    """A link among the remains stops no restore: it is told, followed by nobody, and the exit code is 1."""
    gone = person.remember("forgotten later")
    file, old, apart = str(person.place / "b"), person.place / "old", person.place / "apart"
    person.ok("backup", file, *unattended(person))
    person.ok("forget", gone)
    person.store.rename(old)
    ledger = "ledger/memory/acme/ada/atlas/monday.log"
    (old / ledger).rename(apart)
    (old / ledger).symlink_to(apart)
    for place, flags in (("one", ()), ("two", ("--json",))):
        env = {"NSSTORE_TRUST_HOME": str(person.place / f"trust-{place}")}
        to = str(person.place / place)
        done = person("restore", file, to, "--old", str(old), *flags, *unattended(person), **env)
        assert done.exit_code == 1
        if flags:
            assert json.loads(done.stdout)["passed_by"] == [ledger]
        else:
            assert f"{ledger}: no file of a store" in done.stderr
    assert (old / ledger).is_symlink()


def test_a_lost_record_is_accepted(person: Person) -> None:
    """Without any backup the owner gives up a record that is gone, and a namespace that is gone whole."""
    person.ok("owner", "init", "--name", "Ada", *unattended(person, OWNERS))
    kept, gone = person.remember("kept"), person.remember("lost")
    person.remember("elsewhere", NSSTORE_SESSION="tuesday")
    person.file_of(gone).unlink()
    shutil.rmtree(person.store / "memory/acme/ada/atlas/tuesday")
    (person.store / "ledger/memory/acme/ada/atlas/tuesday.log").unlink()
    accept = ("owner", "accept", "--why", "the disk", *unattended(person, OWNERS))
    done = person.json(*accept, "--gone", "memory/acme/ada/atlas/tuesday")
    assert sorted((one["events"], one["records"]) for one in done["lost"]) == [(0, [gone]), (2, [])]
    assert person("show", gone).exit_code == 4
    assert person.json("show", kept)["text"] == "kept"
    assert person.remember("goes on", NSSTORE_SESSION="tuesday")
    assert person.ok("check")
    for wrong in ("memory/acme", "../x", "memory/acme/ada/atlas/..", "ledger/a/b/c/d"):
        assert person(*accept, "--gone", wrong).exit_code == 3


def test_a_backup_is_new_and_apart(person: Person) -> None:
    """The file is a new one, outside the store and its trust home, and of a passphrase long enough."""
    (person.place / "taken").write_text("mine")
    assert person("backup", str(person.place / "taken"), *unattended(person)).exit_code == 3
    assert (person.place / "taken").read_text() == "mine"
    (person.place / "link").symlink_to(person.place / "nowhere")
    assert person("backup", str(person.place / "link"), *unattended(person)).exit_code == 3
    assert not (person.place / "nowhere").exists()
    assert person("backup", str(person.place / "no" / "where"), *unattended(person)).exit_code == 9
    before = os.umask(0)
    try:
        person.ok("backup", str(person.place / "open"), *unattended(person))
    finally:
        os.umask(before)
    assert (person.place / "open").stat().st_mode & 0o7777 == 0o600
    assert person("backup", str(person.store / "b"), *unattended(person)).exit_code == 3
    short = person("backup", str(person.place / "short"), *unattended(person, "short"))
    assert (short.exit_code, (person.place / "short").exists()) == (3, False)
    assert person("backup", str(person.place / "none")).exit_code == 5
    assert not (person.place / "none").exists()
