"""Absent and denied cost the same: what a fresh process does for one, it does for the other."""

from collections.abc import Callable
from functools import partial

import pytest

from bench.world import Who, World
from nsstore import Note, NotVisible, Session
from nsstore.record import new_record_id
from nsstore.root import system
from nsstore.root.steps import hooked


def effort(world: World, who: Who, ask: Callable[[Session], object]) -> tuple[list[str], int]:
    """The steps and the bytes read of one request to a process that saw nothing yet."""
    steps, read = list[str](), 0
    pread = system.pread

    def counted(fd: int, size: int, offset: int) -> bytes:
        nonlocal read
        raw = pread(fd, size, offset)
        read += len(raw)
        return raw

    with world.open() as store:
        session = who.bind(store)
        session.search("warm", k=1)
    with world.open() as store, pytest.MonkeyPatch.context() as patch:
        session = who.bind(store)
        patch.setattr(system, "pread", counted)
        with hooked(steps.append):
            ask(session)
    return steps, read


def refused(call: Callable[[], object]) -> None:
    """Make a call that answers as if nothing were there."""
    with pytest.raises(NotVisible):
        call()


def test_a_denied_record(world: World) -> None:
    """Another agent's record costs the same as none, whatever its size, for every verb that takes an id."""
    with world.open() as store:
        Who().bind(store).remember("mine")
        other = Who(agent="other").bind(store).remember("x" * 200_000).record_id
    asks: list[Callable[[str, Session], object]] = [
        lambda one, session: refused(lambda: session.get(one)),
        lambda one, session: refused(lambda: session.history(one)),
        lambda one, session: refused(lambda: session.forget(one)),
        lambda one, session: refused(lambda: session.remember("new", supersedes=[one])),
    ]
    for ask in asks:
        there, absent = (
            effort(world, Who(), partial(ask, record_id)) for record_id in (other, new_record_id())
        )
        assert there[0] == absent[0]
        assert abs(there[1] - absent[1]) < 5_000  # the audit has grown between the two


def test_another_agents_idempotency_key(world: World) -> None:
    """A key that another workspace of the same agent used costs the same as a fresh one."""
    note = Note(text="y" * 200_000, idempotency_key="used")
    with world.open() as store:
        Who(workspace="w-2").bind(store).remember_many([note])

    def remember(key: str, session: Session) -> object:
        return session.remember("new", idempotency_key=key)

    fresh, used = (effort(world, Who(), partial(remember, key)) for key in ("fresh", "used"))
    assert abs(len(fresh[0]) - len(used[0])) < 5  # the first write of the two may find more to make
    assert abs(fresh[1] - used[1]) < 10_000
