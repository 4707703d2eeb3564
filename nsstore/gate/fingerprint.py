"""What a self-test is about: this very code, on this Python, with these engines, on such a file system."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import msgspec

from nsstore import digests
from nsstore.errors import SystemFailure
from nsstore.root import SETTLED_NS, Root
from nsstore.root.code import digest_of, files_of, folder_of, interpreter, version_of
from nsstore.root.scratch import is_read_only
from nsstore.root.stamps import moment

PACKAGE: Final = "nsstore"
SUITE: Final = "nsstore.harness"
ROOMS: Final = ("nsstore.search", "nsstore.writers", SUITE)
"""In the package's own folder, or, in a checkout without links, beside it."""
ENGINES: Final = ("tantivy", "msgspec")
CHANGED: Final = "the code of this program was changed since it was started: start it again"


class Build(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What runs, wherever it does: digests of its code, of the suite in it and of the engines; the Python."""

    code: str
    suite: str
    python: str
    tantivy: str
    msgspec: str


class Fingerprint(Build, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A build, and how the file system that a store is on lets it work: the one thing a result is about."""

    filesystem: str


class Looked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the files in some folders looked when they were read, and which build they were.

    As long as they look so, they need not be read again.
    """

    folders: tuple[str, ...]
    stamp: str
    build: Build


class Seen(msgspec.Struct, frozen=True):
    """How the files look: where they lie, their stamp, and whether any change from now on shows in it."""

    folders: tuple[str, ...]
    stamp: str
    settled: bool


class Here(msgspec.Struct, frozen=True):
    """The build that this process is, and how its files look; ``look`` is ``None`` if they had just changed.

    ``read`` says that they were read to find out.
    """

    build: Build
    look: Looked | None
    read: bool = False


class Process:
    """This process: how its code looked when it was imported, and which build that is, found out once."""

    def __init__(self) -> None:
        self._seen: Seen | None = None
        self._here: Here | None = None
        self.start()

    def start(self) -> None:
        """Look at the code, as it is imported; nothing is known of it yet."""
        self._here = self._seen = None
        with suppress(SystemFailure):  # told by whoever asks for the build
            self._seen = _look()

    def here(self, known: Callable[[], Iterable[Looked]]) -> Here:
        """The build that this process is.

        ``known`` are earlier looks that are believed, asked once. Raises :class:`SystemFailure` where it
        cannot be told which code this is.
        """
        if self._here is None:
            seen = self._seen = self._seen or _look()
            python = interpreter()
            for one in known():
                if (one.folders, one.stamp, one.build.python) == (seen.folders, seen.stamp, python):
                    self._here = Here(one.build, one)
                    return self._here
            build = _read(seen.folders, python)
            self.require_unchanged()
            look = Looked(folders=seen.folders, stamp=seen.stamp, build=build) if seen.settled else None
            self._here = Here(build, look)
            return Here(build, look, read=True)
        return self._here

    def require_unchanged(self) -> None:
        """Require that the code is what this process imported, so that what is imported yet belongs to it.

        Raises :class:`SystemFailure`.
        """
        if self._seen is None or _look().stamp != self._seen.stamp:
            raise SystemFailure(CHANGED, OSError(errno.ESTALE, ""))


def fingerprint_of(build: Build, root: Root) -> Fingerprint:
    """The fingerprint of a build on the file system of a root.

    How a file system that is mounted read-only would take files cannot be asked: as most do. Raises
    ``OSError`` where the system does not tell.
    """
    ways = (
        root.filesystem,
        root.opener.name,
        "unnamed" if root.unnamed_files or is_read_only(root) else "named",
        "exact" if root.exact_times else "coarse",
    )
    return Fingerprint(**msgspec.structs.asdict(build), filesystem=" ".join(ways))


def _folders() -> tuple[str, ...]:
    """Where this process imports the code from; a room in the package's own folder comes with that."""
    top = folder_of(PACKAGE)
    rooms = [folder for room in ROOMS if not (folder := folder_of(room)).startswith(f"{top}/")]
    return (top, *rooms, *(folder_of(engine) for engine in ENGINES))


def _look() -> Seen:
    began, folders = moment(), _folders()
    files = [files_of(folder) for folder in folders]
    newest = max((changed for folder in files for *_, changed in folder), default=0)
    stamp = digests.digest(digests.SELFTEST, msgspec.msgpack.encode(files)).hex()
    return Seen(folders, stamp, newest + SETTLED_NS < began)


def _read(folders: tuple[str, ...], python: str) -> Build:
    """The build that the files in some folders are; the last of them are those of the engines."""
    code, (tantivy, codec) = folders[: -len(ENGINES)], folders[-len(ENGINES) :]
    return Build(
        code=" ".join(digest_of(folder) for folder in code),
        suite=digest_of(folder_of(SUITE)),
        python=python,
        tantivy=f"{version_of(tantivy)} {digest_of(tantivy)}",
        msgspec=f"{version_of(codec)} {digest_of(codec)}",
    )


process: Final = Process()
