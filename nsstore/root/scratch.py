"""A scratch folder: where a self-test makes stores that nobody keeps."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

from nsstore.errors import StoreError, SystemFailure
from nsstore.root import system
from nsstore.root.checks import failure
from nsstore.root.folders import Dir
from nsstore.root.places import real_path
from nsstore.root.tree import Root
from nsstore.root.trees import age, hold, is_held, path_of, remove

DRAFTS: Final = "tmp"
PREFIX: Final = "selftest-"
LONGEST: Final = 2_048
"""Bytes of a scratch folder's path: what is made in it needs the rest."""
ROOM: Final = 4 * 1024 * 1024
DESCRIPTORS: Final = 32
JUST_MADE: Final = 1.0
"""Seconds in which whoever made a folder has come to hold it."""
_SCRATCH: Final = re.compile(rf"/{DRAFTS}/{PREFIX}[0-9a-f]{{16}}(/|\Z)")


@contextmanager
def scratch(purpose: str, *, above: str | None = None) -> Generator[str]:
    """The path of a new private folder, removed with all that is in it when the block ends.

    It lies where temporary files do, or in the nearest directory ``above`` a path that may not be there.
    """
    import tempfile  # noqa: PLC0415 - with it come compressors that nobody else needs

    try:
        folder = tempfile.TemporaryDirectory(prefix=f"nsstore-{purpose}-", dir=_nearest(above))
    except OSError as err:
        raise SystemFailure("making a temporary folder", err) from None
    with folder as path:
        yield path


@contextmanager
def scratch_in(root: Root) -> Generator[str]:
    """The path of a new private folder on the very file system of a root, removed when the block ends.

    What somebody left there who was killed goes first. Raises :class:`SystemFailure` where nothing can be
    made, :class:`EscapeError` where a link stands in the way.
    """
    with root.make_dir(DRAFTS) as drafts:
        _sweep(drafts)
        name = f"{PREFIX}{os.urandom(8).hex()}"
        path = path_of(drafts, f"{DRAFTS}/{name}")
        if len(os.fsencode(path)) > LONGEST:
            raise SystemFailure("making a scratch folder", OSError(36, "too long a path"))
        drafts.make(name)
        try:
            with _held(drafts, name):
                yield path
        finally:
            with suppress(StoreError):  # the next one sweeps it
                remove(drafts, name)


def is_read_only(root: Root) -> bool:
    """Whether the file system of a root takes nothing at all. Raises ``OSError`` where that is not told."""
    return bool(os.fstatvfs(root.fd).f_flag & os.ST_RDONLY)


def lies_in_scratch(path: str | os.PathLike[str]) -> bool:
    """Whether a path lies in the scratch folder of a store, by its name: what is made there is nobody's."""
    return _SCRATCH.search(real_path(path)) is not None


def require_able(folder: str) -> None:
    """Require that this machine still lets a program work in a folder: room on the disk, and descriptors.

    Raises :class:`SystemFailure`: what failed there may be the machine's fault.
    """
    import tempfile  # noqa: PLC0415 - as above

    opened: list[int] = []
    try:
        fd, path = tempfile.mkstemp(dir=folder)
        opened.append(fd)
        os.unlink(path)
        done = 0
        while done < ROOM:
            done += os.write(fd, bytes(ROOM - done))
        system.fsync(fd)
        opened += [os.dup(fd) for _ in range(DESCRIPTORS)]
    except OSError as err:
        raise failure("working in a scratch folder", err) from None
    finally:
        for one in opened:
            os.close(one)


def _nearest(path: str | None) -> str | None:
    """The nearest directory that is there, from a path upwards."""
    at = None if path is None else real_path(path)
    while at is not None and not os.path.isdir(at):
        at = os.path.dirname(at)
    return at


def _held(drafts: Dir, name: str) -> Dir:
    """The scratch folder, marked as in use for as long as it is open, or this process lives."""
    folder = drafts.sub(name)
    if folder is None:
        raise SystemFailure("making a scratch folder", FileNotFoundError(2, ""))
    hold(folder)
    return folder


def _sweep(drafts: Dir) -> None:
    """Remove the scratch folders of processes that are no more, as far as that can be done."""
    for name in drafts.folders():
        if name.startswith(PREFIX) and age(drafts, name) > JUST_MADE:
            with suppress(StoreError):
                folder = drafts.sub(name)
                if folder is not None:
                    with folder:
                        if not is_held(folder):
                            remove(drafts, name)
