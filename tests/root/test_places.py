"""The root is one directory, whichever way one comes to it; a path that leads to none is an error kind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nsstore.errors import EscapeError, InvalidInput, Refused, StoreError
from nsstore.root import FileLock, Root, locks


def test_every_way_to_a_root_is_one_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a link, a chain of links, a relative path or `..` after a link: one path, inode and lock."""
    real = tmp_path / "deep" / "root"
    Root.make(real).close()
    (tmp_path / "link").symlink_to(tmp_path / "deep")
    (tmp_path / "chain").symlink_to("link/root")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "into").symlink_to(real)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.02)
    ways: list[str | Path] = [
        tmp_path / "link" / "root",
        tmp_path / "chain",
        "deep/root",
        "./chain",
        f"{tmp_path}/elsewhere/into/../root",  # `..` is the real directory's, as for every other program
        f"{real}/",
    ]
    with Root.open(real) as first, first.top() as top, FileLock(top, "lock"):
        for way in ways:
            with Root.open(way) as again, again.top() as there:
                assert (again.path, again.inode) == (str(real), first.inode)
                with pytest.raises(Refused):
                    FileLock(there, "lock")


def test_made_where_it_is_then_opened(tmp_path: Path) -> None:
    """A root made through `..` after a link is made where every other program would make it."""
    (tmp_path / "there" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "there" / "sub")
    with Root.make(f"{tmp_path}/link/../root") as made:
        assert made.path == str(tmp_path / "there" / "root")
    assert not (tmp_path / "root").exists()


@pytest.mark.parametrize("bad", ["", "a\0b", b"bytes", 7, None, "\ud800"])
def test_what_is_no_path(bad: object) -> None:
    """What can name no directory is invalid input, whatever it is made of."""
    for way in (Root.open, Root.make):
        with pytest.raises(InvalidInput):
            way(bad)  # type: ignore[arg-type]  # what a caller without a type checker may give


def test_what_is_no_directory(tmp_path: Path) -> None:
    """A file, a way through a file, a loop, a name too long: each an error kind, without the path."""
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("file", "file/deeper", "loop", "loop/deeper", "n" * 300):
        for way in (Root.open, Root.make):
            with pytest.raises(StoreError) as told:
                way(tmp_path / name)
            assert str(tmp_path) not in str(told.value)
            assert "nnn" not in str(told.value)
    with pytest.raises(FileNotFoundError):
        Root.open(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        Root.open(tmp_path / "dangling")
    assert not (tmp_path / "absent").exists()
    with pytest.raises(StoreError):
        Root.make(tmp_path / "dangling")
    assert not (tmp_path / "nowhere").exists()


def test_a_directory_that_is_taken_as_root(tmp_path: Path) -> None:
    """An empty directory is made private; one that holds something has to be private already."""
    empty, full = tmp_path / "empty", tmp_path / "full"
    for folder in (empty, full):
        folder.mkdir()
        folder.chmod(0o2755)
    (full / "x").write_bytes(b"")
    Root.make(empty).close()
    assert empty.stat().st_mode & 0o7777 == 0o700
    with pytest.raises(EscapeError, match="open to other users"):
        Root.make(full)
    assert full.stat().st_mode & 0o7777 == 0o2755
    full.chmod(0o700)
    Root.make(full).close()


def test_a_root_that_is_closed_twice(tmp_path: Path) -> None:
    """Closing twice closes once: the number is not closed again when another file has it."""
    root = Root.make(tmp_path / "root")
    root.close()
    with open(os.devnull, "rb") as other:
        root.close()
        assert os.fstat(other.fileno())
    with pytest.raises(StoreError):
        root.read("x", 1)
