"""Open directories of one root: single names are opened, made, moved and removed in them, never a path."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

from nsstore.errors import EscapeError
from nsstore.root import steps, system
from nsstore.root.checks import failure, require_directory, require_regular, unlink_quietly
from nsstore.root.handles import READ, WRITE, File, Handle, NewFile
from nsstore.root.opener import ALWAYS, DIRECTORY, require_name
from nsstore.root.steps import step

_LOOK = READ | ALWAYS


class Dir(Handle):
    """A directory of the store: single names are opened, made, listed and removed in it."""

    def names(self) -> list[str]:
        """Every name in the directory, in no order; names that are no text come back escaped."""
        try:
            with self._anew() as fd:
                return os.listdir(fd)
        except OSError as err:
            raise failure("listing", err) from None

    def folders(self) -> list[str]:
        """The names that are directories themselves, sorted; a link to one is none."""
        try:
            with self._anew() as fd, os.scandir(fd) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError as err:
            raise failure("listing", err) from None

    @contextlib.contextmanager
    def _anew(self) -> Generator[int]:
        """The directory opened once more: through a descriptor of its own btrfs lists only what was there
        when that was opened.
        """
        fd = os.open(".", DIRECTORY | os.O_CLOEXEC, dir_fd=self.fd)
        try:
            yield fd
        finally:
            os.close(fd)

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
        root = self.root
        try:
            require_name(name)
            if steps.hook is not None:
                steps.hook("open")
            fd = os.open(name, _LOOK, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        except OSError as err:
            raise failure(f"opening a file of {root.what}", err) from None
        try:
            found = os.fstat(fd)
            if (found.st_mode, found.st_nlink, found.st_uid, found.st_dev) != root.usual:
                require_regular(found, root.device, root.owner, root.what)
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

    def remove_empty(self, name: str) -> None:
        """Remove a subdirectory in which nothing is; any other stays, and so does what is no directory."""
        with contextlib.suppress(OSError):
            require_name(name)
            os.rmdir(name, dir_fd=self.fd)

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
