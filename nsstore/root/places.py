"""Directories that a person or a setting names: the root and the trust home.

Only these are reached by a whole path, through links if it has any; everything beneath is derived.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Final, cast

from nsstore.errors import InvalidInput
from nsstore.root import system
from nsstore.root.checks import failure
from nsstore.root.steps import step

MAX_LINKS: Final = 40  # as many as Linux follows
MEMORY: Final = "/dev/shm"  # noqa: S108 - a private directory in it, refused if it is anybody else's


def check_path(path: object, what: str = "root") -> str:
    """Return an absolute path: text or path-like, not empty, without NUL; nothing in it is expanded.

    ``..`` is left to the system, which takes it after a link as every other program does. Raises
    :class:`InvalidInput`.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"the path of a {what} must be text or path-like")
    given: object = os.fspath(cast("str | os.PathLike[str]", path))
    if type(given) is not str or not given or "\0" in given:
        raise InvalidInput(f"the path of a {what} must be text, not empty and without NUL")
    try:
        given.encode()  # a name that is no UTF-8 could not be written into the binding
        return given if os.path.isabs(given) else os.path.join(os.getcwd(), given)
    except UnicodeEncodeError:
        raise InvalidInput(f"the path of a {what} must be text that a file name can hold") from None
    except OSError as err:
        raise failure("asking where this process stands", err) from None


def real_path(path: str | os.PathLike[str]) -> str:
    """Where a path leads by now, whether anything is there or not."""
    return os.path.realpath(check_path(path))


def is_free(path: str | os.PathLike[str]) -> bool:
    """Whether a root can be made at ``path``: nothing is there, or an empty directory."""
    given = check_path(path)
    try:
        return not os.path.lexists(given) or (os.path.isdir(given) and not os.listdir(given))
    except OSError as err:
        raise failure("looking at the root", err) from None


def holds(path: str | os.PathLike[str], name: str) -> bool:
    """Whether a directory holds a name; ``False`` for what is no directory.

    Raises :class:`SystemFailure` where this process may not look.
    """
    try:
        os.lstat(os.path.join(check_path(path), name))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as err:
        raise failure("looking for a store", err) from None
    return True


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether anything at all has this name."""
    return os.path.lexists(check_path(path))


def is_directory_at(path: str, inode: int) -> bool:
    """Whether a real path leads to the directory with this inode; ``False`` where nobody can tell."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_ino == inode and os.path.realpath(path) == path


def folders_in(path: str, what: str) -> list[str]:
    """The names in a directory that lead to directories, sorted; none where there is no directory.

    ``what`` names it in errors. Raises :class:`SystemFailure` for one that cannot be listed.
    """
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as err:
        raise failure(f"listing {what}", err) from None


def lies_in_one_that_holds(path: str | os.PathLike[str], name: str) -> bool:
    """Whether a path, or a directory around it, holds a name, whatever links lead there."""
    return any(holds(at, name) for at in _passed(os.path.realpath(check_path(path))))


def remove_empty(path: str | os.PathLike[str]) -> None:
    """Take back a directory that was made for nothing; one that holds anything stays."""
    with contextlib.suppress(OSError):
        os.rmdir(check_path(path))


def make_private(path: str, *, flush: bool = True) -> None:
    """Make a directory and its missing parents, durable and 0700 under any umask; an empty one gets 0700.

    Without ``flush`` nothing of it is durable yet. Raises ``OSError``.
    """
    if not _made(path, flush=flush) and not os.listdir(path):
        os.chmod(path, 0o700)


def _made(path: str, *, flush: bool, again: bool = True) -> bool:
    """Make a directory; ``False`` if it was there. Another process may make the same parents meanwhile."""
    try:
        step("mkdir")
        os.mkdir(path, 0o700)
    except FileNotFoundError:
        parent = os.path.dirname(path.rstrip("/"))
        if parent in {"", path} or not (_made(parent, flush=flush) or again):
            raise
        return _made(path, flush=flush, again=False)
    except OSError:  # it is there, or (on macOS) is `/`
        if not os.path.isdir(path):
            raise
        return False
    os.chmod(path, 0o700)
    if flush:
        _flush(os.path.dirname(path.rstrip("/")))
    return True


def _flush(parent: str) -> None:
    """Make the name of a new directory durable; a parent that may be written but not read is left alone."""
    with contextlib.suppress(PermissionError):
        fd = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            step("fsync")
            system.fsync(fd)
        finally:
            os.close(fd)


def overlap(home: str, root: str) -> bool:
    """Whether ``home`` is ``root``, lies in it or around it, or is reached through it, by whatever link.

    A link in the root that leads out of it is in the hands of whoever writes the root.
    """
    passed = [_identity(at) for at in _passed(home)]
    around = [_identity(at) for at in _passed(os.path.realpath(root))]
    return passed[-1] in around or around[-1] in passed


def in_memory() -> str | None:
    """The path of this user's own directory in memory, there or not; ``None`` where is no such place."""
    return f"{MEMORY}/nsstore-{os.geteuid()}" if os.path.isdir(MEMORY) else None


def in_repository(path: str) -> bool:
    """Whether a directory, or one around it, is a git checkout."""
    return carried(os.path.realpath(path))


def carried(path: str) -> bool:
    """Whether a file lies in a git checkout, or is reached through one: whoever fills that could bring it."""
    return any(os.path.lexists(os.path.join(at, ".git")) for at in _passed(check_path(path)))


def _identity(path: str) -> object:
    """Device and inode of a directory, or the path of one that is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return path
    return found.st_dev, found.st_ino


def _passed(path: str) -> Iterator[str]:
    """Every directory that looking up an absolute path passes through, links and all; itself comes last."""
    at, left, links = "/", path.split("/")[::-1], 0
    yield at
    while left:
        part = left.pop()
        step_to = os.path.dirname(at) if part == ".." else os.path.join(at, part).rstrip("/") or "/"
        try:
            target = os.readlink(step_to) if part not in {"", ".", ".."} else ""
        except OSError:
            target = ""
        if target and links < MAX_LINKS:
            links += 1
            left += target.split("/")[::-1]
            at = "/" if target.startswith("/") else at
        elif part not in {"", "."}:
            at = step_to
        yield at
