"""Whoever can only write the root changes nothing about the past that verifying does not tell."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from nsstore.audit import AuditEvent, EventKind, read_events, verify
from nsstore.audit.events import LONGEST
from nsstore.errors import WitnessError
from tests.audit.conftest import ACME, READ, Office

Lines = list[bytes]
NOVEMBER, DECEMBER = "2026-11", "2026-12"


@pytest.fixture
def history(office: Office) -> list[str]:
    """Six events in November and four in December; the verbs, in order."""
    log = office.log()
    for number in range(10):
        if number == 6:
            office.clock.day = "2026-12-01T00:00:"
        log.append(ACME, AuditEvent(event=EventKind.DENIED, verb=f"verb{number}"))
    log.close()
    assert verify(office.log(), ACME).whole
    return [f"verb{number}" for number in range(10)]


def edited(line: bytes) -> bytes:
    """The line with another verb and the same length."""
    return line.replace(b'"verb":"verb', b'"verb":"none')


CHANGES: dict[str, tuple[str, Callable[[Lines], Lines]]] = {
    "edited": (NOVEMBER, lambda lines: [*lines[:2], edited(lines[2]), *lines[3:]]),
    "edited last": (DECEMBER, lambda lines: [*lines[:-1], edited(lines[-1])]),
    "deleted": (NOVEMBER, lambda lines: [*lines[:2], *lines[3:]]),
    "deleted first": (NOVEMBER, lambda lines: lines[1:]),
    "deleted first of a month": (DECEMBER, lambda lines: lines[1:]),
    "deleted last of a month": (NOVEMBER, lambda lines: lines[:-1]),
    "deleted last": (DECEMBER, lambda lines: lines[:-1]),
    "month emptied": (NOVEMBER, lambda _: []),
    "last month emptied": (DECEMBER, lambda _: []),
    "swapped": (NOVEMBER, lambda lines: [lines[0], lines[2], lines[1], *lines[3:]]),
    "repeated": (NOVEMBER, lambda lines: [*lines[:3], lines[2], *lines[3:]]),
    "last repeated": (DECEMBER, lambda lines: [*lines, lines[-1]]),
    "an old one again": (DECEMBER, lambda lines: [*lines, lines[0]]),
    "a line put in": (NOVEMBER, lambda lines: [*lines[:2], b'{"seq":2}\n', *lines[2:]]),
    "blank line put in": (NOVEMBER, lambda lines: [*lines[:2], b"\n", *lines[2:]]),
    "joined": (NOVEMBER, lambda lines: [*lines[:2], lines[2][:-1], *lines[3:]]),
    "cut short": (NOVEMBER, lambda lines: [*lines[:-1], lines[-1][:-9]]),
    "not ended": (DECEMBER, lambda lines: [*lines, b"x"]),
    "other spelling": (NOVEMBER, lambda lines: [lines[0].replace(b'"seq":0', b'"seq": 0'), *lines[1:]]),
    "carriage return": (NOVEMBER, lambda lines: [lines[0][:-1] + b"\r\n", *lines[1:]]),
    "a faked repair": (
        NOVEMBER,
        lambda lines: [lines[0], b"torn\n", lines[1].replace(b"denied", b"repaired"), *lines[2:]],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_told(office: Office, history: list[str], change: str) -> None:
    """Lines that were edited, deleted, reordered, repeated or put in are told, and no forged one is read."""
    month, act = CHANGES[change]
    office.month(month).write_bytes(b"".join(act(office.lines(month))))
    verdict = verify(office.log(), ACME)
    assert not verdict.whole
    assert verdict.faults
    read = [line.verb for line in read_events(office.log(), ACME)]
    assert set(read) <= set(history)
    assert all(str(office.place) not in fault for fault in verdict.faults)


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_stays_told(office: Office, change: str) -> None:
    """Going on writing does not make a changed past whole again, and what is written then is in order."""
    month, act = CHANGES[change]
    office.month(month).write_bytes(b"".join(act(office.lines(month))))
    log = office.log()
    for _ in range(3):
        log.append(ACME, READ)
    verdict = verify(office.log(), ACME)
    if change == "not ended":
        assert verdict.whole, "a torn tail is repaired and told: nothing was taken"
        return
    assert not verdict.whole
    tail = [line for line in read_events(office.log(), ACME) if line.event is EventKind.READ]
    assert len(tail) == 3
    assert [line.seq for line in tail] == list(range(tail[0].seq, tail[0].seq + 3))
    assert tail[0].seq >= 10


@pytest.mark.usefixtures("history")
def test_a_month_that_is_gone(office: Office) -> None:
    """A month's file that was removed is told, be it the newest or one before."""
    for month in (NOVEMBER, DECEMBER):
        raw = office.month(month).read_bytes()
        office.month(month).unlink()
        assert not verify(office.log(), ACME).whole
        office.month(month).write_bytes(raw)
        office.month(month).chmod(0o600)
        assert verify(office.log(), ACME).whole


@pytest.mark.usefixtures("history")
def test_months_renamed_or_put_in(office: Office) -> None:
    """Months in another order, or a copy of one under another name, are told."""
    office.month("2027-03").write_bytes(office.month(DECEMBER).read_bytes())
    office.month("2027-03").chmod(0o600)
    assert not verify(office.log(), ACME).whole
    office.month("2027-03").unlink()
    office.month(NOVEMBER).rename(office.month("2027-01"))
    assert not verify(office.log(), ACME).whole
    office.month("2027-01").rename(office.month(NOVEMBER))
    assert verify(office.log(), ACME).whole


@pytest.mark.usefixtures("history")
def test_files_that_are_no_months(office: Office) -> None:
    """Other names in the directory are neither read nor written, and steer nothing."""
    for name in ("zzzz.jsonl", "9999-99-99.jsonl", "2026-12 (copy).jsonl", "notes.txt", ".jsonl"):
        (office.folder / name).write_bytes(b"torn")
        (office.folder / name).chmod(0o600)
    assert verify(office.log(), ACME).whole
    office.log().append(ACME, READ)
    assert verify(office.log(), ACME).whole
    assert (office.folder / "zzzz.jsonl").read_bytes() == b"torn"
    assert len(office.lines(DECEMBER)) == 5


@pytest.mark.usefixtures("history")
def test_the_audit_of_another_tenant_put_in_its_place(office: Office) -> None:
    """Another tenant's audit, genuine as it is, is not this one's."""
    office.log().append(("tenant", "evil"), READ)
    other = office.folder.with_name("evil") / office.month(DECEMBER).name
    office.month(DECEMBER).write_bytes(other.read_bytes())
    assert not verify(office.log(), ACME).whole


@pytest.mark.usefixtures("history")
def test_an_older_state_put_back(office: Office) -> None:
    """The whole audit as it was some events ago is told by the head in the trust home."""
    office.month(DECEMBER).write_bytes(b"".join(office.lines(DECEMBER)[:2]))
    (fault,) = verify(office.log(), ACME).faults
    assert fault == "the trust home knows event 9, the last one here is 7"


@pytest.mark.usefixtures("history")
def test_a_gap_that_is_widened(office: Office) -> None:
    """Who takes away more lines where the chain tells of a gap does not hide behind it."""
    office.month(DECEMBER).write_bytes(b"".join(office.lines(DECEMBER)[:3]))
    office.log().append(ACME, READ)
    assert (verify(office.log(), ACME).faults, verify(office.log(), ACME).gaps) == ((), 1)
    lines = office.lines(DECEMBER)
    gap = next(at for at, raw in enumerate(lines) if json.loads(raw)["event"] == "gap")
    office.month(DECEMBER).write_bytes(b"".join([*lines[: gap - 1], *lines[gap:]]))
    assert verify(office.log(), ACME).faults


@pytest.mark.usefixtures("history")
def test_a_repair_that_is_used_twice(office: Office) -> None:
    """One `repaired` event answers for one torn line: a second line of that size is told."""
    with office.month(DECEMBER).open("ab") as file:
        file.write(b"torn")
    office.log().append(ACME, READ)
    assert verify(office.log(), ACME).whole
    office.month(NOVEMBER).write_bytes(b"".join([*office.lines(NOVEMBER), b"more\n"]))
    assert len(verify(office.log(), ACME).faults) == 1


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    "junk", [b"\n" * 9, b"x" * 300_000, b"x" * 9_000_000, b"x\n" * 200_000, b"\0" * 5000]
)
def test_junk_behind_the_last_event(office: Office, junk: bytes) -> None:
    """However much junk is put behind the last event, the chain goes on from its head, and it is told."""
    with office.month(DECEMBER).open("ab") as file:
        file.write(junk)
    log = office.log()
    log.append(ACME, READ)
    log.append(ACME, READ)
    verdict = verify(office.log(), ACME)
    events = [line.seq for line in read_events(office.log(), ACME)]
    assert events[-1] >= 11
    assert verdict.events >= 12
    assert verdict.whole == (b"\n" not in junk and len(junk) < LONGEST), "a torn tail is repaired and told"
    assert len(verdict.faults) <= 1001


@pytest.mark.usefixtures("history")
def test_a_lock_file_that_was_taken_away(office: Office) -> None:
    """Reading and verifying need no lock file, and make none; the next event makes it again."""
    os.unlink(office.folder / "audit.lock")
    assert verify(office.log(), ACME).whole
    assert not (office.folder / "audit.lock").exists()
    office.log().append(ACME, READ)
    assert (office.folder / "audit.lock").exists()


@pytest.mark.usefixtures("history")
def test_a_head_that_proves_nothing_closes(office: Office) -> None:
    """A head in the trust home with no valid slot closes the audit: told, and no event is taken or lost."""
    heads = next((office.place / "trust").rglob("audit/*.anchors"))
    raw = bytearray(heads.read_bytes())
    raw[127] ^= 1
    raw[255] ^= 1
    heads.write_bytes(raw)
    assert verify(office.log(), ACME).faults == ("the head in the trust home is not valid",)
    before = office.month(DECEMBER).read_bytes()
    with pytest.raises(WitnessError):
        office.log().append(ACME, READ)
    with pytest.raises(WitnessError):
        office.log().require_ready(ACME)
    assert office.month(DECEMBER).read_bytes() == before


def only(*gap: int) -> Callable[[int, int], bool]:
    """An owner who accepted one gap."""
    return lambda first, last: (first, last) == gap


def test_an_accepted_gap_is_told_and_no_fault(office: Office) -> None:
    """Only the very gap that is accepted counts as none, before the chain tells of it and after."""
    log = office.log()
    for _ in range(5):
        log.append(ACME, AuditEvent(event=EventKind.DENIED))
    log.close()
    month = office.month()
    lines = month.read_bytes().splitlines(keepends=True)
    month.write_bytes(b"".join(lines[:2]))
    pending = verify(office.log(), ACME)
    assert (pending.lost, pending.gaps, len(pending.faults)) == (((2, 4),), 0, 1)
    assert verify(office.log(), ACME, only(2, 4)).whole
    office.log().append(ACME, AuditEvent(event=EventKind.DENIED))
    told = verify(office.log(), ACME)
    assert (told.lost, told.gaps, told.faults) == (((2, 4),), 3, ())
    for gap, whole in (((2, 4), True), ((2, 3), False), ((1, 4), False)):
        verdict = verify(office.log(), ACME, only(*gap))
        assert (verdict.whole, verdict.accepted) == (whole, 3 if whole else 0)
    month.write_bytes(b"".join(month.read_bytes().splitlines(keepends=True)[:2]))
    assert not verify(office.log(), ACME, only(2, 4)).whole
