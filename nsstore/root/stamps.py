"""Stamps: whether files and directories are as they were, without reading them again.

A stamp proves nothing about what is in a file; it only spares asking again what was asked before. What
changed within the last moment may change again under the same stamp, so it is not settled yet.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from typing import Final

from nsstore.root.checks import SETTLED_NS

Stamp = tuple[int, ...]
_NOTHING: Final[Stamp] = ()
WHOLE: Final = 6


def stamp(path: str) -> Stamp:
    """What the system says of a name: equal as long as nothing about it changed; empty if it is not there."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except (OSError, ValueError):
        return _NOTHING
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def identity_stamp(path: str) -> Stamp:
    """As :func:`stamp`; of a directory only which one it is, whatever happens in it."""
    found = stamp(path)
    return found[:3] if found and stat.S_ISDIR(found[2]) else found


def moment() -> int:
    """The time now, as stamps tell it."""
    return time.time_ns()


def settled(stamps: Iterable[Stamp], began: int) -> bool:
    """Whether nothing changed since a moment before ``began``, so that any change since then shows."""
    newest = max((one[-1] for one in stamps if len(one) == WHOLE), default=0)
    return newest + SETTLED_NS < began


def folders_below(path: str, most: int) -> tuple[str, ...] | None:
    """A directory and every one below it, links not followed; ``None`` for more than ``most``.

    Nothing where there is no directory. Whatever is made, replaced or removed in one changes its stamp.
    """
    found, waiting = list[str](), [path]
    while waiting:
        at = waiting.pop()
        try:
            with os.scandir(at) as entries:
                waiting += [one.path for one in entries if one.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        found.append(at)
        if len(found) > most:
            return None
    return tuple(found)
