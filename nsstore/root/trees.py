"""Directories that can be made again at any time: filled fast, given private modes, removed whole.

For derived files alone: nothing here is flushed, and nothing here is ever used on a file of a store.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from typing import Final

from nsstore.errors import SystemFailure
from nsstore.root.checks import failure
from nsstore.root.folders import Dir
from nsstore.root.opener import ALWAYS, DIRECTORY, require_name
from nsstore.root.steps import step

MOST_TRIES: Final = 200


def path_of(directory: Dir, path: str) -> str:
    """The whole path of what lies beneath a root, for a library that opens files by no other way."""
    return f"{directory.root.path}/{path}"


def put(directory: Dir, name: str, raw: bytes) -> None:
    """Make a new private file in one go. Raises :class:`SystemFailure`, leaving no whole file."""
    try:
        require_name(name)
        step("open")
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | ALWAYS, 0o600, dir_fd=directory.fd)
        try:
            os.fchmod(fd, 0o600)
            step("write")
            done = os.write(fd, raw)
            while done < len(raw):
                done += os.write(fd, raw[done:])
        finally:
            os.close(fd)
    except OSError as err:
        raise failure("writing a derived file", err) from None


def shut(directory: Dir) -> list[str]:
    """Give every file of a directory its private mode, whatever the umask; the names of the files."""
    names: list[str] = []
    try:
        for name in sorted(os.listdir(directory.fd)):
            fd = os.open(name, os.O_RDONLY | ALWAYS, dir_fd=directory.fd)
            try:
                if stat.S_ISREG(os.fstat(fd).st_mode):
                    step("chmod")
                    os.fchmod(fd, 0o600)
                    names.append(name)
            finally:
                os.close(fd)
    except OSError as err:
        raise failure("shutting derived files", err) from None
    return names


def remove(directory: Dir, name: str) -> None:
    """Remove a name with everything beneath it, links themselves and never what they lead to.

    One that is not there is no failure. Raises :class:`SystemFailure` for what cannot be removed.
    """
    try:
        require_name(name)
        step("unlink")
        _remove(directory.fd, name)
    except FileNotFoundError:
        return
    except OSError as err:
        raise failure("removing derived files", err) from None


def _remove(at: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=at)
    except (IsADirectoryError, PermissionError):  # what macOS says of a directory
        for _ in range(MOST_TRIES):  # what another process puts there meanwhile goes with it
            _empty(at, name)
            try:
                os.rmdir(name, dir_fd=at)
            except OSError as err:
                if err.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                time.sleep(0.001)
            else:
                return
        os.rmdir(name, dir_fd=at)


def _empty(at: int, name: str) -> None:
    fd = os.open(name, DIRECTORY | ALWAYS, dir_fd=at)
    try:
        for inner in os.listdir(fd):
            with contextlib.suppress(FileNotFoundError):
                _remove(fd, inner)
    finally:
        os.close(fd)


def hold(directory: Dir) -> None:
    """Mark a directory as in use for as long as its handle is open, or this process lives."""
    with contextlib.suppress(OSError):  # where directories cannot be locked, whoever asks learns so
        fcntl.flock(directory.fd, fcntl.LOCK_SH | fcntl.LOCK_NB)


def is_held(directory: Dir) -> bool:
    """Whether a process that is alive uses a directory."""
    try:
        fcntl.flock(directory.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as err:
        return err.errno in (errno.EWOULDBLOCK, errno.EAGAIN)
    return False


def age(directory: Dir, name: str) -> float:
    """Seconds since a name of a directory was changed last; 0 for one that is not there."""
    try:
        return time.time() - os.stat(name, dir_fd=directory.fd, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def require_free(directory: Dir, size: int) -> None:
    """Require room for ``size`` bytes more. Raises :class:`SystemFailure`."""
    try:
        found = os.fstatvfs(directory.fd)
    except OSError as err:
        raise failure("asking how much room the disk has", err) from None
    if found.f_bavail * found.f_frsize < size:
        raise SystemFailure("keeping a view", OSError(28, "no space left"))
