"""Locks between processes and threads: on a whole lock file, and on a range of bytes of a file."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
import weakref
from types import TracebackType
from typing import Final, Self

from nsstore.errors import Refused
from nsstore.root import steps
from nsstore.root.checks import failure
from nsstore.root.folders import Dir
from nsstore.root.handles import File, Handle
from nsstore.root.opener import DIRECTORY
from nsstore.root.steps import step
from nsstore.root.tree import Root

LIMIT_SECONDS: Final = 10.0
_FIRST_WAIT, _LONGEST_WAIT = 0.0002, 0.01
_SET: Final[int] = getattr(fcntl, "F_OFD_SETLK", -1)
RANGES: Final = _SET != -1
_LOCKS_NO_FOLDER: Final = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP})
_FLOCK: Final = struct.Struct("@hhqqi")

_locks: weakref.WeakSet[FileLock] = weakref.WeakSet()
_ranged: weakref.WeakSet[Handle] = weakref.WeakSet()


class FileLock:
    """Holds the lock file ``name`` of a directory: alone, or shared with other readers.

    No two holders share a descriptor, so that threads exclude each other as processes do. A shared
    lock makes nothing: it raises ``FileNotFoundError`` where there is no lock file. Raises
    :class:`Refused` (retryable) after ten seconds.
    """

    def __init__(self, directory: Dir, name: str, *, shared: bool = False) -> None:
        self.held = False
        self.file = _acquire(directory, name, shared=shared)
        self.held = True
        _locks.add(self)

    @classmethod
    def at(cls, root: Root, path: str) -> Self:
        """Hold a lock file beneath a root alone, making it and its directories if they are not there."""
        folder, _, name = path.rpartition("/")
        with root.make_dir(folder) as directory:
            return cls(directory, name)

    def pause(self) -> None:
        """Let the next one in, and keep the descriptor for :meth:`resume`."""
        if self.held:
            self.held = False
            try:
                fcntl.flock(self.file.fd, fcntl.LOCK_UN)
            except OSError:
                self.file.close()  # closing lets the next one in just as well

    def resume(self, path: str) -> bool:
        """Hold the lock alone again; ``False``, and closed, if ``path`` names another file by now."""
        file = self.file
        if file.fd < 0:
            return False  # it could not be unlocked but by closing it, or this is a forked child
        try:
            if not _take(file.fd, fcntl.LOCK_EX):
                _wait(file.fd, fcntl.LOCK_EX, time.monotonic() + LIMIT_SECONDS)
            self.held = True
            if file.root.still_in_place(file, path):
                return True
        except BaseException:
            self.release()
            raise
        self.release()
        return False

    def release(self) -> None:
        """Let the next one in and close the descriptor; a second time does nothing."""
        self.pause()
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class RangeLock:
    """Holds a range of bytes of an open file alone, whoever took away or replaced any other lock.

    No two holders share a descriptor, as with :class:`FileLock`; the end of the descriptor is the end
    of the hold. Where the system has no such locks (``RANGES`` says so) nothing is held.
    """

    def __init__(self, file: File, offset: int, size: int, *, shared: bool = False) -> None:
        self._file = file
        kind = fcntl.F_RDLCK if shared else fcntl.F_WRLCK
        self._take = _FLOCK.pack(kind, os.SEEK_SET, offset, size, 0)
        self._free = _FLOCK.pack(fcntl.F_UNLCK, os.SEEK_SET, offset, size, 0)
        _ranged.add(file)

    def take(self) -> None:
        """Wait for the range. Raises :class:`Refused` (retryable) after ten seconds."""
        if not RANGES:
            return
        try:
            if steps.hook is not None:
                steps.hook("flock")
            fcntl.fcntl(self._file.fd, _SET, self._take)
        except OSError as err:
            _require_busy(err)
            _wait(self._file.fd, self._take, time.monotonic() + LIMIT_SECONDS)

    def free(self) -> None:
        """Let the next one in."""
        if RANGES:
            try:
                fcntl.fcntl(self._file.fd, _SET, self._free)
            except (OSError, ValueError):
                self._file.close()  # closing lets the next one in just as well


class FolderLock:
    """Holds the directory that a root is: alone, or shared with others that share it; leaves no file behind.

    For what makes a store of a directory, or binds one: the end of the process is the end of the hold.
    Waits for ``patience`` seconds, then raises :class:`Refused` (retryable), and :class:`EscapeError` if
    another directory stands there by then. A system that locks no directories (NFS) holds nothing.
    """

    def __init__(self, root: Root, *, shared: bool = False, patience: float = 0.0) -> None:
        try:
            self._handle = Handle(root, os.open(".", DIRECTORY | os.O_CLOEXEC, dir_fd=root.fd))
        except OSError as err:
            raise failure("locking a directory", err) from None
        _ranged.add(self._handle)
        try:
            self._hold(fcntl.LOCK_SH if shared else fcntl.LOCK_EX, time.monotonic() + patience)
            root.require_place()
        except BaseException:
            self._handle.close()
            raise

    def _hold(self, how: int, until: float) -> None:
        while True:
            try:
                step("flock")
                fcntl.flock(self._handle.fd, how | fcntl.LOCK_NB)
            except OSError as err:
                if err.errno in _LOCKS_NO_FOLDER:
                    return
                _require_busy(err)
            else:
                return
            if time.monotonic() >= until:
                raise Refused(
                    "another process makes a store of this directory, or binds it, just now: try again",
                    reason="locked",
                    retryable=True,
                )
            time.sleep(_LONGEST_WAIT)

    def release(self) -> None:
        """Let the next one in; a second time does nothing."""
        self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _acquire(directory: Dir, name: str, *, shared: bool) -> File:
    until = time.monotonic() + LIMIT_SECONDS
    while True:
        file = directory.open(name) if shared else directory.open_or_make(name)
        if file is None:
            raise FileNotFoundError(name)
        try:
            _wait(file.fd, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, until)
            if _is_named(file, directory.fd, name):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # the name points elsewhere by now: the lock we hold excludes nobody
        if time.monotonic() > until:
            raise _overdue()


def _wait(fd: int, how: int | bytes, until: float) -> None:
    pause = _FIRST_WAIT
    while not _take(fd, how):
        if time.monotonic() > until:
            raise _overdue()
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_WAIT)


def _take(fd: int, how: int | bytes) -> bool:
    """Take the lock (a kind of ``flock``, or a range as the system spells it) if nobody is in the way."""
    try:
        step("flock")
        if isinstance(how, int):
            fcntl.flock(fd, how | fcntl.LOCK_NB)
        else:
            fcntl.fcntl(fd, _SET, how)
    except OSError as err:
        _require_busy(err)
        return False
    return True


def _require_busy(err: OSError) -> None:
    if err.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EINTR):
        raise failure("locking", err) from None


def _overdue() -> Refused:
    return Refused(
        "another process or thread kept this namespace locked for ten seconds: try again",
        reason="locked",
        retryable=True,
    )


def _is_named(file: File, dir_fd: int, name: str) -> bool:
    try:
        return file.is_as_proven(os.stat(name, dir_fd=dir_fd, follow_symlinks=False))
    except OSError:
        return False


def _close_in_child() -> None:
    """A fork leaves the lock with the parent: the child's copies are closed, without unlocking."""
    for lock in list(_locks):
        lock.held = False
        lock.file.close()
    for file in list(_ranged):
        file.close()


os.register_at_fork(after_in_child=_close_in_child)
