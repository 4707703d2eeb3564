"""Whether the git directory that answers in a work tree is that work tree's own.

A file or a link can say of any directory that it is the git directory of this one. What belongs to a work
tree lies in its ``.git``; where it lies elsewhere, it says itself whose it is: that of a linked work tree
names the ``.git`` file (``gitdir``), that of a submodule the work tree (``core.worktree``). What ``git init
--separate-git-dir`` makes says nothing, and so needs ``core.worktree`` to be set; one put together from links
is not believed. Objects that are borrowed (``objects/info/alternates``) are found by their ids alone, and so
are let be.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from nsstore.errors import InvalidInput, SystemFailure
from nsstore.root.links import is_folder_itself, leads_out
from nsstore.root.owned import identity, read_owned

_POINTER: Final = 16 * 1024
_OF_TREE: Final = ("HEAD", "config.worktree", "gitdir", "commondir")
_OF_ALL: Final = (
    "HEAD", "config", "packed-refs", "shallow", "reftable", "refs", "refs/heads", "refs/tags",
    "objects", "objects/info", "objects/pack",
)  # fmt: skip


def belongs(top: str, git_dir: str, common: str, ref: str, work_tree: Callable[[], str | None]) -> bool:
    """Whether a git directory, and the one it shares with other work trees, are those of a work tree.

    ``ref`` is what HEAD names. ``work_tree`` gives what ``core.worktree`` says, and is asked only where that
    decides.
    """
    own = os.path.join(top, ".git")
    if common != git_dir:
        there = os.path.join(common, "worktrees", os.path.basename(git_dir))
        ours = _same(there, git_dir) and _names(git_dir, top)
    elif is_folder_itself(own):
        ours = _same(own, git_dir)
    else:
        said = work_tree()
        ours = said is not None and _same(os.path.join(git_dir, said.removesuffix("\n")), top)
    steps = [ref[:at] for at in range(len(ref) + 1) if ref[at : at + 1] in {"/", ""}]
    return (
        ours
        and not any(leads_out(git_dir, name) for name in (*_OF_TREE, *steps))
        and not any(leads_out(common, name) for name in (*_OF_ALL, *steps))
    )


def _names(git_dir: str, top: str) -> bool:
    """Whether the git directory of a linked work tree names the ``.git`` of this very one."""
    try:
        raw = read_owned(os.path.join(git_dir, "gitdir"), _POINTER, "a pointer of git")
    except (InvalidInput, SystemFailure):
        return False
    folder, name = os.path.split(os.fsdecode(raw or b"").removesuffix("\n"))
    return name == ".git" and _same(os.path.join(git_dir, folder), top)


def _same(one: str, other: str) -> bool:
    """Whether two paths lead to one directory."""
    found = identity(one)
    return found is not None and found == identity(other)
