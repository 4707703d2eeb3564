"""A text in somebody's own editor: the only program that is started, and the only file outside a store.

The file is private, lies in a private directory outside the store, and is gone when the editor is,
with whatever the editor left beside it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from types import FrameType
from typing import Final

from nsstore.errors import InvalidInput, Refused, SystemFailure
from nsstore.root.named import require_outside

EDITORS: Final = ("VISUAL", "EDITOR")
LAST_RESORT: Final = "vi"
NAME: Final = "record.md"
FAILED: Final = "the editor ended with an error: nothing is changed"


def edited(raw: bytes, limit: int, *roots: str) -> bytes:
    """What somebody made of a text in ``$VISUAL``, else ``$EDITOR``, else vi; ``roots`` hold no copy of it.

    Raises :class:`Refused` if the editor fails, :class:`InvalidInput` for no such editor, for more than
    ``limit`` bytes, and for a file that is gone.
    """
    command = _command()
    try:
        with _place(*roots) as folder:
            path = os.path.join(folder, NAME)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(raw)
            _run([*command, path])
            with open(path, "rb") as file:
                found = file.read(limit + 1)
    except FileNotFoundError:
        raise InvalidInput("the editor left no file: nothing is changed") from None
    except OSError as err:
        raise SystemFailure("editing", err) from None
    if len(found) > limit:
        raise InvalidInput(f"text must be at most {limit} bytes")
    return found


def _command() -> list[str]:
    given = next((value for name in EDITORS if (value := os.environ.get(name, "").strip())), LAST_RESORT)
    try:
        return shlex.split(given)
    except ValueError:
        raise InvalidInput(f"{' or '.join(EDITORS)} is no command") from None


@contextlib.contextmanager
def _place(*roots: str) -> Generator[str]:
    """A private directory that is gone afterwards: in memory where the system has such a place for a user."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    parent = runtime if runtime and os.access(runtime, os.W_OK) else tempfile.gettempdir()
    require_outside(os.path.join(parent, NAME), "the place for temporary files", *roots)
    folder = tempfile.mkdtemp(prefix="nsstore-edit-", dir=parent)
    try:
        with _outlived():
            yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _outlived() -> Generator[None]:
    """Let Ctrl-C reach the editor alone, and end tidily where the terminal hangs up or somebody says so."""

    def go_on(_number: int, _frame: FrameType | None) -> None:
        """Do nothing, but as a handler, which a started program does not inherit."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    handlers = {signal.SIGINT: go_on, signal.SIGTERM: end, signal.SIGHUP: end}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, check=False)  # noqa: S603 - the person's own editor, no shell between
    except (FileNotFoundError, PermissionError):
        raise InvalidInput(f"there is no such editor: set {' or '.join(EDITORS)}") from None
    if done.returncode:
        raise Refused(FAILED, reason="editor")
