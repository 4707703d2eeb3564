"""Locks on a range of bytes: they exclude threads and processes alike, whatever becomes of any name."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from nsstore.errors import Refused
from nsstore.root import RANGES, WRITE, File, RangeLock, Root, locks

pytestmark = [
    pytest.mark.skipif(
        not RANGES, reason="this system has no locks on ranges: nsstore says so in its limits"
    ),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """A root with one file in it."""
    root = Root.make(tmp_path / "root")
    with root.top() as top:
        top.publish("f", bytes(1024)).close()
    return root


def opened(root: Root) -> File:
    """The file by a descriptor of its own."""
    return root.open_file("f", WRITE) or pytest.fail("no file")


def test_threads_exclude_each_other(root: Root) -> None:
    """Eight threads that count under the lock lose no count, though each has the file open for itself."""
    count = 0

    def work() -> None:
        nonlocal count
        with opened(root) as file:
            lock = RangeLock(file, 256, 256)
            for _ in range(20):
                lock.take()
                seen = count
                time.sleep(0.0001)
                count = seen + 1
                lock.free()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == 160


def test_who_waits_too_long_is_refused(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """The range is refused while it is held, another range is not, and readers hold one together."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.03)
    with opened(root) as one, opened(root) as two:
        held = RangeLock(one, 0, 256)
        held.take()
        with pytest.raises(Refused) as refused:
            RangeLock(two, 0, 256).take()
        assert refused.value.retryable
        RangeLock(two, 256, 256).take()
        held.free()
        reading = [RangeLock(file, 0, 256, shared=True) for file in (one, two)]
        for lock in reading:
            lock.take()
        with pytest.raises(Refused):
            RangeLock(one, 0, 256).take()
        reading[1].free()
        RangeLock(one, 0, 256).take()


def test_closing_another_descriptor_frees_nothing(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who opens and closes the same file elsewhere in the process takes no lock away."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.03)
    with opened(root) as one:
        RangeLock(one, 0, 256).take()
        opened(root).close()
        with opened(root) as two, pytest.raises(Refused):
            RangeLock(two, 0, 256).take()
    with opened(root) as two:
        RangeLock(two, 0, 256).take()


def _hold(path: str, ready: str) -> None:
    with Root.open(path) as root, opened(root) as file:
        RangeLock(file, 0, 256).take()
        Path(ready).touch()
        time.sleep(60)


def test_a_killed_holder_leaves_it_free(root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed holds nothing any more, and held it from others until then."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.1)
    holder = multiprocessing.get_context("fork").Process(
        target=_hold, args=(root.path, str(tmp_path / "ready"))
    )
    holder.start()
    while not (tmp_path / "ready").exists():
        time.sleep(0.001)
    with opened(root) as file:
        with pytest.raises(Refused):
            RangeLock(file, 0, 256).take()
        holder.kill()
        holder.join()
        RangeLock(file, 0, 256).take()


def test_a_forked_child_holds_nothing(root: Root) -> None:
    """A child that was forked while a range was held neither holds it on nor frees it."""
    with opened(root) as file:
        lock = RangeLock(file, 0, 256)
        lock.take()
        child = os.fork()
        if not child:
            os._exit(file.fd >= 0)
        assert os.waitpid(child, 0)[1] == 0
        with opened(root) as other:
            lock.free()
            RangeLock(other, 0, 256).take()
