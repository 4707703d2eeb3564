"""What `owner accept` says of a loss: what a ledger still names, and what is only counted."""

from pathlib import Path

from tests.cli.conftest import Person, unattended

MONDAY = "memory/acme/ada/atlas/monday"


def lose_the_newest(person: Person, record_id: str) -> None:
    """Take a record's file away, and the line of the ledger that told of it."""
    person.file_of(record_id).unlink()
    ledger = Path(person.store, f"ledger/{MONDAY}.log")
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))


def test_a_lost_line_is_no_lost_nothing(owner: Person) -> None:
    """A record of which the ledger lost the line too is counted as an event that may have been one."""
    owner.remember("one")
    lose_the_newest(owner, owner.remember("two"))
    done = owner("owner", "accept", "--dry-run")
    assert f"{MONDAY}\t1 event that no ledger tells of\n" in done.stdout
    assert "each may be a record that was written" in done.stderr
    words = owner.ok("owner", "accept", "--why", "the disk", *unattended(owner))
    assert "1 namespace is open again" in words


def test_both_kinds_of_loss_stand_apart(owner: Person) -> None:
    """Records that the ledger names are listed by id, beside the events that nothing names."""
    first, newest = owner.remember("one"), owner.remember("two")
    lose_the_newest(owner, newest)
    owner.file_of(first).unlink()
    done = owner("owner", "accept", "--dry-run")
    assert f"{MONDAY}\t1 record and 1 event that no ledger tells of\n" in done.stdout
    assert f"{MONDAY}/{first}.md" in done.stdout
    assert newest not in done.stdout


def test_a_lost_file_alone_is_a_record(owner: Person) -> None:
    """Where the ledger names all that is lost, nothing is said of events."""
    lost = owner.remember("one")
    owner.file_of(lost).unlink()
    done = owner("owner", "accept", "--dry-run")
    assert f"{MONDAY}\t1 record\n" in done.stdout
    assert f"{MONDAY}/{lost}.md" in done.stdout
    assert "event" not in done.stdout + done.stderr
