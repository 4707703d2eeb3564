"""Files are 0600 and directories 0700 exactly, whatever the umask and whoever asks."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest

from nsstore.errors import StoreError
from nsstore.root import FileLock, Opener, Root

InChild = Callable[..., None]

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
UMASKS = [0o000, 0o022, 0o077, 0o027, 0o277, 0o777]


@pytest.fixture
def anyones() -> Generator[Path]:
    """A directory that nobody can work in as well; pytest's own is closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="nsstore-modes-"))
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
    yield folder
    shutil.rmtree(folder)


def make_everything(where: Path, opener: Opener, *, unnamed: bool) -> None:
    """Use every verb that makes a name, twice, so that each has to open what it made before."""
    for turn in ("one", "two"):
        with Root.make(where / "new" / "deeper" / "root", opener=opener, unnamed=unnamed) as root:
            root.make_dir("a/b/c").close()
            root.make_dir(f"a/flushed/{turn}", flush=True).close()
            with root.make_dir("a/b/c") as leaf:
                leaf.publish(turn, b"record").close()
                leaf.open_or_make("appended").close()
                leaf.replace("replaced", b"x")
                leaf.make(f"made-{turn}")
                with FileLock(leaf, "x.lock"):
                    pass
            root.replace("store.json", b"claim")


def wrong_modes(top: Path) -> list[str]:
    """Names below ``top`` whose mode is not exactly what the design says."""
    wrong: list[str] = []
    for folder, folders, files in os.walk(top):
        for name, right in [(name, 0o700) for name in folders] + [(name, 0o600) for name in files]:
            mode = stat.S_IMODE(Path(folder, name).lstat().st_mode)
            if mode != right:
                wrong.append(f"{Path(folder, name).relative_to(top)} {mode:o}")
    return wrong


@pytest.mark.parametrize("umask", UMASKS, ids=lambda mask: f"{mask:03o}")
def test_modes_under_any_umask(root: Root, tmp_path: Path, umask: int) -> None:
    """Every file and directory that is made, the parents of the root too, is private to the bit."""
    before = os.umask(umask)
    try:
        make_everything(tmp_path / "all", root.opener, unnamed=root.unnamed_files)
    finally:
        os.umask(before)
    assert wrong_modes(tmp_path / "all") == []
    assert len(list((tmp_path / "all").rglob("*"))) >= 14


@pytest.mark.parametrize("umask", UMASKS, ids=lambda mask: f"{mask:03o}")
def test_modes_for_a_user_who_is_not_root(root: Root, anyones: Path, in_child: InChild, umask: int) -> None:
    """The same for a user whom modes stop: what a umask took away is given back before it is needed."""

    def act() -> None:
        os.umask(umask)
        make_everything(anyones, root.opener, unnamed=root.unnamed_files)

    in_child(act, as_nobody=True)
    assert wrong_modes(anyones) == []
    assert len(list(anyones.rglob("*"))) >= 14


@pytest.mark.parametrize("umask", [0o777, 0o177], ids=lambda mask: f"{mask:03o}")
def test_first_writers_at_once(root: Root, anyones: Path, in_child: InChild, umask: int) -> None:
    """Nobody fails at a directory that another thread made but has not yet given its mode."""

    def act() -> None:
        os.umask(umask)
        failed: list[StoreError] = []
        with Root.make(anyones / "root", opener=root.opener, unnamed=root.unnamed_files) as shared:
            at_once = threading.Barrier(4)

            def write(number: int) -> None:
                for turn in range(60):
                    at_once.wait()
                    try:
                        shared.make_dir(f"{turn}/a/b/c/d", flush=number == 0).close()
                    except StoreError as err:
                        failed.append(err)

            threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert failed == []

    in_child(act, as_nobody=True)
    assert wrong_modes(anyones) == []


def test_what_was_shut_stays_shut(root: Root, anyones: Path, in_child: InChild) -> None:
    """A directory that its owner shut on purpose is a failure of the system soon, and keeps its mode."""
    made = anyones / "root"

    def act(umask: int) -> None:
        os.umask(umask)
        with Root.open(made, opener=root.opener, unnamed=root.unnamed_files) as own:
            for name in ("shut", "archive"):
                started = time.monotonic()
                with pytest.raises(StoreError) as told:
                    own.make_dir(f"{name}/x")
                assert told.value.kind == "os"
                assert time.monotonic() - started < 10

    for folder, mode in ((made, 0o700), (made / "shut", 0o000), (made / "archive", 0o500)):
        folder.mkdir()
        folder.chmod(mode)
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
    for umask in (0o777, 0o022):
        in_child(partial(act, umask), as_nobody=True)
        assert sorted(wrong_modes(anyones)) == ["root/archive 500", "root/shut 0"]
    (made / "shut").chmod(0o700)
