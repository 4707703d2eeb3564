"""Cutting a call short where Python looks for signals: on entering a function, and behind a call into C."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Final

LOOKS: Final = ("call", "c_return")
OURS: Final = ("nsstore.harness.witness", "nsstore.harness.world", "nsstore.harness.probes", "weakref")
"""What is not the provider's: the suite itself, and what Python calls when something is let go."""


class Cut(BaseException):
    """What a signal handler may raise in the middle of anything."""


class _Counter:
    """Counts the places of one call, and raises at one of them if it is to."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.met = 0

    def __call__(self, frame: FrameType, event: str, given: object) -> None:
        del given
        if event not in LOOKS or frame.f_globals.get("__name__", "").startswith(OURS):
            return
        self.met += 1
        if self.at is not None and self.met > self.at and not _is_ending(frame):
            self.at = None
            raise Cut


def places(call: Callable[[], object]) -> int:
    """At how many places a call can be cut short."""
    counter = _Counter(None)
    _watched(call, counter)
    return counter.met


def cut_short(call: Callable[[], object], at: int) -> None:
    """Make a call and cut it short behind so many places. Raises :class:`Cut`, if it gets there."""
    _watched(call, _Counter(at))


def _watched(call: Callable[[], object], counter: _Counter) -> None:
    before = sys.getprofile()
    sys.setprofile(counter)
    try:
        call()
    finally:
        sys.setprofile(before)


def _is_ending(frame: FrameType) -> bool:
    """Whether something is just let go: nobody hears what is raised there."""
    at: FrameType | None = frame
    while at is not None:
        if at.f_code.co_name == "__del__":
            return True
        at = at.f_back
    return False
