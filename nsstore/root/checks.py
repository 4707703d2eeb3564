"""What an opened file or directory must be before a byte of it is used."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import Final

from nsstore.errors import EscapeError, StoreError, SystemFailure

FOREIGN_BITS: Final = 0o7077  # group, others, and the set-id and sticky bits
# What a file answers that somebody made unreadable, or leased, so that reading would stop.
NOT_OURS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EAGAIN, errno.EBUSY, errno.ETXTBSY})
SETTLED_NS: Final = 10_000_000
"""How long after its last change a stamp has to be seen for an equal one to mean that nothing changed."""
ESCAPES: Final = frozenset({errno.ELOOP, errno.EXDEV, errno.ENOTDIR, errno.ENXIO})


def require_regular(found: os.stat_result, device: int, owner: int, what: str) -> None:
    """Require a regular file with one name, on the root's device, owner's own and private.

    ``what`` names the whole of which it is a part: the store, or the trust home.
    """
    if not stat.S_ISREG(found.st_mode):
        raise EscapeError(f"a special file stands where a file of {what} belongs")
    if found.st_nlink > 1:
        raise EscapeError(f"a file of {what} has a second name (hard link)")
    _require_ours(found, device, owner, what)


def require_directory(found: os.stat_result, device: int, owner: int, what: str) -> None:
    """Require a directory on the root's device, owner's own and private; ``what`` as for a file."""
    if not stat.S_ISDIR(found.st_mode):
        raise EscapeError(f"something that is no directory stands where one of {what} belongs")
    _require_ours(found, device, owner, what)


def _require_ours(found: os.stat_result, device: int, owner: int, what: str) -> None:
    if found.st_dev != device:
        raise EscapeError(f"part of {what} lies on another device")
    if found.st_uid != owner:
        raise EscapeError(f"part of {what} belongs to another user")
    if found.st_mode & FOREIGN_BITS:
        raise EscapeError(f"part of {what} is open to other users: files must be 0600, directories 0700")


def as_seen(found: os.stat_result) -> tuple[int, ...]:
    """What the system says of a file: equal as long as nothing changed. Its last change comes last."""
    return (
        *(found.st_ino, found.st_dev, found.st_mode, found.st_uid, found.st_nlink, found.st_size),
        found.st_ctime_ns,
    )


def failure(doing: str, err: OSError) -> StoreError:
    """The error kind for what the system said: a way out of the tree, or a plain failure."""
    if err.errno in ESCAPES:
        return EscapeError(f"{doing}: a link, device or swapped directory was met on the way")
    return SystemFailure(doing, err, retryable=err.errno in (errno.EMFILE, errno.ENFILE, errno.EINTR))


def unlink_quietly(dir_fd: int, name: str) -> None:
    """Remove a name of one's own that nobody needs any more, if that can be done."""
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=dir_fd)
