"""What `check` moves away it tells, and what is as it was keeps the incident it has."""

from pathlib import Path

from tests.cli.conftest import Person
from tests.cli.test_check_verb import leaf

FORGED = "019a2b3c-4d5e-7f60-8123-456789abcdef.md"


def plant(person: Person, raw: bytes) -> Path:
    """Put a file among the records, under a record's name."""
    path = leaf(person) / FORGED
    path.write_bytes(raw)
    path.chmod(0o600)
    return path


def test_a_planted_file_that_is_moved_is_told(person: Person) -> None:
    """A forged file is a finding with its name, where it went and why; the run after that finds nothing."""
    one = person.remember("one")
    planted = plant(person, person.file_of(one).read_bytes().replace(b"one", b"two"))
    done = person("check", "--json")
    assert (done.exit_code, planted.exists()) == (1, False)
    found = person.json("check")
    assert found["findings"] == []
    plant(person, b"no header at all")
    found = person.json("check")
    assert found["whole"] is False
    assert [one["repaired"] for one in found["namespaces"]] == [True]
    (finding,) = found["findings"]
    assert (finding["path"], finding["kind"]) == (f"memory/acme/ada/atlas/monday/{FORGED}", "untagged")
    aside = finding["what"].rpartition(" ")[2]
    assert (person.store / aside / FORGED).read_bytes() == b"no header at all"
    assert finding["incident"] in aside
    assert finding["remedy"]
    plant(person, b"again")
    shown = person("check").stdout
    assert f"untagged: memory/acme/ada/atlas/monday/{FORGED}: " in shown
    assert "nothing is wrong" not in shown


def test_what_is_kept_out_has_a_remedy_and_one_incident(person: Person) -> None:
    """A sealed copy that stays where it is keeps its incident from run to run, until somebody touches it."""
    gone = person.remember("gone")
    raw = person.file_of(gone).read_bytes()
    person.ok("forget", gone)
    copy = leaf(person) / f"{gone}.md"
    copy.write_bytes(raw)
    copy.chmod(0o600)
    (first,) = person.json("check")["findings"]
    assert (first["kind"], "move it away" in first["remedy"]) == ("replayed", True)
    (again,) = person.json("check")["findings"]
    assert again["incident"] == first["incident"]
    events = [line for line in person.ok("audit").splitlines() if "replayed" in line]
    assert len(events) == 1
    copy.unlink()
    copy.write_bytes(raw)
    copy.chmod(0o600)
    (third,) = person.json("check")["findings"]
    assert third["incident"] != first["incident"]
