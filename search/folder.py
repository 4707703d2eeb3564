"""One thread that folds, while there is something to fold: off the way of writers and readers."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

Job = Callable[[], None]
MOST_WAITS: Final = 5
WAIT_SECONDS: Final = 0.001


class Folder:
    """Runs jobs one after the other in a thread of its own, which ends with the last of them.

    The thread is no daemon: at the end of the interpreter a fold is finished, not torn out of tantivy.
    A forked child begins with nothing to do.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self.asking: set[int] = set()
        """The threads that are searching at this moment."""

    def give_way(self) -> None:
        """Let searches go first, for a few milliseconds at most: threads of Python share one interpreter."""
        time.sleep(0)  # whoever waits for the interpreter has it at once, not only after its interval
        for _ in range(MOST_WAITS):
            if not self.asking:
                return
            time.sleep(WAIT_SECONDS)

    def submit(self, job: Job) -> bool:
        """Run a job soon; ``False`` where no thread can be started. A job answers for its own errors."""
        if self._pid != os.getpid():
            self._pid, self._changed = os.getpid(), threading.Condition()
            self._jobs, self._thread = deque(), None
        with self._changed:
            self._jobs.append(job)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="nsstore-folder")
                try:
                    thread.start()
                except RuntimeError:  # no more threads, or the interpreter is ending
                    self._jobs.clear()
                    return False
                self._thread = thread
        return True

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until everything submitted is done; ``False`` if that takes longer."""
        if self._pid != os.getpid():
            return True
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, timeout)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._jobs:
                    self._thread = None
                    self._changed.notify_all()
                    return
                job = self._jobs.popleft()
            try:
                job()
            except BaseException:  # none is expected; whoever waits is not to wait for ever
                with self._changed:
                    self._jobs.clear()
                    self._thread = None
                    self._changed.notify_all()
                raise
            del job
