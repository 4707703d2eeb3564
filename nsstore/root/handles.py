"""Open files and directories of one root: every method acts on a descriptor, never on a path."""

from __future__ import annotations

import contextlib
import os
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nsstore.errors import EscapeError
from nsstore.root import steps, system
from nsstore.root.checks import as_seen, failure, require_directory, require_regular, unlink_quietly
from nsstore.root.opener import ALWAYS, DIRECTORY, require_name
from nsstore.root.steps import step

if TYPE_CHECKING:
    from nsstore.root.tree import Root

READ = os.O_RDONLY
WRITE = os.O_RDWR
_LOOK = READ | ALWAYS


class Handle:
    """One open descriptor, closed once: by its owner, or with the last reference to it."""

    fd = -1  # until it has one: it may be interrupted before

    def __init__(self, root: Root, fd: int) -> None:
        self.fd = fd
        self.root = root
        self.size = 0
        self.proof: tuple[int, ...] = ()

    def close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        if self.fd >= 0:
            with contextlib.suppress(OSError):  # nobody is left to hear of it
                self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def proven(self, found: os.stat_result) -> None:
        """Keep what was checked when the descriptor was opened."""
        self.size = found.st_size
        self.proof = (found.st_ino, found.st_dev, found.st_mode, found.st_uid, found.st_nlink)

    def is_as_proven(self, found: os.stat_result) -> bool:
        """Whether a name stands for this very file or directory, and nothing about it was changed."""
        self.size = found.st_size
        seen = (found.st_ino, found.st_dev, found.st_mode, found.st_uid, found.st_nlink)
        return seen == self.proof

    @property
    def inode(self) -> int:
        """The inode that was checked."""
        return self.proof[0]

    def stat(self) -> os.stat_result:
        return os.fstat(self.fd)

    def seen(self) -> tuple[int, ...]:
        """What the system says of it now, as :meth:`Root.seen` tells it of a name."""
        return as_seen(os.fstat(self.fd))

    def flush(self) -> None:
        """Make what was written here durable; a flush that failed is never tried again."""
        try:
            if steps.hook is not None:
                steps.hook("fsync")
            system.fsync(self.fd)
        except OSError as err:
            raise failure("flushing to disk", err) from None


class File(Handle):
    """A regular file of the store with one name, checked when it was opened."""

    def read(self, limit: int) -> bytes:
        """Return all bytes, at most ``limit`` + 1 of them: a longer file shows by its length."""
        raw = self.read_at(0, min(limit, self.size) + 1)
        return raw if len(raw) <= self.size or self.size >= limit else self.read_at(0, limit + 1)

    def read_at(self, offset: int, size: int) -> bytes:
        try:
            raw = system.pread(self.fd, size, offset)
            while 0 < len(raw) < size and (more := system.pread(self.fd, size - len(raw), offset + len(raw))):
                raw += more
        except OSError as err:
            raise failure("reading", err) from None
        return raw

    def append(self, raw: bytes) -> None:
        """Add ``raw`` at the end by one write; on failure the file is cut back to where it was.

        The end is the size last seen: whoever appends holds the lock under which it was looked at.
        """
        try:
            if steps.hook is not None:
                steps.hook("write")
            done = system.pwrite(self.fd, raw, self.size)
            if done < len(raw):
                self._write_rest(self.size, raw, done)
        except OSError as err:
            with contextlib.suppress(OSError):
                os.ftruncate(self.fd, self.size)
            raise failure("appending", err) from None
        self.size += len(raw)

    def write_at(self, offset: int, raw: bytes) -> None:
        """Replace the bytes at ``offset`` by one write."""
        try:
            if steps.hook is not None:
                steps.hook("write")
            done = system.pwrite(self.fd, raw, offset)
            if done < len(raw):
                self._write_rest(offset, raw, done)
        except OSError as err:
            raise failure("writing", err) from None

    def _write_rest(self, offset: int, raw: bytes, done: int) -> None:
        """Go on with a write that the system cut short."""
        while done < len(raw):
            done += system.pwrite(self.fd, raw[done:], offset + done)

    def cut(self, size: int) -> None:
        """Take away what stands behind ``size`` bytes, durably: the rest of a write that never ended."""
        try:
            step("truncate")
            os.ftruncate(self.fd, size)
            self.size = size
        except OSError as err:
            raise failure("cutting a torn line", err) from None
        self.flush()


class NewFile(File):
    """A complete file that has no name in its directory yet; closed before it has one, it never was."""

    draft: tuple[Dir, str] | None = None
    """Where it stands until then, on file systems that make no unnamed files."""

    def __init__(self, root: Root, fd: int, draft: tuple[Dir, str] | None) -> None:
        self.draft = draft  # first: it may be interrupted before it has its descriptor
        Handle.__init__(self, root, fd)

    def write_raw(self, raw: bytes) -> None:
        """Write all of it; errors stay ``OSError``, to be undone."""
        step("write")
        done = os.write(self.fd, raw)
        while done < len(raw):
            done += os.write(self.fd, raw[done:])
        self.size = len(raw)

    def appear(self, directory: Dir, name: str) -> None:
        """Take a name in a directory; replaces nothing. Raises ``FileExistsError`` if it is taken."""
        try:
            require_name(name)
            if self.draft is None:
                step("link")
                os.link(f"/proc/self/fd/{self.fd}", name, dst_dir_fd=directory.fd, follow_symlinks=True)
            else:
                drafts, draft = self.draft
                step("rename")
                self.root.rename(drafts.fd, draft, directory.fd, name)
                self.draft = None
                drafts.close()
        except FileExistsError:
            raise
        except OSError as err:
            raise failure("writing a new file", err) from None

    def close(self) -> None:
        draft, self.draft = self.draft, None
        if draft is not None:
            with draft[0] as drafts:
                unlink_quietly(drafts.fd, draft[1])
        Handle.close(self)


class Dir(Handle):
    """A directory of the store: single names are opened, made, listed and removed in it."""

    def names(self) -> list[str]:
        """Every name in the directory, in no order; names that are no text come back escaped."""
        try:
            return os.listdir(self.fd)
        except OSError as err:
            raise failure("listing", err) from None

    def folders(self) -> list[str]:
        """The names that are directories themselves, sorted; a link to one is none."""
        try:
            with os.scandir(self.fd) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError as err:
            raise failure("listing", err) from None

    def open(self, name: str, flags: int = READ) -> File | None:
        """Open a regular file by its one name, or ``None`` if there is none; never blocks."""
        try:
            fd = self.root.opener(self.fd, name, flags)
        except FileNotFoundError:
            return None
        except IsADirectoryError:
            raise EscapeError(f"a directory stands where a file of {self.root.what} belongs") from None
        except OSError as err:
            raise failure(f"opening a file of {self.root.what}", err) from None
        file = File(self.root, fd)
        try:
            found = os.fstat(fd)
            require_regular(found, self.root.device, self.root.owner, self.root.what)
            file.proven(found)
        except BaseException:
            file.close()
            raise
        return file

    def open_or_make(self, name: str) -> File:
        """Open a file for writing; one that is not there is made empty, private from its first moment."""
        while (file := self.open(name, WRITE)) is None:
            with contextlib.suppress(FileExistsError):
                self.publish(name, b"").close()
        return file

    def read(self, name: str, limit: int) -> bytes | None:
        """The bytes of a regular file (``limit`` + 1 at most), or ``None`` if there is none."""
        file = self.open(name)
        if file is None:
            return None
        with file:
            return file.read(limit)

    def fetch(self, name: str, limit: int) -> bytes | None:
        """As :meth:`read`, of one name, in as few system calls as its checks take."""
        try:
            require_name(name)
            step("open")
            fd = os.open(name, _LOOK, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        except OSError as err:
            raise failure(f"opening a file of {self.root.what}", err) from None
        try:
            found = os.fstat(fd)
            require_regular(found, self.root.device, self.root.owner, self.root.what)
            size = min(found.st_size, limit) + 1  # one more shows that it grew, or is too long
            raw = system.pread(fd, size, 0)
            while 0 < len(raw) < size - 1 and (more := system.pread(fd, size - len(raw), len(raw))):
                raw += more
        except OSError as err:
            raise failure("reading", err) from None
        finally:
            os.close(fd)
        return raw

    def begin(self, raw: bytes, *, writeback: bool) -> NewFile:
        """Write a complete file that has no name yet.

        With ``writeback`` the disk begins with it at once, so that a flush of it alone waits less.
        """
        try:
            return self._begin(raw, writeback=writeback)
        except OSError as err:
            raise failure("writing a new file", err) from None

    def publish(self, name: str, raw: bytes) -> File:
        """Make a complete file appear under ``name`` without replacing one; not yet flushed.

        Raises ``FileExistsError`` if the name is taken. A failure leaves no name behind.
        """
        try:
            require_name(name)
            file = self._begin(raw, writeback=False)
        except OSError as err:
            raise failure("writing a new file", err) from None
        try:
            file.appear(self, name)
        except BaseException:
            file.close()
            raise
        return file

    def _begin(self, raw: bytes, *, writeback: bool) -> NewFile:
        root = self.root
        if root.unnamed_files:
            file = NewFile(root, root.opener(self.fd, ".", system.UNNAMED | os.O_RDWR), None)
        else:
            drafts = root.make_dir("tmp")
            draft = f"{os.getpid()}-{os.urandom(8).hex()}"
            fd = root.opener(drafts.fd, draft, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            file = NewFile(root, fd, (drafts, draft))
        try:
            file.write_raw(raw)
            if writeback:
                system.begin_writeback(file.fd)
            os.fchmod(file.fd, 0o600)  # a umask can only have taken from what it was made with
        except BaseException:
            file.close()
            raise
        return file

    def replace(self, name: str, raw: bytes) -> None:
        """Put a complete file in place of whatever ``name`` was, durably; never in place of a record."""
        draft = f"{name}.{os.urandom(8).hex()}"
        try:
            require_name(name)
            with contextlib.ExitStack() as undo:
                undo.callback(unlink_quietly, self.fd, draft)
                with self.publish(draft, raw) as file:
                    file.flush()
                step("rename")
                os.replace(draft, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
                undo.pop_all()
        except OSError as err:
            raise failure("replacing a file", err) from None
        self.flush()

    def move(self, name: str, to: Dir, new_name: str, *, flush: bool = True) -> None:
        """Move a name to another directory, following and replacing nothing; durably with ``flush``."""
        try:
            require_name(name)
            require_name(new_name)
            step("rename")
            self.root.rename(self.fd, name, to.fd, new_name)
        except OSError as err:
            raise failure("moving a file", err) from None
        if flush:
            to.flush()
            self.flush()

    def flush_name(self, file: File) -> None:
        """Make a published file durable, its bytes and its name."""
        file.flush()
        if not self.root.flush_carries_name:
            self.flush()

    def unlink(self, name: str, *, flush: bool = True) -> bool:
        """Remove a name (a link itself, never its target), durably with ``flush``; ``False`` if none."""
        try:
            require_name(name)
            step("unlink")
            os.unlink(name, dir_fd=self.fd)
        except FileNotFoundError:
            return False
        except OSError as err:
            raise failure("removing a file", err) from None
        if flush:
            self.flush()
        return True

    def make(self, name: str) -> None:
        """Make a subdirectory, private under any umask; one that exists is left as it is."""
        try:
            require_name(name)
            step("mkdir")
            os.mkdir(name, 0o700, dir_fd=self.fd)
        except FileExistsError:
            return
        except OSError as err:
            raise failure("making a directory", err) from None
        self._set_mode(name)

    def _set_mode(self, name: str) -> None:
        """Give a new directory its mode through its own descriptor: a umask may have taken all of it."""
        pinned = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
        try:
            with Handle(self.root, os.open(name, pinned, dir_fd=self.fd)) as made:
                if os.fstat(made.fd).st_mode & 0o777 != 0o700:
                    os.chmod(f"/proc/self/fd/{made.fd}", 0o700)
        except OSError as err:
            raise failure("making a directory", err) from None

    def sub(self, name: str) -> Dir | None:
        """Open a path of directories beneath this one, or ``None`` if one of them is not there."""
        try:
            fd = self.root.opener(self.fd, name, DIRECTORY)
        except FileNotFoundError:
            return None
        except OSError as err:
            raise failure(f"opening a directory of {self.root.what}", err) from None
        found = Dir(self.root, fd)
        try:
            seen = os.fstat(fd)
            require_directory(seen, self.root.device, self.root.owner, self.root.what)
            found.proven(seen)
        except BaseException:
            found.close()
            raise
        return found
