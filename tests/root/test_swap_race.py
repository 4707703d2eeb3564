"""While a directory is swapped for a link again and again, not one foreign byte is read or written."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from nsstore.errors import EscapeError
from nsstore.root import Root

ROUNDS = 1_500
Tree = Callable[[Path], dict[str, str]]


@contextmanager
def swapping(top: Path, outside: Path) -> Generator[None]:
    """Swap ``a/b`` for a link to its twin outside, and back, until the block ends."""
    real, link, at = top / "real", top / "link", top / "a/b"
    link.symlink_to(outside / "a/b")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            os.rename(at, real)
            os.rename(link, at)
            os.rename(at, link)
            os.rename(real, at)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_no_foreign_byte_is_read(root: Root, outside: Path) -> None:
    """Reads through the opener give own bytes, nothing, or a refusal; a plain open is fooled meanwhile."""
    root.make_dir("a/b/c").publish("f", b"OWN").close()
    seen: dict[str, int] = dict.fromkeys(("OWN", "absent", "refused", "foreign", "fooled"), 0)
    with swapping(Path(root.path), outside):
        until, rounds = time.monotonic() + 20, 0
        while (rounds := rounds + 1) <= ROUNDS or (
            min(seen["OWN"], seen["refused"], seen["fooled"]) == 0 and time.monotonic() < until
        ):
            try:
                raw = root.read("a/b/c/f", 100)
                seen["absent" if raw is None else raw.decode().replace("FOREIGN", "foreign")] += 1
            except EscapeError:
                seen["refused"] += 1
            with contextlib.suppress(OSError):
                seen["fooled"] += Path(root.path, "a/b/c/f").read_bytes() == b"FOREIGN"
    assert seen["foreign"] == 0
    assert min(seen["OWN"], seen["refused"], seen["fooled"]) > 0, f"the race did not run: {seen}"


def test_no_foreign_name_is_made(root: Root, outside: Path, tree: Tree) -> None:
    """Files published and directories made in the race lie in the root; the twin outside gets none."""
    root.make_dir("a/b/c").publish("f", b"OWN").close()
    before, made, refused = tree(outside), 0, 0
    with swapping(Path(root.path), outside):
        until = time.monotonic() + 10
        while (made < 50 or refused < 5) and time.monotonic() < until:
            try:
                where = root.dir("a/b/c")
            except EscapeError:
                refused += 1
                continue
            if where is not None:
                with where:
                    where.publish(f"n{made}", b"x").close()
                    where.make(f"d{made}")
                    made += 1
    assert tree(outside) == before
    assert len(list(Path(root.path, "a/b/c").iterdir())) == 2 * made + 1
    assert made > 0
    assert refused > 0
