"""Many processes and threads write one audit: every line whole, none lost, each one's own order kept."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from nsstore.audit import AuditEvent, AuditLog, EventKind, read_events, verify
from tests.audit.conftest import ACME, READ, Office

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def write_many(make: Callable[[], AuditLog], who: int, sizes: list[int], count: int) -> None:
    """Write events that say who wrote them, in which order, and are of the given sizes in turn."""
    log = make()
    for number in range(count):
        if number % 20 == 0:
            time.sleep(0.001)  # or one would be done before the next begins
        filler = ("x" * max(0, sizes[number % len(sizes)] - 500),)
        log.append(ACME, AuditEvent(event=EventKind.READ, verb=f"{who}/{number}", records=filler))


def write_one(log: AuditLog, _: int) -> None:
    """Write one event."""
    log.append(ACME, READ)


def run(act: Callable[..., None], many: int, *args: object) -> None:
    """Run something in so many forked processes at once."""
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=act, args=(args[0], who, *args[1:])) for who in range(many)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0


@pytest.mark.usefixtures("unflushed")
@pytest.mark.parametrize("sizes", [[100], [100, 700, 4096, 16_384]], ids=["100 B", "up to 16 KiB"])
def test_eight_processes(office: Office, sizes: list[int]) -> None:
    """Eight processes times 200 events: all parse, none is lost, each process's keep their order."""
    run(write_many, 8, office.log, sizes, 200)
    raws = [raw for path in sorted(office.folder.glob("*.jsonl")) for raw in path.read_bytes().splitlines()]
    verbs = [json.loads(raw)["verb"] for raw in raws]
    assert len(verbs) == 8 * 200
    for who in range(8):
        mine = [verb for verb in verbs if verb.startswith(f"{who}/")]
        assert mine == [f"{who}/{number}" for number in range(200)]
    turns = sum(one.split("/")[0] != two.split("/")[0] for one, two in itertools.pairwise(verbs))
    assert turns > 8, "the processes did not run at the same time"
    verdict = verify(office.log(), ACME)
    assert (verdict.whole, verdict.events) == (True, 1600), verdict.faults[:3]


@pytest.mark.usefixtures("unflushed")
def test_threads_of_one_process(office: Office) -> None:
    """Eight threads that share one log lose nothing and keep their order."""
    log = office.log()
    threads = [threading.Thread(target=write_many, args=(lambda: log, who, [100], 50)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    verbs = [line.verb or "" for line in read_events(log, ACME)]
    for who in range(8):
        assert [v for v in verbs if v.startswith(f"{who}/")] == [f"{who}/{number}" for number in range(50)]
    assert verify(log, ACME).whole


@pytest.mark.usefixtures("unflushed")
def test_verifying_while_others_write(office: Office) -> None:
    """Verifying beside writers never takes a moment between line and head for a fault."""
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=write_many, args=(office.log, who, [100], 100_000)) for who in range(2)]
    for writer in writers:
        writer.start()
    log, seen = office.log(), list[int]()
    try:
        while len(seen) < 12 or seen[-1] == seen[0]:
            verdict = verify(log, ACME)
            assert verdict.whole, verdict.faults
            seen.append(verdict.events)
    finally:
        for writer in writers:
            writer.kill()
            writer.join()
    assert seen == sorted(seen)


@pytest.mark.usefixtures("unflushed")
def test_killed_writers(office: Office) -> None:
    """Writers killed at any moment leave a chain that verifies and that the next one goes on with."""
    fork = multiprocessing.get_context("fork")
    for turn in range(8):
        writer = fork.Process(target=write_many, args=(office.log, turn, [100, 16_384], 100_000))
        writer.start()
        time.sleep(0.02 + 0.003 * turn)
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        office.log().append(ACME, READ)
        verdict = verify(office.log(), ACME)
        assert (verdict.faults, verdict.gaps) == ((), 0), turn
    assert verify(office.log(), ACME).events > 16


def test_a_forked_child_goes_on_with_the_chain(office: Office) -> None:
    """A child of a process that has the audit open writes into the same chain, and so does the parent."""
    log = office.log()
    log.append(ACME, READ)
    run(write_one, 3, log)
    log.append(ACME, READ)
    verdict = verify(log, ACME)
    assert (verdict.whole, verdict.events) == (True, 5), verdict.faults


@pytest.mark.usefixtures("unflushed")
def test_a_child_forked_while_a_thread_writes(office: Office) -> None:
    """A child that is forked while another thread holds the audit can write, and its parent goes on."""
    log, over = office.log(), threading.Event()

    def write() -> None:
        while not over.is_set():
            log.append(ACME, READ)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            run(write_one, 1, log)
    finally:
        over.set()
        writer.join()
    verdict = verify(log, ACME)
    assert verdict.whole, verdict.faults
    assert verdict.events >= 6
