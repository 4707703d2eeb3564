"""One chain per tenant across months, whatever the clock does: one write an event, nothing lost between."""

from __future__ import annotations

import json
import os
import threading

import pytest

from nsstore.audit import AuditLog, read_events, verify
from tests.audit.conftest import ACME, DENIED, READ, Office


def whole(log: AuditLog, events: int) -> None:
    """Require an audit that is whole and has so many events, numbered without a gap."""
    verdict = verify(log, ACME)
    assert verdict.whole, verdict.faults
    assert (verdict.events, verdict.gaps) == (events, 0)
    assert [line.seq for line in read_events(log, ACME)] == list(range(events))


def months(office: Office) -> list[str]:
    """The files of months that have events."""
    return sorted(path.name[:7] for path in office.folder.glob("*.jsonl") if path.stat().st_size)


@pytest.mark.parametrize("fresh", [False, True], ids=["one process", "a process for each event"])
def test_a_chain_over_months(office: Office, *, fresh: bool) -> None:
    """A month's first event is chained to the last of the one before, a year's end too, and none is lost."""
    log = office.log()
    days = [
        "2026-11-30T23:59:",
        "2026-12-01T00:00:",
        "2026-12-31T23:59:",
        "2027-01-01T00:00:",
        "2027-07-01T00:00:",
    ]
    for day in days:
        office.clock.day = day
        for event in (READ, DENIED):
            (office.log() if fresh else log).append(ACME, event)
    assert months(office) == ["2026-11", "2026-12", "2027-01", "2027-07"]
    whole(office.log(), 10)
    first = json.loads(office.lines("2027-01")[0])
    assert first["prev"] == json.loads(office.lines("2026-12")[-1])["mac"].split(":")[2]


@pytest.mark.parametrize("fresh", [False, True], ids=["one process", "a process for each event"])
def test_a_clock_that_goes_back_keeps_the_later_month(office: Office, *, fresh: bool) -> None:
    """When the clock goes back a month the event says so, but stands in the later month's file."""
    log = office.log()
    days = [
        "2026-12-01T00:00:", "2026-11-30T23:59:", "2026-11-30T22:00:", "2024-02-29T00:00:",
        "2026-12-02T00:00:",         "2027-01-01T00:00:", "2026-12-31T00:00:",
    ]  # fmt: skip
    for day in days:
        office.clock.day = day
        (office.log() if fresh else log).append(ACME, READ)
    assert months(office) == ["2026-12", "2027-01"]
    assert [line.at[:17] for line in read_events(office.log(), ACME)] == days
    whole(office.log(), 7)


def test_another_process_that_went_on_to_a_later_month(office: Office) -> None:
    """A process whose clock is behind follows one whose clock is ahead into the later month."""
    behind, ahead = office.log(), office.log()
    behind.append(ACME, READ)
    office.clock.day = "2026-12-01T00:00:"
    ahead.append(ACME, READ)
    office.clock.day = "2026-11-30T23:59:"
    behind.append(ACME, READ)
    ahead.append(ACME, READ)
    behind.append(ACME, DENIED)
    assert months(office) == ["2026-11", "2026-12"]
    assert len(office.lines("2026-12")) == 4
    whole(office.log(), 5)


def test_asking_whether_it_is_ready_moves_no_month(office: Office) -> None:
    """The empty file that a readiness check may make with a clock gone back takes no event."""
    office.clock.day = "2026-12-01T00:00:"
    office.log().append(ACME, READ)
    office.clock.day = "2026-11-01T00:00:"
    log = office.log()
    log.require_ready(ACME)
    log.append(ACME, READ)
    assert months(office) == ["2026-12"]
    whole(office.log(), 2)


def test_one_write_for_each_event(office: Office, writes: list[tuple[str, bytes]]) -> None:
    """Each event is one write of one whole line, the first of a month too, and one write of its head."""
    log = office.log()
    for number in range(6):
        if number == 4:
            office.clock.day = "2026-12-01T00:00:"
        writes.clear()
        log.append(ACME, READ if number % 2 else DENIED)
        (one,) = [raw for name, raw in writes if name.endswith(".jsonl") and raw]
        assert one.count(b"\n") == 1
        assert json.loads(one)["seq"] == number
        assert len([name for name, raw in writes if name.endswith(".anchors") and raw]) == 1


def test_tenants_have_chains_of_their_own(office: Office) -> None:
    """Tenants, and a group of the same name, share no file, no numbering and no head."""
    log = office.log()
    others = [("tenant", "acme2"), ("group", "acme"), ("tenant", "Acme")]
    for tenant in [ACME, *others, ACME]:
        log.append(tenant, READ)
    whole(office.log(), 2)
    for tenant in others:
        verdict = verify(office.log(), tenant)
        assert (verdict.whole, verdict.events) == (True, 1)
    assert len(list(office.folder.parent.iterdir())) == 4
    assert verify(log, ("tenant", "nobody")).events == 0
    assert verify(log, ("tenant", "nobody")).whole


def test_reading_makes_nothing(office: Office) -> None:
    """Reading and verifying the audit of a tenant that has none makes neither directory nor lock."""
    log = office.log()
    before = sorted(office.folder.parents[2].rglob("*"))
    assert list(read_events(log, ACME)) == []
    assert verify(log, ACME).whole
    assert sorted(office.folder.parents[2].rglob("*")) == before


def test_more_tenants_than_are_kept_open(office: Office) -> None:
    """Threads that write for more tenants than are kept open lose no event and leak no descriptor."""
    log = office.log()
    tenants = [("tenant", f"t{number}") for number in range(12)]
    for tenant in tenants:
        log.append(tenant, READ)
    log.close()
    before = len(os.listdir("/proc/self/fd"))
    failed: list[BaseException] = []

    def work(offset: int) -> None:
        try:
            for number in range(60):
                log.append(tenants[(offset + number) % 12], READ)
        except BaseException as err:  # noqa: BLE001 - told below
            failed.append(err)

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    office.flush()  # what the flusher holds open for a moment is not the log's
    assert len(os.listdir("/proc/self/fd")) <= before + 3 * (8 + 3)  # one that is in use is let go later
    log.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert sum(verify(log, tenant).events for tenant in tenants) == 12 + 4 * 60
    assert all(verify(log, tenant).whole for tenant in tenants)


def test_permissions(office: Office) -> None:
    """Under umask 000 every file of the audit is 0600 and every directory 0700."""
    before = os.umask(0)
    try:
        office.log().append(ACME, DENIED)
    finally:
        os.umask(before)
    top = office.folder.parents[1]
    assert [
        path
        for path in [top, *top.rglob("*")]
        if path.stat().st_mode & 0o777 != (0o700 if path.is_dir() else 0o600)
    ] == []
