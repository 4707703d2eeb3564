"""Area 5 of the public bug reports, BR-67 to BR-74, for what is forgotten, replaced, retried and granted."""

import errno
import os
import signal
import stat
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from bench.binding import bind
from bench.child import Child, Report, in_child
from bench.powercut.examine import left_behind
from bench.world import World
from nsstore import InvalidInput, Note, NotVisible, OpenStore, SystemFailure, WitnessError
from nsstore.audit import EventKind, read_events, verify
from nsstore.root import system
from nsstore.root.steps import hooked
from nsstore.store import Below, forget_below
from tests.cases.conftest import failing_after, generations, ids

pytestmark = pytest.mark.usefixtures("kept_views")
ACME = ("tenant", "acme")


class Watched:
    """What was flushed when: the size of every file at its last flush, and the names of every directory."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self.names: dict[int, set[str]] = {}

    def fsync(self, fd: int) -> None:
        """Note what this flush makes durable."""
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            self.names[found.st_ino] = set(os.listdir(fd))
        else:
            self.sizes[found.st_ino] = found.st_size

    def syncfs(self, _: int) -> None:
        """A whole file system: nothing here counts on it alone."""

    def holds(self, path: Path, words: bytes) -> bool:
        """Whether a file's flushed part has these words."""
        raw = path.read_bytes()[: self.sizes.get(path.stat().st_ino, 0)]
        return words in raw


@pytest.mark.parametrize("how", ["forget", "only this", "document", "bulk"])
def test_br67_a_forget_is_durable_when_it_returns(store: OpenStore, world: World, how: str) -> None:
    """Before a file goes its line is flushed, and when the call returns the directory and the audit are."""
    session = bind(store)
    old = session.remember("quartz").record_id
    gone = session.remember("quartz newer", supersedes=[old]).record_id
    version = session.state.put("plan", "one").record_id
    watched, lines = Watched(), list[bool]()
    area = "state" if how == "document" else "memory"
    (ledger,) = (world.root / "ledger" / area).rglob("*.log")
    doomed = version if how == "document" else gone

    def met(call: str) -> None:
        if call == "unlink" and not lines:
            lines.append(watched.holds(ledger, b'"event":"forgotten"'))

    act: dict[str, Callable[[], object]] = {
        "forget": lambda: session.forget(gone),
        "only this": lambda: session.forget(gone, only_this=True),
        "document": lambda: session.state.forget("plan"),
        "bulk": lambda: forget_below(store, Below(tenant=ACME, user="alice")),
    }
    (path,) = (world.root / area).rglob(f"{doomed}.md")
    with (
        patch.object(system, "fsync", watched.fsync),
        patch.object(system, "syncfs", watched.syncfs),
        hooked(met),
    ):
        act[how]()
    assert lines == [True]
    assert not path.exists()
    assert path.name not in watched.names[path.parent.stat().st_ino]
    (audit,) = (world.root / "audit").rglob("*.jsonl")
    assert watched.holds(audit, doomed.encode())


def test_br67_a_newer_version_is_durable_before_its_line(store: OpenStore, world: World) -> None:
    """An update, a document's next version and an idempotent retry are flushed as a first write is."""
    session = bind(store)
    old = session.remember("quartz").record_id
    session.state.put("plan", "one")
    calls: list[Callable[[], str]] = [
        lambda: session.remember("newer", supersedes=[old], idempotency_key="k").record_id,
        lambda: session.state.put("plan", "two", idempotency_key="k").record_id,
    ]
    for call in calls:
        watched = Watched()
        with patch.object(system, "fsync", watched.fsync):
            made = call()
        (path,) = world.root.rglob(f"{made}.md")
        assert watched.sizes[path.stat().st_ino] == path.stat().st_size
        assert call() == made


SIZES = [0, 1, 100, 200, 300, 400, 500, 700, 900, 1100, 1300, 1600, 2000]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_br70_forgetting_on_a_full_disk(store: OpenStore, world: World, number: int) -> None:
    """Wherever the bytes of a forget stop, the record is whole or gone in every verb, and a retry ends it."""
    session = bind(store)
    for size in SIZES:
        one = session.remember(f"common canary{size}").record_id
        with suppress(SystemFailure, WitnessError), failing_after(size, number):
            session.forget(one)
        listed = one in {item.record_id for item in session.list(limit=1000).items}
        assert ids(session, f"canary{size}") == ([one] if listed else [])
        if listed:
            assert session.get(one).text == f"common canary{size}"
            session.forget(one)
        with pytest.raises(NotVisible):
            session.get(one)
        session.remember("common and on")
        assert not list(world.root.rglob(f"{one}.md"))
    with world.open() as fresh:
        assert len(ids(bind(fresh), "common")) == len(SIZES)
        assert verify(fresh.audit, ACME).faults == ()
    assert left_behind(world) == []


def test_br70_a_flush_that_fails(store: OpenStore, world: World) -> None:
    """Where only a flush fails, nothing is acknowledged, and what was there before is whole."""
    session = bind(store)
    first = session.remember("quartz kept").record_id
    for number in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
        for at in range(6):
            left = [at]

            def fsync(_: int, left: list[int] = left, number: int = number) -> None:
                left[0] -= 1
                if left[0] < 0:
                    raise OSError(number, os.strerror(number))

            calls: list[Callable[[], object]] = [
                lambda: session.remember("quartz that may fail", supersedes=[first]),
                lambda: session.state.put("plan", "x"),
                partial(bind(store, session_id=f"n{number}-{at}").remember, "never begun"),
            ]
            for call in calls:
                with patch.object(system, "fsync", fsync), suppress(SystemFailure, WitnessError):
                    call()
        assert session.get(first).text == "quartz kept"
    with world.open() as fresh:
        there = bind(fresh)
        assert there.get(first).text == "quartz kept"
        assert {one.text for one in there.list(include_superseded=True, limit=1000).items} <= {
            "quartz kept",
            "quartz that may fail",
        }
        assert there.remember("on").record_id in {one.record_id for one in there.list().items}
        assert verify(fresh.audit, ACME).faults == ()
    assert left_behind(world) == []


def test_br70_a_retry_is_no_second_record(store: OpenStore, world: World) -> None:
    """Whatever byte a write failed at, its retry leaves one record, and the key is for that alone."""
    session = bind(store)
    for size in SIZES:
        key = f"key{size}"
        with suppress(SystemFailure, WitnessError), failing_after(size, errno.ENOSPC):
            session.remember(f"common {size}", idempotency_key=key)
        one = session.remember(f"common {size}", idempotency_key=key).record_id
        again = session.remember(f"common {size}", idempotency_key=key)
        assert (again.record_id, again.replayed) == (one, True)
        with pytest.raises(InvalidInput):
            session.remember("something else", idempotency_key=key)
        with world.open() as fresh:
            assert bind(fresh).remember(f"common {size}", idempotency_key=key).record_id == one
    assert session.list().total == len(SIZES) == len(list((world.root / "memory").rglob("*.md")))
    assert len(ids(session, "common")) == len(SIZES)


def test_br69_one_key_of_many_processes(world: World) -> None:
    """Four processes that write under the same keys make one record of each, and agree which."""

    def writer() -> Child:
        def task(report: Report) -> None:
            with world.open() as store:
                session = bind(store)
                for number in range(15):
                    report(
                        session.remember(f"common {number}", idempotency_key=f"k{number}").record_id.encode()
                    )
                many = session.remember_many(
                    Note(text=f"common b{n}", idempotency_key=f"b{n}") for n in range(5)
                )
                report(" ".join(one.record_id for one in many).encode())

        return Child(task)

    ends = [child.end() for child in [writer() for _ in range(4)]]
    assert [end.status for end in ends] == [0] * 4
    assert len({end.lines for end in ends}) == 1
    with world.open() as store:
        assert bind(store).list().total == 20
        assert len(ids(bind(store), "common")) == 20


@contextmanager
def clock(now: int) -> Generator[None]:
    """The system's clock stands still at a time, in nanoseconds: for what is sealed and for new ids."""
    moment = f"{now // 10**6:012x}"

    def uuid7() -> str:
        return f"{moment[:8]}-{moment[8:]}-7{str(uuid.uuid4())[15:]}"

    with patch.object(time, "time_ns", lambda: now), patch("uuid_utils.uuid7", uuid7):
        yield


def test_br71_two_clocks_and_a_change_of_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes whose clocks are minutes apart, in other zones, keep one order for all, fresh or warm."""
    texts: list[str] = []
    for turn, (skew, zone) in enumerate(
        [(0, "UTC"), (-300, "Europe/Vienna"), (300, "America/New_York"), (-300, "Pacific/Apia"), (0, "UTC")]
    ):
        now = time.time_ns() + skew * 10**9

        def task(_: Report, now: int = now, zone: str = zone, turn: int = turn) -> None:
            os.environ["TZ"] = zone
            time.tzset()
            with clock(now), world.open() as store:
                session = bind(store)
                for number in range(9):
                    session.remember(f"common {turn} {number}")
                    session.state.put("plan", f"common {turn} {number}")
                session.search("common")
                session.search("common")
                store.settle()

        assert in_child(task).status == 0
        texts += [f"common {turn} {number}" for number in range(9)]
    assert generations()
    for path in world.root.rglob("*.md"):
        os.utime(path, (0, 0))
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    with world.open() as store:
        session = bind(store)
        assert [one.text for one in session.list(limit=10).items] == texts[::-1][:10]
        assert [one.text for one in session.list(limit=1000).items] == texts[::-1]
        assert session.state.get("plan").text == texts[-1]
        assert [hit.text for hit in session.search("common", k=1000).hits] == texts
        for one in session.list(limit=1000).items:
            made = datetime.fromisoformat(one.created_at)
            assert abs((made - datetime.now(UTC)).total_seconds()) < 1000


def test_br71_an_end_does_not_come_back(store: OpenStore, world: World) -> None:
    """What a stepped-on clock ended stays ended when the clock steps back, in this process and in others."""
    session = bind(store)
    ends = session.remember("common ends", expires_at="2090-01-01T00:00:00Z").record_id
    stays = session.remember("common stays").record_id
    assert set(ids(session, "common")) == {ends, stays}
    with clock(4_000_000_000 * 10**9):  # the year 2096
        far = session.remember("common of a far clock").record_id
    for process in (store, world.open()):
        there = bind(process)
        assert set(ids(there, "common")) == {stays, far}
        with pytest.raises(NotVisible):
            there.get(ends)
    process.close()


def test_br71_the_audit_keeps_its_order(store: OpenStore) -> None:
    """However the clock steps, the events of the audit stay in the order in which they happened."""
    session = bind(store)
    made: list[str] = []
    for skew in (0, -3600, 7200, -86400, 0):
        with clock(time.time_ns() + skew * 10**9):
            made.append(session.remember(f"quartz {skew}").record_id)
    written = [line for line in read_events(store.audit, ACME) if line.event is EventKind.WRITTEN]
    assert [line.records for line in written] == [(one,) for one in made]
    assert verify(store.audit, ACME).whole


def test_br70_killed_by_a_limit_of_the_system(world: World) -> None:
    """A process that the system ends in the middle of a write for its size leaves a whole store."""

    def task(report: Report) -> None:
        import resource

        with world.open() as store:
            session = bind(store)
            report(session.remember("quartz kept").record_id.encode())
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            session.remember("x" * 200_000)

    ended = in_child(task)
    assert ended.status == -signal.SIGXFSZ
    with world.open() as store:
        session = bind(store)
        assert [one.record_id for one in session.list().items] == [ended.lines[0].decode()]
        session.remember("on")
    assert left_behind(world) == []
