"""Programs of the machine that are asked a question: fixed arguments, no shell, no input of anybody's."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from nsstore.root.links import lies_in
from nsstore.root.owned import is_executable

MOST: Final = 1024 * 1024
_CHUNK: Final = 64 * 1024
_IGNORED_HERE: Final = (signal.SIGPIPE, signal.SIGXFSZ)  # by Python, and not to be by what it starts


class Answer(NamedTuple):
    """What a program printed, and how it ended.

    ``status`` is ``None`` for one that did not end by itself: it could not be started, took too long, or
    printed more than was asked for. Then ``out`` is what came before.
    """

    status: int | None
    out: bytes


class Call(NamedTuple):
    """A command with its program's whole path, and how many bytes of its answer are wanted at most.

    ``fed_by`` is the number of an earlier call: what that one prints is this one's input. When all that
    are fed by none have ended, what ``last`` makes of their answers comes after it. Without ``fed_by`` the
    input is empty. ``taken`` takes each piece of the answer as it comes, and then the answer is without it.
    """

    command: Sequence[str]
    most: int = MOST
    fed_by: int | None = None
    last: Callable[[Sequence[Answer]], bytes] = lambda _: b""
    taken: Callable[[bytes], None] | None = None


def program(name: str, *, apart: str | None = None) -> str | None:
    """Where a program is, by the absolute directories of ``PATH`` alone: never one of where we stand.

    Nor one in the directory ``apart``, whatever leads there; in ``/`` is everything, and so that is nothing.
    """
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if not os.path.isabs(folder) or not is_executable(path):
            continue
        if apart is None or apart == "/" or not (lies_in(folder, apart) or lies_in(path, apart)):
            return path
    return None


def answers(calls: Sequence[Call], *, env: Mapping[str, str], seconds: float) -> list[Answer]:
    """What each call answers, all run at once; none takes the time or the answer of another.

    Each gets ``env`` as its whole environment, and so many ``seconds``; one that is fed, a quarter more,
    since it hears the last word then. What still runs after that, or whatever is raised, is killed, with
    all that it started.
    """
    until = time.monotonic() + seconds
    running: list[_Running] = []
    try:
        for call in calls:
            running.append(_Running(call, env, None if call.fed_by is None else running[call.fed_by]))
        _listen(running, until)
        for one in running:
            if one.source is None:
                one.answer(until)
                one.end()
        until += seconds / 4
        _listen(running, until)
        return [one.answer(until) for one in running]
    finally:
        for one in running:
            one.end()


class _Running:
    """A program at work, in a process group of its own."""

    def __init__(self, call: Call, env: Mapping[str, str], source: _Running | None) -> None:
        self.call = call
        self.source = source
        self._waiting = bytearray()  # what it is still to be fed with
        self._all_said = False
        self._printed = bytearray()
        self._left = call.most
        self._status: int | None = None
        self._pid = 0  # none, or it has ended and was asked how
        self.out = self.into = -1
        theirs: list[int] = []
        try:
            self.out, given = os.pipe()
            theirs.append(given)
            if source is None:
                fed = os.open(os.devnull, os.O_RDONLY)
            else:
                fed, self.into = os.pipe()
                os.set_blocking(self.into, False)
            theirs.append(fed)
            self._pid = os.posix_spawn(
                call.command[0],
                tuple(call.command),
                env,
                file_actions=(
                    (os.POSIX_SPAWN_DUP2, given, 1),
                    (os.POSIX_SPAWN_DUP2, fed, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ),
                setpgroup=0,
                setsigdef=_IGNORED_HERE,
            )
        except (OSError, ValueError):  # ValueError: a NUL in a name
            self.end()
        finally:
            for fd in theirs:
                os.close(fd)

    @property
    def watched(self) -> Iterator[tuple[int, int]]:
        """The descriptors to wait for, and for what."""
        if self.out != -1:
            yield self.out, select.POLLIN
        if self.into != -1 and self._waiting:
            yield self.into, select.POLLOUT

    def read(self) -> bytes:
        """What it printed since; nothing once there is no more to come."""
        found = os.read(self.out, _CHUNK)
        self._left -= len(found)
        if self._left < 0:
            found = found[: self._left]
            self.end()
        elif not found:
            self.out = _close(self.out)
        if self.call.taken is not None:
            self.call.taken(found)
        else:
            self._printed += found
        return found

    @property
    def hungry(self) -> bool:
        """Whether it is to be fed with more."""
        return self.into != -1 and not self._all_said

    def feed(self, more: bytes, *, last: bool = False) -> None:
        """Have it fed with more, and with nothing after the last."""
        if self.hungry:
            self._waiting += more
            self._all_said = last
            if last and not self._waiting:
                self.into = _close(self.into)

    def write(self) -> None:
        """Feed it with as much as it takes."""
        try:
            del self._waiting[: os.write(self.into, self._waiting)]
        except BlockingIOError:
            return
        except OSError:  # it takes no more
            self._waiting.clear()
            self._all_said = True
        if self._all_said and not self._waiting:
            self.into = _close(self.into)

    def answer(self, until: float) -> Answer:
        """What it printed, and how it ended if it does so in time."""
        pause = 0.0001
        while self._pid and self.out == -1:
            try:
                pid, status = os.waitpid(self._pid, os.WNOHANG)
            except ChildProcessError:  # somebody else asked how it ended
                self._pid = 0
                break
            if pid:
                self._pid, self._status = 0, os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= until:
                break
            else:
                time.sleep(pause)
                pause = min(2 * pause, 0.01)
        return Answer(self._status, bytes(self._printed))

    def end(self) -> None:
        """Kill it and what it started, if it has not ended, and let go of everything."""
        self.into, self.out = _close(self.into), _close(self.out)
        pid, self._pid = self._pid, 0
        if pid:
            # The number is nobody else's as long as nobody asked how it ended.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _listen(running: Sequence[_Running], until: float) -> None:
    """Take in what all of them print, and feed those that are fed, until all are done or time is up."""
    while (left := until - time.monotonic()) > 0:
        _say_last(running, until)
        at_work = {fd: (one, event) for one in running for fd, event in one.watched}
        if not at_work:
            return
        ready = select.poll()
        for fd, (_, event) in at_work.items():
            ready.register(fd, event)
        for fd, _ in ready.poll(math.ceil(left * 1000)):
            one, event = at_work[fd]
            if event == select.POLLOUT:
                one.write()
                continue
            found = one.read()
            for fed in running:
                if fed.source is one:
                    fed.feed(found)


def _say_last(running: Sequence[_Running], until: float) -> None:
    """Once all that are fed by nobody have ended, tell the others what comes last."""
    hungry = [one for one in running if one.hungry]
    if hungry and all(one.out == -1 for one in running if one.source is None):
        said = [one.answer(until) for one in running if one.source is None]
        for one in hungry:
            one.feed(one.call.last(said), last=True)


def _close(fd: int) -> int:
    """Close a descriptor that may be none, and say so."""
    if fd != -1:
        os.close(fd)
    return -1
