"""What git says about a directory: derived again on each call, and never by running what a repository brings.

A repository's own configuration can name programs (hooks, a file system monitor, transports); none of
the questions asked here runs one, and no object is fetched. What cannot be told is ``None``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from nsstore.root.owned import has_name, identity
from nsstore.root.programs import answers, program
from nsstore.scope import NOT_APPLICABLE_TEXT

SECONDS: Final = 5.0
LINEAGE: Final = 4096
"""So many commits back memory follows the code's history through branches and merges."""
_FIXED: Final = (
    "--no-pager",
    "--no-replace-objects",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.sshCommand=false",
    "-c", "core.askPass=",
    "-c", "protocol.allow=never",
)  # fmt: skip
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "PATH": "/usr/bin:/bin",
    "GIT_ALLOW_PROTOCOL": "none",  # unlike protocol.allow it wins over protocol.<name>.allow of a repository
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_OF_THE_USER: Final = ("HOME", "XDG_CONFIG_HOME")  # which foreign directories the user called safe
_HEADS: Final = "refs/heads/"
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_URL: Final = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/@]*@)?(?P<host>\[[^\]/]*\]|[^/:]+)(?::\d*)?/(?P<path>.+)", re.IGNORECASE
)
_SCP: Final = re.compile(r"(?:[^/@:]+@)?(?P<host>\[[^\]/]*\]|[^/:@]+):(?P<path>[^/:].*|/.+)")


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A work tree as it is now.

    ``branch`` is ``-`` when HEAD is detached; ``baseline`` the nearest reachable tag, else the root
    commit, else (a shallow clone, or too long a history) ``None``; ``main`` is the directory of the main
    work tree; ``lineage`` the newest ancestors of the commit, itself among them, :data:`LINEAGE` at most.
    """

    top: str
    git_dir: str
    main: str
    commit: str
    branch: str
    baseline: str | None
    lineage: frozenset[str]


def facts_of(directory: str) -> Facts | None:
    """What git knows of the work tree around a directory.

    ``None`` where there is no git, no repository, no work tree, one that git holds unsafe, or no commit.
    """
    git = _git(directory)
    if git is None:
        return None
    where, head, tag, listed = _ask(
        (*git, "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir",
         "--git-common-dir", "--is-shallow-repository", "HEAD^{commit}"),
        (*git, "symbolic-ref", "-q", "HEAD"),
        (*git, "describe", "--tags", "--abbrev=0", "HEAD"),
        (*git, "rev-list", "--parents", f"--max-count={LINEAGE}", "HEAD"),
    )  # fmt: skip
    lines = (where or "").removesuffix("\n").split("\n")
    if len(lines) != 5 or not _COMMIT.fullmatch(lines[4]):
        return None
    top, git_dir, common, shallow, commit = lines
    branch = (head or "").removesuffix("\n")
    history = _history(listed or "")
    return Facts(
        top=top,
        git_dir=git_dir,
        main=os.path.dirname(common) if os.path.basename(common) == ".git" else top,
        commit=commit,
        branch=branch.removeprefix(_HEADS) if branch.startswith(_HEADS) else NOT_APPLICABLE_TEXT,
        baseline=(tag or "").removesuffix("\n")
        or (None if shallow != "false" else _root_commit(git, commit, history)),
        lineage=frozenset(history) if commit in history else frozenset(),  # HEAD moved in between
    )


def top_of(directory: str) -> str:
    """The nearest directory upwards that holds a ``.git``, else the directory itself; git is not asked."""
    at = directory
    while not has_name(at, ".git"):
        above = os.path.dirname(at)
        if above == at:
            return directory
        at = above
    return at


def facts_at(top: str) -> Facts | None:
    """The facts of a work tree by its own top: a repository that names another one says nothing."""
    facts = facts_of(top)
    return facts if facts is not None and identity(facts.top) == identity(top) else None


def questions(
    directory: str, *commands: tuple[str, ...], more: Mapping[str, str] | None = None
) -> list[str | None]:
    """What git answers to each command about a directory, asked as :func:`facts_of` asks it.

    ``more`` is added to git's environment. ``None`` for a command that failed, and for all without git.
    """
    git = _git(directory)
    if git is None:
        return [None] * len(commands)
    return _ask(*[(*git, *command) for command in commands], more=more)


def remote_name(url: str) -> str | None:
    """A remote as ``host/path``, the same for ssh and https, with no user, password or port.

    ``None`` for one on this machine, and for what is no remote.
    """
    found = _URL.fullmatch(url)
    if found is None and "://" not in url and not url.startswith(("/", ".", "~")):
        found = _SCP.fullmatch(url)
    if found is None or url.lower().startswith("file:"):
        return None
    path = found["path"].strip("/").removesuffix(".git").rstrip("/")
    return f"{found['host'].lower()}/{path}" if path else None


def proposal(directory: str, facts: Facts | None) -> str:
    """The project that a directory's remote proposes, else the name of its main directory.

    A proposal only: it may be no id at all, and nothing is bound to it without the owner's word.
    """
    if facts is None:
        return os.path.basename(directory.rstrip("/"))
    return remote_of(facts) or os.path.basename(facts.main)


def remote_of(facts: Facts) -> str | None:
    """The remote ``origin`` of a work tree, else its only one, spelled as :func:`remote_name` does."""
    (listed,) = questions(facts.top, ("config", "--local", "-z", "--get-regexp", r"^remote\..*\.url$"))
    pairs = [entry.partition("\n") for entry in (listed or "").split("\0") if entry]
    urls = {name: url for name, _, url in reversed(pairs)}  # the first url of a name counts
    if "remote.origin.url" in urls:
        return remote_name(urls["remote.origin.url"])
    return remote_name(next(iter(urls.values()))) if len(urls) == 1 else None


def _history(listed: str) -> dict[str, str | None]:
    """The first parent of each commit of git's list; ``None`` for one that has none."""
    lines = (line.split(" ") for line in listed.split("\n"))
    return {
        one[0]: one[1] if len(one) > 1 else None
        for one in lines
        if all(_COMMIT.fullmatch(each) for each in one)
    }


def _root_commit(git: tuple[str, ...], commit: str, history: Mapping[str, str | None]) -> str | None:
    """Where the first parents of a commit begin: one commit, whatever was merged in since."""
    at = commit
    while at in history:
        parent = history[at]
        if parent is None:
            return at
        at = parent
    found = (_ask((*git, "rev-list", "--first-parent", "--max-parents=0", "HEAD"))[0] or "").split()
    return found[0] if len(found) == 1 and _COMMIT.fullmatch(found[0]) else None


def _git(directory: str) -> tuple[str, ...] | None:
    git = program("git")
    return None if git is None else (git, "-C", directory, *_FIXED)


def _ask(*commands: tuple[str, ...], more: Mapping[str, str] | None = None) -> list[str | None]:
    """What git answers to each; bytes that are no text come back escaped, which no id takes."""
    found = answers(commands, env={**_environment(os.environ), **(more or {})}, seconds=SECONDS)
    return [None if raw is None else raw.decode("utf-8", "surrogateescape") for raw in found]


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the caller's but where the user's own git configuration is."""
    return {**_ENVIRONMENT, **{name: environ[name] for name in _OF_THE_USER if name in environ}}
