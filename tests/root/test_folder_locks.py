"""A directory is held by one that makes something of it alone, or by several that share it."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from nsstore.errors import EscapeError, Refused, SystemFailure
from nsstore.root import FolderLock, Root

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def is_held(root: Root, *, shared: bool = False) -> bool:
    """Whether somebody is in the way."""
    try:
        FolderLock(root, shared=shared).release()
    except Refused:
        return True
    return False


def busy(root: Root, seconds: float) -> tuple[int, int]:
    """A process that holds the directory for a while, and what can be read once it does."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with FolderLock(root):
                os.write(writing, b"x")
                time.sleep(seconds)
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


def test_alone_or_shared(root: Root) -> None:
    """Who holds it alone excludes all, who shares it those that want it alone; no file is left."""
    before = sorted(Path(root.path).iterdir())
    with FolderLock(root):
        assert is_held(root)
        assert is_held(root, shared=True)
    with FolderLock(root, shared=True), FolderLock(root, shared=True):
        assert is_held(root)
        assert not is_held(root, shared=True)
    assert not is_held(root)
    assert sorted(Path(root.path).iterdir()) == before


def test_death_lets_go(root: Root) -> None:
    """A holder that is killed holds nothing any more."""
    child, reading = busy(root, 60)
    assert os.read(reading, 1) == b"x"
    held = is_held(root)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert (held, is_held(root)) == (True, False)


def test_a_fork_holds_nothing(root: Root) -> None:
    """A child does not keep the directory for its parent."""
    lock = FolderLock(root)
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    lock.release()
    time.sleep(0.05)
    held = is_held(root)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert not held


def test_waits_as_long_as_it_is_told(root: Root) -> None:
    """A hold that ends in time is waited for; who does not wait is told to try again."""
    child, reading = busy(root, 0.1)
    os.read(reading, 1)
    with pytest.raises(Refused) as told:
        FolderLock(root)
    assert told.value.retryable
    FolderLock(root, patience=10).release()
    os.waitpid(child, 0)


def test_another_directory_by_then(root: Root, tmp_path: Path) -> None:
    """A root that was replaced while it was waited for is not held."""
    os.rename(root.path, tmp_path / "away")
    os.mkdir(root.path, 0o700)
    with pytest.raises(EscapeError):
        FolderLock(root)
    assert not is_held_at(tmp_path / "away")


def is_held_at(path: Path) -> bool:
    """Whether somebody holds the directory at a path."""
    with Root.open(path) as found:
        return is_held(found)


@pytest.mark.parametrize(
    ("number", "passes"), [(errno.EBADF, True), (errno.ENOLCK, True), (errno.EIO, False)]
)
def test_a_system_that_locks_no_directories(root: Root, number: int, *, passes: bool) -> None:
    """Where directories cannot be locked nothing is held; whatever else fails is told."""
    with patch.object(fcntl, "flock", side_effect=OSError(number, "no")):
        if passes:
            FolderLock(root).release()
        else:
            with pytest.raises(SystemFailure):
                FolderLock(root)
