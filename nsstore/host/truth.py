"""The sources of truth that git can serve: how the checkout is now, asked anew each time.

A repository's own configuration can name programs that a look at changed files would run (filters, a
monitor, a transport); none is run. What a commit says of itself is somebody's text, and no instruction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from nsstore.host.git import INDEX, Facts, ask, questions, text
from nsstore.root.programs import Answer, Call
from nsstore.scope import NOT_APPLICABLE_TEXT
from nsstore.session import Statement, TruthSource
from nsstore.session.plain import one_line

MOST_FILES: Final = 20
MOST_COMMITS: Final = 5
MOST_NAMED: Final = 8
MOST_SHOWN: Final = 200
"""Characters of a name or of a line; what is longer is cut."""
MOST_CHANGED: Final = 256 * 1024
MOST_TRACKED: Final = 32 * 1024 * 1024
LEAST_WORD: Final = 4
_WORD: Final = re.compile(r"[\w./@+-]+")
_LINE: Final = f"--format=%h %cs %<({MOST_SHOWN},trunc)%s"  # cut by git: a subject can be of any length
_LAST: Final = ("rev-list", f"--max-count={MOST_COMMITS}", "--no-commit-header", _LINE)
_FILTERS: Final = ("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$")
_STATUS: Final = (
    *("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames"),
    *("--untracked-files=normal", "--ignore-submodules=all"),
)
_BEFORE_PATH: Final = {"1": 8, "u": 10, "?": 1}  # so many words come first


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


class Changed(NamedTuple):
    """The files that differ from the commit or are new; ``whole`` if these are all of them."""

    paths: tuple[str, ...]
    whole: bool


class Tree:
    """One work tree and what git says of it at one commit.

    Raises :class:`Unanswered` where git does not say, or speaks of another commit by now.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._tracked: tuple[str, ...] | None = None
        self._asked: tuple[Answer, ...] | None = None

    def status(self) -> tuple[Statement, ...]:
        """The branch, the commit, and which files differ from it."""
        facts, changed = self._facts, self.changed()
        said = [Statement(about="commit", text=_answer(self._basics()[0])[0])]
        if facts.branch is not None:
            branch = "none: HEAD is detached" if facts.branch == NOT_APPLICABLE_TEXT else facts.branch
            said.insert(0, Statement(about="branch", text=one_line(branch, MOST_SHOWN)))
        more = len(changed.paths) - MOST_FILES
        listed = ", ".join(one_line(path, MOST_SHOWN) for path in changed.paths[:MOST_FILES])
        if more > 0 or not changed.whole:
            listed += f" and {more} more" if changed.whole else f" and more than {max(more, 0)} more"
        said.append(Statement(about="changed files", text=listed or "none"))
        return tuple(said)

    def baseline(self) -> tuple[Statement, ...]:
        """The nearest tag, else the root commit, and how far the commit is from it."""
        baseline = self._facts.baseline
        if baseline is None:
            return ()
        (count,) = _answer(self._basics()[1])
        said = f"{one_line(baseline, MOST_SHOWN)}, {count} commits before this one"
        return (Statement(about="baseline", text=said),)

    def patches(self, topic: str) -> tuple[Statement, ...]:
        """The last commits, of the files that the topic names if it names any."""
        named = self.named(topic)
        about = "last commits"
        if named:
            command = ("--literal-pathspecs", *_LAST, self._facts.commit, "--", *named)
            found = ask(self._facts.top, Call(command))[0]
            about = one_line(f"last commits of {', '.join(named)}", MOST_SHOWN)
        else:
            found = self._basics()[0]
        return tuple(Statement(about=about, text=line) for line in _answer(found) if line)

    def files(self, topic: str) -> tuple[Statement, ...]:
        """Which files of the branch the topic names, and whether they differ from the commit."""
        named = self.named(topic)
        changed = self.changed() if named else Changed((), whole=True)
        said = {True: "changed since the commit", False: "as in the commit"}
        return tuple(
            Statement(about=one_line(path, MOST_SHOWN), text=said[path in changed.paths])
            for path in named
            if path in changed.paths or changed.whole
        )

    def changed(self) -> Changed:
        """The files that differ from the commit or are new, without running a filter of the repository."""
        filters = self._basics()[2]
        if filters.status not in {0, 1}:  # 1: there is none
            raise Unanswered
        keys = sorted({one for one in text(filters).split("\0") if one})
        required = {f"{key.rpartition('.')[0]}.required" for key in keys}
        settings = [*((key, "") for key in keys), *((key, "false") for key in sorted(required))]
        more = {**INDEX, "GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings):
            more |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        (answer,) = ask(self._facts.top, Call(_STATUS, MOST_CHANGED), more=more)
        cut = answer.status is None and len(answer.out) == MOST_CHANGED
        if answer.status != 0 and not cut:
            raise Unanswered
        entries = text(answer).split("\0")[:-1]  # after the last one nothing, or what was cut
        if f"# branch.oid {self._facts.commit}" not in entries:
            raise Unanswered
        split = [(_BEFORE_PATH.get(one[:1]), one) for one in entries]
        paths = [one.split(" ", words)[words] for words, one in split if words is not None]
        return Changed(tuple(paths), whole=not cut)

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
            (listed,) = questions(self._facts.top, ("ls-files", "-z"), more=INDEX, most=MOST_TRACKED)
            if listed is None:
                raise Unanswered
            self._tracked = tuple(one for one in listed.split("\0") if one and one.isprintable())
        return self._tracked

    def _basics(self) -> tuple[Answer, ...]:
        """The last commits, how many there are since the baseline, and the filters; asked all at once."""
        if self._asked is None:
            commit, baseline = self._facts.commit, self._facts.baseline
            asked = ((*_LAST, commit), ("rev-list", "--count", commit, f"^{baseline or commit}"), _FILTERS)
            self._asked = tuple(ask(self._facts.top, *map(Call, asked)))
        return self._asked


def _answer(answer: Answer) -> list[str]:
    """The lines of an answer, each so that it can be shown."""
    if answer.status != 0:
        raise Unanswered
    return [one_line(line, 2 * MOST_SHOWN) for line in text(answer).removesuffix("\n").split("\n")]


def _names(path: str) -> tuple[str, ...]:
    """What a topic can call a file."""
    whole = path.casefold()
    name = whole.rpartition("/")[2]
    return whole, name, name.partition(".")[0]
