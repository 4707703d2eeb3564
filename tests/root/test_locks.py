"""One holder at a time, between threads and between processes, for as long as it holds and no longer."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from nsstore.errors import EscapeError, Refused
from nsstore.root import FileLock, Root, locks

InChild = Callable[..., None]
Tree = Callable[[Path], dict[str, str]]
Take = Callable[[Root], FileLock]

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def by_name(root: Root) -> FileLock:
    """Take the lock through its directory, by a descriptor of its own."""
    with root.make_dir("a") as where:
        return FileLock(where, "x.lock")


def resumed(root: Root) -> FileLock:
    """Take the lock by its path, let it go, and take it again by the descriptor that was kept."""
    while True:
        lock = FileLock.at(root, "a/x.lock")
        lock.pause()
        if lock.resume("a/x.lock"):
            return lock


@pytest.fixture(params=[by_name, resumed])
def take(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Take:
    """Both ways to take the same lock, with a limit that a test can wait for."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.05)
    return cast("Take", request.param)


def is_free(root: Root) -> bool:
    """Whether the lock can be had now."""
    try:
        by_name(root).release()
    except Refused:
        return False
    return True


def test_threads_exclude_each_other(root: Root, take: Take, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight threads that read, wait and write under the lock lose no count."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 30)
    count, inside = 0, 0

    def work() -> None:
        nonlocal count, inside
        for _ in range(20):
            with take(root):
                inside += 1
                assert inside == 1
                seen = count
                time.sleep(0.0001)
                count = seen + 1
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == 160


def test_processes_exclude_each_other(root: Root, take: Take, in_child: InChild) -> None:
    """While one process holds, another is refused after the limit, retryably; afterwards it gets in."""

    def refused() -> None:
        began = time.monotonic()
        with pytest.raises(Refused, match="try again") as told:
            take(root)
        assert told.value.retryable
        assert told.value.reason == "locked"
        assert 0.05 <= time.monotonic() - began < 5

    take(root).release()
    with take(root):
        in_child(refused)
    in_child(lambda: take(root).release())


def test_shared_and_alone(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers share; a writer waits for all of them, and they for it."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.02)
    with root.make_dir("a") as where:
        FileLock(where, "x.lock").release()
        with FileLock(where, "x.lock", shared=True), FileLock(where, "x.lock", shared=True):
            assert not is_free(root)
        with FileLock(where, "x.lock"), pytest.raises(Refused):
            FileLock(where, "x.lock", shared=True)
        assert is_free(root)


def test_a_reader_makes_no_lock(root: Root, tree: Tree) -> None:
    """A shared lock on a lock file that is not there makes nothing and says so."""
    with root.make_dir("a") as where:
        before = tree(Path(root.path))
        with pytest.raises(FileNotFoundError):
            FileLock(where, "x.lock", shared=True)
    assert tree(Path(root.path)) == before


@pytest.mark.parametrize("how", ["replaced", "removed"])
def test_a_lock_file_put_in_its_place(root: Root, take: Take, how: str) -> None:
    """Whoever waited for a file that lost its name takes the lock that has the name, not the old one."""
    at = Path(root.path, "a/x.lock")
    take(root).release()
    with take(root) as old:
        at.rename(at.with_name("old.lock"))
        if how == "replaced":
            at.touch(mode=0o600)
        with take(root) as new:
            assert new.file.stat().st_ino == at.stat().st_ino != old.file.stat().st_ino
            assert not is_free(root)
    assert is_free(root)


def test_a_waiter_notices_that_the_file_was_replaced(
    root: Root, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that waits on the old file while it is replaced ends up with the new one."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 10)
    at = Path(root.path, "a/x.lock")
    got: list[int] = []

    def wait() -> None:
        with take(root) as lock:
            got.append(lock.file.stat().st_ino)

    holder = take(root)
    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.03)
    at.rename(at.with_name("old.lock"))
    at.touch(mode=0o600)
    holder.release()
    waiter.join()
    assert got == [at.stat().st_ino]


def test_a_file_that_is_replaced_without_end(root: Root, take: Take, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock file that never keeps its name is given up at the limit, not waited for without end."""

    def never(*_: object) -> bool:
        return False

    monkeypatch.setattr(locks, "_is_named", never)
    began = time.monotonic()
    with pytest.raises(Refused):
        take(root)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("how", ["replaced", "removed", "0644", "second name", "linked"])
def test_a_paused_lock_proves_its_file(root: Root, how: str) -> None:
    """A lock that was let go is resumed only if its file still has its one name and its mode."""
    at = Path(root.path, "a/x.lock")
    lock = FileLock.at(root, "a/x.lock")
    lock.pause()
    assert is_free(root)
    if how == "0644":
        at.chmod(0o644)
    elif how == "second name":
        os.link(at, at.with_name("second"))
    else:
        at.rename(at.with_name("old.lock"))
        if how == "replaced":
            at.touch(mode=0o600)
        elif how == "linked":
            at.symlink_to("old.lock")
    assert not lock.resume("a/x.lock")
    assert lock.file.fd < 0
    assert not lock.resume("a/x.lock")
    lock.release()
    if how in ("replaced", "removed"):
        assert is_free(root)
    else:
        with pytest.raises(EscapeError):
            FileLock.at(root, "a/x.lock")


def test_a_paused_lock_waits_its_turn(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that was let go excludes nobody, and is resumed only when the holder of now lets go."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.05)
    lock = FileLock.at(root, "a/x.lock")
    lock.pause()
    with FileLock.at(root, "a/x.lock"), pytest.raises(Refused):
        lock.resume("a/x.lock")
    assert is_free(root)


def test_a_lock_file_with_a_second_name(root: Root, take: Take) -> None:
    """A lock file that is a hard link of another one is an escape, not a lock."""
    at = Path(root.path, "a/x.lock")
    by_name(root).release()
    os.link(at, at.with_name("second"))
    with pytest.raises(EscapeError):
        take(root)


def test_released_twice_releases_once(root: Root, take: Take) -> None:
    """A second release does not take away the lock from whoever has it by then."""
    first = take(root)
    first.release()
    with take(root):
        first.release()
        assert not is_free(root)
    assert is_free(root)


def test_an_exception_inside_releases(root: Root, take: Take) -> None:
    """Whatever goes wrong under a lock, the next one gets in."""
    with pytest.raises(KeyError), take(root):
        raise KeyError
    assert is_free(root)


def test_a_forked_child_releases_nothing(root: Root, take: Take, in_child: InChild) -> None:
    """A child that inherits a held lock has no hold on it: not by releasing, nor by ending."""
    with take(root) as lock:

        def act() -> None:
            assert lock.file.fd < 0
            assert not lock.resume("a/x.lock")
            lock.pause()
            lock.release()
            del lock.file
            gc.collect()
            assert not is_free(root)

        in_child(act)
        assert not is_free(root)
    assert is_free(root)


def test_a_forked_child_keeps_nothing_locked(root: Root, take: Take) -> None:
    """When the parent releases, or dies, a child that lives on does not keep the lock."""
    with take(root):
        pid = os.fork()
        if pid == 0:
            time.sleep(20)
            os._exit(0)
    try:
        assert is_free(root)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_a_killed_holder_leaves_it_free(root: Root, take: Take) -> None:
    """The lock of a process that is killed is free at once."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with take(root):
            os.write(write, b"x")
            time.sleep(20)
        os._exit(0)
    os.read(read, 1)
    assert not is_free(root)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert is_free(root)
    for fd in (read, write):
        os.close(fd)
