"""Why git says nothing of a directory: what :func:`~nsstore.host.git.facts_at` leaves open."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Final

from nsstore.host.belonging import belongs
from nsstore.host.git import ask, text, top_of
from nsstore.root.owned import has_name, identity
from nsstore.root.programs import Answer, Call, program


class Silence(StrEnum):
    """What keeps git from saying anything."""

    NO_GIT = "no_git"
    """No program git on the machine, but perhaps one in the work tree itself."""
    NO_REPOSITORY = "no_repository"
    UNSAFE = "unsafe"
    """Somebody else's, and the user has not called it safe (``safe.directory``)."""
    NO_WORK_TREE = "no_work_tree"
    """A bare repository."""
    ELSEWHERE = "elsewhere"
    """Another directory's: ``core.worktree``, ``gitdir``, or a link that leads out of it."""
    NO_COMMIT = "no_commit"
    NO_ANSWER = "no_answer"
    """Damaged, too slow, or HEAD moves all the time."""


_WHERE: Final = ("rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir")
_QUESTIONS: Final = (
    _WHERE,
    ("-c", "safe.directory=*", *_WHERE),
    ("rev-parse", "--path-format=absolute", "--show-toplevel"),
    ("symbolic-ref", "-q", "HEAD"),
    ("rev-parse", "-q", "--verify", "HEAD"),
    ("config", "--get", "core.worktree"),
)


def silence_of(top: str) -> Silence:
    """Why there are no facts at a directory; nothing that a repository brings along is run to find out."""
    if program("git", apart=top_of(top)) is None:
        return Silence.NO_GIT
    alone = {"GIT_CEILING_DIRECTORIES": os.path.dirname(top)}  # no repository above answers for this one
    where, anybodys, tree, head, born, configured = ask(top, *map(Call, _QUESTIONS), more=alone)
    if where.status != 0:
        return _unread(top, where, anybodys)
    if tree.status != 0:
        return Silence.NO_WORK_TREE
    git_dir, common = text(where).split("\n")[:2]
    ref = text(head).removesuffix("\n") if head.status == 0 else "HEAD"
    own = identity(text(tree).removesuffix("\n")) == identity(top)
    if not own or not belongs(top, git_dir, common, ref, lambda: text(configured) or None):
        return Silence.ELSEWHERE
    return Silence.NO_COMMIT if head.status == 0 and born.status == 1 else Silence.NO_ANSWER


def _unread(top: str, where: Answer, anybodys: Answer) -> Silence:
    if where.status is not None and anybodys.status == 0:
        return Silence.UNSAFE
    return Silence.NO_ANSWER if where.status is None or has_name(top, ".git") else Silence.NO_REPOSITORY
