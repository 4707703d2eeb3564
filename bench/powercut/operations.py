"""The operations that are cut: what is there before, what is done, and what it may leave behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from bench.child import KILLED, die, in_child
from bench.world import Who, World
from nsstore import Note, NotVisible, OpenStore, Session
from nsstore.root.steps import hooked
from nsstore.scope import Area, memory_namespace, state_namespace
from nsstore.store import Below, expire

KEY: Final = "plan"
BATCH: Final = 5


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One acknowledged record: once this exists, no cut may take the record away.

    ``gone``: it was acknowledged as forgotten, and no cut may bring it back.
    """

    record_id: str
    text: str
    gone: bool = False


Keep = Callable[[Kept], None]


def _as_it_is(_world: World, _kept: Sequence[Kept]) -> None:
    """Go on at once."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One way to write or forget. ``prepare`` makes what is there before; ``act`` tells each receipt.

    ``tried`` are the texts that ``act`` writes, in their order, ``doomed`` those it takes away, all or
    none of them; ``least`` is the number of system calls below which a run of it has missed cut points.
    ``mend`` is what somebody does after a cut, told what was acknowledged by then, before they go on.
    """

    name: str
    area: Area
    least: int
    tried: tuple[str, ...]
    prepare: Callable[[World, Who], tuple[Kept, ...]]
    act: Callable[[Session, Keep], None]
    doomed: tuple[str, ...] = ()
    mend: Callable[[World, Sequence[Kept]], None] = _as_it_is


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


_VERSIONS: Final = ("an older canary version", "the canary version")
_EXPIRED: Final = "a canary that expires"


def _two_versions(world: World, who: Who) -> tuple[Kept, ...]:
    """Two versions of one record, and another record."""
    with world.open() as store:
        session = who.bind(store)
        old = session.remember(_VERSIONS[0]).record_id
        new = session.remember(_VERSIONS[1], supersedes=[old]).record_id
        ids = (old, new, session.remember("kept before").record_id)
    texts = (*_VERSIONS, "kept before")
    return tuple(Kept(record_id=one, text=text) for one, text in zip(ids, texts, strict=True))


def _one_expired(world: World, who: Who) -> tuple[Kept, ...]:
    """A record that is over by now, and another one."""
    with world.open() as store:
        session = who.bind(store)
        over = session.remember(_EXPIRED, ttl=0.001).record_id
        time.sleep(0.002)
        receipt = session.remember("kept before")
    kept = Kept(record_id=receipt.record_id, text="kept before")
    return (Kept(record_id=over, text=_EXPIRED, gone=False), kept)


def _versions_before(world: World, who: Who) -> tuple[Kept, ...]:
    """Two versions of a document."""
    with world.open() as store:
        state = who.bind(store).state
        ids = [state.put(KEY, text).record_id for text in _VERSIONS]
    return tuple(Kept(record_id=one, text=text) for one, text in zip(ids, _VERSIONS, strict=True))


def store_of(session: Session) -> OpenStore:
    """The store of a session: to what the owner does, and to what is forgotten, a session has no way."""
    store = getattr(session, "_store")  # noqa: B009 - nobody else may have it, and type checkers know
    assert isinstance(store, OpenStore)
    return store


def _ids(session: Session, area: Area) -> list[str]:
    """Every record of the scope that there is or was, oldest first."""
    scope = session.envelope.scope
    ns = memory_namespace(scope) if area == "memory" else state_namespace(scope)
    ledger = store_of(session).leaf(ns).read()
    return sorted([*ledger.order, *ledger.forgotten])


def _forget(session: Session, keep: Keep) -> None:
    old, new = _ids(session, "memory")[:2]
    with suppress(NotVisible):  # of a second try: the first one came far enough
        assert session.forget(new).records == (old, new)
    for record_id, text in zip((old, new), _VERSIONS, strict=True):
        keep(Kept(record_id=record_id, text=text, gone=True))


def _forget_document(session: Session, keep: Keep) -> None:
    ids = _ids(session, "state")
    with suppress(NotVisible):
        assert list(session.state.forget(KEY).records) == ids
    for record_id, text in zip(ids, _VERSIONS, strict=False):
        keep(Kept(record_id=record_id, text=text, gone=True))


def _expire(session: Session, keep: Keep) -> None:
    over = _ids(session, "memory")[0]
    expire(store_of(session), Below(tenant=session.envelope.scope.tenant))
    keep(Kept(record_id=over, text=_EXPIRED, gone=True))


def _supersede(session: Session, keep: Keep) -> None:
    old = next(one for one in session.list(include_superseded=True).items if one.text == "kept before")
    receipt = session.remember("a new note", supersedes=[old.record_id], idempotency_key="one")
    keep(Kept(record_id=receipt.record_id, text="a new note"))


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
    Operation(
        name="supersede",
        area="memory",
        least=20,
        tried=("a new note",),
        prepare=_one_record,
        act=_supersede,
    ),
    Operation(
        name="forget",
        area="memory",
        least=30,
        tried=(),
        prepare=_two_versions,
        act=_forget,
        doomed=_VERSIONS,
    ),
    Operation(
        name="forget_document",
        area="state",
        least=30,
        tried=(),
        prepare=_versions_before,
        act=_forget_document,
        doomed=_VERSIONS,
    ),
    Operation(
        name="expire",
        area="memory",
        least=30,
        tried=(),
        prepare=_one_expired,
        act=_expire,
        doomed=(_EXPIRED,),
    ),
)
WRITES: Final = tuple(one for one in OPERATIONS if not one.doomed)
FORGETS: Final = tuple(one for one in OPERATIONS if one.doomed)
BY_NAME: Final = {one.name: one for one in OPERATIONS}


def place_of(operation: Operation, number: int) -> Who:
    """A scope nobody wrote in: the first write finds no tenant, the others no project.

    What looks at a whole tenant has one of its own each time, too.
    """
    own = operation.name in {"first", "expire"}
    tenant = f"{operation.name}-{number}" if own else operation.name
    return Who(tenant=tenant, project=f"p-{number}")
