"""Folders that a person names: one that an import reads, and one that an export makes.

The name of the folder is the person's own, so links on the way to it are followed. What lies beneath is
somebody else's: no link is followed there, no other file system entered, and nothing read but a regular file
that has no second name, since that may be a file of anywhere. What is made is never put through a link.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from types import TracebackType
from typing import Final, Literal, NamedTuple, Self

from nsstore.errors import EscapeError, InvalidInput, SystemFailure
from nsstore.root import system
from nsstore.root.named import TAKEN
from nsstore.root.opener import DIRECTORY, best_opener
from nsstore.root.steps import step

MAX_DEPTH: Final = 64
MAX_PATH: Final = 4_000
"""Bytes of a path beneath the folder: the system takes 4,095."""
LINKED: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EXDEV})
HARD: Final = "it has a second name (a hard link), so it may be a file of somewhere else: import a copy of it"
NOT_FREE: Final = "{} must be absent or an empty directory, not a link: nothing is overwritten"

What = Literal["file", "link", "special", "elsewhere", "deep", "closed", "passed"]


class Entry(NamedTuple):
    """A name beneath a folder: its path from there, what stands under it, and the bytes of a file."""

    path: str
    what: What
    size: int = 0


class NamedFolder:
    """An existing folder open for reading; each file is reached from it by a path of real directories."""

    def __init__(self, path: str, what: str) -> None:
        """Open ``path``; ``what`` names it in errors, as whoever gave it knows it."""
        self._what = what
        try:
            self._fd = os.open(path, DIRECTORY | os.O_CLOEXEC)
        except (OSError, ValueError) as err:
            raise _failed(f"opening {what}", err) from None
        self._device = os.fstat(self._fd).st_dev
        self._open = best_opener(self._fd)

    def entries(self, limit: int, enter: Callable[[str], bool]) -> list[Entry]:
        """Everything beneath but directories, sorted by path; nothing is opened but directories.

        A directory that ``enter`` does not want by its name comes as ``passed``, one on another file system
        as ``elsewhere``, one beyond 64 levels or a path of 4,000 bytes as ``deep``, and one that does not
        open as ``closed``. Raises :class:`InvalidInput` for more than ``limit`` names.
        """
        found: list[Entry] = []
        waiting, seen = [""], 0
        while waiting:
            folder = waiting.pop()
            try:
                names = self._listed(folder)
            except OSError:
                found.append(Entry(folder, "closed"))
                continue
            seen += len(names)
            if seen > limit:
                raise InvalidInput(
                    f"{self._what} holds more than {limit} names: import its folders one by one"
                )
            for name, status in names:
                path = f"{folder}/{name}" if folder else name
                what = self._kind(path, status)
                if what is not None:
                    found.append(Entry(path, what, status.st_size))
                elif enter(name):
                    waiting.append(path)
                else:
                    found.append(Entry(path, "passed"))
        return sorted(found)

    def read(self, path: str, limit: int) -> bytes:
        """The bytes of one file, at most ``limit`` + 1, which show that it is longer.

        Raises :class:`InvalidInput` for what is no regular file (any more), :class:`EscapeError` for one that
        has a second name, :class:`SystemFailure`.
        """
        try:
            step("open")
            fd = self._open(self._fd, path, os.O_RDONLY)
        except (OSError, ValueError) as err:
            if isinstance(err, OSError) and err.errno in LINKED:
                raise InvalidInput("a link stands on its way, and links are not followed") from None
            raise _failed("opening it", err) from None
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise InvalidInput("it is no regular file")
            if found.st_nlink > 1:
                raise EscapeError(HARD)
            raw = bytearray()
            while len(raw) <= limit and (more := os.read(fd, limit + 1 - len(raw))):
                raw += more
            return bytes(raw)
        except OSError as err:
            raise _failed("reading it", err) from None
        finally:
            os.close(fd)

    def _listed(self, folder: str) -> list[tuple[str, os.stat_result]]:
        """The names in one directory, each with what stands under it, a link itself and not its target."""
        fd = self._open(self._fd, folder, DIRECTORY) if folder else os.dup(self._fd)
        try:
            names: list[tuple[str, os.stat_result]] = []
            for name in os.listdir(fd):
                with contextlib.suppress(FileNotFoundError):  # gone since
                    names.append((name, os.stat(name, dir_fd=fd, follow_symlinks=False)))
            return names
        finally:
            os.close(fd)

    def _kind(self, path: str, status: os.stat_result) -> What | None:
        """What stands under a name; ``None`` for a directory that may be entered."""
        mode = status.st_mode
        if stat.S_ISLNK(mode):
            return "link"
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return "special"
        if status.st_dev != self._device:
            return "elsewhere"
        if path.count("/") >= MAX_DEPTH or len(os.fsencode(path)) > MAX_PATH:
            return "deep"
        return "file" if stat.S_ISREG(mode) else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)


class NewFolder:
    """A directory that was absent or empty, filled with new files; one that is not finished is taken back.

    It has mode 0700 and its files 0600. Raises :class:`InvalidInput` if anything is in it already, and for a
    link.
    """

    def __init__(self, path: str, what: str) -> None:
        self._path, self._what = os.path.abspath(path), what
        self._names: list[str] = []
        self._made = self._finished = False
        try:
            with contextlib.suppress(FileExistsError):
                step("mkdir")
                os.mkdir(self._path, 0o700)
                self._made = True
            self._fd = os.open(self._path, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (OSError, ValueError) as err:
            if isinstance(err, OSError) and err.errno in LINKED:
                raise InvalidInput(NOT_FREE.format(what)) from None
            raise _failed(f"making {what}", err) from None
        if os.listdir(self._fd):
            os.close(self._fd)
            raise InvalidInput(NOT_FREE.format(what))

    def write(self, name: str, raw: bytes) -> None:
        """Make one file that was not there."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            step("open")
            fd = os.open(name, flags, 0o600, dir_fd=self._fd)
            self._names.append(name)
            with os.fdopen(fd, "wb") as file:
                step("write")
                file.write(raw)
        except FileExistsError:
            raise InvalidInput(TAKEN.format("each file of the export")) from None
        except (OSError, ValueError) as err:
            raise _failed(f"writing {self._what}", err) from None

    def finish(self) -> None:
        """Make everything durable, and keep it."""
        try:
            step("fsync")
            system.syncfs(self._fd)
        except OSError as err:
            raise _failed(f"writing {self._what}", err) from None
        self._finished = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._finished:
            for name in self._names:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=self._fd)
        os.close(self._fd)
        if self._made and not self._finished:
            with contextlib.suppress(OSError):
                os.rmdir(self._path)


def require_free(path: str, what: str) -> None:
    """Require that nothing is there, or an empty directory. Raises :class:`InvalidInput`."""
    whole = os.path.abspath(path)  # without a slash at its end, which would lead through a link
    free = not os.path.islink(whole) and os.path.isdir(whole) and not os.listdir(whole)
    if os.path.lexists(whole) and not free:
        raise InvalidInput(NOT_FREE.format(what))


def is_folder(path: str) -> bool:
    """Whether a name a person gave leads to a directory."""
    return os.path.isdir(path)


def _failed(doing: str, err: OSError | ValueError) -> SystemFailure:
    """The failure without its path; a name that no system call takes (a NUL in it) is an invalid one."""
    return SystemFailure(doing, err if isinstance(err, OSError) else OSError(errno.EINVAL, ""))
