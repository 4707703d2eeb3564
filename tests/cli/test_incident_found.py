"""What an incident is about: only what gives the audit's own digest, and only of the tenant's own."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Person

PLACE = "memory/acme/ada/atlas/monday"


def told(person: Person, tenant: str = "acme") -> list[str]:
    """The incidents in a tenant's audit, oldest first."""
    events = [json.loads(line) for line in person.ok("audit", "--json", "--tenant", tenant).splitlines()]
    return [one["incident"] for one in events if one["incident"]]


def flip(file: Path) -> None:
    """Change one byte at the end of a record."""
    file.write_bytes(file.read_bytes()[:-1] + b"!")


def test_a_record_that_was_altered(person: Person) -> None:
    """The namespace and the record are named, whichever key signs by now, and in JSON as well."""
    record_id = person.remember("one")
    person.remember("two")
    flip(person.file_of(record_id))
    assert person("show", record_id).exit_code == 6
    (incident, *_) = told(person)
    person.ok("keys", "rotate")
    found = person.json("audit", "--incident", incident)
    assert (found["kind"], found["namespace"], found["name"]) == ("altered", PLACE, record_id)
    shown = person.ok("audit", "--incident", incident)
    assert f"namespace: {PLACE}\nname: {record_id}\n" in shown


@pytest.mark.parametrize("number", [1, 20])
def test_names_that_were_added(person: Person, number: int) -> None:
    """A name is told by itself, many of them by their namespace and number."""
    folder = person.file_of(person.remember("one")).parent
    for one in range(number):
        (folder / f"n{one}").write_text("x")
    person.ok("list")
    (incident,) = told(person)
    found = person.json("audit", "--incident", incident)
    assert (found["kind"], found["namespace"]) == ("stray", PLACE)
    assert (found["name"], found["count"]) == (("n0", None) if number == 1 else (None, 20))


def test_a_namespace_that_is_closed(person: Person) -> None:
    """A ledger that is gone, and an anchor that proves nothing, are told by the namespace."""
    person.remember("one")
    ledger = person.store / "ledger/memory/acme/ada/atlas/monday.log"
    raw = ledger.read_bytes()
    ledger.unlink()
    assert person("list").exit_code == 6
    ledger.write_bytes(raw)
    ledger.chmod(0o600)
    (incident, *_) = told(person)
    assert person.json("audit", "--incident", incident)["namespace"] == PLACE


def test_nothing_is_guessed(person: Person) -> None:
    """What is not there any more, another tenant's incident and an id of none are not answered."""
    record_id = person.remember("one")
    stray = person.file_of(record_id).parent / "notes.txt"
    stray.write_text("x")
    person.ok("list")
    (incident,) = told(person)
    stray.unlink()
    done = person("audit", "--incident", incident)
    assert done.exit_code == 0
    assert "notes" not in done.stdout
    assert "namespace" not in done.stdout
    assert "keyed digest" in done.stderr
    for args in ((incident, "--tenant", "globex"), ("0" * 16,), ("x",)):
        assert person("audit", "--incident", *args).exit_code == 3
    assert person("audit", "verify", "--incident", incident).exit_code == 3
