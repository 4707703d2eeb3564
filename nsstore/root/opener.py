"""The only place where a name becomes a descriptor: two ways to open, one contract.

Both open ``path`` beneath a directory descriptor without following a link in any component and
without leaving the device; ``openat2`` asks the kernel to, the walk does it component by component.
"""

from __future__ import annotations

import errno
import os
from typing import Final, Protocol

from nsstore.root import steps, system
from nsstore.root.steps import step

ALWAYS: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY


class Opener(Protocol):
    """Opens beneath a directory; raises ``OSError`` with ``ELOOP``, ``ENOTDIR`` or ``EXDEV`` on escape."""

    name: str

    def __call__(self, dir_fd: int, path: str, flags: int) -> int: ...


class KernelOpener:
    """Opens with ``openat2(BENEATH, NO_SYMLINKS, NO_MAGICLINKS, NO_XDEV)``: one call, no race."""

    name = "openat2"

    def __call__(self, dir_fd: int, path: str, flags: int) -> int:
        if steps.hook is not None:
            steps.hook("open")
        if path == ".":
            return os.open(path, flags | ALWAYS, mode_for(flags), dir_fd=dir_fd)
        require_beneath(path)
        if "/" not in path:
            # One name beneath a directory already held: O_NOFOLLOW and the device say as much, faster.
            return _open_one(dir_fd, path, flags, os.fstat(dir_fd).st_dev)
        # O_NOFOLLOW is left to RESOLVE_NO_SYMLINKS: the kernel then says ELOOP for a directory too.
        return system.openat2(dir_fd, path, (flags | ALWAYS) & ~os.O_NOFOLLOW, mode_for(flags))


class WalkOpener:
    """Opens one component at a time with ``O_NOFOLLOW``: no name is looked up through a link."""

    name = "walk"

    def __call__(self, dir_fd: int, path: str, flags: int) -> int:
        step("open")
        require_beneath(path)
        components = path.split("/")
        at, device = dir_fd, os.fstat(dir_fd).st_dev
        try:
            for part in components[:-1]:
                below = _open_one(at, part, DIRECTORY, device)
                if at != dir_fd:
                    os.close(at)
                at = below
            return _open_one(at, components[-1], flags, device)
        finally:
            if at != dir_fd:
                os.close(at)


def require_beneath(path: str) -> None:
    """Require a path that only goes down: not absolute, no ``..``, no empty component, no NUL."""
    if path == ".." or not path or "\0" in path:
        raise OSError(errno.EXDEV, "not beneath")
    if "/" in path and any(part in ("", "..") for part in path.split("/")):
        raise OSError(errno.EXDEV, "not beneath")


def require_name(name: str) -> None:
    """Require one name in a directory: what is made, moved or removed is never reached by a path."""
    if "/" in name or name in {"", ".", ".."} or "\0" in name:
        raise OSError(errno.EXDEV, "not one name")


def _open_one(at: int, part: str, flags: int, device: int) -> int:
    fd = os.open(part, flags | ALWAYS, mode_for(flags), dir_fd=at)
    if os.fstat(fd).st_dev != device:
        os.close(fd)
        raise OSError(errno.EXDEV, "another device", part)
    return fd


def mode_for(flags: int) -> int:
    """The mode a new file is asked for; 0 where nothing is made, which ``openat2`` insists on."""
    makes = flags & os.O_CREAT or flags & system.UNNAMED == system.UNNAMED
    return 0o600 if makes else 0


def best_opener(dir_fd: int) -> Opener:
    """The kernel's way where the kernel has it, else the walk."""
    return KernelOpener() if system.has_openat2(dir_fd) else WalkOpener()
