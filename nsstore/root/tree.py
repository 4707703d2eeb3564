"""A root: one directory tree that is only ever entered through its own descriptor."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import Final, Self

from nsstore.errors import EscapeError, InvalidInput, Refused, SystemFailure
from nsstore.root import system
from nsstore.root.checks import as_seen, failure, require_directory
from nsstore.root.folders import Dir
from nsstore.root.handles import READ, File
from nsstore.root.opener import DIRECTORY, Opener, best_opener
from nsstore.root.places import check_path, make_private
from nsstore.root.steps import step

LOOKS: Final = 50  # a millisecond apart


class Root:
    """Everything opened through this object lies beneath one directory, reached through no link.

    The directory itself may be given through a link: ``path`` is its real path, so that every way
    to it is one store. ``opener`` is chosen by what the kernel offers unless one is given. ``what`` names
    the whole in errors.
    """

    def __init__(
        self,
        path: str,
        fd: int,
        *,
        opener: Opener | None = None,
        unnamed: bool | None = None,
        writes: bool = True,
        what: str = "the store",
    ) -> None:
        self.fd = -1
        self.path = path
        self.what = what
        self.flushes = True
        found = os.fstat(fd)
        self.device, self.inode, self.owner = found.st_dev, found.st_ino, os.geteuid()
        require_directory(found, self.device, self.owner, what)
        self.usual = (stat.S_IFREG | 0o600, 1, self.owner, self.device)  # a file about which nothing is odd
        self.opener = opener or best_opener(fd)
        self.rename = system.rename_noreplace
        if unnamed is not None or writes:
            self.unnamed_files = system.has_unnamed_files(fd) if unnamed is None else unnamed
        magic = system.filesystem_type(fd)
        self.filesystem = system.NAMES.get(magic, hex(magic))
        self.exact_times = system.has_exact_times(magic)
        self.flush_carries_name = magic in system.FLUSH_CARRIES_NAME
        self.fd = fd  # last: a root that could not be made leaves the descriptor with whoever opened it

    @cached_property
    def unnamed_files(self) -> bool:
        """Whether a file can be written here before it has a name; found out when the first one is.

        Raises ``OSError`` where that cannot be found out now.
        """
        return system.has_unnamed_files(self.fd)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        opener: Opener | None = None,
        unnamed: bool | None = None,
        writes: bool = True,
        what: str = "the store",
    ) -> Self:
        """Open an existing directory as a root; makes nothing.

        Without ``writes`` it is found out only when asked for how files are written here. Raises
        ``FileNotFoundError`` if there is none, ``EscapeError`` if it is not private.
        """
        refuse_windows()
        try:
            real = os.path.realpath(check_path(path), strict=True)
            fd = os.open(real, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            raise
        except NotADirectoryError:
            raise InvalidInput("the root of a store must be a directory") from None
        except OSError as err:
            raise failure(f"opening {what}", err) from None
        try:
            return cls(real, fd, opener=opener, unnamed=unnamed, writes=writes, what=what)
        except BaseException as err:
            os.close(fd)
            if isinstance(err, OSError):
                raise failure(f"opening {what}", err) from None
            raise

    @classmethod
    def make(
        cls,
        path: str | os.PathLike[str],
        *,
        opener: Opener | None = None,
        unnamed: bool | None = None,
        what: str = "the store",
        flushes: bool = True,
    ) -> Self:
        """Open a directory as a root, making it and its parents if absent, private in any case.

        An existing directory has to be empty or already private to be taken. Without ``flushes`` nothing in
        it is ever made durable: for what nobody keeps.
        """
        refuse_windows()
        given = check_path(path)
        try:
            make_private(given, flush=flushes)
        except NotADirectoryError:
            raise InvalidInput("the root of a store must be a directory, and lie in directories") from None
        except OSError as err:
            raise failure(f"making {what}", err) from None
        try:
            made = cls.open(given, opener=opener, unnamed=unnamed, what=what)
        except FileNotFoundError as err:  # removed by somebody since it was made
            raise failure(f"making {what}", err) from None
        made.flushes = flushes
        return made

    def top(self) -> Dir:
        """The root directory itself, as a handle of its own."""
        try:
            return Dir(self, os.dup(self.fd))
        except OSError as err:
            raise failure(f"opening {self.what}", err) from None

    def dir(self, path: str) -> Dir | None:
        """Open a directory beneath the root, or ``None`` if it is not there."""
        return Dir.sub(_Borrowed(self), path)

    def make_dir(self, path: str, *, flush: bool = False) -> Dir:
        """Open a directory beneath the root, making what is missing; ``flush`` makes all of it durable.

        With ``flush`` every directory on the way is flushed, whoever made it: another process
        may have made it a moment ago and not have come to flush it.
        """
        found = None if flush else _patiently(self.dir, path)
        if found is not None:
            return found
        at = self.top()
        for name in path.split("/"):
            with at, contextlib.ExitStack() as undo:
                below = _patiently(at.sub, name)
                if below is None:
                    _patiently(at.make, name)
                    below = _patiently(at.sub, name)
                if below is None:
                    raise failure("making a directory", FileNotFoundError(2, "removed meanwhile"))
                undo.enter_context(below)
                if flush:
                    at.flush()
                undo.pop_all()
            at = below
        return at

    def open_file(self, path: str, flags: int = READ) -> File | None:
        """Open a regular file beneath the root, or ``None`` if it is not there."""
        return Dir.open(_Borrowed(self), path, flags)

    def require_place(self) -> None:
        """Require that the root still stands where it was opened.

        Who has it open would go on in a directory that was moved away or replaced, which others no
        longer find. Raises :class:`EscapeError`.
        """
        try:
            found = os.lstat(self.path)
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != (self.device, self.inode):
            raise EscapeError("the root was moved, removed or replaced while it was open")

    def still(self, handle: File | Dir, path: str) -> bool:
        """Whether ``path`` names the very file or directory that a kept descriptor was opened as.

        One ``stat`` instead of an open, a check and a close; links on the way prove nothing, since it
        is the descriptor that is used, and a link to it changes nothing about it.
        """
        try:
            found = os.stat(path, dir_fd=self.fd, follow_symlinks=False)
        except OSError:
            return False
        handle.size = found.st_size
        return handle.proof == (found.st_ino, found.st_dev, found.st_mode, found.st_uid, found.st_nlink)

    def still_in_place(self, handle: File | Dir, path: str) -> bool:
        """As :meth:`still`, and that the root itself still stands where it was opened."""
        try:
            found = os.stat(f"{self.path}/{path}", follow_symlinks=False)
        except OSError:
            return False
        handle.size = found.st_size
        return handle.proof == (found.st_ino, found.st_dev, found.st_mode, found.st_uid, found.st_nlink)

    def still_reads(self, file: File, offset: int, size: int, known: bytes | None) -> bool:
        """Whether the known bytes stand at ``offset`` of an open file, and it has its one name still.

        Wherever that name is: enough where nobody else writes.
        """
        try:
            return system.pread(file.fd, size, offset) == known and os.fstat(file.fd).st_nlink == 1
        except OSError as err:
            raise failure("reading", err) from None

    def lacks(self, path: str) -> bool:
        """Whether there is nothing under a name: cheaper to hear than that :meth:`seen` finds nothing."""
        return not os.access(path, os.F_OK, dir_fd=self.fd, follow_symlinks=False)

    def seen(self, path: str) -> tuple[int, ...] | None:
        """What the system says of a name beneath the root: equal as long as nothing about it changed.

        Inode, device, mode, owner, number of names, size, and in nanoseconds when any of it changed
        last. ``None`` if there is nothing. It proves nothing: what is to be believed has to be opened.
        """
        try:
            found = os.stat(path, dir_fd=self.fd, follow_symlinks=False)
        except OSError:
            return None
        return as_seen(found)

    def seen_in_place(self, path: str) -> tuple[int, ...] | None:
        """As :meth:`seen`, by the way that leads here from outside: what was moved away is not seen."""
        try:
            found = os.stat(f"{self.path}/{path}", follow_symlinks=False)
        except OSError:
            return None
        return as_seen(found)

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a regular file beneath the root (``limit`` + 1 at most), or ``None``."""
        return Dir.read(_Borrowed(self), path, limit)

    def replace(self, name: str, raw: bytes) -> None:
        """Put a complete file at the top of the root, durably, in place of the one before."""
        _Borrowed(self).replace(name, raw)

    def sync_all(self) -> None:
        """Flush the whole file system the root is on."""
        try:
            step("syncfs")
            if self.flushes:
                system.syncfs(self.fd)
        except OSError as err:
            raise failure("flushing to disk", err) from None

    def close(self) -> None:
        """Let go of every descriptor beneath the root, and of the root."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        with contextlib.suppress(OSError):  # nobody is left to hear of it
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Borrowed(Dir):
    """The root's own descriptor as a directory; not closed after use."""

    def __init__(self, root: Root) -> None:
        super().__init__(root, root.fd)

    def close(self) -> None:
        """Do nothing: the descriptor is the root's to close."""


def _patiently(call: Callable[[str], Dir | None], path: str) -> Dir | None:
    """Make a call again for a moment if it meets what is shut, under a umask that shuts what is made.

    Whoever makes a directory gives it its mode right after; one that was shut on purpose stays so.
    """
    for _ in range(LOOKS):
        try:
            return call(path)
        except SystemFailure as err:
            if err.errno != errno.EACCES or not system.umask() & 0o700:
                raise
        time.sleep(0.001)
    return call(path)


def refuse_windows() -> None:
    """Raise :class:`Refused` on Windows, which offers neither private modes nor beneath-opening."""
    if sys.platform == "win32":
        raise Refused(
            "nsstore does not run on Windows itself: open the store from WSL", reason="unsupported_system"
        )
