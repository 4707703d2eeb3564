"""Evidence: what the current sources of truth say, and memory beneath it, apart.

A source of truth is asked on each call and never remembered. Memory that says otherwise is older, and the
answer says so once (redline, "Runtime truth first"). A source is a host's own program: whatever it does, the
answer comes, in time and within bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from threading import BoundedSemaphore, Thread
from typing import Final, Protocol

import msgspec

from nsstore.errors import InvalidInput
from nsstore.search.engine import Answer, Hit
from nsstore.session.plain import cut, seen

SECONDS = 3.0
"""How long one source is waited for."""
WAITING = BoundedSemaphore(64)
"""How many may be waited for or, hung for ever, still be at it; beyond them none is asked."""
UNNAMED: Final = "unnamed source"
MAX_NAME: Final = 100
MAX_ABOUT: Final = 200
MAX_STATEMENTS: Final = 10
MAX_STATEMENT: Final = 1_000
MAX_TOPIC: Final = 4_000
CONTEXT: Final = "explicit_context"


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is so now: ``about`` names it in a word or a path, ``text`` says it."""

    about: str
    text: str


class TruthSource(Protocol):
    """Something that knows how things are now: runtime status, baseline, patches, files of the branch.

    It is asked in a thread of its own, one source after the other.
    """

    @property
    def name(self) -> str:
        """What it is called in an answer, as ``get_baseline``."""
        ...

    def ask(self, topic: str) -> Sequence[Statement]:
        """What is so now and belongs to a topic; nothing if it has nothing to say about it."""
        ...


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """What one source of truth said; ``silent`` if it gave no answer, so that nothing is known from it.

    That is one that failed, took longer than :data:`SECONDS`, or gave what is no statement of text. Name,
    subject and statement are cut where they are long, code points that nobody sees are dropped, and of many
    statements the first :data:`MAX_STATEMENTS` stand.
    """

    source: str
    statements: tuple[Statement, ...]
    silent: bool = False


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Truth first, as its sources said it just now; memory beneath, as :meth:`Session.search` found it."""

    topic: str
    truth: tuple[Truth, ...]
    memory: tuple[Hit, ...]
    stale: tuple[Hit, ...]
    notices: tuple[str, ...]
    incomplete: bool
    advisory: str


class Given:
    """What somebody says to be so now: the context that a user gives in so many words."""

    def __init__(self, text: str) -> None:
        self.name = CONTEXT
        self._text = text

    def ask(self, topic: str) -> Sequence[Statement]:  # noqa: ARG002 - it holds for every topic
        """The text, whatever the topic."""
        return (Statement(about="context", text=self._text),)


def gather(
    search: Callable[[str, int], Answer], topic: object, sources: Sequence[TruthSource], k: int
) -> Evidence:
    """Ask each source in its order, then memory.

    A source that fails is named as silent, and takes nothing from the others. Raises
    :class:`InvalidInput` for a topic that is no text or too long, and as :meth:`Session.search`.
    """
    if type(topic) is not str or not topic.strip() or len(topic) > MAX_TOPIC:
        raise InvalidInput(f"the topic must be text of 1 to {MAX_TOPIC} characters")
    truth = tuple([asked(source, topic) for source in sources])
    answer = search(topic, k)
    return Evidence(
        topic=topic,
        truth=truth,
        memory=answer.hits,
        stale=answer.stale,
        notices=answer.notices,
        incomplete=answer.incomplete,
        advisory=answer.advisory,
    )


def asked(source: TruthSource, topic: str) -> Truth:
    """What one source says; silent, whatever else it does. Raises nothing."""
    if not WAITING.acquire(blocking=False):
        return _SILENT
    asking = _Asking(source, topic)
    try:
        asking.start()
    except RuntimeError:  # the system gives this process no more threads
        WAITING.release()
        return _SILENT
    asking.join(SECONDS)
    return asking.told


_SILENT: Final = Truth(source=UNNAMED, statements=(), silent=True)


class _Asking(Thread):
    """A source that is asked; ``told`` is what is known from it so far."""

    def __init__(self, source: TruthSource, topic: str) -> None:
        super().__init__(name="nsstore evidence", daemon=True)  # one that hangs keeps no process from ending
        self.told = _SILENT
        self._source = source
        self._topic = topic
        self._waiting = WAITING

    def run(self) -> None:
        """Ask it. A host's own source may fail in any way: it ends no program, and takes nothing with it."""
        with suppress(BaseException):
            name = _cut(self._source.name, MAX_NAME)
            if not name.strip():
                raise ValueError(name)
            self.told = Truth(source=name, statements=(), silent=True)
            said = islice(self._source.ask(self._topic), MAX_STATEMENTS)
            self.told = Truth(source=name, statements=tuple([_short(one) for one in said]))
        self._waiting.release()


def _short(one: object) -> Statement:
    if not isinstance(one, Statement):
        raise TypeError
    return Statement(about=_cut(one.about, MAX_ABOUT), text=_cut(one.text, MAX_STATEMENT))


def _cut(given: object, most: int) -> str:
    """The beginning of a text. Raises ``TypeError`` or ``ValueError`` for what is none."""
    if type(given) is not str:
        raise TypeError
    text = seen(given[: 2 * most])
    text.encode()  # half a surrogate pair is no text, and no answer could hold it
    return cut(text, most)
