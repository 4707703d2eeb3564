"""The sources of truth that git can serve: how the checkout is now, asked anew each time.

A repository's own configuration can name programs that a look at changed files would run (filters, a
monitor, a transport); none is run. What a commit says of itself is somebody's text, and no instruction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from nsstore.host.git import Facts, questions
from nsstore.session import Statement, TruthSource

MOST_FILES: Final = 20
MOST_COMMITS: Final = 5
MOST_NAMED: Final = 8
LEAST_WORD: Final = 4
_WORD: Final = re.compile(r"[\w./@+-]+")
_LAST: Final = (
    *("rev-list", f"--max-count={MOST_COMMITS}", "--no-commit-header", "--format=%h %cs %s", "HEAD"),
)
_FILTERS: Final = ("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$")


class Source:
    """A source of truth by its name, which is asked for what belongs to a topic."""

    def __init__(self, name: str, ask: Callable[[str], Sequence[Statement]]) -> None:
        self.name = name
        self._ask = ask

    def ask(self, topic: str) -> Sequence[Statement]:
        """What is so now."""
        return self._ask(topic)


def git_sources(facts: Facts) -> tuple[TruthSource, ...]:
    """The sources of a work tree, in the order of the redline: runtime status, baseline, patches, files."""
    tree = Tree(facts)
    return (
        Source("get_runtime_status", lambda _: tree.status()),
        Source("get_baseline", lambda _: tree.baseline()),
        Source("list_patches", tree.patches),
        Source("current_branch_files", tree.files),
    )


class Unanswered(Exception):
    """Git gave no answer, so that nothing is known."""


class Tree:
    """One work tree and what git says of it. Raises :class:`Unanswered` where git does not say."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._tracked: tuple[str, ...] | None = None
        self._asked: tuple[str | None, ...] | None = None

    def status(self) -> tuple[Statement, ...]:
        """The branch, the commit, and which files differ from it."""
        facts, changed = self._facts, self.changed()
        said = [
            Statement(about="branch", text="none: HEAD is detached" if facts.branch == "-" else facts.branch),
            Statement(about="commit", text=_answer(self._basics()[0]).partition("\n")[0]),
        ]
        if changed:
            more = len(changed) - MOST_FILES
            listed = ", ".join(changed[:MOST_FILES]) + (f" and {more} more" if more > 0 else "")
            said.append(Statement(about="changed files", text=listed))
        else:
            said.append(Statement(about="changed files", text="none"))
        return tuple(said)

    def baseline(self) -> tuple[Statement, ...]:
        """The nearest tag, else the root commit, and how far the commit is from it."""
        baseline = self._facts.baseline
        if baseline is None:
            return ()
        count = _answer(self._basics()[1])
        return (Statement(about="baseline", text=f"{baseline}, {count} commits before this one"),)

    def patches(self, topic: str) -> tuple[Statement, ...]:
        """The last commits, of the files that the topic names if it names any."""
        named = self.named(topic)
        if named:
            command = ("--literal-pathspecs", *_LAST, "--", *named)
            found = _answer(questions(self._facts.top, command)[0])
        else:
            found = _answer(self._basics()[0])
        about = f"last commits of {', '.join(named)}" if named else "last commits"
        return tuple(Statement(about=about, text=line) for line in found.splitlines())

    def files(self, topic: str) -> tuple[Statement, ...]:
        """Which files of the branch the topic names, and whether they differ from the commit."""
        named = self.named(topic)
        changed = frozenset(self.changed()) if named else frozenset[str]()
        return tuple(
            Statement(about=path, text="changed since the commit" if path in changed else "as in the commit")
            for path in named
        )

    def changed(self) -> tuple[str, ...]:
        """The files that differ from the commit or are new, without running a filter of the repository."""
        filters = self._basics()[2]  # to have none at all is a failure to git
        keys = sorted({one for one in (filters or "").split("\0") if one})
        required = {f"{key.rpartition('.')[0]}.required" for key in keys}
        settings = [*((key, "") for key in keys), *((key, "false") for key in sorted(required))]
        more = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings):
            more |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        asked = ("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all")
        (found,) = questions(self._facts.top, asked, more=more)
        if found is None:
            raise Unanswered
        return tuple(_plain(one[3:]) for one in found.split("\0") if one)

    def named(self, topic: str) -> tuple[str, ...]:
        """The tracked files that a topic names: by path, by name, or by name without its ending."""
        words = {word.strip("./").casefold() for word in _WORD.findall(topic)}
        words = {word for word in words if len(word) >= LEAST_WORD}
        if not words:
            return ()
        found = [path for path in self._files() if not words.isdisjoint(_names(path))]
        return tuple(sorted(found, key=lambda path: (len(path), path))[:MOST_NAMED])

    def _files(self) -> tuple[str, ...]:
        if self._tracked is None:
            (listed,) = questions(self._facts.top, ("ls-files", "-z"))
            if listed is None:
                raise Unanswered
            self._tracked = tuple(one for one in listed.split("\0") if one and one.isprintable())
        return self._tracked

    def _basics(self) -> tuple[str | None, ...]:
        """The last commits, how many there are since the baseline, and the filters; asked all at once."""
        if self._asked is None:
            since = ("rev-list", "--count", "HEAD", f"^{self._facts.baseline or 'HEAD'}")
            self._asked = tuple(questions(self._facts.top, _LAST, since, _FILTERS))
        return self._asked


def _answer(found: str | None) -> str:
    if found is None:
        raise Unanswered
    return _plain(found, keep="\n").removesuffix("\n")


def _names(path: str) -> tuple[str, ...]:
    """What a topic can call a file."""
    whole = path.casefold()
    name = whole.rpartition("/")[2]
    return whole, name, name.partition(".")[0]


def _plain(text: str, keep: str = "") -> str:
    """The text with every character that is not to be seen, or is no text, as a dot."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else "·" for one in text)
