"""A line made ready before its turn is written only where it still belongs."""

from __future__ import annotations

import pytest

from nsstore.audit import AuditEvent, AuditLog, EventForm, EventKind, read_events, spelled, verify
from tests.audit.conftest import ACME, DENIED, READ, Office

RECORD = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
HERE = "00000000-0000-7000-8000-000000000000"


def said() -> EventForm:
    """What a writer of this scope says of each record."""
    return EventForm(EventKind.WRITTEN, "remember", {"user_id": "alice"})


def begun(office: Office) -> AuditLog:
    """A log that holds its chain already: two events are in it."""
    log = office.log()
    log.append(ACME, READ)
    log.append(ACME, READ)
    return log


def times(log: AuditLog) -> list[str]:
    """When each event of the tenant happened."""
    return [line.at for line in read_events(log, ACME)]


@pytest.mark.parametrize("user", ["alice", "100 %d of %b", "Zoë\u2028", HERE, f'","records":["{HERE}'])
def test_a_form_says_what_the_event_says(user: str) -> None:
    """Whatever stands in the scope, the bytes are those of the whole event, and the ids are the records'."""
    scope = {"user_id": user, "session_id": HERE}
    for kind, records in (
        (EventKind.WRITTEN, (RECORD,)),
        (EventKind.SEARCHED, (RECORD, HERE)),
        (EventKind.READ, ()),
    ):
        event = AuditEvent(event=kind, verb="verb", scope=scope, records=records, count=len(records))
        assert EventForm(kind, "verb", scope).of(*records) == spelled(event)


@pytest.mark.usefixtures("unflushed")
def test_a_ready_line_is_written_as_it_is(office: Office) -> None:
    """Where nobody went on meanwhile, the line says the time it was made ready at, and the chain is whole."""
    log, event = begun(office), said().of(RECORD)
    log.prepare(ACME, event)
    made = office.clock.second
    office.clock()  # a second goes by
    log.append(ACME, event)
    log.append(ACME, READ)
    assert [at[17:19] for at in times(log)[2:]] == [f"{made:02}", f"{made + 2:02}"]
    assert verify(log, ACME).whole


@pytest.mark.usefixtures("unflushed")
@pytest.mark.parametrize("between", ["another process", "the same log", "another event", "the next month"])
def test_a_ready_line_that_no_longer_fits(office: Office, between: str) -> None:
    """Whoever goes on with the chain voids what was made ready: each event is there once, in one chain."""
    log, event = begun(office), said().of(RECORD)
    log.prepare(ACME, event)
    if between == "another process":
        office.log().append(ACME, READ)
    elif between == "the same log":
        log.append(ACME, READ)
    elif between == "another event":
        log.append(ACME, said().of(HERE))
    else:
        office.clock.day = "2026-12-01T00:00:"
        log.append(ACME, DENIED)
    log.append(ACME, event)
    assert sum(line.records == (RECORD,) for line in read_events(log, ACME)) == 1
    found = verify(log, ACME)
    assert found.whole
    assert found.events == 4
    assert times(log) == sorted(times(log))


@pytest.mark.usefixtures("unflushed")
def test_a_ready_line_behind_a_torn_one(office: Office) -> None:
    """What another writer left half written is cut off first, and told."""
    log, event = begun(office), said().of(RECORD)
    log.prepare(ACME, event)
    with office.month().open("ab") as other:
        other.write(b'{"seq":2,"at":')
    log.append(ACME, event)
    assert [line.event for line in read_events(log, ACME)][2:] == [EventKind.REPAIRED, EventKind.WRITTEN]
    assert verify(log, ACME).whole


@pytest.mark.usefixtures("unflushed")
@pytest.mark.parametrize("how", ["gone", "another"])
def test_a_ready_line_and_a_month_that_was_swapped(office: Office, how: str) -> None:
    """A month's file that its name no longer leads to gets nothing: the gap is told, not written over."""
    log, event = begun(office), said().of(RECORD)
    log.prepare(ACME, event)
    aside = office.month().rename(office.month().with_name("aside"))
    before = aside.read_bytes()
    if how == "another":
        office.month().write_bytes(before)
        office.month().chmod(0o600)
    aside.rename(office.place / "aside")
    log.append(ACME, event)
    assert (office.place / "aside").read_bytes() == before
    assert [line.event for line in read_events(log, ACME)][-1] is EventKind.WRITTEN


def test_nothing_is_ready_for_a_chain_not_begun(office: Office) -> None:
    """What is made ready before the first event of a tenant makes nothing on the disk."""
    log = office.log()
    log.prepare(ACME, said().of(RECORD))
    assert not office.folder.exists()
