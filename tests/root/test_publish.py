"""A file appears whole under its name, in place of nothing, or not at all."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import StoreError, SystemFailure
from nsstore.root import WRITE, Dir, File, Root, system
from nsstore.root.steps import hooked

Tree = Callable[[Path], dict[str, str]]

FAULTS = [errno.ENOSPC, errno.EIO, errno.EMFILE]  # the others on the fake disk


class Failing:
    """A step hook that fails the ``turn``-th system call with an errno, and only that one."""

    def __init__(self, turn: int, number: int) -> None:
        self.left = turn
        self.number = number
        self.hit = ""

    def __call__(self, call: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.hit = call
            raise OSError(self.number, os.strerror(self.number), "/host/path")


def leftovers(root: Root) -> list[str]:
    """Drafts that a failure left behind."""
    drafts = Path(root.path, "tmp")
    return sorted(os.listdir(drafts)) if drafts.exists() else []


def test_a_name_is_never_replaced(root: Root) -> None:
    """Publishing under a taken name changes nothing, be it a file, a directory or a link."""
    with root.make_dir("a") as where:
        where.publish("file", b"old").close()
        where.make("folder")
        os.symlink("nowhere", "link", dir_fd=where.fd)
        for name in ("file", "folder", "link"):
            with pytest.raises(FileExistsError):
                where.publish(name, b"new")
        assert where.read("file", 10) == b"old"
        assert os.readlink("link", dir_fd=where.fd) == "nowhere"
        assert sorted(where.names()) == ["file", "folder", "link"]
    assert leftovers(root) == []


@pytest.mark.parametrize("size", [0, 1, 4096, 300_000])
def test_all_bytes_are_there_at_once(root: Root, size: int) -> None:
    """A published file has all its bytes, can be read through its handle, and has one name."""
    raw = os.urandom(size)
    with root.make_dir("a") as where:
        with where.publish("f", raw) as file:
            assert file.read(size) == raw
            assert file.stat().st_nlink == 1
        assert where.read("f", size) == raw
    assert leftovers(root) == []


def test_one_of_many_publishes(root: Root) -> None:
    """Of eight threads that publish under one name, one succeeds and its bytes are the ones that stay."""
    won: list[bytes] = []
    barrier = threading.Barrier(8)

    def publish(raw: bytes) -> None:
        with root.make_dir("a") as where:
            barrier.wait()
            try:
                where.publish("f", raw).close()
            except FileExistsError:
                return
            won.append(raw)

    threads = [threading.Thread(target=publish, args=(bytes([n]) * 5000,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert root.read("a/f", 5000) == won[0]
    assert leftovers(root) == []


def test_a_short_write_is_gone_on_with(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes a few bytes at a time still gets all of them, once and in order."""
    write, pwrite = os.write, system.pwrite

    def some(fd: int, raw: bytes) -> int:
        return write(fd, raw[:3])

    def some_at(fd: int, raw: bytes, at: int) -> int:
        return pwrite(fd, raw[:3], at)

    monkeypatch.setattr(os, "write", some)
    monkeypatch.setattr(system, "pwrite", some_at)
    with root.make_dir("a") as where:
        with where.publish("f", b"0123456789") as file:
            file.append(b"abcdefg")
            file.write_at(2, b"WXYZ")
        where.replace("g", b"9876543210")
        assert where.read("f", 100) == b"01WXYZ6789abcdefg"
        assert where.read("g", 100) == b"9876543210"


def test_a_write_that_fails_half_way_is_taken_back(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full after a few bytes, an append is cut back and no half file gets a name."""
    write, pwrite, taken = os.write, system.pwrite, 0

    def is_full() -> None:
        nonlocal taken
        taken += 1
        if taken % 2 == 0:
            raise OSError(errno.ENOSPC, "full")

    def filling_up(fd: int, raw: bytes) -> int:
        is_full()
        return write(fd, bytes(raw)[:3])

    def filling_up_at(fd: int, raw: bytes, at: int) -> int:
        is_full()
        return pwrite(fd, bytes(raw)[:3], at)

    with root.make_dir("a") as where:
        where.publish("f", b"old\n").close()
        monkeypatch.setattr(os, "write", filling_up)
        monkeypatch.setattr(system, "pwrite", filling_up_at)
        with where.open("f", WRITE) or pytest.fail("it is gone") as file, pytest.raises(SystemFailure):
            file.append(b"new line\n")
        with pytest.raises(SystemFailure):
            where.publish("g", b"new file")
        with pytest.raises(SystemFailure):
            where.replace("f", b"new file")
        assert where.read("f", 100) == b"old\n"
        assert where.names() == ["f"]
    assert leftovers(root) == []


def replaced(where: Dir) -> None:
    """Replace the old file."""
    where.replace("old", b"new")


def appended(where: Dir) -> None:
    """Append to the old file."""
    with where.open("old", WRITE) or pytest.fail("it is gone") as file:
        file.append(b" and more")
        file.flush()


VERBS: dict[str, Callable[[Dir], object]] = {
    "publish": lambda where: where.publish("new", b"new").close(),
    "open_or_make": lambda where: where.open_or_make("new").close(),
    "replace": replaced,
    "append": appended,
    "make": lambda where: where.make("new"),
    "make_dir": lambda where: where.root.make_dir("a/new/deeper", flush=True).close(),
    "unlink": lambda where: where.unlink("gone"),
    "move": lambda where: where.move("moving", where, "moved"),
}


def check_failure(told: StoreError, root: Root, number: int) -> None:
    """What a failed system call is told as."""
    assert isinstance(told, SystemFailure)
    assert told.errno == number
    assert "/host" not in str(told)
    assert root.path not in str(told)


@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
@pytest.mark.parametrize("verb", VERBS)
def test_a_fault_at_each_system_call(root: Root, tree: Tree, verb: str, number: int) -> None:
    """A fault at any call is an error kind; no draft, no descriptor, the old bytes stay; then it works."""
    with root.make_dir("a") as where:
        if not root.unnamed_files:
            root.make_dir("tmp").close()
        hits = 0
        while True:
            where.unlink("moved")
            for name, raw in {"old": b"old", "gone": b"x", "moving": b"m"}.items():
                where.unlink(name)
                where.publish(name, raw).close()
            open_before = len(os.listdir("/proc/self/fd"))
            failing = Failing(hits + 1, number)
            with hooked(failing):
                try:
                    VERBS[verb](where)
                except StoreError as told:
                    check_failure(told, root, number)
                else:
                    assert not failing.hit
                    break
            assert len(os.listdir("/proc/self/fd")) == open_before
            assert leftovers(root) == []
            now = tree(Path(root.path, "a"))
            old = now["old"].split()[1]
            allowed = {
                "replace": {b"old".hex(), b"new".hex()},  # the last calls make durable what is done
                "append": {b"old".hex(), b"old and more".hex()},
            }.get(verb, {b"old".hex()})
            assert old in allowed
            assert (old == b"old".hex()) or failing.hit == "fsync"
            if verb == "publish":
                assert "new" not in now
            if verb == "open_or_make":
                where.unlink("new")  # an empty file that could be made and then not be opened again
            assert not [name for name in now if name.startswith("old.")]
            hits += 1
        assert hits >= {"make": 1, "unlink": 2}.get(verb, 2), f"only {hits} calls were failed"


CLOSED: list[Callable[[File], object]] = [
    lambda file: file.append(b"x"),
    lambda file: file.write_at(0, b"x"),
    lambda file: file.cut(0),
    lambda file: file.flush(),
    lambda file: file.read(1),
]


def test_a_handle_that_is_closed(root: Root) -> None:
    """A closed handle fails as the system does, and never touches the file that has its number now."""
    with root.make_dir("a") as where:
        file = where.publish("f", b"old")
        file.close()
        with where.publish("other", b"other"):
            for use in CLOSED:
                with pytest.raises(SystemFailure):
                    use(file)
            assert where.read("other", 10) == b"other"
