"""A text in somebody's own editor: the only program that is started, and the only file outside a store.

The file is private, lies in a private directory outside the store, and is gone when what was made of it
is in the store, with whatever the editor left beside it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator
from types import FrameType
from typing import Final

from nsstore.errors import InvalidInput, Refused, SystemFailure
from nsstore.root.named import require_outside

EDITORS: Final = ("VISUAL", "EDITOR")
LAST_RESORT: Final = "vi"
NAME: Final = "record.md"
FAILED: Final = "the editor ended with an error: nothing is changed"


@contextlib.contextmanager
def edited(raw: bytes, limit: int, *roots: str, kept: Callable[[str], None]) -> Generator[bytes]:
    """What somebody made of a text in ``$VISUAL``, else ``$EDITOR``, else vi; ``roots`` hold no copy of it.

    Whatever fails from the editor's start to the end of the block, nothing that was saved in it is lost:
    the file stays, alone in its private directory, and ``kept`` is told its path. Raises
    :class:`Refused` if the editor fails, :class:`InvalidInput` for no such editor, for more than
    ``limit`` bytes, and for a file that is gone.
    """
    command = _command()
    folder = _place(*roots)
    path = os.path.join(folder, NAME)
    try:
        yield _use(command, path, raw, limit)
    except BaseException:
        if _is_typed(path, raw):
            _leave_alone(folder)
            kept(path)
            folder = ""
        raise
    finally:
        if folder:
            shutil.rmtree(folder)


def _use(command: list[str], path: str, raw: bytes, limit: int) -> bytes:
    """Open the editor on a file of this text, and read what it saved."""
    try:
        with _outlived():
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


def _is_typed(path: str, before: bytes) -> bool:
    """Whether somebody saved another text than there was, but for line ends behind it; it is private then."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            os.fchmod(fd, 0o600)
            return file.read().rstrip(b"\n") not in (before.rstrip(b"\n"), b"")
    except OSError:
        return False


def _leave_alone(folder: str) -> None:
    """Remove what an editor left beside the text."""
    for one in os.scandir(folder):
        if one.is_dir(follow_symlinks=False):
            shutil.rmtree(one.path, ignore_errors=True)
        elif one.name != NAME:
            with contextlib.suppress(OSError):
                os.unlink(one.path)


def _command() -> list[str]:
    given = next((value for name in EDITORS if (value := os.environ.get(name, "").strip())), LAST_RESORT)
    try:
        return shlex.split(given)
    except ValueError:
        raise InvalidInput(f"{' or '.join(EDITORS)} is no command") from None


def _place(*roots: str) -> str:
    """A new private directory: in memory where the system has such a place for a user."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    parent = runtime if runtime and os.access(runtime, os.W_OK) else tempfile.gettempdir()
    require_outside(os.path.join(parent, NAME), "the place for temporary files", *roots)
    try:
        return tempfile.mkdtemp(prefix="nsstore-edit-", dir=parent)
    except OSError as err:
        raise SystemFailure("editing", err) from None


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
