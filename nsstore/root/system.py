"""The system calls Python does not offer, and which of them this machine has."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import struct
import sys
from typing import Final

OPENAT2: Final = 437
RENAMEAT2: Final = 316 if os.uname().machine == "x86_64" else 276  # where the C library has no name for it
STATX: Final = {"x86_64": 332, "aarch64": 291, "riscv64": 291}  # as well
AT_EMPTY_PATH: Final = 0x1000
STATX_BTIME: Final = 0x800
RESOLVE: Final = 0x01 | 0x02 | 0x04 | 0x08  # NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH
RENAME_NOREPLACE: Final = 1
RENAME_EXCL: Final = 4  # macOS
WRITE_NOW: Final = 2  # sync_file_range: SYNC_FILE_RANGE_WRITE
F_FULLFSYNC: Final = 51  # macOS

LINUX: Final = sys.platform == "linux"
DARWIN: Final = sys.platform == "darwin"
UNNAMED: Final[int] = getattr(os, "O_TMPFILE", 1 << 40)  # a bit no open flag has, where there is none

# The flush of one file carries its name as well on these; elsewhere the directory is flushed too.
FLUSH_CARRIES_NAME: Final = frozenset({0xEF53, 0x58465342, 0x9123683E})  # ext4, xfs, btrfs
EXACT_TIMES: Final = FLUSH_CARRIES_NAME | {0x01021994}  # and tmpfs
NAMES: Final = {
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0x01021994: "tmpfs",
    0x794C7630: "overlayfs",
    0x6969: "nfs",
    0xFF534D42: "cifs",
    0xFE534D42: "smb2",
    0x65735546: "fuse",
    0x2FC12FC1: "zfs",
}

_libc: Final = ctypes.CDLL(None, use_errno=True)
_ZERO: Final = ctypes.c_int64(0)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


# A probe that ended so says nothing about the place, or that there is a way but no room just now.
NO_ANSWER: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

# Named here so that a test on a fake file system, which lacks them, can put its own in their place.
pread = os.pread
pwrite = os.pwrite


def _raise(name: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), name)


def openat2(dir_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """Open ``path`` beneath ``dir_fd``, never through a link or onto another mount.

    Raises ``OSError``: ``ELOOP`` for a link on the way, ``EXDEV`` for a way out.
    """
    how = _OpenHow(flags | os.O_CLOEXEC, mode, RESOLVE)
    fd: int = _libc.syscall(OPENAT2, dir_fd, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
    if fd < 0:
        _raise(path)
    return fd


def rename_noreplace(src_dir: int, src: str, dst_dir: int, dst: str) -> None:
    """Rename without replacing: ``FileExistsError`` if the new name is taken."""
    old, new = os.fsencode(src), os.fsencode(dst)
    if DARWIN:
        done: int = _libc.renameatx_np(src_dir, old, dst_dir, new, RENAME_EXCL)
    elif hasattr(_libc, "renameat2"):
        done = _libc.renameat2(src_dir, old, dst_dir, new, RENAME_NOREPLACE)
    else:
        done = _libc.syscall(RENAMEAT2, src_dir, old, dst_dir, new, RENAME_NOREPLACE)
    if done < 0:
        _raise(dst)


def syncfs(fd: int) -> None:
    """Flush the whole file system that ``fd`` is on; every file flushed before it is durable after."""
    if not LINUX:
        os.sync()
    elif _libc.syncfs(fd) < 0:
        _raise("syncfs")


def begin_writeback(fd: int) -> None:
    """Let the disk begin with what a file holds, without waiting: promises nothing, so cannot fail."""
    if LINUX:
        _libc.sync_file_range(fd, _ZERO, _ZERO, WRITE_NOW)


def fsync(fd: int) -> None:
    """Flush one file or directory down to the medium."""
    if fd < 0:
        raise OSError(errno.EBADF, "closed")  # Python itself would raise a ValueError
    if DARWIN:
        import fcntl  # noqa: PLC0415 - only macOS needs it here

        fcntl.fcntl(fd, F_FULLFSYNC)
    else:
        os.fsync(fd)


def filesystem_type(fd: int) -> int:
    """The magic number of the file system ``fd`` is on; 0 where the system does not tell."""
    if not LINUX:
        return 0
    buffer = ctypes.create_string_buffer(256)
    if _libc.fstatfs(fd, buffer) < 0:
        _raise("fstatfs")
    return int.from_bytes(buffer.raw[:8], sys.byteorder) & 0xFFFFFFFF


def has_exact_times(magic: int) -> bool:
    """Whether a change after a look always shows: such a file system stamps it later than what was looked at.

    Linux does from 6.13 on (multigrain timestamps), on the file systems that keep nanoseconds; elsewhere
    two changes within one tick of the clock can bear one time.
    """
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return LINUX and found is not None and (int(found[1]), int(found[2])) >= (6, 13) and magic in EXACT_TIMES


def birth(fd: int) -> int | None:
    """When what ``fd`` is open on was made, in nanoseconds; ``None`` where system or file system keep none.

    Nobody can set it but whoever writes the disk itself, and a new file never has that of an old one.
    """
    if not LINUX:
        told: float = getattr(os.fstat(fd), "st_birthtime", 0.0)
        return round(told * 10**9) or None
    found = ctypes.create_string_buffer(256)  # struct statx
    args = (fd, b"", AT_EMPTY_PATH, STATX_BTIME, found)
    if hasattr(_libc, "statx"):
        done: int = _libc.statx(*args)
    else:
        number = STATX.get(os.uname().machine)
        done = -1 if number is None else _libc.syscall(number, *args)
    (mask,) = struct.unpack_from("=I", found, 0)
    seconds, nanoseconds = struct.unpack_from("=qI", found, 80)
    return (seconds * 10**9 + nanoseconds or None) if done == 0 and mask & STATX_BTIME else None


def umask() -> int:
    """The umask of this process, which asking for it does not change; 0 where the system does not tell."""
    try:
        with open("/proc/self/status", "rb") as status:
            found = re.search(rb"^Umask:\s*([0-7]+)$", status.read(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1], 8) if found else 0


def has_openat2(dir_fd: int) -> bool:
    """Whether the kernel, and the sandbox around this process, let ``openat2`` through.

    Raises ``OSError`` where that cannot be found out.
    """
    if not LINUX:
        return False
    try:
        os.close(openat2(dir_fd, ".", os.O_RDONLY | os.O_DIRECTORY))
    except OSError as err:
        if err.errno in (errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG):
            return False
        raise
    return True


def has_unnamed_files(dir_fd: int) -> bool:
    """Whether unnamed temporary files can be made here and linked through ``/proc``; makes no name.

    Raises ``OSError`` where that cannot be found out.
    """
    if not LINUX or not os.path.isdir("/proc/self/fd"):
        return False
    try:
        fd = os.open(".", UNNAMED | os.O_WRONLY, 0o600, dir_fd=dir_fd)
    except OSError as err:
        if err.errno in NO_ANSWER:
            raise
        return err.errno in NO_ROOM
    try:
        # The file is looked up before the name, which is always taken: to hear so is to have found the file.
        os.link(f"/proc/self/fd/{fd}", ".", dst_dir_fd=dir_fd, follow_symlinks=True)
    except OSError as err:
        return err.errno == errno.EEXIST
    finally:
        os.close(fd)
    return False
