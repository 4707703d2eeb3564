"""One daemon thread per process that makes routine appends durable within a second."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from queue import Empty, SimpleQueue
from typing import Final

from nsstore.errors import StoreError
from nsstore.root.tree import Root

WINDOW_SECONDS: Final = 0.5


class Flusher:
    """Flushes every noted file within the window, and all of them on :meth:`flush`.

    A flush that failed is not tried again: it is raised once, by the next :meth:`require_healthy` of its
    file or :meth:`flush` of its root, since what it covered may be lost in a power cut.
    """

    def __init__(self) -> None:
        # Of C alone: an interrupt in a Condition's own code would leave it locked for ever.
        self._lock = threading.RLock()
        self._at_work = threading.RLock()
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._dirty: dict[tuple[Root, str], None] = {}
        self._thread: threading.Thread | None = None
        self._failed: weakref.WeakKeyDictionary[Root, dict[str, StoreError | OSError]]
        self._failed = weakref.WeakKeyDictionary()
        self.any_failed = False

    def note_all(self, files: tuple[tuple[Root, str], ...]) -> None:
        """As :meth:`note`, of files that were appended to one after the other."""
        dirty = self._dirty
        for file in files:
            if file not in dirty:
                self.note(*file)

    def note(self, root: Root, path: str) -> None:
        """Remember that ``path`` beneath ``root`` was appended to and is not durable yet."""
        if (root, path) in self._dirty:
            return  # still there, so not flushed since: the coming flush covers this append too
        self._wake.put(None)
        with self._lock:
            self._dirty[root, path] = None
            alive = self._thread is not None or self._start()
        if not alive:
            self._flush({root})

    def _start(self) -> bool:
        """Start the thread; ``False`` at the end of the interpreter, or where no more may be started."""
        thread = threading.Thread(target=self._run, name="nsstore-flusher", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread = thread
        return True

    def flush(self, *roots: Root) -> None:
        """Make everything noted durable now: of these roots, or of all if none is named."""
        self._flush(set(roots))
        with self._lock:
            failed = [(root, path) for root, paths in self._failed.items() for path in paths]
        self.require_healthy(*(file for file in failed if not roots or file[0] in roots))

    def require_healthy(self, *files: tuple[Root, str]) -> None:
        """Raise the failure of an earlier flush of one of these files, once."""
        if not self.any_failed:
            return
        with self._lock:
            told = [self._failed.get(root, {}).pop(path, None) for root, path in files]
            self.any_failed = any(self._failed.values())
        for failed in filter(None, told):
            raise failed

    def flush_quietly(self) -> None:
        """Make everything noted durable at exit, when nobody is left to raise to."""
        self._flush(set())

    def _flush(self, roots: set[Root]) -> None:
        with self._at_work:  # what another thread is just flushing is durable, too, when this returns
            self._flush_due(roots)

    def _flush_due(self, roots: set[Root]) -> None:
        with self._lock:
            due = [entry for entry in self._dirty if not roots or entry[0] in roots]
            for entry in due:
                del self._dirty[entry]
        for root, path in due:
            try:
                file = root.open_file(path)
                if file is not None:
                    with file:
                        file.flush()
            except (StoreError, OSError) as err:
                err.__traceback__ = err.__context__ = None  # they would keep the root from being dropped
                with self._lock:
                    self._failed.setdefault(root, {})[path] = err
                    self.any_failed = True

    def _run(self) -> None:
        while True:
            self._wake.get()
            time.sleep(WINDOW_SECONDS)
            with contextlib.suppress(Empty):
                while True:
                    self._wake.get_nowait()
            self._flush(set())

    def after_fork(self) -> None:
        """Start afresh in a forked child: what the parent noted is the parent's to flush."""
        self._lock, self._at_work, self._wake = threading.RLock(), threading.RLock(), SimpleQueue()
        self._dirty, self._thread, self._failed = {}, None, weakref.WeakKeyDictionary()
        self.any_failed = False


flusher: Final = Flusher()
atexit.register(flusher.flush_quietly)
os.register_at_fork(after_in_child=flusher.after_fork)
