"""What git says about a directory: derived again on each call, and never by running what a repository brings.

A repository's own configuration can name programs (hooks, a file system monitor, transports); none of
the questions asked here runs one, and no object is fetched. What cannot be told is ``None``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
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
    commit, else (a shallow clone, or too long a history) ``None``; ``remote`` is spelled as
    :func:`remote_name` does; ``main`` is the directory of the main work tree.
    """

    top: str
    git_dir: str
    main: str
    commit: str
    branch: str
    baseline: str | None
    remote: str | None


def facts_of(directory: str) -> Facts | None:
    """What git knows of the work tree around a directory.

    ``None`` where there is no git, no repository, no work tree, one that git holds unsafe, or no commit.
    """
    git = _git(directory)
    if git is None:
        return None
    where, head, tag, remotes = _ask(
        (*git, "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir",
         "--git-common-dir", "--is-shallow-repository", "HEAD^{commit}"),
        (*git, "symbolic-ref", "-q", "HEAD"),
        (*git, "describe", "--tags", "--abbrev=0", "HEAD"),
        (*git, "config", "--local", "-z", "--get-regexp", r"^remote\..*\.url$"),
    )  # fmt: skip
    lines = (where or "").removesuffix("\n").split("\n")
    if len(lines) != 5 or not _COMMIT.fullmatch(lines[4]):
        return None
    top, git_dir, common, shallow, commit = lines
    branch = (head or "").removesuffix("\n")
    return Facts(
        top=top,
        git_dir=git_dir,
        main=os.path.dirname(common) if os.path.basename(common) == ".git" else top,
        commit=commit,
        branch=branch.removeprefix(_HEADS) if branch.startswith(_HEADS) else NOT_APPLICABLE_TEXT,
        baseline=(tag or "").removesuffix("\n") or (None if shallow != "false" else _root_commit(git)),
        remote=_remote(remotes or ""),
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


def ancestors(top: str, commits: Iterable[str]) -> frozenset[str]:
    """Which of these whole commit ids are HEAD's ancestors, or HEAD itself; one not here is none."""
    asked = sorted({one for one in commits if _COMMIT.fullmatch(one)})
    git = _git(top)
    if git is None or not asked:
        return frozenset()
    (known,) = _ask((*git, "cat-file", "--batch-check=%(objectname) %(objecttype)"), given=asked)
    here = [one for one in asked if f"{one} commit" in (known or "").split("\n")]
    if not here:
        return frozenset()
    (beyond,) = _ask((*git, "rev-list", "--stdin", "^HEAD"), given=here)
    return frozenset() if beyond is None else frozenset(here) - frozenset(beyond.split())


def lineage(top: str) -> frozenset[str]:
    """The newest ancestors of HEAD, HEAD's own commit among them, :data:`LINEAGE` at most."""
    git = _git(top)
    if git is None:
        return frozenset()
    (found,) = _ask((*git, "rev-list", f"--max-count={LINEAGE}", "HEAD"))
    return frozenset(one for one in (found or "").split() if _COMMIT.fullmatch(one))


def is_ancestor(commit: str, of: str, top: str) -> bool:
    """Whether git proves a commit to be an ancestor of another, or the same; both are whole ids."""
    git = _git(top)
    if git is None or not (_COMMIT.fullmatch(commit) and _COMMIT.fullmatch(of)):
        return False
    return _ask((*git, "merge-base", "--is-ancestor", commit, of))[0] is not None


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
    return facts.remote or os.path.basename(facts.main)


def _remote(listed: str) -> str | None:
    """The remote ``origin`` of git's list, else the only one there is."""
    pairs = [entry.partition("\n") for entry in listed.split("\0") if entry]
    urls = {name: url for name, _, url in reversed(pairs)}  # the first url of a name counts
    if "remote.origin.url" in urls:
        return remote_name(urls["remote.origin.url"])
    return remote_name(next(iter(urls.values()))) if len(urls) == 1 else None


def _root_commit(git: tuple[str, ...]) -> str | None:
    """Where the first parents of HEAD begin: one commit, whatever was merged in since."""
    found = (_ask((*git, "rev-list", "--first-parent", "--max-parents=0", "HEAD"))[0] or "").split()
    return found[0] if len(found) == 1 and _COMMIT.fullmatch(found[0]) else None


def _git(directory: str) -> tuple[str, ...] | None:
    git = program("git")
    return None if git is None else (git, "-C", directory, *_FIXED)


def _ask(
    *commands: tuple[str, ...], given: Iterable[str] = (), more: Mapping[str, str] | None = None
) -> list[str | None]:
    """What git answers to each; bytes that are no text come back escaped, which no id takes."""
    lines = "".join(f"{one}\n" for one in given).encode()
    found = answers(commands, env={**_environment(os.environ), **(more or {})}, seconds=SECONDS, given=lines)
    return [None if raw is None else raw.decode("utf-8", "surrogateescape") for raw in found]


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the caller's but where the user's own git configuration is."""
    return {**_ENVIRONMENT, **{name: environ[name] for name in _OF_THE_USER if name in environ}}
