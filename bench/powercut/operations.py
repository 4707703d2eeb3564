"""The operations that are cut: what is there before, what is done, and what it may leave behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from bench.child import KILLED, die, in_child
from bench.world import Who, World
from nsstore import Note, Session
from nsstore.root.steps import hooked
from nsstore.scope import Area

KEY: Final = "plan"
BATCH: Final = 5


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One acknowledged record: once this exists, no cut may take the record away."""

    record_id: str
    text: str


Keep = Callable[[Kept], None]


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One way to write. ``prepare`` makes what is there before; ``act`` writes and tells each receipt.

    ``tried`` are the texts that ``act`` writes, in their order; ``least`` is the number of system
    calls below which a run of it has missed cut points.
    """

    name: str
    area: Area
    least: int
    tried: tuple[str, ...]
    prepare: Callable[[World, Who], tuple[Kept, ...]]
    act: Callable[[Session, Keep], None]


def _nothing(_world: World, _who: Who) -> tuple[Kept, ...]:
    return ()


def _one_record(world: World, who: Who) -> tuple[Kept, ...]:
    with world.open() as store:
        receipt = who.bind(store).remember("kept before")
    return (Kept(record_id=receipt.record_id, text="kept before"),)


def _one_version(world: World, who: Who) -> tuple[Kept, ...]:
    with world.open() as store:
        receipt = who.bind(store).state.put(KEY, "version before")
    return (Kept(record_id=receipt.record_id, text="version before"),)


def _a_death(world: World, who: Who) -> tuple[Kept, ...]:
    """Leave a durable record without a line: its writer dies between the two."""
    kept = _one_record(world, who)
    flushed: list[str] = []

    def _at_the_line(call: str) -> None:
        if flushed:
            die()
        flushed.extend(call for _ in range(call == "fsync"))

    def dying(_: object) -> None:
        with world.open() as store:
            session = who.bind(store)
            with hooked(_at_the_line):
                session.remember("left by a dead writer")

    ended = in_child(dying)
    assert ended.status == KILLED, ended
    return kept


def _remember(session: Session, keep: Keep) -> None:
    receipt = session.remember("a new note", idempotency_key="one")
    keep(Kept(record_id=receipt.record_id, text="a new note"))


_MANY: Final = tuple(f"note {number} of a batch" for number in range(BATCH))


def _remember_many(session: Session, keep: Keep) -> None:
    notes = [Note(text=text, idempotency_key=text) for text in _MANY]
    for receipt, text in zip(session.remember_many(notes), _MANY, strict=True):
        keep(Kept(record_id=receipt.record_id, text=text))


def _put(session: Session, keep: Keep) -> None:
    receipt = session.state.put(KEY, "a new version", idempotency_key="one")
    keep(Kept(record_id=receipt.record_id, text="a new version"))


OPERATIONS: Final = (
    Operation(name="first", area="memory", least=100, tried=("a new note",), prepare=_nothing, act=_remember),
    Operation(
        name="again", area="memory", least=20, tried=("a new note",), prepare=_one_record, act=_remember
    ),
    Operation(name="batch", area="memory", least=30, tried=_MANY, prepare=_one_record, act=_remember_many),
    Operation(name="document", area="state", least=60, tried=("a new version",), prepare=_nothing, act=_put),
    Operation(
        name="version", area="state", least=20, tried=("a new version",), prepare=_one_version, act=_put
    ),
    Operation(
        name="after_death",
        area="memory",
        least=35,
        tried=("left by a dead writer", "a new note"),
        prepare=_a_death,
        act=_remember,
    ),
)
BY_NAME: Final = {one.name: one for one in OPERATIONS}


def place_of(operation: Operation, number: int) -> Who:
    """A scope nobody wrote in: the first write finds no tenant, the others no project."""
    tenant = f"first-{number}" if operation.name == "first" else operation.name
    return Who(tenant=tenant, project=f"p-{number}")
