"""Files that a person names: an import, a backup, a passphrase. They are no part of a store.

The name is the person's own, so links in it are followed when it is read; what is written is new,
private, and never put through a link or in place of something.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from types import TracebackType
from typing import Self

from nsstore.errors import InvalidInput, SystemFailure
from nsstore.root import system
from nsstore.root.places import overlap
from nsstore.root.steps import step

TAKEN = "{} must be a new file: something has that name already"


class NamedFile:
    """An existing file open for reading: a regular one, or a pipe that a shell made."""

    def __init__(self, path: str, what: str) -> None:
        """Open ``path``; ``what`` names it in errors, as whoever gave it knows it."""
        self._what = what
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
        except (OSError, ValueError) as err:
            raise _failed(f"opening {what}", err) from None
        found = os.fstat(self._fd)
        self.size = found.st_size if stat.S_ISREG(found.st_mode) else None
        self.private = not stat.S_ISREG(found.st_mode) or not found.st_mode & 0o077
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
            os.close(self._fd)
            raise InvalidInput(f"{what} must be a regular file or a pipe")

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes from where the last read ended; none at the end."""
        try:
            return os.read(self._fd, size)
        except OSError as err:
            raise _failed(f"reading {self._what}", err) from None

    def read_all(self, limit: int) -> bytes:
        """Everything. Raises :class:`InvalidInput` for more than ``limit`` bytes."""
        raw = bytearray()
        while more := self.read(limit + 1 - len(raw)):
            raw += more
            if len(raw) > limit:
                raise InvalidInput(f"{self._what} must hold at most {limit} bytes")
        return bytes(raw)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)


class NewNamed:
    """A file of mode 0600 that was not there, written piece by piece; one that is not finished is removed.

    Raises :class:`InvalidInput` if the name is taken, if only by a link that leads nowhere.
    """

    def __init__(self, path: str, what: str) -> None:
        self._what = what
        folder, self._name = os.path.split(os.path.abspath(path))
        self._finished = False
        try:
            self._where = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (OSError, ValueError) as err:
            raise _failed(f"writing {what}", err) from None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            step("open")
            self._fd = os.open(self._name, flags, 0o600, dir_fd=self._where)
        except FileExistsError:
            os.close(self._where)
            raise InvalidInput(TAKEN.format(what)) from None
        except (OSError, ValueError) as err:
            os.close(self._where)
            raise _failed(f"writing {what}", err) from None
        self._file = os.fdopen(self._fd, "wb", buffering=1024 * 1024)

    def write(self, raw: bytes) -> None:
        """Add bytes at the end."""
        self._do("write", lambda: self._file.write(raw))

    def cut(self, size: int) -> None:
        """Take back everything behind ``size`` bytes."""
        self._do("truncate", lambda: self._file.truncate(self._file.seek(size)))

    def finish(self) -> None:
        """Make it durable, its bytes and its name, and keep it."""
        self._do("fsync", self._file.flush)
        self._do("fsync", lambda: os.fchmod(self._fd, 0o600))
        self._do("fsync", lambda: system.fsync(self._fd))
        self._do("fsync", lambda: system.fsync(self._where))
        self._finished = True

    def _do(self, call: str, work: Callable[[], object]) -> None:
        try:
            step(call)
            work()
        except OSError as err:
            raise _failed(f"writing {self._what}", err) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        if not self._finished:
            with contextlib.suppress(OSError):
                os.unlink(self._name, dir_fd=self._where)
        os.close(self._where)


def require_outside(path: str, what: str, *roots: str) -> None:
    """Require that a name lies in none of these directories nor around one, whatever links are on its way.

    Raises :class:`InvalidInput`.
    """
    whole = os.path.abspath(path)
    try:
        inside = any(overlap(whole, root) for root in roots)
    except ValueError as err:
        raise _failed(f"writing {what}", err) from None
    if inside:
        raise InvalidInput(f"{what} must lie outside the store and its trust home")


def require_new(path: str, what: str) -> None:
    """Require that nothing has a name yet, before somebody is asked for anything.

    Raises :class:`InvalidInput`.
    """
    if os.path.lexists(path):
        raise InvalidInput(TAKEN.format(what))


def require_utf8(path: str, what: str) -> None:
    """Require that the place a path leads to has a name in UTF-8. Raises :class:`InvalidInput`."""
    try:
        os.path.realpath(path).encode()
    except ValueError:
        raise InvalidInput(f"{what} must be UTF-8") from None


def may_write(path: str) -> bool:
    """Whether this user may change what a directory holds, on a file system that is not read-only."""
    return os.access(path, os.W_OK)


def fill_standard_descriptors() -> None:
    """Put nothing in the place of a standard stream that is closed, or a file of the store would be it."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free descriptor, which is this one


def write_new(path: str, raw: bytes, what: str, mode: int = 0o600) -> None:
    """Make a file that was not there, private unless ``mode`` says otherwise, whole and durable, or none.

    Raises :class:`InvalidInput` if the name is taken, if only by a link that leads nowhere.
    """
    folder, name = os.path.split(os.path.abspath(path))
    try:
        with contextlib.ExitStack() as undo:
            where = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            undo.callback(os.close, where)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(name, flags, 0o600, dir_fd=where)
            with contextlib.ExitStack() as unlink:
                unlink.callback(os.unlink, name, dir_fd=where)
                with os.fdopen(fd, "wb") as file:
                    os.fchmod(fd, mode)
                    file.write(raw)
                    file.flush()
                    os.fsync(fd)
                unlink.pop_all()
            os.fsync(where)
    except FileExistsError:
        raise InvalidInput(TAKEN.format(what)) from None
    except (OSError, ValueError) as err:
        raise _failed(f"writing {what}", err) from None


def _failed(doing: str, err: OSError | ValueError) -> SystemFailure:
    """The failure without its path; a name that no system call takes (a NUL in it) is an invalid one."""
    return SystemFailure(doing, err if isinstance(err, OSError) else OSError(errno.EINVAL, ""))
