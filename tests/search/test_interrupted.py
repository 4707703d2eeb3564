"""A search that is interrupted, or asked from within another one, leaves the next one whole."""

import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.world import Who, World
from nsstore import Session
from nsstore.search import view


class Interrupt(BaseException):
    """What a signal handler may raise anywhere."""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session with a few records, none of them in a view yet."""
    world = World(place=tmp_path)
    session = Who().bind(world.make())
    session.remember_many([f"note {number} quartz" for number in range(8)])
    return session


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupted_catch_up(session: Session, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """A view that was being made when it was interrupted is made again, with every record once."""
    whole, calls = view.View.add_terms, 0

    def add(self: view.View, record_id: str, spelled: Sequence[Sequence[str]]) -> None:
        nonlocal calls
        calls += 1
        if calls == 4 and when == "before":
            raise Interrupt
        whole(self, record_id, spelled)
        if calls == 4:
            raise Interrupt

    monkeypatch.setattr(view.View, "add_terms", add)
    with pytest.raises(Interrupt):
        session.search("quartz", k=20)
    assert len(session.search("quartz", k=20).hits) == 8


def test_a_search_within_a_search(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler that searches while its thread builds a view is answered, and so is the thread."""
    whole, inner = view.View.add_terms, list[int]()

    def handler(*_: object) -> None:
        inner.append(len(session.search("quartz", k=20).hits))

    def add(self: view.View, record_id: str, spelled: Sequence[Sequence[str]]) -> None:
        if not inner:
            inner.append(0)
            signal.raise_signal(signal.SIGUSR1)
        whole(self, record_id, spelled)

    monkeypatch.setattr(view.View, "add_terms", add)
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        assert threading.current_thread() is threading.main_thread()
        assert len(session.search("quartz", k=20).hits) == 8
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert inner == [0, 8]
