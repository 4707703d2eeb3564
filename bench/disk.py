"""Where measurements write: a real file system, where a flush costs what it costs in life."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import tempfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parents[1]
VARIABLE: Final = "NSSTORE_BENCH_DIR"
FLUSH_IS_FREE: Final = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"})
MOUNTS: Final = Path("/proc/self/mountinfo")
# linux/fs.h: FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_TOPDIR_FL (`chattr +T`).
_GET_FLAGS: Final = 0x80086601
_SET_FLAGS: Final = 0x40086602
_TOP_DIRECTORY: Final = 0x00020000
_REMOVERS: Final = 8


class UnfitDiskError(Exception):
    """The directory lies on a file system whose flush proves nothing; the message says what to do."""


def file_system(path: Path, mounts: str | None = None) -> str:
    """Name the type of the file system that holds ``path``: the deepest mount above it, the last if equal.

    ``mounts`` is the text of ``/proc/self/mountinfo``, read now if left out.
    """
    real = path.resolve()
    deepest, found = -1, "unknown"
    for line in (MOUNTS.read_text() if mounts is None else mounts).splitlines():
        before, _, after = line.partition(" - ")
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), before.split(" ")[4]))
        if real.is_relative_to(point) and len(point.parts) >= deepest:
            deepest, found = len(point.parts), after.split(" ")[0]
    return found


def require_flush(path: Path, mounts: str | None = None) -> str:
    """Return the file system's type, or raise :class:`UnfitDiskError` if it lives in memory."""
    kind = file_system(path, mounts)
    if kind in FLUSH_IS_FREE:
        raise UnfitDiskError(
            f"{path} is on {kind}, where fsync costs nothing and a durable write cannot be measured: "
            f"point {VARIABLE} at a directory on a disk"
        )
    return kind


def require_unnamed_files(path: Path) -> None:
    """Raise :class:`UnfitDiskError` where files cannot be made without a name, as the baselines do."""
    try:
        os.close(os.open(path, os.O_TMPFILE | os.O_WRONLY, 0o600))
    except OSError as refused:
        raise UnfitDiskError(
            f"{path} is on {file_system(path)}, which makes no unnamed files ({refused.strerror}): "
            f"point {VARIABLE} at a directory on ext4, xfs or btrfs"
        ) from refused


def spread_children(parent: Path) -> None:
    """Ask ext4 to put each new directory in ``parent`` into a block group of its own, chosen by its name.

    ext4 steps around inodes deleted within the last minutes, one by one: a run in the group where an
    earlier run was just removed pays about 600 µs more for each new file, baselines and nsstore alike.
    Where the flag means nothing, nothing happens.
    """
    fd = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            (flags,) = struct.unpack("l", fcntl.ioctl(fd, _GET_FLAGS, bytes(8)))
            fcntl.ioctl(fd, _SET_FLAGS, struct.pack("l", flags | _TOP_DIRECTORY))
    finally:
        os.close(fd)


@contextmanager
def scratch(parent: Path | None = None) -> Generator[Path]:
    """Give a fresh directory in ``parent`` (where temporary files go, if left out), gone afterwards.

    Files are removed by several threads: on a disk that discards what is freed, one unlink can wait
    for milliseconds, and tens of thousands of records would outlast the run that wrote them.
    """
    with tempfile.TemporaryDirectory(dir=parent, prefix="nsstore-") as name:
        try:
            yield Path(name)
        finally:
            files = (Path(folder, file) for folder, _, inside in os.walk(name) for file in inside)
            with ThreadPoolExecutor(_REMOVERS) as removers:
                list(removers.map(os.unlink, files))


@contextmanager
def bench_dir() -> Generator[Path]:
    """Give a fresh directory on a disk, gone afterwards: in ``.bench`` under ``$NSSTORE_BENCH_DIR``, else
    under the project.

    Raises :class:`UnfitDiskError`.
    """
    named = os.environ.get(VARIABLE)
    home = Path(named) if named else PROJECT
    require_flush(home)
    parent = home / ".bench"
    parent.mkdir(parents=True, exist_ok=True)
    require_unnamed_files(parent)
    (parent / ".gitignore").write_text("*\n")
    spread_children(parent)
    with scratch(parent) as fresh:
        yield fresh
