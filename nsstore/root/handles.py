"""Open files of one root: every method acts on a descriptor, never on a path."""

from __future__ import annotations

import contextlib
import os
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nsstore.root import steps, system
from nsstore.root.checks import as_seen, failure, unlink_quietly
from nsstore.root.opener import require_name
from nsstore.root.steps import step

if TYPE_CHECKING:
    from nsstore.root.folders import Dir
    from nsstore.root.tree import Root

READ = os.O_RDONLY
WRITE = os.O_RDWR


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
            if self.root.flushes:
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
