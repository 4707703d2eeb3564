"""A file of the store is a regular file with one name, its owner's, private, on the root's device."""

from __future__ import annotations

import ctypes
import os
import socket
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from nsstore.errors import EscapeError
from nsstore.root import READ, WRITE, FileLock, KernelOpener, Root

Within = Callable[[float], AbstractContextManager[None]]
InChild = Callable[..., None]

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make it")
MAY = (os.O_RDONLY, os.O_RDWR)


def refuse_everywhere(root: Root, name: str) -> None:
    """Each way to use a name as a file, or as a directory on the way, is an escape."""
    with root.make_dir("a") as where:
        for call in (
            lambda: root.open_file(f"a/{name}", READ),
            lambda: root.open_file(f"a/{name}", WRITE),
            lambda: root.open_file(f"a/{name}/x"),
            lambda: root.dir(f"a/{name}"),
            lambda: root.make_dir(f"a/{name}/x"),
            lambda: where.open(name),
            lambda: where.open(name, WRITE),
            lambda: where.open_or_make(name),
            lambda: where.sub(name),
            lambda: FileLock(where, name),
            lambda: FileLock(where, name, shared=True),
        ):
            with pytest.raises(EscapeError):
                call()


def test_a_fifo_is_refused_at_once(root: Root, within: Within) -> None:
    """A FIFO in place of a file, a lock or a directory is refused and never waited for."""
    root.make_dir("a").close()
    os.mkfifo(Path(root.path, "a/f"), 0o600)
    with within(5):
        refuse_everywhere(root, "f")


def test_a_socket_is_refused(root: Root, within: Within) -> None:
    """A socket in place of a file is refused."""
    with root.make_dir("a") as where, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{where.fd}/f")  # the whole path may be too long for a socket
        listening.listen()
        Path(root.path, "a/f").chmod(0o600)
        with within(5):
            refuse_everywhere(root, "f")


@needs_root
@pytest.mark.parametrize(
    ("kind", "major", "minor"), [(stat.S_IFCHR, 1, 5), (stat.S_IFCHR, 5, 0), (stat.S_IFBLK, 7, 200)]
)
def test_a_device_is_refused(root: Root, within: Within, kind: int, major: int, minor: int) -> None:
    """A device node (zeros without end, the terminal, a disk) is refused and not read."""
    root.make_dir("a").close()
    try:
        os.mknod(Path(root.path, "a/f"), kind | 0o600, os.makedev(major, minor))
    except PermissionError:
        pytest.skip("this sandbox makes no device nodes")
    with within(5):
        refuse_everywhere(root, "f")


def test_a_second_name_is_refused(root: Root, outside: Path) -> None:
    """A file that has a second name anywhere is refused for reading, writing and locking."""
    with root.make_dir("a") as where:
        os.link(outside / "a/b/c/f", "f", dst_dir_fd=where.fd)
        for flags in MAY:
            with pytest.raises(EscapeError, match="second name"):
                where.open("f", flags)
        with pytest.raises(EscapeError):
            FileLock(where, "f")
        (outside / "a/b/c/f").unlink()
        assert where.read("f", 100) == b"FOREIGN"  # one name again: what it holds is for the seal to judge


def test_a_directory_in_place_of_a_file(root: Root) -> None:
    """A directory is never taken for a file, whichever way it is opened."""
    with root.make_dir("a") as where:
        where.make("f")
        for call in (
            lambda: where.open("f"),
            lambda: where.open("f", WRITE),
            lambda: where.open_or_make("f"),
            lambda: FileLock(where, "f"),
            lambda: root.read("a/f", 1),
        ):
            with pytest.raises(EscapeError):
                call()
        with pytest.raises(FileExistsError):
            where.publish("f", b"x")


@pytest.mark.parametrize("level", ["a", "a/b", "a/b/c"])
def test_a_file_in_place_of_a_directory(root: Root, level: str) -> None:
    """A file in place of any directory on the way is an escape, not an absence."""
    parent, _, name = level.rpartition("/")
    with root.make_dir(parent) if parent else root.top() as where:
        where.publish(name, b"file").close()
    for call in (
        lambda: root.dir("a/b/c"),
        lambda: root.make_dir("a/b/c"),
        lambda: root.make_dir("a/b/c", flush=True),
        lambda: root.open_file("a/b/c/f"),
    ):
        with pytest.raises(EscapeError):
            call()


@needs_root
def test_another_owner_is_refused(root: Root) -> None:
    """A file or directory of another user is refused, private or not."""
    with root.make_dir("a") as where:
        where.publish("f", b"x").close()
    os.chown(Path(root.path, "a/f"), 65534, 65534)
    for flags in MAY:
        with pytest.raises(EscapeError, match="another user"):
            root.open_file("a/f", flags)
    os.chown(Path(root.path, "a"), 65534, 65534)
    with pytest.raises(EscapeError, match="another user"):
        root.dir("a")


def test_a_file_others_can_use_is_refused(root: Root) -> None:
    """Any bit for group or others, and any set-id or sticky bit, refuses a file."""
    with root.make_dir("a") as where:
        where.publish("f", b"x").close()
        for mode in (0o644, 0o640, 0o604, 0o610, 0o601, 0o660, 0o755, 0o4600, 0o2600, 0o1600):
            os.chmod(Path(root.path, "a/f"), mode)
            for flags in MAY:
                with pytest.raises(EscapeError, match="open to other users"):
                    where.open("f", flags)
            with pytest.raises(EscapeError):
                FileLock(where, "f")
        os.chmod(Path(root.path, "a/f"), 0o600)
        assert where.read("f", 1) == b"x"


def test_a_directory_others_can_use_is_refused(root: Root) -> None:
    """Any bit for group or others, and any set-id or sticky bit, refuses a directory, the root too."""
    root.make_dir("a").close()
    looks: list[Callable[[], object]] = [
        lambda: root.dir("a"),
        lambda: root.make_dir("a"),
        lambda: root.make_dir("a/b", flush=True),
    ]
    for mode in (0o755, 0o750, 0o701, 0o720, 0o4700, 0o2700, 0o1700):
        os.chmod(Path(root.path, "a"), mode)
        for look in looks:
            with pytest.raises(EscapeError, match="open to other users"):
                look()
        os.chmod(root.path, mode)
        with pytest.raises(EscapeError, match="open to other users"):
            Root.open(root.path)
        os.chmod(root.path, 0o700)
    os.chmod(Path(root.path, "a"), 0o700)
    root.make_dir("a/b").close()


@needs_root
def test_another_device_is_refused(root: Root, outside: Path, in_child: InChild) -> None:
    """What is mounted over a directory or a file of the root is refused at every level."""
    top = Path(root.path)
    root.make_dir("a/b/c").publish("f", b"own").close()
    root.make_dir("d").publish("f", b"own").close()
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: str, target: Path, kind: str | None, flags: int) -> None:
        known = kind.encode() if kind else None
        if libc.mount(source.encode(), bytes(target), known, flags, None):
            raise OSError(ctypes.get_errno(), "mount")

    def look() -> None:
        if libc.unshare(0x20000):  # CLONE_NEWNS: what is mounted here is seen by nobody else
            return
        mount("none", Path("/"), None, 0x4000 | 0x40000)  # MS_REC | MS_PRIVATE
        mount("none", outside, "tmpfs", 0)
        (outside / "f").write_bytes(b"FOREIGN")
        (outside / "f").chmod(0o600)
        outside.chmod(0o700)
        mount(str(outside), top / "a/b", None, 0x1000)  # MS_BIND
        mount(str(outside / "f"), top / "d/f", None, 0x1000)
        # Opened here: a descriptor from before sees the mounts of before.
        here = Root.open(top, opener=root.opener, unnamed=root.unnamed_files)
        for call in (
            lambda: here.dir("a/b"),
            lambda: here.make_dir("a/b"),
            lambda: here.make_dir("a/b/c", flush=True),
            lambda: here.open_file("a/b/f"),
            lambda: here.open_file("d/f"),
            lambda: here.make_dir("d").open("f"),
            lambda: FileLock(here.make_dir("d"), "f"),
        ):
            with pytest.raises(EscapeError):
                call()
        mount(str(top / "d"), top / "a", None, 0x1000)
        if isinstance(here.opener, KernelOpener):  # the walk cannot tell a mount of the same device
            with pytest.raises(EscapeError):
                here.open_file("a/f")

    if libc.unshare(0):
        pytest.skip("this sandbox lets nobody unshare")
    in_child(look)


def test_a_longer_file_shows_by_its_length(root: Root) -> None:
    """A read takes at most one byte more than its limit."""
    with root.make_dir("a") as where:
        where.publish("f", b"x" * 100).close()
        assert where.read("f", 99) == b"x" * 100
        assert where.read("f", 10) == b"x" * 11
        assert where.read("f", 100) == b"x" * 100
        assert where.read("absent", 100) is None
    assert root.read("absent/f", 100) is None
    assert root.dir("absent/deeper") is None
