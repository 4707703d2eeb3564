"""A link is met at no level and of no kind: nothing is read, made or changed through one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import EscapeError
from nsstore.root import WRITE, FileLock, Root

Tree = Callable[[Path], dict[str, str]]

LEVELS = ["a", "a/b", "a/b/c", "a/b/c/f"]
KINDS = ["outside", "relative", "inside", "dangling", "loop", "magic-fd", "magic-root"]


def lay_out(root: Root) -> Path:
    """A record where it belongs, and its twin elsewhere in the root."""
    top = Path(root.path)
    for leaf in ("a/b/c", "twin/b/c"):
        root.make_dir(leaf).publish("f", b"own").close()
    return top


def swap_for_link(top: Path, outside: Path, level: str, kind: str) -> int:
    """Put a link in place of one level; returns a descriptor the link may lead to."""
    at, there = top / level, outside / level
    fd = os.open(there, os.O_RDONLY)
    target = {
        "outside": str(there),
        "relative": os.path.relpath(there, at.parent),
        "inside": os.path.relpath(top / ("twin" + level[1:]), at.parent),
        "dangling": "nowhere",
        "loop": at.name,
        "magic-fd": f"/proc/self/fd/{fd}",
        "magic-root": f"/proc/self/root{there}",
    }[kind]
    at.rename(top / "aside")
    at.symlink_to(target)
    return fd


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", LEVELS)
def test_no_link_is_followed(root: Root, outside: Path, tree: Tree, level: str, kind: str) -> None:
    """Whatever level is a link, of whatever kind, every way to the file refuses and changes nothing."""
    top = lay_out(root)
    fd = swap_for_link(top, outside, level, kind)
    before, inside = tree(outside), tree(top)
    calls: list[Callable[[], object]] = [
        lambda: root.open_file("a/b/c/f"),
        lambda: root.open_file("a/b/c/f", WRITE),
        lambda: root.read("a/b/c/f", 100),
    ]
    if level != "a/b/c/f":
        calls += [
            lambda: root.dir("a/b/c"),
            lambda: root.make_dir("a/b/c"),
            lambda: root.make_dir("a/b/c/d", flush=True),
            lambda: root.make_dir("a/b/c/d"),
        ]
    for call in calls:
        with pytest.raises(EscapeError):
            call()
    os.close(fd)
    assert tree(outside) == before
    assert tree(top) == inside


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_by_its_own_name(root: Root, outside: Path, tree: Tree, kind: str) -> None:
    """In an open directory a link is refused by open, lock and make, kept by publish, removed as itself."""
    top = lay_out(root)
    before = tree(outside)
    fd = swap_for_link(top, outside, "a/b/c/f", kind)
    with root.make_dir("a/b/c") as where:
        for call in (
            lambda: where.open("f"),
            lambda: where.open("f", WRITE),
            lambda: where.open_or_make("f"),
            lambda: where.read("f", 100),
            lambda: where.sub("f"),
            lambda: FileLock(where, "f"),
            lambda: FileLock(where, "f", shared=True),
        ):
            with pytest.raises(EscapeError):
                call()
        with pytest.raises(FileExistsError):
            where.publish("f", b"new")
        assert (top / "a/b/c/f").is_symlink()
        where.move("f", where, "g")
        assert (top / "a/b/c/g").is_symlink()
        assert where.unlink("g")
        assert where.names() == []
    os.close(fd)
    assert tree(outside) == before
    assert (top / "twin/b/c/f").read_bytes() == b"own"


def test_replace_takes_the_place_of_a_link(root: Root, outside: Path, tree: Tree) -> None:
    """Replacing a name that is a link replaces the link; what it led to stays as it was."""
    top = lay_out(root)
    before = tree(outside)
    (top / "store.json").symlink_to(outside / "a/b/c/f")
    root.replace("store.json", b"own")
    assert not (top / "store.json").is_symlink()
    assert (top / "store.json").read_bytes() == b"own"
    assert tree(outside) == before


def test_a_link_where_a_directory_is_to_be_made(root: Root, outside: Path, tree: Tree) -> None:
    """A dangling link in place of a directory to be made is refused, and its target is not made."""
    (Path(root.path) / "new").symlink_to(outside / "fresh")
    before = tree(outside)
    for flush in (False, True):
        with pytest.raises(EscapeError):
            root.make_dir("new/deeper", flush=flush)
    with root.top() as top:
        top.make("new")
        with pytest.raises(EscapeError):
            top.sub("new")
    assert tree(outside) == before


def test_a_link_in_place_of_the_drafts(root: Root, outside: Path, tree: Tree) -> None:
    """A link in place of tmp/ takes no draft: publishing by name refuses, unnamed publishing needs none."""
    (Path(root.path) / "tmp").symlink_to(outside)
    before = tree(outside)
    with root.top() as top:
        if root.unnamed_files:
            top.publish("f", b"own").close()
        else:
            with pytest.raises(EscapeError):
                top.publish("f", b"own")
            assert top.read("f", 10) is None
    assert tree(outside) == before


def test_refusals_keep_no_descriptor(root: Root, outside: Path) -> None:
    """Nothing that is refused leaves a descriptor open."""
    top = lay_out(root)
    (top / "a/b/c/link").symlink_to(outside / "a")
    (top / "a/b/c/g").write_bytes(b"")  # mode 0644: refused after it was opened
    (top / "a/b/c/g").chmod(0o644)
    (top / "a/b/d").mkdir(mode=0o755)
    (top / "a/b/d").chmod(0o755)
    before = len(os.listdir("/proc/self/fd"))
    for path in ("a/b/c/link/f", "a/b/c/g", "a/b/c/f/x", "a/b/c", "a/../b"):
        with pytest.raises(EscapeError):
            root.open_file(path)
    for path in ("a/b/d", "a/b/c/link", "a/b/c/f"):
        with pytest.raises(EscapeError):
            root.dir(path)
    with pytest.raises(EscapeError):
        root.make_dir("a/b/c/link/new", flush=True)
    assert len(os.listdir("/proc/self/fd")) == before
