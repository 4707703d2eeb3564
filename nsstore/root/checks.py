"""What an opened file or directory must be before a byte of it is used."""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

from nsstore.errors import EscapeError, StoreError, SystemFailure

FOREIGN_BITS: Final = 0o7077  # group, others, and the set-id and sticky bits
ESCAPES: Final = frozenset({errno.ELOOP, errno.EXDEV, errno.ENOTDIR, errno.ENXIO})


def require_regular(found: os.stat_result, device: int, owner: int) -> None:
    """Require a regular file with one name, on the root's device, owner's own and private."""
    if not stat.S_ISREG(found.st_mode):
        raise EscapeError("a special file stands where a file of the store belongs")
    if found.st_nlink > 1:
        raise EscapeError("a file of the store has a second name (hard link)")
    _require_ours(found, device, owner)


def require_directory(found: os.stat_result, device: int, owner: int) -> None:
    """Require a directory on the root's device, owner's own and private."""
    if not stat.S_ISDIR(found.st_mode):
        raise EscapeError("something that is no directory stands where one of the store belongs")
    _require_ours(found, device, owner)


def _require_ours(found: os.stat_result, device: int, owner: int) -> None:
    if found.st_dev != device:
        raise EscapeError("part of the store lies on another device")
    if found.st_uid != owner:
        raise EscapeError("part of the store belongs to another user")
    if found.st_mode & FOREIGN_BITS:
        raise EscapeError("part of the store is open to other users: files must be 0600, directories 0700")


def failure(doing: str, err: OSError) -> StoreError:
    """The error kind for what the system said: a way out of the tree, or a plain failure."""
    if err.errno in ESCAPES:
        return EscapeError(f"{doing}: a link, device or swapped directory was met on the way")
    return SystemFailure(doing, err, retryable=err.errno in (errno.EMFILE, errno.ENFILE, errno.EINTR))
