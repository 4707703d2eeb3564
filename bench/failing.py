"""A system call that fails, once or from one step on: the hooks under which an operation is tried."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Final, Never

from bench.child import Counter

TAKES_SPACE: Final = ("write", "link", "mkdir", "rename")


class Interrupt(BaseException):
    """What a signal handler may raise anywhere."""


class Failing(Counter):
    """From one step on every call fails, or every one of some kinds."""

    def __init__(self, at: int, number: int, calls: tuple[str, ...] | None) -> None:
        super().__init__(at, lambda _: None)
        self.at = at
        self.number = number
        self.calls = calls

    def __call__(self, call: str) -> None:
        super().__call__(call)
        if self.met > self.at and (self.calls is None or call in self.calls):
            raise OSError(self.number, os.strerror(self.number))


def _raising(error: BaseException) -> Callable[[str], Never]:
    def fail(_: str) -> Never:
        raise error

    return fail


HOOKS: Final[dict[str, Callable[[int], Counter]]] = {
    "ENOSPC": lambda at: Counter(at, _raising(OSError(errno.ENOSPC, "full"))),
    "EIO": lambda at: Counter(at, _raising(OSError(errno.EIO, "broken"))),
    "EMFILE": lambda at: Counter(at, _raising(OSError(errno.EMFILE, "too many"))),
    "full from here on": lambda at: Failing(at, errno.ENOSPC, TAKES_SPACE),
    "dead from here on": lambda at: Failing(at, errno.EIO, None),
    "interrupt": lambda at: Counter(at, _raising(Interrupt())),
}
LASTING: Final = ("full from here on", "dead from here on", "interrupt")
