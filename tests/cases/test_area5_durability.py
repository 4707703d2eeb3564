"""Area 5 of the public bug reports: durability, full disks, clocks and the audit."""

import errno
import json
import os
import resource
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from bench.binding import bind, tree
from bench.child import Child, Report, in_child
from bench.powercut.examine import left_behind
from bench.world import World
from nsstore import InvalidInput, NotVisible, OpenStore, SystemFailure, WitnessError
from nsstore.audit import EventKind, read_events, verify
from nsstore.root import system
from tests.cases.conftest import failing_after

ACME = ("tenant", "acme")


def test_br67_the_order_of_flushes(tmp_path: Path) -> None:
    """A record is flushed under its name and before its line; every new directory, in the one above it.

    What survives on a disk that keeps only what was flushed is in tests/store/test_flushes.py.
    """
    names: dict[int, set[str]] = {}
    lines: dict[int, bytes] = {}

    def flushed(fd: int) -> None:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            names.setdefault(found.st_ino, set()).update(os.listdir(fd))
        elif found.st_nlink == 1:
            chains = tmp_path.rglob("ledger/memory/**/*.log")
            lines[found.st_ino] = b"".join(path.read_bytes() for path in chains)

    with patch.object(system, "fsync", flushed), World(place=tmp_path / "new" / "er").make() as store:
        record_id = bind(store).remember("quartz").record_id
    (record,) = tmp_path.rglob(f"memory/**/{record_id}.md")
    assert b"genesis" in lines[record.stat().st_ino]
    assert record_id.encode() not in lines[record.stat().st_ino]
    for folder in tmp_path.rglob("*"):
        if folder.is_dir():
            assert folder.name in names.get(folder.parent.stat().st_ino, ()), folder


def test_br69_appends_of_many_processes_do_not_mix(world: World) -> None:
    """Four processes, texts small and large: every line of audit and ledger parses, each process in order."""

    def writer(name: str) -> Child:
        def task(report: Report) -> None:
            with world.open() as store:
                session = bind(store, user_id=name)
                ids = [
                    session.remember(f"{name} {n} " + "x" * (60_000 * (n % 2))).record_id for n in range(25)
                ]
                report(" ".join(ids).encode())

        return Child(task)

    ends = {name: child.end() for name, child in [(f"u{n}", writer(f"u{n}")) for n in range(4)]}
    assert [end.status for end in ends.values()] == [0] * 4
    raw = next((world.root / "audit").rglob("*.jsonl")).read_bytes()
    assert all(json.loads(line) for line in raw.splitlines())
    with world.open() as store:
        assert verify(store.audit, ACME).whole
        events = [line for line in read_events(store.audit, ACME) if line.event is EventKind.WRITTEN]
        for name, end in ends.items():
            mine = [
                one for line in events if (line.scope or {})["user_id"] == name for one in line.records or ()
            ]
            assert " ".join(mine).encode() == end.lines[0]
            assert bind(store, user_id=name).list().total == 25


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_br70_a_disk_that_fills_up(store: OpenStore, world: World, number: int) -> None:
    """Wherever in its bytes a write stops, what was there stays readable, and the error is typed."""
    session = bind(store)
    first = session.remember("quartz kept").record_id
    session.state.put("plan", "version kept")
    sizes = [0, 1, 300, 700, 900, 1000, 1100, 1300, 1500, 1700]
    for size in sizes:
        calls: list[Callable[[], object]] = [
            lambda: session.remember("quartz that may fail", supersedes=[first]),
            lambda: session.state.put("plan", "version that may fail"),
            lambda: bind(store, session_id="new").remember("never begun"),
        ]
        for call in calls:
            with suppress(SystemFailure, WitnessError), failing_after(size, number):
                call()
    assert session.get(first).text == "quartz kept"
    assert session.state.history("plan")[-1].text == "version kept"
    assert session.remember("free again").record_id in {one.record_id for one in session.list().items}
    with world.open() as fresh:
        assert bind(fresh).get(first).text == "quartz kept"
        assert verify(fresh.audit, ACME).faults == ()
    assert left_behind(world) == []


def test_br70_a_file_size_limit(world: World) -> None:
    """A real limit of the system in the middle of a record leaves no part of it."""

    def task(report: Report) -> None:
        with world.open() as store:
            session = bind(store)
            session.remember("quartz kept")
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            with pytest.raises(SystemFailure) as caught:
                session.remember("x" * 200_000)
            report(str(caught.value).encode())
            session.remember("small enough")
            assert {one.text for one in session.list().items} == {"quartz kept", "small enough"}

    ended = in_child(task)
    assert ended.status == 0
    assert os.strerror(errno.EFBIG).encode() in ended.lines[0]
    assert left_behind(world) == []


def test_br71_order_is_not_the_clocks(
    store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a frozen, a stepped back and a far future clock the order is that of the writes, for everybody."""
    session = bind(store)
    now = time.time_ns()
    texts: list[str] = []
    for clock in (now, now, now - 3_600_000_000_000, now + 10**18, now - 10**18, now):
        monkeypatch.setattr(time, "time_ns", lambda clock=clock: clock)
        for _ in range(5):
            texts.append(f"quartz {len(texts)}")
            session.remember(texts[-1])
            session.state.put("plan", texts[-1])
    monkeypatch.undo()
    for path in (world.root / "memory").rglob("*.md"):
        os.utime(path, (0, 0))
    with world.open() as fresh:
        for one in (session, bind(fresh)):
            assert [item.text for item in one.list().items] == texts[::-1]
            assert one.state.get("plan").text == texts[-1]
            assert [item.text for item in one.state.history("plan")] == texts[::-1]


def test_br71_nobody_sets_the_time(store: OpenStore) -> None:
    """A caller has no way to say when a record was made."""
    session = bind(store)
    for name in ("created_at", "createdAt", "timestamp", "at.created_at"):
        with pytest.raises(InvalidInput):
            session.remember("quartz", ext={name: "2099-01-01T00:00:00Z"})
    with pytest.raises(TypeError, match="created_at"):
        session.remember("quartz", created_at="2099-01-01T00:00:00Z")  # type: ignore[call-arg]  # there is none


def test_br71_a_clock_that_stepped_back_is_told(store: OpenStore) -> None:
    """A record made behind the newest one's time is kept, and the step is an event of the audit."""
    session = bind(store)
    session.remember("quartz")
    with patch("uuid_utils.uuid7", return_value="01934f2e-8b7a-7c3d-9e21-0123456789ab"):
        session.remember("made long ago, says the clock")
    assert session.list().items[0].text == "made long ago, says the clock"
    assert EventKind.CLOCK_STEPPED in {line.event for line in read_events(store.audit, ACME)}


def test_br72_a_foreign_file_that_is_being_written(store: OpenStore, world: World) -> None:
    """While somebody writes a file byte by byte into the folder, nothing stops and nothing of it appears."""
    session = bind(store)
    session.remember("quartz of mine")
    (genuine,) = (world.root / "memory").rglob("*.md")
    raw = genuine.read_bytes().replace(b"of mine", b"of evil")
    stray = genuine.parent / "019a2b3c-4d5e-7f60-8123-456789abcdef.md"
    stray.touch(mode=0o600)
    stop = threading.Event()

    def write_slowly() -> None:
        with stray.open("wb", buffering=0) as file:
            for at in range(0, len(raw), 7):
                file.write(raw[at : at + 7])
                if stop.wait(0.002):
                    return

    writer = threading.Thread(target=write_slowly)
    writer.start()
    try:
        while writer.is_alive():
            assert [one.text for one in session.list().items] == ["quartz of mine"]
            assert len(session.search("quartz").hits) == 1
            with pytest.raises(NotVisible):
                session.get(stray.stem)
    finally:
        stop.set()
        writer.join()
    assert [one.text for one in session.list().items] == ["quartz of mine"]


def test_br73_noise_pushes_nothing_out(store: OpenStore) -> None:
    """A thousand denied calls leave the events before them where they are, and long ids never get in."""
    session = bind(store)
    genuine = [session.remember(f"quartz {n}").record_id for n in range(10)]
    for turn in range(1000):
        with pytest.raises(NotVisible):
            session.get(f"01934f2e-8b7a-7c3d-9e21-{turn:012x}")
    for call in (session.get, session.history, session.state.get):
        with pytest.raises(InvalidInput):
            call("x" * 10_000)
    events = list(read_events(store.audit, ACME))
    written = [line.records for line in events if line.event is EventKind.WRITTEN]
    assert written == [(one,) for one in genuine]
    assert [line.seq for line in events] == list(range(len(events)))
    assert sum(line.event is EventKind.DENIED for line in events) == 1000
    assert verify(store.audit, ACME).whole


FORGERIES = [
    'bob"}',
    "bob\"},{'event':'granted'",
    'x","event":"granted","user":"root',
    "aa\\bb",
    "é中🙂",
    "denied",
]


@pytest.mark.parametrize("name", FORGERIES)
def test_br74_an_id_forges_no_event(store: OpenStore, world: World, name: str) -> None:
    """Whatever an id holds, one event is one line, and the line gives back the exact id."""
    session = bind(store, user_id=name)
    session.remember("quartz")
    raw = next((world.root / "audit").rglob("*.jsonl")).read_bytes()
    lines = [json.loads(line) for line in raw.split(b"\n")[:-1]]
    assert all(line["scope"]["user_id"] == name for line in lines)
    assert {line["event"] for line in lines} <= {kind.value for kind in EventKind}
    assert verify(store.audit, ACME).events == len(lines)


@pytest.mark.parametrize(
    "name", ['bob"}\n{"event":"granted"', "a\r", "a\u2028b", "a\x1b[2Kb", "a\x00", "a\x7fb", "a\u0085b"]
)
def test_br74_control_characters_are_in_no_id(store: OpenStore, name: str) -> None:
    """They are refused as ids, keys and titles alike."""
    for field in ("tenant_id", "user_id", "agent_id", "source_tool", "branch"):
        with pytest.raises(InvalidInput):
            bind(store, **{field: name})
    session = bind(store)
    for call in (
        lambda: session.remember("x", title=name),
        lambda: session.remember("x", tags=[name]),
        lambda: session.state.get(name),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_br74_the_audit_holds_no_text(store: OpenStore, world: World) -> None:
    """Neither texts nor titles nor query words nor document keys get into the audit."""
    session = bind(store)
    session.remember("zq7f3text", title="zq7f3title", tags=["zq7f3tag"], ext={"x": "zq7f3ext"})
    session.search("zq7f3text zq7f3query")
    session.state.put("zq7f3key", "zq7f3value")
    session.state.get("zq7f3key")
    with pytest.raises(InvalidInput):
        session.remember("zq7f3refused", kind="zq7f3 KIND")
    for name, (_, _, raw) in tree(world.root / "audit").items():
        assert b"zq7f3" not in raw, name
