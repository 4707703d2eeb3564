"""A small disk of its own: a file system in an image file, mounted through a loop device.

The device does direct I/O, so that the image holds at any moment exactly what the file system sent
to its disk: a copy of the image is that disk after a power cut.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from bench.disk import VARIABLE

MIB: Final = 1024 * 1024


class UnfitMachineError(Exception):
    """This machine cannot make or mount an image; the message says what is missing."""


class FileSystem(msgspec.Struct, frozen=True, kw_only=True):
    """How to make one kind of file system, how small it can be, and the Debian package that makes it."""

    mkfs: tuple[str, ...]
    size: int
    package: str


FILE_SYSTEMS: Final[Mapping[str, FileSystem]] = {
    "ext4": FileSystem(mkfs=("mkfs.ext4", "-q", "-F"), size=32 * MIB, package="e2fsprogs"),
    "xfs": FileSystem(mkfs=("mkfs.xfs", "-q", "-f"), size=320 * MIB, package="xfsprogs"),
    "btrfs": FileSystem(mkfs=("mkfs.btrfs", "-q", "-f"), size=128 * MIB, package="btrfs-progs"),
}


def require_machine(kinds: Sequence[str]) -> None:
    """Raise :class:`UnfitMachineError` unless images of these kinds can be made and mounted here."""
    if os.geteuid() != 0 or not os.path.exists("/dev/loop-control"):
        raise UnfitMachineError("mounting an image needs root and loop devices")
    for kind in kinds:
        wanted = FILE_SYSTEMS[kind]
        if shutil.which(wanted.mkfs[0]) is None:
            raise UnfitMachineError(f"{wanted.mkfs[0]} is missing: apt-get install {wanted.package}")


def make_image(image: Path, kind: str) -> None:
    """Make an empty file system of this kind in a new file."""
    wanted = FILE_SYSTEMS[kind]
    with image.open("xb") as file:
        file.truncate(wanted.size)
    _run(*wanted.mkfs, str(image))


@contextmanager
def mounted(image: Path, at: Path) -> Generator[None]:
    """Mount an image at a directory; its journal is replayed, as after a power cut."""
    device = _run("losetup", "--find", "--show", "--direct-io=on", str(image))
    try:
        if _run("losetup", "--noheadings", "--output", "DIO", device).strip() != "1":
            raise UnfitMachineError(f"no direct I/O on {image.parent}: point {VARIABLE} at a disk")
        _run("mount", device, str(at))
        try:
            yield
        finally:
            _run("umount", str(at))
    finally:
        _run("losetup", "--detach", device)


class Disk(msgspec.Struct, frozen=True):
    """What an image holds at one moment: its data, run by run; everything else is holes."""

    size: int
    runs: tuple[tuple[int, bytes], ...]

    @classmethod
    def of(cls, image: Path) -> Disk:
        """The disk as it is now."""
        with image.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return cls(size, tuple(_runs(file, size)))

    def digest(self) -> bytes:
        """Equal for equal disks."""
        return hashlib.blake2b(msgspec.msgpack.encode(self.runs)).digest()

    def save(self, copy: Path) -> None:
        """Write the disk as an image, holes as holes."""
        with copy.open("xb") as file:
            file.truncate(self.size)
            for start, data in self.runs:
                file.seek(start)
                file.write(data)


def _runs(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < size:
        try:
            start = os.lseek(file.fileno(), at, os.SEEK_DATA)
        except OSError:
            return  # nothing but a hole is left
        at = os.lseek(file.fileno(), start, os.SEEK_HOLE)
        yield start, os.pread(file.fileno(), at - start, start)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnfitMachineError(f"{' '.join(command[:2])}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()
