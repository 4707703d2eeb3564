"""What nsstore is measured against, all in one file, and each with a floor of its own.

A ratio is worth as much as its divisor: so each baseline proves after a run that what it kept is
what it was given, and that its flush took as long as this disk needs for one (``Baseline.prove``).
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import statistics
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import ClassVar, Final

_PROBES: Final = 64
_BLOCK: Final = 4096
_FREE_BELOW: Final = 2.0
_FLOOR_SHARE: Final = 0.5
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class BaselineError(AssertionError):
    """The baseline did not do what it is called after, so no ratio to it means anything."""


class FlushProbe:
    """Times what any durable write must at least do on this disk: flush one block that is already there.

    It is made with a few dozen probes and asked again during a run (:meth:`once`), since a disk may be
    throttled for a while and fast again. Raises :class:`BaselineError` where a flush takes less than
    twice the write before it: a shim that swallows fsync, a disk in memory.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / "probe"
        self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        self.writes: list[float] = []
        self.flushes: list[float] = []
        os.pwrite(self.fd, bytes(_BLOCK), 0)
        os.fsync(self.fd)
        for _ in range(_PROBES):
            self.once()
        if self.floor < _FLOOR_SHARE * _FREE_BELOW * statistics.median(self.writes):
            self.close()
            raise BaselineError("a flush is free here, so durable writes cannot be measured")

    def once(self) -> None:
        """Overwrite the block and flush it."""
        block = len(self.flushes).to_bytes(8, "big") * 128
        start = perf_counter()
        os.pwrite(self.fd, block, 0)
        written = perf_counter()
        os.fdatasync(self.fd)
        self.writes.append(written - start)
        self.flushes.append(perf_counter() - written)

    @property
    def floor(self) -> float:
        """Seconds under which no flush can have happened: half of the fastest one seen so far."""
        return _FLOOR_SHARE * min(self.flushes)

    def close(self) -> None:
        """Remove the probed file."""
        os.close(self.fd)
        self.path.unlink()


class Baseline(ABC):
    """One way to keep texts durably; ``once`` is the timed act, ``prove`` the condition to count.

    ``flushes`` holds the seconds spent in the call that is said to flush, one entry per ``once``.
    """

    name: ClassVar[str]
    what: ClassVar[str]

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.directory = directory
        self.flushes: list[float] = []
        self.kept: list[str] = []

    @abstractmethod
    def once(self, texts: Sequence[str]) -> None:
        """Keep the texts so that they survive a power cut when this returns."""

    @abstractmethod
    def stored(self) -> list[str]:
        """Read back everything kept, in the order it was kept."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the baseline holds open."""

    def prove(self, floor: float) -> None:
        """Raise :class:`BaselineError` unless every text is there and the flush beat no physics.

        ``floor`` is in seconds, from a :class:`FlushProbe` on the same file system.
        """
        if not self.flushes:
            raise BaselineError(f"{self.name}: never ran")
        flush = statistics.median(self.flushes)
        if flush < floor:
            raise BaselineError(
                f"{self.name}: its flush took {flush * 1e6:.1f} µs, below the {floor * 1e6:.1f} µs "
                "that this disk needs: it did not flush"
            )
        if self.stored() != self.kept:
            raise BaselineError(f"{self.name}: what it kept is not what it was given")


class FileBaseline(Baseline):
    """One file per text, linked under its number from an unnamed file, so never seen half written."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)

    def link(self, text: str) -> int:
        """Write the text to an unnamed file, link it, and return its open descriptor."""
        fd = os.open(self.directory, os.O_TMPFILE | os.O_WRONLY, 0o600)
        os.write(fd, text.encode())
        # With dir_fd os.link calls linkat, which alone follows the /proc link to the unnamed file.
        os.link(f"/proc/self/fd/{fd}", str(len(self.kept)), src_dir_fd=self.fd, dst_dir_fd=self.fd)
        self.kept.append(text)
        return fd

    def stored(self) -> list[str]:
        names = sorted(int(name) for name in os.listdir(self.directory))
        return [(self.directory / str(name)).read_bytes().decode() for name in names]

    def close(self) -> None:
        os.close(self.fd)


class OneFlushWrite(FileBaseline):
    """The least a durable file can cost: one flush that carries data and name."""

    name = "raw_one_flush"
    what = "O_TMPFILE, write, linkat, fsync, close"

    def once(self, texts: Sequence[str]) -> None:
        for text in texts:
            fd = self.link(text)
            start = perf_counter()
            os.fsync(fd)
            self.flushes.append(perf_counter() - start)
            os.close(fd)


class SyncfsBatch(FileBaseline):
    """The least a durable batch can cost: every file linked, then one flush for all."""

    name = "raw_syncfs_batch"
    what = "the same files linked, then one syncfs"

    def once(self, texts: Sequence[str]) -> None:
        for text in texts:
            os.close(self.link(text))
        start = perf_counter()
        self.flush()
        self.flushes.append(perf_counter() - start)

    def flush(self) -> None:
        """Flush the whole file system; raises ``OSError`` with the kernel's errno."""
        if _LIBC.syncfs(self.fd) != 0:
            raise OSError(ctypes.get_errno(), "syncfs")


class DurableFts5(Baseline):
    """A full-text row per commit in SQLite: WAL, synchronous=FULL, nothing batched."""

    name = "sqlite_fts5_insert"
    what = "INSERT into FTS5, WAL, synchronous=FULL, one commit each"
    settings: ClassVar[Sequence[str]] = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL")

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.db = sqlite3.connect(directory / "notes.db", isolation_level=None)
        for setting in self.settings:
            self.db.execute(setting)
        self.db.execute("CREATE VIRTUAL TABLE notes USING fts5(number UNINDEXED, text)")

    def once(self, texts: Sequence[str]) -> None:
        for text in texts:
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("INSERT INTO notes VALUES (?, ?)", (len(self.kept), text))
            start = perf_counter()
            self.db.execute("COMMIT")
            self.flushes.append(perf_counter() - start)
            self.kept.append(text)

    def stored(self) -> list[str]:
        found = [self.db.execute(f"PRAGMA {one}").fetchone()[0] for one in ("journal_mode", "synchronous")]
        if found != ["wal", 2]:
            raise BaselineError(f"{self.name}: journal_mode and synchronous are {found}, not ['wal', 2]")
        other = sqlite3.connect(self.directory / "notes.db")
        try:
            rows = other.execute("SELECT text FROM notes ORDER BY number").fetchall()
            word = self.kept[-1].split()[0]
            asked = other.execute("SELECT count(*) FROM notes WHERE notes MATCH ?", (f'"{word}"',)).fetchone()
        finally:
            other.close()
        if asked[0] < 1:
            raise BaselineError(f"{self.name}: a word of the last text is not in its index")
        return [text for (text,) in rows]

    def close(self) -> None:
        self.db.close()


ALL: Final[tuple[type[Baseline], ...]] = (OneFlushWrite, SyncfsBatch, DurableFts5)
BY_NAME: Final = {kind.name: kind for kind in ALL}
