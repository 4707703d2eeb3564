"""Something else stands under the name of a month that begins: the chain goes on under a further name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.audit import AuditLog, EventKind, read_events, spelled, verify
from nsstore.audit import log as log_module
from nsstore.errors import WitnessError
from nsstore.trust import BadLine
from tests.audit.conftest import ACME, DENIED, READ, Office

DECEMBER, FURTHER = "2026-12", "2026-12.2"
pytestmark = pytest.mark.usefixtures("unflushed")


def as_directory(at: Path, _: Path) -> None:
    """A directory."""
    at.mkdir(mode=0o700)


def as_fifo(at: Path, _: Path) -> None:
    """A FIFO."""
    os.mkfifo(at, 0o600)


def as_link(at: Path, apart: Path) -> None:
    """A symbolic link to a file of somebody's."""
    apart.write_bytes(b"")
    at.symlink_to(apart)


def as_dangling_link(at: Path, apart: Path) -> None:
    """A symbolic link to nothing, where a file could be made."""
    at.symlink_to(apart)


def as_second_name(at: Path, apart: Path) -> None:
    """A file with a name elsewhere too."""
    apart.write_bytes(b"")
    os.link(apart, at)


Plant = Callable[[Path, Path], None]
PLANTS: tuple[Plant, ...] = (as_directory, as_fifo, as_link, as_dangling_link, as_second_name)


def taken(office: Office, plant: Plant = as_directory, *, events: int = 3) -> AuditLog:
    """A log that wrote in November, and something else where December's file will be; December begins."""
    log = office.log()
    for _ in range(events):
        log.append(ACME, DENIED)
    office.root.make_dir("audit/tenants/acme").close()
    plant(office.month(DECEMBER), office.place / "apart")
    office.clock.day = "2026-12-01T00:00:"
    return log


def seqs(office: Office) -> list[int]:
    """The numbers of all events, in the order in which they are read."""
    return [line.seq for line in read_events(office.log(), ACME)]


def remove(at: Path) -> None:
    """Move away what was planted."""
    at.rename(at.with_name("moved away"))


@pytest.mark.parametrize("fresh", [False, True], ids=["the same process", "another process"])
@pytest.mark.parametrize("plant", PLANTS)
def test_a_month_that_begins(office: Office, plant: Plant, *, fresh: bool) -> None:
    """No event is refused or lost, the name is told as an incident, and nothing is written through it."""
    log = taken(office, plant)
    before = os.lstat(office.month(DECEMBER))
    for event in (READ, DENIED, READ):
        (office.log() if fresh else log).append(ACME, event)
    log.require_ready(ACME)
    assert [line.reason for line in read_events(log, ACME) if line.event is EventKind.CONTAMINATION] == [
        "linked"
    ] * (3 if fresh else 1)
    assert seqs(office) == list(range(9 if fresh else 7))
    assert len(office.lines(FURTHER)) == (6 if fresh else 4)
    apart = office.place / "apart"
    assert not apart.exists() or apart.read_bytes() == b""
    assert os.lstat(office.month(DECEMBER))[:7] == before[:7]
    verdict = verify(office.log(), ACME)
    assert [fault.partition(":")[0] for fault in verdict.faults] == [DECEMBER]
    assert verdict.gaps == 0
    remove(office.month(DECEMBER))
    assert verify(office.log(), ACME).whole
    for one in (log, office.log()):
        one.append(ACME, READ)
    assert seqs(office) == list(range(11 if fresh else 9))
    assert verify(office.log(), ACME).whole
    assert not office.month(DECEMBER).exists() or office.month(DECEMBER).stat().st_size == 0


def test_the_first_event_of_all(office: Office) -> None:
    """A tenant that has no event yet begins under the further name, whole from its first event on."""
    taken(office, events=0)
    office.log().append(ACME, READ)
    assert seqs(office) == [0, 1]
    remove(office.month(DECEMBER))
    assert verify(office.log(), ACME).whole


def test_the_month_after(office: Office) -> None:
    """January begins under its own name again, and follows what December's further name ends with."""
    log = taken(office)
    log.append(ACME, READ)
    office.clock.day = "2027-01-01T00:00:"
    log.append(ACME, READ)
    office.log().append(ACME, READ)
    assert len(office.lines("2027-01")) == 2, "a fresh process finds the end in January, and tells nothing"
    remove(office.month(DECEMBER))
    assert verify(office.log(), ACME).whole


def test_several_processes(office: Office) -> None:
    """Whoever finds the name taken goes to the same further name, in turn."""
    taken(office)
    one, other = office.log(), office.log()
    for _ in range(3):
        one.append(ACME, READ)
        other.append(ACME, DENIED)
    assert seqs(office) == list(range(3 + 6 + 2))
    assert len(office.lines(FURTHER)) == 8


def test_further_names_that_are_taken_too(office: Office) -> None:
    """The next free name is taken; where none is left, the error says what to move away."""
    log = taken(office)
    for number in range(2, 9):
        as_directory(office.month(f"{DECEMBER}.{number}"), office.place)
    log.append(ACME, READ)
    assert seqs(office) == list(range(12))
    assert len(office.lines(f"{DECEMBER}.9")) == 9
    remove(office.month(f"{DECEMBER}.9"))
    shutil.copy(office.folder / "moved away", office.place / "kept")
    as_directory(office.month(f"{DECEMBER}.9"), office.place)
    (office.folder / "moved away").unlink()
    with pytest.raises(WitnessError, match=rf"not answered.*audit/tenants/acme/{DECEMBER}.9.jsonl") as told:
        log.append(ACME, READ)
    assert str(office.place) not in str(told.value)
    office.month(f"{DECEMBER}.9").rmdir()
    shutil.copy(office.place / "kept", office.month(f"{DECEMBER}.9"))
    log.append(ACME, READ)
    assert seqs(office) == list(range(12 + 8 + 1)), "told again after a failure"


@pytest.mark.parametrize("plant", PLANTS)
def test_a_month_that_holds_events_already(office: Office, plant: Plant) -> None:
    """Its file is not done without: nothing is answered, the error names it, and putting it back suffices."""
    log = taken(office, plant)
    remove(office.month(DECEMBER))
    log.append(ACME, READ)
    office.month(DECEMBER).rename(office.place / "kept")
    (office.place / "apart").unlink(missing_ok=True)
    plant(office.month(DECEMBER), office.place / "apart")
    for one in (log, office.log()):
        with pytest.raises(WitnessError, match=rf"audit/tenants/acme/{DECEMBER}\.jsonl.*put .* back"):
            one.append(ACME, DENIED)
        with pytest.raises(WitnessError):
            office.log().require_ready(ACME)
    assert not office.month(FURTHER).exists()
    office.month(DECEMBER).rename(office.place / "planted")
    (office.place / "kept").rename(office.month(DECEMBER))
    log.append(ACME, DENIED)
    assert verify(office.log(), ACME).whole


def test_one_that_is_only_moved_away(office: Office) -> None:
    """Without the file that was there the tenant goes on at once, and the chain tells what is gone."""
    log = taken(office)
    remove(office.month(DECEMBER))
    log.append(ACME, READ)
    office.month(DECEMBER).unlink()
    as_directory(office.month(DECEMBER), office.place)
    with pytest.raises(WitnessError):
        log.append(ACME, DENIED)
    office.month(DECEMBER).rmdir()
    log.append(ACME, DENIED)
    assert verify(office.log(), ACME).gaps == 1


def test_a_copy_under_a_further_name(office: Office) -> None:
    """A copy of the month's own file takes no event, whoever looks for the end, and is a fault."""
    log = taken(office)
    remove(office.month(DECEMBER))
    log.append(ACME, READ)
    shutil.copy(office.month(DECEMBER), office.month(FURTHER))
    office.month(FURTHER).chmod(0o600)
    size = office.month(FURTHER).stat().st_size
    for one in (office.log(), log, office.log()):
        one.append(ACME, READ)
    assert office.month(FURTHER).stat().st_size == size
    assert not verify(office.log(), ACME).whole
    office.month(FURTHER).unlink()
    assert verify(office.log(), ACME).whole


def test_junk_under_the_further_name(office: Office) -> None:
    """What was put there before is closed with a newline, told, and the chain goes on behind it."""
    log = taken(office)
    office.month(FURTHER).write_bytes(b"torn junk")
    office.month(FURTHER).chmod(0o600)
    log.append(ACME, READ)
    office.log().append(ACME, READ)
    events = [line.event.value for line in read_events(office.log(), ACME)]
    assert sorted(events[3:]) == ["contamination", "contamination", "read", "read", "repaired"]
    remove(office.month(DECEMBER))
    assert verify(office.log(), ACME).whole


def test_a_line_made_ready_is_taken(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was made ready for an event is what the further file gets: nothing is made again in the lock."""
    log, made = taken(office), 0
    log.append(ACME, READ)
    event = spelled(READ)
    log.prepare(ACME, event)

    def again(*_: object, **__: object) -> tuple[bytes, bytes]:
        nonlocal made
        made += 1
        raise BadLine("it was made ready")

    monkeypatch.setattr(log_module, "write_line", again)
    log.append(ACME, event)
    assert made == 0
    assert len(office.lines(FURTHER)) == 3
