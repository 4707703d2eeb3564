"""Programs are asked all at once, for so long and so much, and nothing of them stays behind."""

import os
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import pytest

from nsstore.root.programs import Answer, Call, answers, program

SHELL = "/bin/sh"


def sh(script: str) -> tuple[str, ...]:
    """The words of the shell with a script."""
    return SHELL, "-c", script


def ask(*calls: Call, seconds: float = 5.0) -> list[Answer]:
    """What the calls answer."""
    return answers(calls, env={"PATH": "/usr/bin:/bin"}, seconds=seconds)


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Generator[None]:
    """As many descriptors are open after a test as were before."""
    before = os.listdir("/dev/fd")
    yield
    assert os.listdir("/dev/fd") == before


def test_how_a_program_ended_is_told() -> None:
    """What it printed and its status come apart, and one that cannot be started has none."""
    words = (sh("echo yes"), sh("echo no; exit 3"), ("/none",), sh("a\0b"))
    found = ask(*map(Call, words))
    assert found == [Answer(0, b"yes\n"), Answer(3, b"no\n"), Answer(None, b""), Answer(None, b"")]


def test_a_slow_program_takes_nothing_from_the_others() -> None:
    """Those that were done in time have answered, wherever the slow one stands among them."""
    found = ask(Call(sh("echo slow; sleep 60")), Call(sh("echo done")), seconds=0.5)
    assert found == [Answer(None, b"slow\n"), Answer(0, b"done\n")]


@pytest.mark.parametrize("script", ["sleep 60; true", "sleep 60 & exit 0", "exec >&-; sleep 60"])
def test_what_a_program_started_ends_with_it(script: str, tmp_path: Path) -> None:
    """A program that waits for another, leaves it behind, or says no more, is stopped with all its own."""
    began = time.monotonic()
    (found,) = ask(Call(sh(f"ln -s $$ {tmp_path}/group; {script}")), seconds=0.5)
    assert (found.status, time.monotonic() - began < 5) == (None, True)
    group = int(os.readlink(tmp_path / "group"))
    assert until(lambda: not any_alive(group))


def any_alive(group: int) -> bool:
    """Whether a process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def until(true: Callable[[], bool]) -> bool:
    """Whether something becomes true within a moment."""
    for _ in range(100):
        if true():
            return True
        time.sleep(0.02)
    return False


def test_an_endless_answer_is_cut_as_it_comes() -> None:
    """No more is kept than was asked for, and the program does not go on."""
    began = time.monotonic()
    (found,) = ask(Call(sh("exec yes"), most=1000))
    assert found == Answer(None, b"y\n" * 500)
    assert time.monotonic() - began < 3


def test_one_is_fed_by_another_and_then_by_what_all_said() -> None:
    """More than a pipe holds goes through, and the last word is said when the others are done."""

    def last(said: Sequence[Answer]) -> bytes:
        return b"%d %s" % (len(said[0].out), said[1].out)

    most = 2 * 1024 * 1024
    numbers, fed, _ = ask(
        Call(sh("seq 100000"), most),
        Call(sh("cat"), most, fed_by=0, last=last),
        Call(sh("sleep 0.2; echo late")),
    )
    assert fed == Answer(0, numbers.out + b"%d late\n" % len(numbers.out))


def test_the_last_word_is_said_also_when_time_is_up() -> None:
    """Whoever is fed hears how the others stand, though one of them had to be stopped."""

    def last(said: Sequence[Answer]) -> bytes:
        return f"{said[0].status}".encode()

    slow, fed = ask(
        Call(sh("echo slow; sleep 60")),
        Call(sh("cat"), fed_by=0, last=last),
        seconds=0.5,
    )
    assert (slow, fed) == (Answer(None, b"slow\n"), Answer(0, b"slow\nNone"))


def test_one_that_does_not_listen_holds_nobody_up() -> None:
    """A program that reads nothing, or only a line, ends as it likes."""
    found = ask(
        Call(sh("seq 100000")), Call(sh("exit 2"), fed_by=0), Call(sh("read one; echo $one"), fed_by=0)
    )
    assert [(one.status, one.out[:2]) for one in found] == [(0, b"1\n"), (2, b""), (0, b"1\n")]


def test_pieces_are_taken_as_they_come() -> None:
    """What is taken piece by piece is all there is, and is not kept as well."""
    pieces: list[bytes] = []
    (found,) = ask(Call(sh("seq 50000"), taken=pieces.append))
    assert (found, b"".join(pieces).split()[-1]) == (Answer(0, b""), b"50000")


def test_no_room_for_a_pipe_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every descriptor is taken, a program was not started."""

    def no_pipe() -> tuple[int, int]:
        raise OSError(24, "")

    monkeypatch.setattr(os, "pipe", no_pipe)
    assert ask(Call(sh("echo"))) == [Answer(None, b"")]


def put(folder: Path, name: str = "tool") -> str:
    """A program that may be run."""
    folder.mkdir(parents=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return str(folder)


def test_a_program_of_what_is_asked_about_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a directory of PATH in the work tree counts, nor one or a file that leads there."""
    tree, good = tmp_path / "tree", put(tmp_path / "good")
    inside, link = put(tree / ".venv" / "bin"), tmp_path / "link"
    link.symlink_to(inside)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "tool").symlink_to(f"{inside}/tool")
    monkeypatch.setenv("PATH", f"{inside}:{link}:{tmp_path}/linked:relative::{good}")
    assert program("tool", apart=str(tree)) == f"{good}/tool"
    assert program("tool", apart="/") == program("tool") == f"{inside}/tool"
    monkeypatch.setenv("PATH", inside)
    assert program("tool", apart=str(tree)) is None
