"""What a call opens: by the interpreter's hook, by the kernel's own word, and in the map of the process."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

IN_ACCESS: Final = 0x1
IN_OPEN: Final = 0x20
IN_NONBLOCK: Final = os.O_NONBLOCK
EVENT: Final = struct.Struct("iIII")

_heard: list[list[str]] = []


def _hear(event: str, given: tuple[object, ...]) -> None:
    if _heard and event == "open":
        for one in _heard:
            one.append(str(given[0]))


sys.addaudithook(_hear)  # a hook stays for as long as the process lives: it hears only while somebody asks


@contextmanager
def opened_by_python() -> Generator[list[str]]:
    """The names that the interpreter is asked to open meanwhile."""
    names: list[str] = []
    _heard.append(names)
    try:
        yield names
    finally:
        _heard.remove(names)


class Watch:
    """Files and directories of which the kernel tells who opens or reads them, by whatever way."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(IN_NONBLOCK)
        assert self._fd >= 0, os.strerror(ctypes.get_errno())
        self._names: dict[int, Path] = {}
        for path in paths:
            number = self._libc.inotify_add_watch(self._fd, os.fsencode(path), IN_OPEN | IN_ACCESS)
            assert number >= 0, f"{path}: {os.strerror(ctypes.get_errno())}"
            self._names[number] = path
        self.touched()

    def touched(self) -> set[Path]:
        """What was opened or read since the last time."""
        found: set[Path] = set()
        while True:
            try:
                raw = os.read(self._fd, 64 * 1024)
            except BlockingIOError:
                return found
            at = 0
            while at < len(raw):
                number, _, _, length = EVENT.unpack_from(raw, at)
                name = raw[at + EVENT.size : at + EVENT.size + length].rstrip(b"\0")
                found.add(self._names[number] / os.fsdecode(name))
                at += EVENT.size + length

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def mapped() -> set[str]:
    """The files that are mapped into this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if line.count(" ") >= 5 and "/" in line}
