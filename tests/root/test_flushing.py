"""What was noted is durable within the window, and a flush that failed is told once, to whom it concerns."""

from __future__ import annotations

import errno
import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import StoreError
from nsstore.root import Root
from nsstore.root import flusher as the_flusher
from nsstore.root.flusher import Flusher
from nsstore.root.steps import hooked

InChild = Callable[..., None]
MODULE = importlib.import_module("nsstore.root.flusher")  # nsstore.root.flusher is the flusher itself

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture
def home(tmp_path: Path) -> Root:
    """A root with two files to append to."""
    root = Root.make(tmp_path / "home")
    with root.top() as top:
        top.open_or_make("one").close()
        top.open_or_make("two").close()
    return root


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Flusher:
    """A flusher of its own, with a window that a test can wait for."""
    monkeypatch.setattr(MODULE, "WINDOW_SECONDS", 0.02)
    return Flusher()


class Flushes:
    """Counts flushes; fails them, or holds them up, if told to."""

    def __init__(self) -> None:
        self.count = 0
        self.fail = False
        self.gate = threading.Event()
        self.gate.set()
        self.reached = threading.Event()

    def __call__(self, call: str) -> None:
        if call == "fsync":
            self.reached.set()
            assert self.gate.wait(10)
            self.count += 1
            if self.fail:
                raise OSError(errno.EIO, "no", "/host/path")


def wait_for(true: Callable[[], bool]) -> None:
    """Wait until something is so; fail after five seconds."""
    until = time.monotonic() + 5
    while not true():
        assert time.monotonic() < until, "it never came to be"
        time.sleep(0.005)


def test_the_window_is_within_a_second() -> None:
    """A routine append waits for half a second at most before its flush begins."""
    assert MODULE.WINDOW_SECONDS <= 0.5


def test_noted_files_are_flushed_in_the_background(home: Root, quick: Flusher) -> None:
    """Each noted file is flushed once without anybody asking, and again when it is noted again."""
    with hooked(flushes := Flushes()):
        quick.note(home, "one")
        quick.note(home, "one")
        quick.note(home, "two")
        wait_for(lambda: flushes.count == 2)
        time.sleep(0.06)
        assert flushes.count == 2
        quick.note(home, "one")
        wait_for(lambda: flushes.count == 3)


def test_a_flush_on_demand(home: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flush makes durable what was noted of the roots it names, now, and leaves the others for later."""
    monkeypatch.setattr(MODULE, "WINDOW_SECONDS", 60)
    with Root.make(tmp_path / "other") as other, hooked(flushes := Flushes()):
        with other.top() as top:
            top.open_or_make("one").close()
        quick = Flusher()
        quick.note(home, "one")
        quick.note(other, "one")
        quick.flush(home)
        assert flushes.count == 1
        quick.flush()
        assert flushes.count == 2
        quick.flush()
        assert flushes.count == 2


def test_a_flush_waits_for_the_one_that_runs(home: Root, quick: Flusher) -> None:
    """What the background took in hand a moment ago is durable too when a flush returns."""
    flushes = Flushes()
    flushes.gate.clear()
    with hooked(flushes):
        quick.note(home, "one")
        assert flushes.reached.wait(5)
        over = threading.Event()

        def close() -> None:
            quick.flush(home)
            over.set()

        closing = threading.Thread(target=close)
        closing.start()
        assert not over.wait(0.1), "the flush returned while the file was not durable"
        flushes.gate.set()
        closing.join()
    assert flushes.count == 1


def test_a_failure_is_told_once(home: Root, quick: Flusher) -> None:
    """A flush that failed is raised once to whoever asks for the file, and is not tried again."""
    flushes = Flushes()
    flushes.fail = True
    with hooked(flushes):
        quick.note(home, "one")
        wait_for(lambda: flushes.count == 1)
        time.sleep(0.05)  # the flush has failed, and is noted as failed a moment later
        with pytest.raises(StoreError) as told:
            quick.require_healthy((home, "one"))
        assert told.value.kind == "os"
        assert "/host" not in str(told.value)
        flushes.fail = False
        quick.require_healthy((home, "one"))
        quick.flush(home)
        assert flushes.count == 1
        flushes.fail = True
        quick.note(home, "two")
        with pytest.raises(StoreError):
            quick.flush(home)
        quick.flush(home)


def test_a_failure_is_told_to_whom_it_concerns(home: Root, tmp_path: Path, quick: Flusher) -> None:
    """The failed flush of one root is not raised to the user of another, who could not know what it means."""
    with Root.make(tmp_path / "other") as other:
        flushes = Flushes()
        flushes.fail = True
        with hooked(flushes):
            quick.note(home, "one")
            wait_for(lambda: flushes.count == 1)
            quick.flush(other)  # waits for the one that runs
            quick.require_healthy((other, "one"), (home, "two"))
            with pytest.raises(StoreError):
                quick.flush(home)
            quick.note(home, "one")
            with pytest.raises(StoreError):
                quick.flush()


def test_a_file_that_is_gone(home: Root, quick: Flusher) -> None:
    """A noted file that was removed is left to those who miss it; one that became a link is a failure."""
    quick.note(home, "one")
    os.unlink(Path(home.path, "one"))
    quick.flush(home)
    os.unlink(Path(home.path, "two"))
    os.symlink("/etc/passwd", Path(home.path, "two"))
    quick.note(home, "two")
    with pytest.raises(StoreError) as told:
        quick.flush(home)
    assert told.value.kind == "escape"


def test_a_forked_child_starts_afresh(home: Root, in_child: InChild) -> None:
    """A child flushes nothing of its parent's, but what it notes itself, by a thread of its own."""
    with hooked(flushes := Flushes()):
        the_flusher.note(home, "one")

        def act() -> None:
            flushes.count = 0
            the_flusher.flush()
            assert flushes.count == 0
            the_flusher.note(home, "two")
            wait_for(lambda: flushes.count == 1)

        in_child(act)
        the_flusher.flush(home)
        assert flushes.count >= 1


def test_where_no_thread_can_be_started(home: Root, quick: Flusher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started, a note is durable when it returns; later ones try again."""

    def no_more(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with hooked(flushes := Flushes()):
        monkeypatch.setattr(threading.Thread, "start", no_more)
        quick.note(home, "one")
        assert flushes.count == 1
        monkeypatch.undo()
        quick.note(home, "two")
        quick.flush(home)
        assert flushes.count == 2


ENDING = """
import sys, nsstore.root.steps as steps
from nsstore.root import Root, flusher
root = Root.make(sys.argv[1])
with root.top() as top:
    top.open_or_make("one").close()
flusher.note(root, "one")
steps.hook = lambda call: print(call, flush=True)
{ending}
"""


@pytest.mark.parametrize("ending", ["", "sys.exit(3)", "raise KeyError('x')"])
def test_the_end_of_the_interpreter_flushes(tmp_path: Path, ending: str) -> None:
    """However a program ends, short of being killed, what was noted is flushed."""
    done = subprocess.run(
        [sys.executable, "-c", ENDING.format(ending=ending), str(tmp_path / "root")],
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert "fsync" in done.stdout.decode().split(), done.stderr.decode()
