"""On a fake disk, each single call fails once: the old bytes stay, no draft stays, the error is a kind.

The fake disk (pyfakefs) is wrong about locks, NUL bytes, long names and unnamed files (they show), so
this is the component walk with named publishing, and nothing about locks or durability.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyfakefs.fake_filesystem_unittest import Patcher

from nsstore.errors import EscapeError, StoreError
from nsstore.root import WRITE, Dir, Root, WalkOpener, opener, system

FAULTS = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT]
# Not chmod: the fake disk's own open calls it on a file it has made.
CALLS = ["open", "write", "mkdir", "fchmod", "link", "rename", "replace", "unlink", "fsync", "ftruncate"]
TOP = "/deep/host/root"


class Faulty:
    """Lets the first calls of one function of ``os`` through and fails the next one."""

    def __init__(self, call: str, number: int) -> None:
        self.call = call
        self.number = number
        self.real: Callable[..., object] = getattr(os, call)
        self.until = 0
        self.seen = 0

    def __call__(self, *args: object, **kwargs: object) -> object:
        self.seen += 1
        if self.seen == self.until:
            raise OSError(self.number, os.strerror(self.number), f"{TOP}/a/b/c/f")
        return self.real(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        """The fake disk looks its own functions up in a set, to tell which take a ``dir_fd``."""
        return self.real == other

    def __hash__(self) -> int:
        return hash(self.real)

    @contextmanager
    def on(self, turn: int) -> Generator[None]:
        """Fail the call of that turn, counted from one, inside the block."""
        self.until, self.seen = turn, 0
        setattr(os, self.call, self)
        try:
            yield
        finally:
            setattr(os, self.call, self.real)


def rename_noreplace(src_dir: int, src: str, dst_dir: int, dst: str) -> None:
    """What ``renameat2`` does, made of calls that the fake disk serves."""
    try:
        os.stat(dst, dir_fd=dst_dir, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(src, dst, src_dir_fd=src_dir, dst_dir_fd=dst_dir)
    else:
        raise FileExistsError(errno.EEXIST, "taken", dst)


def pread(fd: int, size: int, offset: int) -> bytes:
    """What the fake disk does not serve, made of what it does."""
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, size)


def pwrite(fd: int, raw: bytes, offset: int) -> int:
    """The same for writing."""
    os.lseek(fd, offset, os.SEEK_SET)
    return os.write(fd, raw)


def ext4(_: int) -> int:
    """The magic number of a file system whose flushes carry the name."""
    return 0xEF53


def private(_: int) -> int:
    """The mode of a file that is made: the fake disk gives it to one that is only opened as well."""
    return 0o600


@pytest.fixture(autouse=True)
def _served(monkeypatch: pytest.MonkeyPatch) -> None:
    """System calls that go past the fake disk are made of calls that do not."""
    monkeypatch.setattr(system, "filesystem_type", ext4)
    monkeypatch.setattr(opener, "mode_for", private)
    monkeypatch.setattr(system, "pread", pread)
    monkeypatch.setattr(system, "pwrite", pwrite)


@contextmanager
def fake_root() -> Generator[Root]:
    """A root on a fake disk, opened by the walk."""
    with Patcher():
        lseek = os.lseek

        def told(fd: int, at: int, how: int) -> int:
            lseek(fd, at, how)  # which returns nothing there
            return os.fstat(fd).st_size if how == os.SEEK_END else at

        os.lseek = told
        with Root.make(TOP, opener=WalkOpener(), unnamed=False) as root:
            root.rename = rename_noreplace
            root.make_dir("tmp").close()
            yield root


def lay_out(where: Dir) -> None:
    """The old state of everything that a verb changes."""
    for name in where.names():
        (os.rmdir if name == "folder" else os.unlink)(name, dir_fd=where.fd)
    for name in ("old", "gone", "moving"):
        where.publish(name, name.encode()).close()


def append(where: Dir) -> None:
    """Append to the old file and make it durable."""
    with where.open("old", WRITE) or pytest.fail("it is gone") as file:
        file.append(b" and more")
        file.flush()


def overwrite(where: Dir) -> None:
    """Write over a part of the old file."""
    with where.open("old", WRITE) or pytest.fail("it is gone") as file:
        file.write_at(1, b"LD")


def move(where: Dir) -> None:
    """Move a file within the directory."""
    where.move("moving", where, "moved")


VERBS: dict[str, Callable[[Dir], object]] = {
    "publish": lambda where: where.publish("new", b"new").close(),
    "replace": lambda where: where.replace("old", b"new"),
    "append": append,
    "overwrite": overwrite,
    "make": lambda where: where.make("folder"),
    "unlink": lambda where: where.unlink("gone"),
    "move": move,
    "read": lambda where: where.read("old", 100),
}
CHANGES_OLD = {"replace": {b"old", b"new"}, "append": {b"old", b"old and more"}, "overwrite": {b"old"}}


def check_failure(told: StoreError) -> None:
    """What a failed system call is told as: its kind, and nothing of where it was."""
    assert told.kind == "os", told
    assert "deep" not in str(told)
    assert told.__cause__ is None


@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
@pytest.mark.parametrize("verb", VERBS)
def test_a_fault_at_each_call(verb: str, number: int) -> None:
    """Any one failed call is an error kind without a path; old bytes stay, no draft does; then it works."""
    failed = 0
    with fake_root() as root, root.make_dir("a/b/c") as where:
        for call in CALLS:
            faulty, turn = Faulty(call, number), 0
            while True:
                turn += 1
                lay_out(where)
                with faulty.on(turn):
                    try:
                        VERBS[verb](where)
                    except StoreError as told:
                        check_failure(told)
                    else:
                        assert faulty.seen < turn, f"a failed {call} was swallowed"
                if faulty.seen < turn:
                    break
                failed += 1
                assert os.listdir(f"{TOP}/tmp") == []
                assert where.read("old", 100) in CHANGES_OLD.get(verb, {b"old"})
                assert not {"new", *(n for n in where.names() if n.startswith("old."))} & set(where.names())
                lay_out(where)
                VERBS[verb](where)
    assert failed >= {"read": 1, "make": 2, "unlink": 2, "overwrite": 2}.get(verb, 3)


@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
def test_a_fault_while_the_root_is_made(number: int) -> None:
    """Whatever call fails while a root and its directories are made, it is an error kind; then it works."""
    failed = 0
    for call in ("mkdir", "chmod", "open", "fsync", "listdir"):
        turn = 0
        while True:
            turn += 1
            with Patcher():
                os.umask(0o077)
                faulty = Faulty(call, number)
                with faulty.on(turn):
                    try:
                        with Root.make(TOP, opener=WalkOpener(), unnamed=False) as root:
                            root.make_dir("a/b", flush=True).close()
                    except StoreError as told:
                        check_failure(told)
                if faulty.seen < turn:
                    break
                failed += 1
                with Root.make(TOP, opener=WalkOpener(), unnamed=False) as root:
                    root.make_dir("a/b", flush=True).close()
    assert failed >= 8


def test_the_walk_refuses_links_on_the_fake_disk_too() -> None:
    """The fake disk says ELOOP where Linux says ENOTDIR: both are an escape."""
    with fake_root() as root:
        root.make_dir("a/b/c").publish("f", b"own").close()
        Path(TOP, "a/b").rename(Path(TOP, "a/x"))
        Path(TOP, "a/b").symlink_to(Path(TOP, "a/x"))
        for look in (
            lambda: root.read("a/b/c/f", 10),
            lambda: root.dir("a/b"),
            lambda: root.make_dir("a/b/d"),
        ):
            with pytest.raises(EscapeError):
                look()


def test_names_that_differ_by_case_on_a_folding_disk() -> None:
    """On a disk that folds case, publishing a twin in other letters replaces nothing."""
    with Patcher() as patcher:
        assert patcher.fs is not None
        patcher.fs.is_case_sensitive = False
        with Root.make(TOP, opener=WalkOpener(), unnamed=False) as root:
            root.rename = rename_noreplace
            with root.make_dir("a") as where:
                where.publish("name", b"old").close()
                with pytest.raises(FileExistsError):
                    where.publish("NAME", b"new")
                assert where.read("name", 10) == b"old"
