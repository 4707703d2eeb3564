"""Files and directories of the person whose programs these are: their settings, and where they work.

They are no part of a store, and the person's own: links in their names are followed, what is written
takes the place of the whole file at once, and its mode stays.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat

from nsstore.errors import InvalidInput, Refused, SystemFailure
from nsstore.root import system


def read_owned(path: str, limit: int, what: str) -> bytes | None:
    """The bytes of a regular file, or ``None`` if there is none; ``what`` names it in errors.

    Raises :class:`InvalidInput` for anything else and for more than ``limit`` bytes.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as err:
        raise _failed(f"reading {what}", err) from None
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise InvalidInput(f"{what} must be a regular file")
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise InvalidInput(f"{what} must hold at most {limit} bytes")
    return raw


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

    A new file has mode 0600, one that is replaced keeps its own; where ``path`` is a link, what it leads
    to is replaced. Raises :class:`Refused` if something else than ``before`` is there by now.
    """
    real = os.path.realpath(path)
    temporary = f"{real}.nsstore-{secrets.token_hex(4)}"
    try:
        for folder in missing_parents(path):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
        mode = stat.S_IMODE(os.stat(real).st_mode) if before is not None else 0o600
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                os.fchmod(fd, mode)
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

    Raises :class:`Refused` if something else is there by now.
    """
    _require(path, before, what)
    try:
        os.unlink(path)
    except OSError as err:
        raise _failed(f"removing {what}", err) from None
    for folder in reversed(made):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def identity(path: str) -> tuple[int, int] | None:
    """Device and inode of a directory, or ``None`` for what is none, or cannot be looked at."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


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


def _require(path: str, before: bytes | None, what: str) -> None:
    now = read_owned(path, len(before or b"") + 1, what) if os.path.lexists(path) else None
    if now != before:
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
