"""Roots of every kind (two ways to open, two ways to publish), and what tests of the disk need."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import cast

import pytest

from nsstore.root import KernelOpener, Opener, Root, WalkOpener, system

NOBODY = 65534
Within = Callable[[float], AbstractContextManager[None]]
InChild = Callable[..., None]


@pytest.fixture(
    params=[(KernelOpener, True), (KernelOpener, False), (WalkOpener, True), (WalkOpener, False)],
    ids=["kernel-unnamed", "kernel-named", "walk-unnamed", "walk-named"],
)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Root]:
    """An empty root, opened and published to in each of the four ways."""
    opener, unnamed = cast("tuple[type[Opener], bool]", request.param)
    with Root.make(tmp_path / "root", opener=opener(), unnamed=unnamed) as made:
        if opener is KernelOpener and not system.has_openat2(made.fd):
            pytest.skip("this kernel, or the sandbox around it, has no openat2")
        if unnamed and not system.has_unnamed_files(made.fd):
            pytest.skip("no unnamed temporary files here")
        yield made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A private tree beside the root, shaped like the one inside it, with foreign bytes."""
    leaf = tmp_path / "outside" / "a" / "b" / "c"
    leaf.mkdir(parents=True, mode=0o700)
    for folder in (leaf, *leaf.parents[:3]):
        folder.chmod(0o700)
    (leaf / "f").write_bytes(b"FOREIGN")
    (leaf / "f").chmod(0o600)
    return tmp_path / "outside"


@pytest.fixture
def within() -> Within:
    """A block that is interrupted after so many seconds: a call that blocks fails its test."""

    def overdue(*_: object) -> None:
        raise TimeoutError("the call blocked")

    @contextmanager
    def limit(seconds: float) -> Generator[None]:
        before = signal.signal(signal.SIGALRM, overdue)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return limit


@pytest.fixture
def in_child() -> InChild:
    """Runs something in a forked child, as nobody if asked, and raises here what it raised there."""

    def run(act: Callable[[], None], *, as_nobody: bool = False) -> None:
        receive, send = os.pipe()
        pid = os.fork()
        if pid == 0:
            told = b""
            try:
                signal.alarm(30)
                if as_nobody and os.geteuid() == 0:
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                act()
            except BaseException:  # noqa: BLE001 - all of it is raised again in the parent
                told = traceback.format_exc().encode()
            os.write(send, told[-60_000:])
            os._exit(0)
        os.close(send)
        with open(receive, "rb") as report:
            told = report.read()
        assert os.waitpid(pid, 0)[1] == 0, "the child was killed: it hung, or worse"
        assert not told, told.decode()

    return run


def names_below(path: Path) -> dict[str, str]:
    """Every name below ``path`` with its kind, mode and bytes: equal trees are equal."""
    found: dict[str, str] = {}
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            one = Path(folder, name)
            told = one.lstat()
            raw = one.read_bytes().hex() if one.is_file() and not one.is_symlink() else ""
            found[str(one.relative_to(path))] = f"{told.st_mode:o} {raw}"
    return found


@pytest.fixture
def tree() -> Callable[[Path], dict[str, str]]:
    """What lies below a directory, to be compared before and after."""
    return names_below
