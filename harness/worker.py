"""A thread for calls into somebody else's code, each with a time in which it has to end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread
from typing import Final

from nsstore.harness.provider import Refusal
from nsstore.harness.witness import Unproven

DEADLINE: Final = 20.0
"""Seconds after which a case has failed."""


class Late(Exception):
    """No answer in time."""


LATE: Final = Late()


class Worker:
    """A thread that makes one call after the other; a provider meets no other one."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        Thread(target=self._run, name="nsstore acceptance", daemon=True).start()

    def do(self, call: Callable[[], object], seconds: float) -> BaseException | None:
        """What a call raises, or ``None``; :data:`LATE` if it does not end, and nothing is done then."""
        ended, raised = Event(), list[BaseException]()

        def work() -> None:
            try:
                call()
            except BaseException as err:  # noqa: BLE001 - a provider may raise anything; it fails its case
                raised.append(err)
            finally:
                ended.set()

        self._work.put(work)
        if not ended.wait(seconds):
            self.end()
            return LATE
        return raised[0] if raised else None

    def end(self) -> None:
        """Let the thread end when it has nothing to do."""
        self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            with suppress(BaseException):
                work()


def in_words(failure: BaseException | None, seconds: float) -> str | None:
    """What came in the way of a call that had so many seconds; ``None`` if nothing did."""
    if failure is LATE:
        return f"no answer after {seconds:g} seconds"
    if isinstance(failure, Unproven):
        return str(failure)
    if isinstance(failure, Refusal):
        return f"refused what has to be done: {failure}"
    return None if failure is None else f"{type(failure).__name__}: {failure}"
