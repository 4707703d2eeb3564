"""The step hook: every system call that opens or changes something is announced before it is made.

Tests install a hook to kill the process, to copy the disk, or to fail the call with an errno; in
ordinary use there is none, and a step costs one comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

Hook = Callable[[str], None]

_hook: Hook | None = None


def step(call: str) -> None:
    """Announce the system call ``call`` to the installed hook; the hook may raise ``OSError``."""
    if _hook is not None:
        _hook(call)


@contextmanager
def hooked(hook: Hook) -> Generator[None]:
    """Install ``hook`` for the duration of the block, in every thread of this process."""
    global _hook  # noqa: PLW0603 - one hook per process, and a step must cost one comparison
    before, _hook = _hook, hook
    try:
        yield
    finally:
        _hook = before
