"""A child process that runs a task and may die at any moment; what it reported until then is kept."""

from __future__ import annotations

import os
import signal
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Final, Never

import msgspec

KILLED: Final = -signal.SIGKILL
Report = Callable[[bytes], None]


class Death(msgspec.Struct, frozen=True, kw_only=True):
    """How a child ended (an exit code, or minus the signal), and the lines it reported before."""

    status: int
    lines: tuple[bytes, ...]


class Counter:
    """A step hook that counts the steps of the thread that made it and acts at one of them."""

    def __init__(self, at: int, act: Callable[[str], None]) -> None:
        self._thread = threading.get_ident()
        self._at = at
        self._act = act
        self.met = 0

    def __call__(self, call: str) -> None:
        if threading.get_ident() == self._thread:
            self.met += 1
            if self.met - 1 == self._at:
                self._act(call)


def die(_: str = "") -> None:
    """End this process now: no handler runs, nothing is flushed, no lock is released by hand."""
    os.kill(os.getpid(), signal.SIGKILL)


class Child:
    """A fork of this process at work on a task; an exception in the task is status 1."""

    def __init__(self, task: Callable[[Report], None]) -> None:
        self._reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the flusher alone, at rest
            self._pid = os.fork()
        if self._pid == 0:
            _work(task, self._reading, writing)
        os.close(writing)

    def kill(self) -> None:
        """End it now, wherever it is."""
        os.kill(self._pid, signal.SIGKILL)

    def end(self) -> Death:
        """Wait for its end."""
        with open(self._reading, "rb") as pipe:
            lines = tuple(pipe.read().split(b"\n")[:-1])
        return Death(status=os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1]), lines=lines)


def in_child(task: Callable[[Report], None]) -> Death:
    """Run a task in a child and wait for its end."""
    return Child(task).end()


def _work(task: Callable[[Report], None], reading: int, writing: int) -> Never:
    status = 1
    try:
        os.close(reading)
        task(lambda line: _write_all(writing, line + b"\n"))
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, it ends with this process and is shown
        traceback.print_exc()
    finally:
        os._exit(status)


def _write_all(fd: int, raw: bytes) -> None:
    while raw:
        raw = raw[os.write(fd, raw) :]
