"""Stamps: whether files and directories are as they were, without reading them again.

A stamp proves nothing about what is in a file; it only spares asking again what was asked before. What
changed within the last moment may change again under the same stamp, so it is not settled yet. A link has
the stamp of both, of itself and of what it leads to.
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
_MODE: Final = 2
_IDENTITY: Final = 4  # so many of them say what it is and whose
_CHANGED: Final = 6
_WHOLE: Final = 7


def stamp(path: str) -> Stamp:
    """What the system says of a name: equal as long as nothing about it changed; empty if it is not there."""
    return _stamp(path, _WHOLE)


def identity_stamp(path: str) -> Stamp:
    """As :func:`stamp`; of a directory only which one it is and whose, whatever happens in it."""
    return _stamp(path, _IDENTITY)


def _stamp(path: str, of_folder: int) -> Stamp:
    own = _seen(path, of_folder, follow=False)
    linked = bool(own) and stat.S_ISLNK(own[_MODE])
    return own + _seen(path, of_folder, follow=True) if linked else own


def _seen(path: str, of_folder: int, *, follow: bool) -> Stamp:
    try:
        one = os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return _NOTHING
    seen = one.st_dev, one.st_ino, one.st_mode, one.st_uid, one.st_size, one.st_mtime_ns, one.st_ctime_ns
    return seen[:of_folder] if stat.S_ISDIR(one.st_mode) else seen


def moment() -> int:
    """The time now, as stamps tell it."""
    return time.time_ns()


def settled(stamps: Iterable[Stamp], began: int) -> bool:
    """Whether nothing changed since a moment before ``began``, so that any change since then shows."""
    newest = max((when for one in stamps for when in one[_CHANGED::_WHOLE]), default=0)
    return newest + SETTLED_NS < began


def folders_below(path: str, most: int) -> tuple[str, ...] | None:
    """A directory and every one below it; ``None`` for more than ``most``, and where there are links below.

    Nothing where there is no directory. Whatever is made, replaced or removed in one changes its stamp, but
    for what a link leads to.
    """
    found, waiting = list[str](), [path]
    while waiting:
        at = waiting.pop()
        try:
            with os.scandir(at) as entries:
                for one in entries:
                    if one.is_symlink():
                        return None
                    if one.is_dir():
                        waiting.append(one.path)
        except OSError:
            continue
        found.append(at)
        if len(found) > most:
            return None
    return tuple(found)
