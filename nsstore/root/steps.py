"""The step hook: every system call that opens or changes something is announced before it is made.

Tests install a hook to kill the process, to copy the disk, or to fail the call with an errno; in
ordinary use there is none, and a step costs one comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

Hook = Callable[[str], None]

hook: Hook | None = None
"""Looked at in place where a call would cost more than the rest: see :func:`step`."""


def step(call: str) -> None:
    """Announce the system call ``call`` to the installed hook; the hook may raise ``OSError``."""
    if hook is not None:
        hook(call)


@contextmanager
def hooked(called: Hook) -> Generator[None]:
    """Install the hook ``called`` for the duration of the block, in every thread of this process."""
    global hook  # noqa: PLW0603 - one hook per process, and a step must cost one comparison
    before, hook = hook, called
    try:
        yield
    finally:
        hook = before
