"""The audit at the terminal: the caller's tenant alone, and whether its chain is whole."""

import json
from pathlib import Path

from nsstore.audit import AuditLine, AuditVerdict
from tests.cli.conftest import Person


def month(person: Person, tenant: str = "acme") -> Path:
    """The month's file of a tenant's audit."""
    (found,) = (person.store / "audit" / "tenants" / tenant).glob("*.jsonl")
    return found


def test_it_shows_what_happened(person: Person) -> None:
    """Writes, reads and denials stand in it with the asker, in order, one a row."""
    record_id = person.remember("secret words")
    person("show", record_id, "--project", "other")
    rows = [line.split("\t") for line in person.ok("audit").splitlines()]
    assert [(row[1], row[2], row[3]) for row in rows] == [
        ("written", "remember", "ada atlas monday human"),
        ("denied", "get", "ada other monday human"),
    ]
    assert [row[7] for row in rows] == [record_id, record_id]
    assert "secret" not in person.ok("audit")


def test_json_is_one_event_a_line(person: Person) -> None:
    """--json prints each event on a line of its own, with every field of the audit."""
    person.remember("one")
    person.ok("search", "one")
    events = [json.loads(line) for line in person.ok("audit", "--json").splitlines()]
    assert [event["event"] for event in events] == ["written", "searched"]
    assert all(tuple(event) == AuditLine.__struct_fields__ for event in events)
    assert [json.loads(line)["event"] for line in person.ok("audit", "--json", "-n", "1").splitlines()] == [
        "searched"
    ]


def test_each_tenant_has_its_own(person: Person) -> None:
    """Another tenant's events, and a group's of the same name, are not shown; only a tenant is needed."""
    person.remember("acme's")
    person.remember("globex's", NSSTORE_TENANT="globex")
    only = dict.fromkeys(person.env, None) | {"NSSTORE_STORE": str(person.store)}
    only["NSSTORE_TRUST_HOME"] = str(person.trust)
    assert len(person.ok("audit", "--tenant", "globex", **only).splitlines()) == 1
    assert person.ok("audit", "--group", "globex", **only) == ""
    assert person("audit", **only).exit_code == 3
    assert person("audit", "--tenant", "*", **only).exit_code == 3


def test_verify_finds_a_whole_chain(person: Person) -> None:
    """An untouched chain is whole, in words and in JSON."""
    person.remember("one")
    assert person.ok("audit", "verify").startswith("whole: 1 event,")
    verdict = person.json("audit", "verify")
    assert tuple(verdict) == AuditVerdict.__struct_fields__
    assert verdict["whole"] is True


def test_verify_finds_a_changed_line(person: Person) -> None:
    """One changed byte, or a line taken away, ends with 1 and says where."""
    for number in range(3):
        person.remember(f"number {number}")
    file = month(person)
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"count":1', b'"count":2', 1))
    done = person("audit", "verify")
    assert done.exit_code == 1
    assert "line 1" in done.stdout
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert person("audit", "verify", "--json").exit_code == 1
    file.write_bytes(whole)
    assert person("audit", "verify").exit_code == 0


def test_lines_left_out_are_told(person: Person) -> None:
    """The events are shown without a line that no key proves, and how many are left out is told."""
    person.remember("one")
    person.remember("two")
    assert person("audit").stderr == ""
    file = month(person)
    file.write_bytes(file.read_bytes().replace(b'"count":1', b'"count":2', 1))
    done = person("audit")
    assert len(done.stdout.splitlines()) == 1
    assert "1 line left out" in done.stderr
    assert "audit verify" in done.stderr


def test_a_tenant_without_an_audit_is_no_whole_one(person: Person) -> None:
    """A tenant that nothing was ever done for, such as a mistyped one, does not pass as whole."""
    person.remember("one")
    done = person("audit", "verify", "--tenant", "amce")
    assert (done.exit_code, done.stdout) == (1, "there is no audit of this tenant\n")
    assert person.json("audit", "verify", "--tenant", "amce")["whole"] is False
    assert "nothing here" in person("audit", "--tenant", "amce").stderr


def test_a_limit_is_one_of_events(person: Person) -> None:
    """A limit below 1, and one of what is verified whole, are refused."""
    for args in (("-n", "0"), ("verify", "-n", "2")):
        assert person("audit", *args).exit_code == 3, args
    assert person.ok("audit", "-n", str(10**30)) == person.ok("audit")


def test_a_lock_file_that_is_gone_hides_nothing(person: Person) -> None:
    """Without its lock file a chain is still shown and still verified."""
    person.remember("one")
    (month(person).parent / "audit.lock").unlink()
    assert len(person.ok("audit").splitlines()) == 1
    assert person.ok("audit", "verify").startswith("whole")


def test_an_audit_that_is_gone_is_told(person: Person) -> None:
    """A chain that the trust home knows and the disk lacks is not whole."""
    person.remember("one")
    month(person).unlink()
    assert person("audit", "verify").exit_code == 1
