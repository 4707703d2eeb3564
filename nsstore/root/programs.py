"""Programs of the machine that are asked a question: fixed arguments, no shell, no input."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence

MOST = 64 * 1024 * 1024  # of an answer; what is longer is none


def program(name: str) -> str | None:
    """Where a program is, by the absolute directories of ``PATH`` alone: never one of where we stand."""
    given = os.environ.get("PATH", os.defpath)
    absolute = os.pathsep.join(one for one in given.split(os.pathsep) if os.path.isabs(one))
    return shutil.which(name, path=absolute) if absolute else None


def answers(
    commands: Sequence[Sequence[str]], *, env: Mapping[str, str], seconds: float
) -> list[bytes | None]:
    """What each command printed, all run at once; ``None`` for one that failed or took too long.

    Each gets ``env`` as its whole environment, and an empty input.
    """
    until = time.monotonic() + seconds
    started = [_start(command, env) for command in commands]
    try:
        return [_answer(one, until) for one in started]
    finally:
        for one in started:
            if one is not None and one.poll() is None:
                one.kill()
                one.communicate()


def _start(command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(  # noqa: S603 - fixed words and checked names, no shell between
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            close_fds=True,
        )
    except (OSError, ValueError):  # ValueError: a NUL in a name
        return None


def _answer(started: subprocess.Popen[bytes] | None, until: float) -> bytes | None:
    if started is None:
        return None
    with contextlib.suppress(subprocess.TimeoutExpired):
        found, _ = started.communicate(timeout=max(0.0, until - time.monotonic()))
        return found if started.returncode == 0 and len(found) <= MOST else None
    return None
