"""Why something is not known where a request stands, in words, with the command that makes it known.

For the user at a terminal: a path of this machine may be among the words.
"""

from __future__ import annotations

import shlex
from typing import Final

from nsstore.host.allowing import can_bind
from nsstore.host.checkouts import checkouts_of
from nsstore.host.git import top_of
from nsstore.host.inference import Inferred
from nsstore.host.silence import Silence, silence_of
from nsstore.root.owned import has_name

UNBOUND: Final = "this directory is bound to no project: `nsstore allow` binds it"
TREE: Final = "this git checkout is bound to no project: `nsstore allow` binds it, each work tree by itself"
HOLDS: Final = "{} contains the store or its trust home, so it is no checkout: `cd` to yours"
MOVED: Final = "this checkout was moved here from {}: `nsstore allow --same-as {}` binds it again"
BEFORE: Final = (
    "this directory was bound before, and whether it is still the same one cannot be told: `nsstore allow`"
    " binds it again"
)
OTHER: Final = "the checkout here is bound to another project, and says nothing about this one"
NO_BASELINE: Final = (
    "no tag is reachable here, nor the first commit, as in a shallow clone: nothing tells the baseline"
)
NO_GIT: Final = "git is not installed, or PATH does not lead to it, so nothing tells the branch"
GONE: Final = (
    "this was a git checkout when it was bound, and has no .git any more, so nothing tells the branch"
)
FOREIGN: Final = (
    "the repository here belongs to another user, so git does not read it: `git status` says how to allow it"
)
BARE: Final = "the repository here is a bare one (core.bare), so git tells of no checkout"
ELSEWHERE: Final = (
    "the repository that .git leads to does not name this directory as its work tree, so it tells nothing of"
    " it: `git worktree repair` mends a work tree that was moved, and `git config core.worktree` says it of a"
    " repository that lies apart"
)
NO_COMMIT: Final = "there is no commit here yet: git tells branch and baseline from the first one on"
UNREADABLE: Final = "git does not read the repository here: `git status` says why"
NO_BRANCH: Final = "HEAD names no branch here that could be told: one called -, or none of the branches"
NOT_WHOLE: Final = "git cannot read all tags and commits here, so nothing tells the baseline: see `git fsck`"
_SILENT: Final = {
    Silence.NO_GIT: NO_GIT,
    Silence.NO_REPOSITORY: GONE,
    Silence.UNSAFE: FOREIGN,
    Silence.NO_WORK_TREE: BARE,
    Silence.ELSEWHERE: ELSEWHERE,
    Silence.NO_COMMIT: NO_COMMIT,
    Silence.NO_ANSWER: UNREADABLE,
}


def why_unknown(known: Inferred) -> str | None:
    """Why a dimension that checkout and git could tell is not known, and what helps; ``None`` if all is.

    Raises as opening the store does.
    """
    store = known["store"]
    if store is None:
        return None
    if known.checkout is None:
        return _unbound(store, known.directory)
    if known.facts is None and known.checkout.versioned:
        return why_silent(known.checkout.path)
    if known["branch"] is None:
        return NO_BRANCH
    if known["baseline"] is not None:
        return None
    return NO_BASELINE if known.facts is None or known.facts.whole else NOT_WHOLE


def _unbound(store: str, directory: str) -> str:
    with checkouts_of(store) as checkouts:
        if checkouts.find(directory) is not None:
            return OTHER
        moved = checkouts.moved(directory)
    if moved is not None and moved.is_in(directory):
        return BEFORE
    if moved is not None:
        return MOVED.format(moved.path, shlex.quote(moved.path))
    top = top_of(directory)
    if not can_bind(top, store):
        return HOLDS.format(top)
    return TREE if has_name(top, ".git") else UNBOUND


def why_silent(top: str) -> str:
    """Why git tells nothing of a checkout; nothing that the repository brings along is run to find out."""
    return _SILENT[silence_of(top)]
