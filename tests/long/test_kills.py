"""Fifty rounds of kill -9 in two writing processes."""

import random
import time
from pathlib import Path

import pytest

from bench.child import KILLED, Child, Report
from bench.powercut.examine import audit_faults
from bench.world import Who, World
from nsstore import Note, OpenStore, Session
from nsstore.scope import memory_namespace

ROUNDS = 50
WRITES = 500
EVERY = 10

pytestmark = pytest.mark.long


def write(session: Session, name: str, number: int) -> dict[str, str]:
    """One write, now and then a batch: the texts it kept by their record ids."""
    if number % EVERY:
        texts = [f"{name} {number}"]
        receipts = [session.remember(texts[0])]
    else:
        texts = [f"{name} {number}.{part}" for part in range(3)]
        receipts = session.remember_many(Note(text=text) for text in texts)
    return {receipt.record_id: text for receipt, text in zip(receipts, texts, strict=True)}


def writer(world: World, who: Who, name: str) -> Child:
    """A process that writes and reports each acknowledged text."""

    def task(report: Report) -> None:
        with world.open() as store:
            session = who.bind(store)
            for number in range(WRITES):
                for record_id, text in write(session, name, number).items():
                    report(f"{record_id} {text}".encode())
                if number % EVERY == 0:
                    session.state.put(name, f"{name} {number}")

    return Child(task)


def acknowledged(lines: tuple[bytes, ...]) -> dict[str, str]:
    """Every whole line that a process reported."""
    return dict(line.decode().split(" ", 1) for line in lines)


def everything(store: OpenStore, who: Who) -> dict[str, str]:
    """Every record of a session, each proven now."""
    session = who.bind(store)
    members = store.leaf(memory_namespace(session.envelope.scope)).read().order
    assert session.list(include_superseded=True).total == len(members)
    return {one: session.get(one).text for one in list(members)}


def tried(name: str) -> set[str]:
    """Every text that a writer may have written."""
    singles = {f"{name} {number}" for number in range(WRITES) if number % EVERY}
    return singles | {f"{name} {number}.{part}" for number in range(0, WRITES, EVERY) for part in range(3)}


def test_kill_9_in_two_processes(tmp_path: Path) -> None:
    """After each round every acknowledged record is there, nothing is half, and the next write works."""
    dice = random.Random(2026)
    world = World(place=tmp_path)
    world.make().close()
    kills, acks = 0, 0
    for turn in range(ROUNDS):
        who = Who(session=f"round-{turn}", workspace=f"w-{turn}")
        writers = {name: writer(world, who, name) for name in ("one", "two")}
        for child in writers.values():
            time.sleep(0.6 * dice.random() ** 2)  # most of them before they are done
            child.kill()
        ends = [child.end() for child in writers.values()]
        kept = {key: text for end in ends for key, text in acknowledged(end.lines).items()}
        kills += sum(end.status == KILLED for end in ends)
        acks += len(kept)
        assert all(end.status in (0, KILLED) for end in ends)
        with world.open() as store:
            there = everything(store, who)
            assert kept.items() <= there.items(), f"round {turn}"
            assert set(there.values()) <= tried("one") | tried("two")
            assert len(set(there.values())) == len(there)
            receipt = who.bind(store).remember("after the round")
            assert everything(store, who) == there | {receipt.record_id: "after the round"}
    assert audit_faults(world, Who().tenant) == []
    assert kills >= ROUNDS
    assert acks >= ROUNDS * 20


def test_two_processes_undisturbed(tmp_path: Path) -> None:
    """Left alone, two processes keep all of two times 500 writes, and neither sees an error."""
    world = World(place=tmp_path)
    world.make().close()
    who = Who()
    ends = [child.end() for child in [writer(world, who, name) for name in ("one", "two")]]
    assert [end.status for end in ends] == [0, 0]
    kept = {key: text for end in ends for key, text in acknowledged(end.lines).items()}
    assert set(kept.values()) == tried("one") | tried("two")
    with world.open() as store:
        session = who.bind(store)
        for record_id, text in kept.items():
            assert session.get(record_id).text == text
        for name in ("one", "two"):
            assert session.state.get(name).text == f"{name} {WRITES - EVERY}"
    assert audit_faults(world, who.tenant) == []
