"""Somebody at a terminal of their own, who answers each question when it is asked."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.cli.conftest import Person

PATIENCE = 30.0
PROGRAM = "from nsstore.cli.main import main; main()"


def at_terminal(line: Sequence[str], person: Person, where: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start a program of a person's in a directory, at a terminal of its own; our side of that."""
    ours, theirs = pty.openpty()
    env = {name: value for name, value in {**os.environ, **person.env}.items() if value is not None}
    running = subprocess.Popen(
        line, cwd=where, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    return running, ours


def answer(
    person: Person, where: Path, args: Sequence[str], answers: Sequence[tuple[str, str]]
) -> tuple[int, str]:
    """Run nsstore in a directory, answer each question in turn; its exit code, and what was shown."""
    running, ours = at_terminal([sys.executable, "-c", PROGRAM, *args], person, where)
    shown = ""
    try:
        for question, typed in answers:
            shown += _until(ours, question)
            time.sleep(0.1)  # click turns the echo off right after it asked
            os.write(ours, f"{typed}\n".encode())
        shown += _until(ours, None)
        return running.wait(PATIENCE), shown
    finally:
        running.kill()
        running.wait()
        os.close(ours)


def _until(terminal: int, question: str | None) -> str:
    """What is shown until a question is asked, or, without one, until the program ends."""
    shown, until = "", time.monotonic() + PATIENCE
    while question is None or question not in shown:
        assert time.monotonic() < until, shown
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the program ended, and nobody has the other side open
            piece = b""
        if not piece:
            assert question is None, shown
            return shown
        shown += piece.decode(errors="replace")
    return shown
