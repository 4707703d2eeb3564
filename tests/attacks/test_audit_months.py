"""Names that somebody put among the months of an audit: skipped, told once, and no tenant stops."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.house import House
from nsstore import OpenStore
from nsstore.audit import AuditLine, EventKind, read_events, verify
from nsstore.incident import IncidentKind

LATER = "9999-12.jsonl"


def as_directory(_: Path, put: Path) -> None:
    """A directory."""
    put.mkdir(mode=0o700)


def as_fifo(_: Path, put: Path) -> None:
    """A fifo, which nobody ever writes to."""
    os.mkfifo(put, 0o600)


def as_link(month: Path, put: Path) -> None:
    """A symbolic link to the month."""
    put.symlink_to(month.name)


def as_dangling_link(_: Path, put: Path) -> None:
    """A symbolic link to nothing."""
    put.symlink_to("nowhere")


def as_second_name(month: Path, put: Path) -> None:
    """A file with a name elsewhere too."""
    other = month.parents[1] / "elsewhere"
    other.write_bytes(month.read_bytes())
    other.chmod(0o600)
    os.link(other, put)


def open_to_others(month: Path, put: Path) -> None:
    """A copy of the month that everybody can read."""
    shutil.copy(month, put)
    put.chmod(0o644)


def as_copy(month: Path, put: Path) -> None:
    """A private copy of the month."""
    shutil.copy(month, put)
    put.chmod(0o600)


def as_torn_copy(month: Path, put: Path) -> None:
    """A private copy of the month whose last line lacks its newline."""
    put.write_bytes(month.read_bytes()[:-1])
    put.chmod(0o600)


def without_mode(month: Path, put: Path) -> None:
    """A copy of the month that nobody may read."""
    shutil.copy(month, put)
    put.chmod(0)


def as_junk(_: Path, put: Path) -> None:
    """A private file of other lines."""
    put.write_bytes(b'{"seq":1,"event":"granted"}\nnot ended')
    put.chmod(0o600)


PUT: dict[str, tuple[Callable[[Path, Path], None], IncidentKind]] = {
    "directory": (as_directory, IncidentKind.LINKED),
    "fifo": (as_fifo, IncidentKind.LINKED),
    "link": (as_link, IncidentKind.LINKED),
    "dangling link": (as_dangling_link, IncidentKind.LINKED),
    "second name": (as_second_name, IncidentKind.LINKED),
    "open to others": (open_to_others, IncidentKind.LINKED),
    "copy": (as_copy, IncidentKind.STRAY),
    "torn copy": (as_torn_copy, IncidentKind.STRAY),
    "without mode": (without_mode, IncidentKind.LINKED if os.geteuid() else IncidentKind.STRAY),
    "junk": (as_junk, IncidentKind.STRAY),
}


def work(store: OpenStore, house: House, text: str) -> None:
    """Write and read in the owner's scope, which the audit has to take."""
    session = house.owner.who.bind(store)
    session.remember(text)
    assert text in {one.text for one in session.list().items}


def told(store: OpenStore, house: House) -> list[AuditLine]:
    """The incidents of the owner's tenant."""
    events = read_events(store.audit, ("tenant", house.owner.who.tenant))
    return [line for line in events if line.event is EventKind.CONTAMINATION]


@pytest.mark.parametrize("name", PUT)
def test_a_name_among_the_months(house: House, name: str) -> None:
    """The tenant goes on in its own month, the name is told once by a process, and `verify` names it."""
    tenant = ("tenant", house.owner.who.tenant)
    put_in, kind = PUT[name]
    month = next(house.audit().glob("*.jsonl"))
    put = month.with_name(LATER)
    put_in(month, put)
    regular = put.is_file() and not put.is_symlink() and os.access(put, os.R_OK)
    before, content = os.lstat(put), put.read_bytes() if regular else b""
    size = month.stat().st_size
    with house.world.open() as store:
        for number in range(3):
            work(store, house, f"note {number}")
        (incident,) = told(store, house)
        assert incident.reason == kind.value
        assert incident.incident
        assert len(incident.digest or "") == 64
        seqs = [line.seq for line in read_events(store.audit, tenant)]
        assert seqs == list(range(len(seqs)))
        verdict = verify(store.audit, tenant)
        assert not verdict.whole
        assert verdict.events == len(seqs)
        assert verdict.faults
        assert all(fault.startswith("9999-12") for fault in verdict.faults), verdict.faults
        assert all(str(house.world.place) not in fault for fault in verdict.faults)
    assert month.stat().st_size > size
    assert os.lstat(put)[:7] == before[:7], "neither written nor replaced"
    assert not regular or put.read_bytes() == content
    if put.is_dir():
        put.rmdir()
    else:
        put.unlink()
    with house.world.open() as store:
        assert verify(store.audit, tenant).whole
        work(store, house, "after")
        assert len(told(store, house)) == 1


def test_a_name_that_stays_is_told_once_by_a_process(house: House) -> None:
    """Two processes that take turns, each finding the end again after the other, tell a name once each."""
    month = next(house.audit().glob("*.jsonl"))
    month.with_name(LATER).mkdir(mode=0o700)
    with house.world.open() as one, house.world.open() as other:
        for number in range(3):
            work(one, house, f"one {number}")
            work(other, house, f"other {number}")
        assert len(told(one, house)) == 2


def test_many_names_among_the_months(house: House) -> None:
    """However many names are put in, the audit takes a few events about them, the last with their number."""
    month = next(house.audit().glob("*.jsonl"))
    for year in range(9000, 9100):
        month.with_name(f"{year}-01.jsonl").mkdir(mode=0o700)
    with house.world.open() as store:
        work(store, house, "after")
        events = told(store, house)
        assert len(events) == 17
        assert [event.count for event in events] == [None] * 16 + [84]
