"""What git says about a directory: derived again on each call, and never by running what a repository brings.

A repository's own configuration can name programs (hooks, a file system monitor, transports); none of
the questions asked here runs one, and no object is fetched. What cannot be told is ``None``: a question
that failed is never taken for one that was answered with no.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from nsstore.host.belonging import belongs
from nsstore.host.history import ID, History
from nsstore.root.owned import has_name, identity, upwards
from nsstore.root.programs import MOST, Answer, Call, answers, program
from nsstore.scope import NOT_APPLICABLE_TEXT

SECONDS: Final = 5.0
LINEAGE: Final = 4096
"""So many commits back memory follows the code's history through branches and merges."""
ATTEMPTS: Final = 3
_FIXED: Final = (
    "--no-pager",
    "--no-replace-objects",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.sshCommand=false",
    "-c", "core.askPass=",
    "-c", "core.warnAmbiguousRefs=false",  # HEAD is HEAD, whatever else is called so
    "-c", "protocol.allow=never",
)  # fmt: skip
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "PATH": "/usr/bin:/bin",
    "GIT_ALLOC_LIMIT": "16m",  # a few bytes can unpack to a commit of any size; people make none near this
    "GIT_ALLOW_PROTOCOL": "none",  # unlike protocol.allow it wins over protocol.<name>.allow of a repository
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
INDEX: Final = {"GIT_ALLOC_LIMIT": "1g"}
"""Added for a question that has git take in the whole list of files."""
_OF_THE_USER: Final = ("HOME", "XDG_CONFIG_HOME")  # which foreign directories the user called safe
_HEADS: Final = "refs/heads/"
_TAG: Final = re.compile(rf"(?P<tag>.+)-(?P<distance>\d+)-g(?P<commit>{ID.pattern})")
_WHERE: Final = Call(
    ("rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir",
     "--is-shallow-repository", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
)  # fmt: skip
_DESCRIBE: Final = Call(("describe", "--tags", "--long", "--always", "--abbrev=64", "HEAD"))
# Of an annotated tag git describes the name within, which need not be the ref's. And where the object of a
# tag is not there, describe passes over it; this one fails.
_TAGS: Final = Call(("for-each-ref", "--format=%(refname:strip=2) %(tag)", "refs/tags"), most=32 * MOST)
_WORK_TREE: Final = ("config", "--get", "core.worktree")
_URL: Final = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/@]*@)?(?P<host>\[[^\]/]*\]|[^/:]+)(?::\d*)?/(?P<path>.+)", re.IGNORECASE
)
_SCP: Final = re.compile(r"(?:[^/@:]+@)?(?P<host>\[[^\]/]*\]|[^/:@]+):(?P<path>[^/:].*|/.+)")


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A work tree at one moment.

    ``branch`` is ``-`` when HEAD is detached, and ``None`` if it is not known, or called ``-`` itself;
    ``baseline`` the nearest reachable tag, else the root commit, else (a shallow clone, or not known)
    ``None``; ``main`` the directory of the main work tree, ``common`` that of what all work trees share;
    ``lineage`` the newest proven ancestors of the commit, itself among them, :data:`LINEAGE` at most.
    ``whole`` is whether git answered all that it was asked.
    """

    top: str
    git_dir: str
    common: str
    main: str
    commit: str
    branch: str | None
    baseline: str | None
    lineage: frozenset[str]
    whole: bool


class _HeadMoved(Exception):
    """Git's answers are of more than one moment."""


def facts_of(directory: str) -> Facts | None:
    """What git knows of the work tree around a directory, all of it of one HEAD.

    ``None`` where there is no git, no repository, no work tree, one that git holds unsafe, one whose
    repository belongs to another directory, no commit, or a HEAD that moves again and again.
    """
    for _ in range(ATTEMPTS):
        try:
            return _facts(directory)
        except _HeadMoved:
            continue
    return None


def _facts(directory: str) -> Facts | None:
    """The facts. Raises :class:`_HeadMoved` if HEAD did so meanwhile."""
    history = History(LINEAGE)
    listed, printed, where, described, tags = ask(
        directory, *history.calls(lambda said: _again(said[1])), _WHERE, _DESCRIBE, _TAGS
    )
    lines = _lines(where)
    if printed.status != 0 or len(lines) != 6 or not ID.fullmatch(lines[4]):
        return None
    top, git_dir, common, shallow, commit, ref = lines
    again = _again(where).count(b"\n")
    if history.named[:1] + history.named[-again:] != [commit] * (1 + again):
        raise _HeadMoved
    if not belongs(top, git_dir, common, ref, lambda: questions(top, _WORK_TREE)[0]):
        return None
    baseline, known = _tag(described, tags, commit)
    if known and baseline is None:
        baseline, known = _root(top, commit, history, shallow=shallow != "false")
    return Facts(
        top=top,
        git_dir=git_dir,
        common=common,
        main=os.path.dirname(common) if os.path.basename(common) == ".git" else top,
        commit=commit,
        branch=_branch(ref),
        baseline=None if baseline == NOT_APPLICABLE_TEXT else baseline,
        lineage=frozenset({commit, *history.parents}),
        whole=known and history.is_whole(listed, again),
    )


def top_of(directory: str) -> str:
    """The nearest directory upwards that holds a ``.git``, else the directory itself; git is not asked."""
    return next((at for at in upwards(directory) if has_name(at, ".git")), directory)


def facts_at(top: str) -> Facts | None:
    """The facts of a work tree by its own top: a repository that names another one says nothing."""
    facts = facts_of(top)
    return facts if facts is not None and identity(facts.top) == identity(top) else None


def ask(directory: str, *calls: Call, more: Mapping[str, str] | None = None) -> list[Answer]:
    """What git answers about a directory, asked all at once; a call's command is what follows ``git``.

    ``more`` is added to git's environment. Without git, and in time, every status is ``None``.
    """
    git = program("git", apart=top_of(directory))
    if git is None:
        return [Answer(None, b"")] * len(calls)
    env = {**_ENVIRONMENT, **{name: os.environ[name] for name in _OF_THE_USER if name in os.environ}}
    whole = [call._replace(command=(git, "-C", directory, *_FIXED, *call.command)) for call in calls]
    return answers(whole, env={**env, **(more or {})}, seconds=SECONDS)


def questions(
    directory: str, *commands: tuple[str, ...], more: Mapping[str, str] | None = None, most: int = MOST
) -> list[str | None]:
    """The text of git's answers, as :func:`ask` gives them; ``None`` for each that has no whole answer."""
    found = ask(directory, *(Call(command, most) for command in commands), more=more)
    return [text(one) if one.status == 0 else None for one in found]


def text(answer: Answer) -> str:
    """What git printed, whole or not; bytes that are no text come escaped, which no id takes."""
    return answer.out.decode("utf-8", "surrogateescape")


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


def _lines(answer: Answer) -> list[str]:
    """The lines of a whole answer, and none of another."""
    return text(answer).removesuffix("\n").split("\n") if answer.status == 0 else []


def _again(where: Answer) -> bytes:
    """What has to be the same commit still when all else was answered: HEAD, and the branch it was on."""
    names = ["HEAD", *(one for one in _lines(where)[5:] if one.startswith(_HEADS))]
    return "".join(f"{one}\n" for one in names).encode("utf-8", "surrogateescape")


def _branch(ref: str) -> str | None:
    if ref == "HEAD":
        return NOT_APPLICABLE_TEXT
    name = ref.removeprefix(_HEADS)
    return None if name in {ref, NOT_APPLICABLE_TEXT} else name


def _tag(described: Answer, tags: Answer, commit: str) -> tuple[str | None, bool]:
    """The nearest tag of a commit, if there is one; and whether that is known."""
    if described.status != 0 or tags.status != 0:
        return None, False
    said = text(described).removesuffix("\n")
    if said == commit:
        return None, True
    found = _TAG.fullmatch(said)
    if found is not None and found["commit"] == commit:
        pairs = (line.partition(" ") for line in text(tags).split("\n"))
        names = [ref for ref, _, within in pairs if (within or ref) == found["tag"]]
        return (names[0], True) if len(names) == 1 else (None, False)
    if found is not None and found["distance"] == "0":
        return None, False  # the tag of a tag, of which git does not say which commit it is
    raise _HeadMoved


def _root(top: str, commit: str, history: History, *, shallow: bool) -> tuple[str | None, bool]:
    """Where the first parents of a commit begin, if that is here; and whether that is known."""
    at: str | None = commit
    while at in history.parents:
        root, at = at, history.parents[at]
        if at is None:
            return root, True
    if shallow or len(history.parents) < LINEAGE:
        return None, shallow
    (answer,) = questions(top, ("rev-list", "--first-parent", "--max-parents=0", commit))
    found = (answer or "").split()
    return (found[0], True) if len(found) == 1 and ID.fullmatch(found[0]) else (None, False)
