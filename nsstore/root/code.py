"""Installed packages as files: which there are, whether they are as they were, and what they hold.

Compiled copies (``__pycache__``) are left out: Python makes them of what is here.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from importlib.util import find_spec
from typing import Final

from nsstore import digests
from nsstore.errors import SystemFailure

COMPILED: Final = "__pycache__"
DEEPEST: Final = 32
NOT_FILES: Final = "the package {} is not installed as files that can be read"
FileSeen = tuple[str, int, int, int]
"""A path beneath a package's folder, its inode, its size, and when it changed last, which nobody sets."""
_VERSION: Final = re.compile(r"-([0-9][^-]*)\.dist-info")


def folder_of(package: str) -> str:
    """The folder that this process imports a package from.

    Raises :class:`SystemFailure` for what is no folder of files.
    """
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places:
        raise SystemFailure(NOT_FILES.format(package), FileNotFoundError(2, ""))
    return places[0]


def files_of(folder: str) -> list[FileSeen]:
    """Every file of a package, through links, sorted: equal as long as none was changed, made or removed.

    Raises :class:`SystemFailure`.
    """
    found: list[FileSeen] = []
    waiting = [""]
    try:
        while waiting:
            at = waiting.pop()
            if at.count("/") > DEEPEST:
                raise OSError(errno.ELOOP, "links that lead around")
            with os.scandir(f"{folder}/{at}") as entries:
                for entry in entries:
                    if not entry.is_dir():
                        seen = entry.stat()
                        found.append((at + entry.name, seen.st_ino, seen.st_size, seen.st_ctime_ns))
                    elif entry.name != COMPILED:
                        waiting.append(f"{at}{entry.name}/")
    except OSError as err:
        raise SystemFailure("looking at the code of this program", err) from None
    return sorted(found)


def digest_of(folder: str) -> str:
    """A digest of the paths and bytes of every file of a package, wherever it lies.

    Raises :class:`SystemFailure`.
    """
    running = digests.running(digests.SELFTEST)
    for name, *_ in files_of(folder):
        try:
            with open(f"{folder}/{name}", "rb") as file:
                held = digests.digest(digests.SELFTEST, file.read())
        except OSError as err:
            raise SystemFailure("reading the code of this program", err) from None
        running.update(digests.lp(os.fsencode(name), held))
    return running.hexdigest()


def version_of(folder: str) -> str:
    """The version that an installed package's metadata beside its folder says; ``?`` where none does."""
    package = os.path.basename(folder)
    try:
        with os.scandir(os.path.dirname(folder)) as entries:
            found = [
                match[1] for one in entries if (match := _VERSION.fullmatch(one.name.removeprefix(package)))
            ]
    except OSError:
        found = []
    return found[0] if len(found) == 1 else "?"


def interpreter() -> str:
    """The Python that runs this, its system and machine, and what changes how it runs code."""
    version, optimized = sys.version.split()[0], sys.flags.optimize
    words = (sys.implementation.name, version + sys.abiflags, sys.platform, os.uname().machine)
    return " ".join((*words, *((f"-O{optimized}",) if optimized else ())))
