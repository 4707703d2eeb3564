"""Paths only go down and names are single: nothing climbs, and nothing is cut short at a NUL."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import EscapeError, SystemFailure
from nsstore.root import WRITE, FileLock, Root

Tree = Callable[[Path], dict[str, str]]

CLIMBING = [
    "..", "../x", "../outside/a/b/c/f", "a/..", "a/../a/f", "a/../../outside/a", "/", "/etc/passwd", "//a",
    "a//f", "/a/f", "a/f/", "", "a\0", "a/f\0", "a\0/f", "\0",
]  # fmt: skip


def escapes(call: Callable[[str], object], given: str) -> bool:
    """Whether a call with a path or name is refused as a way out."""
    try:
        call(given)
    except EscapeError:
        return True
    return False


def test_a_path_only_goes_down(root: Root, outside: Path, tree: Tree) -> None:
    """A path that is absolute, climbs, is empty in part or holds a NUL is an escape, by every way in."""
    root.make_dir("a").publish("f", b"own").close()
    before, inside = tree(outside), tree(Path(root.path))
    calls: list[Callable[[str], object]] = [
        root.open_file,
        lambda path: root.open_file(path, WRITE),
        lambda path: root.read(path, 100),
        root.dir,
        root.make_dir,
        lambda path: root.make_dir(path, flush=True),
    ]
    for path in CLIMBING:
        for call in calls:
            assert escapes(call, path), f"{path!r} was taken"
    assert tree(outside) == before
    assert tree(Path(root.path)) == inside


def test_the_root_itself_climbed_to(root: Root) -> None:
    """An absolute path is refused even where it names a file of the root."""
    root.make_dir("a").publish("f", b"own").close()
    with pytest.raises(EscapeError):
        root.read(f"{root.path}/a/f", 100)


NO_NAMES = ["..", "", "x/y", "/x", "../x", "sub/f", "out/f", "f\0", "sub\0", "."]


def test_what_changes_a_directory_takes_one_name(root: Root, outside: Path, tree: Tree) -> None:
    """Publishing, replacing, moving, making and removing take one name, and reach nothing by a path."""
    with root.make_dir("a/sub") as sub, root.make_dir("a") as where:
        sub.publish("f", b"own").close()
        where.publish("f", b"own").close()
        os.symlink(outside, "out", dir_fd=where.fd)
        before, inside = tree(outside), tree(Path(root.path))
        calls: list[Callable[[str], object]] = [
            lambda name: where.publish(name, b"new"),
            lambda name: where.replace(name, b"new"),
            lambda name: where.move(name, where, "g"),
            lambda name: where.move("f", where, name),
            where.unlink,
            where.make,
        ]
        for name in NO_NAMES:
            for call in calls:
                assert escapes(call, name), f"{name!r} was taken"
        assert tree(outside) == before
        assert tree(Path(root.path)) == inside


def test_a_name_the_disk_cannot_hold(root: Root, tree: Tree) -> None:
    """A name above 255 bytes is a failure of the system in words, without the path."""
    long = "n" * 256
    before = tree(Path(root.path))
    with root.top() as top:
        for call in (
            lambda: root.open_file(long),
            lambda: root.dir(f"a/{long}") or root.dir(long),
            lambda: root.make_dir(f"{long}/x"),
            lambda: top.open_or_make(long),
            lambda: top.publish(long, b"x"),
            lambda: top.replace(long, b"x"),
            lambda: top.unlink(long),
            lambda: FileLock(top, long),
        ):
            with pytest.raises(SystemFailure) as told:
                call()
            assert "nn" not in str(told.value)
            assert root.path not in str(told.value)
    assert {name for name in tree(Path(root.path)) if name != "tmp"} == set(before)


def test_names_that_are_no_text_come_back_escaped(root: Root) -> None:
    """A name that is not UTF-8 is listed, can be refused, moved and removed, and breaks nothing."""
    with root.make_dir("a") as where:
        Path(os.fsdecode(os.fsencode(root.path) + b"/a/\xff\xfe")).write_bytes(b"x")
        (name,) = where.names()
        assert os.fsencode(name) == b"\xff\xfe"
        with pytest.raises(EscapeError):
            where.open(name)  # its mode is 0644
        with root.make_dir("b") as aside:
            where.move(name, aside, name)
            assert aside.unlink(name)
