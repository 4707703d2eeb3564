"""A chain's end is found and its lines are read, whatever a file grew to and whatever stands beside it."""

from __future__ import annotations

import os
import shutil
import tracemalloc

import pytest

from nsstore import layout
from nsstore.audit import AuditEvent, AuditLine, AuditLog, EventKind, ending, read_events, read_lines, verify
from nsstore.audit.ending import End, find_end
from nsstore.audit.events import LONGEST, framer_of, read_line, spelled, write_line
from nsstore.errors import EscapeError, SystemFailure, WitnessError
from nsstore.root import Dir, File
from nsstore.trust import BadLine, Chain, Keys
from tests.audit.conftest import ACME, DENIED, READ, Office

NOVEMBER, DECEMBER, LATER = "2026-11", "2026-12", "9999-12"
MIB = 1024 * 1024
RECORD = "01934f2e-8b7a-7c3d-9e21-0123456789ab"


def fill(office: Office, count: int = 3) -> AuditLog:
    """A log with some events."""
    log = office.log()
    for _ in range(count):
        log.append(ACME, DENIED)
    return log


def found(log: AuditLog, before: End | None = None) -> End:
    """The end of the tenant's chain as one process finds it."""
    chain, heads = log.chain(ACME), layout.audit_head_path(ACME)
    cell = log.trust.anchors.open(heads, chain)
    return find_end(log.root, log.trust, chain, layout.audit_dir(ACME), cell, before=before)


def kinds(office: Office) -> list[str]:
    """The kinds of all events, in order."""
    return [line.event.value for line in read_events(office.log(), ACME)]


def copied(office: Office, month: str, name: str) -> None:
    """A private copy of a month under another name."""
    shutil.copy(office.month(month), office.month(name))


@pytest.mark.parametrize("size", [1000, 7000, 100_000])
@pytest.mark.parametrize("torn", [False, True])
def test_a_long_event_is_found_again(office: Office, size: int, *, torn: bool) -> None:
    """However many records an event names, another process goes on after it and tells of no gap."""
    log = fill(office)
    log.append(ACME, AuditEvent(event=EventKind.LISTED, records=(RECORD,) * size, count=size))
    log.close()
    if torn:
        with office.month().open("ab") as file:
            file.write(office.lines()[-1][:-2])
    office.log().append(ACME, READ)
    assert kinds(office) == ["denied"] * 3 + ["listed", *(["repaired"] if torn else []), "read"]
    assert verify(office.log(), ACME).whole


def test_an_event_that_is_too_long_is_not_written(office: Office) -> None:
    """No line can be written that is longer than what the end is looked for in: its operation fails."""
    log = fill(office)
    with pytest.raises(WitnessError):
        log.append(ACME, AuditEvent(event=EventKind.LISTED, records=(RECORD,) * 110_000))
    log.append(ACME, READ)
    assert kinds(office) == ["denied"] * 3 + ["read"]
    assert verify(office.log(), ACME).whole


def test_the_longest_line(office: Office) -> None:
    """A line of exactly the longest size is written, found and read; one byte more is refused."""
    log = fill(office, 1)
    keys, chain = log.trust.keys, log.chain(ACME)
    at, before = "2026-11-30T23:00:00.000000Z", found(log)

    def line(verb: str) -> bytes:
        said = spelled(AuditEvent(event=EventKind.READ, verb=verb))
        return write_line(framer_of(keys, chain), said, seq=1, at=at, prev=before.head.hex())[0]

    verb = "v" * (LONGEST - len(line("")))
    with pytest.raises(BadLine):
        line(verb + "v")
    with office.month().open("ab") as file:
        file.write(line(verb))
    assert found(log).seq == 1
    assert [len(one.verb or "") for one in read_events(log, ACME)] == [3, len(verb)]


def test_a_sparse_month_is_read_in_little_memory(office: Office) -> None:
    """A month that somebody made a gigabyte long is verified in the memory of a few lines."""
    log = fill(office)
    os.truncate(office.month(), 1024 * MIB)
    tracemalloc.start()
    try:
        assert len([line for line in read_lines(log, ACME) if line is None]) == 1
        assert tracemalloc.get_traced_memory()[1] < 24 * MIB
    finally:
        tracemalloc.stop()
    assert verify(office.log(), ACME).faults == ("2026-11 line 4, not ended: a line that is not the audit's",)
    log.append(ACME, READ)
    assert kinds(office)[-1] == "read"


def test_many_lines_are_told_in_few_words(office: Office) -> None:
    """However many lines are put in, so many faults are told in words, and the others by their number."""
    fill(office)
    with office.month().open("ab") as file:
        file.write(b"\n" * 300_000)
    faults = verify(office.log(), ACME).faults
    assert faults[-1] == "and 299000 more like these"
    assert len(faults) == 1001


@pytest.mark.parametrize("fresh", [False, True])
def test_a_copy_under_a_later_name_takes_no_event(office: Office, *, fresh: bool) -> None:
    """Events go on in their own month, even when the copied month held events of a clock gone back."""
    office.clock.day = "2026-12-01T00:00:"
    log = fill(office)
    office.clock.day = "2026-11-30T00:00:"
    log.append(ACME, READ)
    copied(office, DECEMBER, LATER)
    size = office.month(LATER).stat().st_size
    (office.log() if fresh else log).append(ACME, READ)
    office.log().append(ACME, READ)
    assert office.month(LATER).stat().st_size == size
    assert [line.seq for line in read_events(office.log(), ACME)] == list(range(len(kinds(office))))
    (fault,) = verify(office.log(), ACME).faults
    assert fault == "9999-12: a file with the lines of other months"


def test_a_clock_that_was_far_ahead_keeps_its_month(office: Office) -> None:
    """A month that the clock really showed stays the chain's when the clock is right again, and no stray."""
    office.clock.day = "2031-01-01T00:00:"
    fill(office)
    office.clock.day = "2026-11-30T23:00:"
    for _ in range(3):
        office.log().append(ACME, READ)
    assert kinds(office) == ["denied"] * 3 + ["read"] * 3
    assert len(office.lines("2031-01")) == 6
    assert verify(office.log(), ACME).whole


def test_a_copy_in_place_of_a_month_that_is_entered_later(office: Office) -> None:
    """A torn copy waiting under next month's name is closed before the month's first event is added."""
    fill(office)
    office.month(DECEMBER).write_bytes(office.month().read_bytes()[:-1])
    office.month(DECEMBER).chmod(0o600)
    office.log().append(ACME, READ)
    assert office.month(DECEMBER).read_bytes()[-1:] != b"\n"
    office.clock.day = "2026-12-01T00:00:"
    office.log().append(ACME, READ)
    assert kinds(office)[-1] == "read"
    assert not verify(office.log(), ACME).whole
    office.log().append(ACME, READ)
    assert [line.seq for line in read_events(office.log(), ACME)][-2:] == [7, 8]


def test_a_stray_is_told_once_for_each_end(office: Office) -> None:
    """An end that is found again after another tells only what is new, and what that one did not tell."""
    log = fill(office)
    office.month(LATER).mkdir(mode=0o700)
    first = found(log)
    assert [one.reason for one in first.repairs] == ["linked"]
    assert found(log, first).repairs == first.repairs, "it was not told yet"
    digest = first.repairs[0].digest
    first.left_at(NOVEMBER, 1, 1)
    assert found(log, first).repairs == ()
    office.month("9998-01").mkdir(mode=0o700)
    second = found(log, first)
    assert len(second.repairs) == 1
    assert second.repairs[0].digest != digest
    assert len(second.strays) == 2
    assert len(found(log).repairs) == 2


def test_a_repair_is_told_with_what_it_repairs(office: Office) -> None:
    """Looking for the end writes nothing: a line that was not ended is told until an event is behind it."""
    log = fill(office)
    with office.month().open("ab") as file:
        file.write(b"torn")
    before = office.month().read_bytes()
    for end in (found(log), found(log, found(log))):
        assert [(one.event, one.bytes) for one in end.repairs] == [(EventKind.REPAIRED, 4)]
    assert office.month().read_bytes() == before
    log.require_ready(ACME)
    log.close()  # as if its process had been killed
    office.log().append(ACME, READ)
    assert kinds(office)[-2:] == ["repaired", "read"]
    assert found(log).repairs == ()
    assert verify(office.log(), ACME).whole


@pytest.mark.parametrize(("errno", "skipped"), [(13, True), (1, True), (11, True), (5, False), (24, False)])
def test_what_the_system_says_of_a_month(
    office: Office, monkeypatch: pytest.MonkeyPatch, errno: int, *, skipped: bool
) -> None:
    """A name that may not be opened is passed by and told; a disk or a process at its end is an error."""
    log = fill(office)
    office.month(LATER).touch(mode=0o600)
    real = Dir.open

    def refusing(self: Dir, name: str, flags: int = 0) -> File | None:
        if name.startswith(LATER):
            raise SystemFailure("opening a file of the store", OSError(errno, "no"))
        return real(self, name, flags)

    monkeypatch.setattr(Dir, "open", refusing)
    if not skipped:
        with pytest.raises(SystemFailure):
            found(log)
        with pytest.raises(SystemFailure):
            verify(log, ACME)
        return
    assert [one.reason for one in found(log).repairs] == ["linked"]
    (fault,) = verify(log, ACME).faults
    assert fault.startswith("9999-12: opening a file of the store: ")
    assert len(list(read_events(log, ACME))) == 3


@pytest.mark.parametrize("change", ["replaced", "cut", "removed", "longer"])
def test_a_month_that_changes_while_it_is_read(office: Office, change: str) -> None:
    """What is read is what was there under the lock: added lines are left out, anything else is told."""
    log = fill(office)
    office.clock.day = "2026-12-01T00:00:"
    fill(office)
    lines = read_events(log, ACME)
    assert next(lines).seq == 0
    month, raw = office.month(DECEMBER), office.month(DECEMBER).read_bytes()
    if change == "longer":
        office.log().append(ACME, READ)
    elif change == "cut":
        os.truncate(month, len(raw) - 1)
    else:
        month.rename(office.place / "kept")
        if change == "replaced":
            shutil.copy(office.place / "kept", month)
    assert [line.seq for line in lines] == ([1, 2, 3, 4, 5] if change == "longer" else [1, 2])


def test_a_second_name_is_no_month(office: Office) -> None:
    """The month itself, given a second name among the months, is still refused as anybody's file."""
    fill(office)
    os.link(office.month(), office.month(LATER))
    with pytest.raises(WitnessError) as caught:
        office.log().append(ACME, READ)
    assert isinstance(caught.value.__cause__, EscapeError)
    assert len(verify(office.log(), ACME).faults) == 3


def test_asking_whether_it_is_ready_forgets_no_repair(office: Office) -> None:
    """A torn line that a readiness check came upon is told by the next event of that process."""
    fill(office)
    with office.month().open("ab") as file:
        file.write(b"torn")
    office.month(LATER).mkdir(mode=0o700)
    log = office.log()
    log.require_ready(ACME)
    log.append(ACME, READ)
    assert kinds(office) == ["denied"] * 3 + ["repaired", "contamination", "read"]
    office.month(LATER).rmdir()
    assert verify(office.log(), ACME).whole


def test_a_month_of_junk_is_read_once(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight megabytes of what ends as an event does cost one reading and no MAC, and then nothing."""
    log = fill(office)
    office.month(LATER).touch(mode=0o600)
    office.month(LATER).write_bytes(b'"}\n' * (8 * MIB // 3))
    macs, read = 0, 0
    real_line, real_read = read_line, File.read_at

    def line(keys: Keys, chain: Chain, raw: bytes) -> tuple[AuditLine, bytes]:
        nonlocal macs
        macs += 1
        return real_line(keys, chain, raw)

    def counted(self: File, offset: int, size: int) -> bytes:
        nonlocal read
        raw = real_read(self, offset, size)
        read += len(raw)
        return raw

    monkeypatch.setattr(ending, "read_line", line)
    monkeypatch.setattr(File, "read_at", counted)
    first = found(log)
    assert macs < 10
    read = 0
    assert found(log, first).seq == first.seq
    assert read < MIB
