"""Files and directories of the person whose programs these are: their settings, and where they work.

They are no part of a store, and the person's own: links in their names are followed, what is written
takes the place of the whole file at once, and its mode stays.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Final, NamedTuple

from nsstore.errors import InvalidInput, Refused, SystemFailure
from nsstore.root import system

FOREIGN: Final = (
    "{0} must be yours or root's, as must the folder it lies in, and nobody else may write either: `chown`"
    " and `chmod go-w` both"
)
_LOOK: Final[int] = getattr(os, "O_PATH", os.O_RDONLY)  # what may not be read may still be looked at
NOT_KEPT: Final = "{0} belongs to another user or group, and that could not stay so: `chown` it first"


class Identity(NamedTuple):
    """Which directory it is: systems give a device and an inode again, and never with the same birth.

    ``birth`` is when it was made, in nanoseconds; ``None`` where the file system keeps no such time.
    """

    device: int
    inode: int
    birth: int | None


def read_owned(path: str, limit: int, what: str) -> bytes | None:
    """The bytes of a regular file, or ``None`` if there is none; ``what`` names it in errors.

    Raises :class:`InvalidInput` for anything else and for more than ``limit`` bytes.
    """
    found = _read(path, limit, what)
    return None if found is None else _within(found[0], limit, what)


def read_trusted(path: str, limit: int, what: str) -> bytes | None:
    """As :func:`read_owned`, of a file that is obeyed.

    Raises :class:`Refused` as well for one that is neither this user's nor root's, or that others may
    write, itself or through the folder it lies in.
    """
    found = _read(path, limit, what)
    if found is None:
        return None
    raw, seen = found
    try:
        around = [os.stat(os.path.dirname(one)) for one in {os.path.abspath(path), os.path.realpath(path)}]
    except OSError as err:
        raise _failed(f"reading {what}", err) from None
    for one in (seen, *around):
        if one.st_uid not in {0, os.geteuid()} or one.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Refused(FOREIGN.format(what), reason="foreign_file")
    return _within(raw, limit, what)


def _within(raw: bytes, limit: int, what: str) -> bytes:
    if len(raw) > limit:
        raise InvalidInput(f"{what} must hold at most {limit} bytes")
    return raw


def _read(path: str, limit: int, what: str) -> tuple[bytes, os.stat_result] | None:
    """A regular file's bytes, one more than ``limit`` at most, and what it is."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as err:
        raise _failed(f"reading {what}", err) from None
    seen = os.fstat(fd)
    if not stat.S_ISREG(seen.st_mode):
        os.close(fd)
        raise InvalidInput(f"{what} must be a regular file")
    with os.fdopen(fd, "rb") as file:
        return file.read(limit + 1), seen


def missing_parents(path: str) -> tuple[str, ...]:
    """The directories that have to be made before a file can be, the outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(os.path.realpath(path))
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


def replace_owned(path: str, raw: bytes, before: bytes | None, what: str) -> None:
    """Put a whole file where ``before`` is (``None``: nothing yet), making directories for it.

    A new file has mode 0600, one that is replaced keeps its owner and its mode; where ``path`` is a link,
    what it leads to is replaced. Raises :class:`Refused` if something else than ``before`` is there by now,
    or its owner cannot be kept.
    """
    real = os.path.realpath(path)
    temporary = f"{real}.nsstore-{os.urandom(4).hex()}"
    try:
        for folder in missing_parents(path):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
        was = os.stat(real) if before is not None else None
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                if was is not None:
                    _keep_owner(fd, was, what)
                os.fchmod(fd, 0o600 if was is None else stat.S_IMODE(was.st_mode))
                file.write(raw)
                file.flush()
                system.fsync(fd)
            _require(real, before, what)
            os.rename(temporary, real)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _flush(os.path.dirname(real))
    except (OSError, ValueError) as err:
        raise _failed(f"writing {what}", err) from None


def remove_owned(path: str, before: bytes, made: tuple[str, ...], what: str) -> None:
    """Remove a file that still is ``before``, and the directories made for it that are empty now.

    Where ``path`` is a link, what it leads to is removed. Raises :class:`Refused` if something else is there
    by now.
    """
    real = os.path.realpath(path)
    _require(real, before, what)
    try:
        os.unlink(real)
    except OSError as err:
        raise _failed(f"removing {what}", err) from None
    for folder in reversed(made):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def identity(path: str) -> Identity | None:
    """Which directory a path leads to, or ``None`` for what is none, or cannot be looked at."""
    try:
        fd = os.open(path, _LOOK | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(fd)
        return Identity(found.st_dev, found.st_ino, system.birth(fd))
    finally:
        os.close(fd)


def directory_of(path: str, what: str) -> str:
    """The real path of an existing directory. Raises :class:`InvalidInput` for what is none."""
    try:
        real = os.path.realpath(path, strict=True)
        real.encode()
    except (OSError, ValueError):
        raise InvalidInput(f"{what} must be a directory that is there, with a name in UTF-8") from None
    if identity(real) is None:
        raise InvalidInput(f"{what} must be a directory")
    return real


def here() -> str:
    """The real path of where this process stands. Raises :class:`SystemFailure` if that is gone."""
    try:
        return os.path.realpath(os.getcwd())
    except OSError as err:
        raise SystemFailure("asking where this process stands", err) from None


def own_home() -> str | None:
    """The home of this user as the system knows it, whatever HOME says; ``None`` where it knows none."""
    import pwd  # noqa: PLC0415 - only where somebody asks

    try:
        return os.path.realpath(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        return None


def upwards(path: str) -> Iterator[str]:
    """A real path and every directory above it, the nearest first."""
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def has_name(folder: str, name: str) -> bool:
    """Whether a directory holds a name, whatever it is; ``True`` where that cannot be told."""
    try:
        os.lstat(os.path.join(folder, name))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def is_executable(path: str) -> bool:
    """Whether a path leads to a file that this user may run."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _keep_owner(fd: int, was: os.stat_result, what: str) -> None:
    """Give a new file the owner and the group of the one whose place it takes."""
    own = os.fstat(fd)
    if (own.st_uid, own.st_gid) == (was.st_uid, was.st_gid):
        return
    try:
        os.fchown(fd, was.st_uid, was.st_gid)
    except PermissionError:
        raise Refused(NOT_KEPT.format(what), reason="foreign_file") from None


def _require(path: str, before: bytes | None, what: str) -> None:
    now = _read(path, len(before or b""), what)
    if (None if now is None else now[0]) != before:
        raise Refused(f"{what} was changed meanwhile: once more", reason="changed_meanwhile", retryable=True)


def _flush(folder: str) -> None:
    with contextlib.suppress(PermissionError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            system.fsync(fd)
        finally:
            os.close(fd)


def _failed(doing: str, err: OSError | ValueError) -> SystemFailure:
    return SystemFailure(doing, err if isinstance(err, OSError) else OSError(errno.EINVAL, ""))
