"""What this machine has is found out when a root is opened; what cannot be found out is not guessed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import SystemFailure
from nsstore.root import Root, system

REAL_OPEN = os.open
Tree = Callable[[Path], dict[str, str]]


def fail_unnamed(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Fail the opening of unnamed files, and of nothing else."""

    def opened(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & system.UNNAMED == system.UNNAMED:
            raise OSError(number, os.strerror(number))
        return REAL_OPEN(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", opened)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM], ids=errno.errorcode.get)
def test_no_answer_is_no_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """A probe that this process has no room for fails the opening, and is not taken for a lacking feature."""
    Root.make(tmp_path / "root").close()
    fail_unnamed(monkeypatch, number)
    for call in (Root.open, Root.make):
        with pytest.raises(SystemFailure, match="opening the store") as told:
            call(tmp_path / "root")
        assert told.value.errno == number
        assert told.value.retryable == (number != errno.ENOMEM)


@pytest.mark.skipif(not system.LINUX, reason="there are unnamed files on Linux only")
@pytest.mark.parametrize(
    ("number", "drafts"),
    [
        *((number, "unnamed") for number in (errno.ENOSPC, errno.EDQUOT)),
        *((number, "named") for number in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)),
        *((number, "named") for number in (errno.EPERM, errno.EACCES, errno.EROFS)),
    ],
    ids=lambda value: errno.errorcode.get(value, value),
)
def test_a_full_disk_can_still_do_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, drafts: str
) -> None:
    """A full disk has unnamed files and opens for reading; where there are none, named drafts serve."""
    Root.make(tmp_path / "root").close()
    fail_unnamed(monkeypatch, number)
    with Root.open(tmp_path / "root") as root:
        assert root.unnamed_files is (drafts == "unnamed")


@pytest.mark.parametrize("call", ["has_openat2", "filesystem_type"])
def test_a_probe_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Whichever probe finds no descriptor left, it is an error kind, and no descriptor stays behind."""
    Root.make(tmp_path / "root").close()
    before = len(os.listdir("/dev/fd"))

    def fail(_: int) -> bool:
        raise OSError(errno.EMFILE, "too many", "/host/path")

    monkeypatch.setattr(system, call, fail)
    for way in (Root.open, Root.make):
        with pytest.raises(SystemFailure) as told:
            way(tmp_path / "root")
        assert told.value.retryable
        assert "host" not in str(told.value)
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.skipif(not system.LINUX, reason="there are unnamed files on Linux only")
@pytest.mark.parametrize("number", [errno.ENOENT, errno.EPERM, errno.EXDEV], ids=errno.errorcode.get)
def test_unnamed_files_need_a_way_to_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Where ``/proc`` does not lead to an open file, no unnamed file is made that could get no name."""

    def link(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    with Root.make(tmp_path / "root") as root, root.top() as top:
        assert not root.unnamed_files
        top.publish("f", b"whole").close()
        assert top.read("f", 10) == b"whole"


def test_probing_leaves_nothing(tmp_path: Path, tree: Tree) -> None:
    """A root is opened without a name being made in it."""
    Root.make(tmp_path / "root").close()
    before = (tree(tmp_path), len(os.listdir("/dev/fd")))
    Root.open(tmp_path / "root").close()
    assert (tree(tmp_path), len(os.listdir("/dev/fd"))) == before
