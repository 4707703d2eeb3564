"""A call interrupted at any instruction of the rooms that hold locks leaves nothing locked behind."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from bench.house import House
from nsstore import StoreError, root
from nsstore.audit import verify
from nsstore.root import locks


class Interrupt(BaseException):
    """What a signal handler may raise anywhere."""


class Interrupter:
    """Raises, once, where Python looks for signals: on entering a function, and behind a call into C.

    Only within some files, and there at the ``at``-th such place.
    """

    def __init__(self, files: frozenset[str], at: int) -> None:
        self.files = files
        self.left = at
        self.fired = False

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "c_return") or self.fired:
            return
        if Path(frame.f_code.co_filename).name in self.files:
            self.left -= 1
            if self.left < 0:
                self.fired = True
                raise Interrupt


def interrupted(call: Callable[[], object], files: frozenset[str], at: int) -> BaseException | None:
    """Make a call and interrupt it there; the exception with its frames, or ``None`` if it ended before."""
    interrupter = Interrupter(files, at)
    sys.setprofile(interrupter)
    try:
        call()
    except (Interrupt, StoreError) as err:
        return err if interrupter.fired else None
    finally:
        sys.setprofile(None)
    return None


ROOMS = {
    "flusher": (frozenset({"flusher.py", "threading.py"}), 1),
    "audit": (frozenset({"log.py"}), 1),
    "namespace": (frozenset({"publish.py", "entry.py", "leaf.py", "locks.py", "anchors.py"}), 1),
}


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_stays_locked(house: House, monkeypatch: pytest.MonkeyPatch, room: str) -> None:
    """After an interrupt at each place, this process and others go on at once."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 1.0)
    files, stride = ROOMS[room]
    who, kept = house.owner.who, list[BaseException]()
    at = 0
    with house.world.open() as store, house.world.open() as other:
        mine, another = who.bind(store), who.bind(other)
        mine.remember("before")
        while True:
            root.flusher.flush(store.root)
            error = interrupted(partial(mine.remember, f"note {at}"), files, at)
            if error is None:
                break
            kept[:] = [error]
            finished = threading.Event()

            def go_on(finished: threading.Event = finished) -> None:
                another.remember("another goes on")
                mine.remember("this one goes on")
                root.flusher.flush(store.root)
                finished.set()

            thread = threading.Thread(target=go_on, daemon=True)
            thread.start()
            assert finished.wait(8), f"interrupted at instruction {at} of {room}, something is locked"
            at += stride
        assert at > 3
        assert verify(store.audit, ("tenant", who.tenant)).whole
