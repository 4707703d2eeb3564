"""A descriptor that is kept open is used only while its path names that very file, as it was when opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nsstore.root import WRITE, Root


def test_growth_is_no_change(root: Root) -> None:
    """A file that others appended to is still the same one, and its new size is seen."""
    with root.make_dir("a") as where, where.publish("f", b"own"):
        pass
    with root.open_file("a/f", WRITE) or pytest.fail("it is gone") as file:
        assert file.size == 3
        with open(Path(root.path, "a/f"), "ab") as other:
            other.write(b" and more")
        assert root.still(file, "a/f")
        assert file.size == 12
        file.append(b"!")
        assert file.size == 13
        assert root.read("a/f", 100) == b"own and more!"


def test_a_new_file_is_appended_to_at_its_end(root: Root) -> None:
    """What is appended to a file just published stands behind its bytes, not over them."""
    with root.make_dir("a") as where, where.publish("f", b"first\n") as file:
        file.append(b"second\n")
        assert where.read("f", 100) == b"first\nsecond\n"


@pytest.mark.parametrize("how", ["0644", "linked", "second name", "gone", "another", "fifo", "folder"])
def test_what_is_no_longer_the_same(root: Root, outside: Path, how: str) -> None:
    """A file that was opened to others, got a second name, was swapped or removed is not still the same."""
    with root.make_dir("a") as where:
        where.publish("f", b"own").close()
    at = Path(root.path, "a/f")
    with root.open_file("a/f") or pytest.fail("it is gone") as file:
        assert root.still(file, "a/f")
        if how == "0644":
            at.chmod(0o644)
        elif how == "second name":
            os.link(at, outside / "second")
        else:
            at.rename(at.with_name("aside"))
        if how == "linked":
            at.symlink_to("aside")
        elif how == "another":
            at.write_bytes(b"own")
            at.chmod(0o600)
        elif how == "fifo":
            os.mkfifo(at, 0o600)
        elif how == "folder":
            at.mkdir(0o700)
        assert not root.still(file, "a/f")


def test_a_directory_is_still_the_same(root: Root) -> None:
    """A directory is the same while its path names it, and no longer once it is a link to itself."""
    root.make_dir("a/b").close()
    with root.dir("a/b") or pytest.fail("it is gone") as kept:
        kept.publish("f", b"x").close()
        assert root.still(kept, "a/b")
        at = Path(root.path, "a/b")
        at.rename(at.with_name("c"))
        at.symlink_to("c")
        assert not root.still(kept, "a/b")
        assert not root.still(kept, "a/absent")
        assert root.still(kept, "a/c")
