"""Evidence: what the current sources of truth say, and memory beneath it, apart.

A source of truth is asked on each call and never remembered. Memory that says otherwise is older, and the
answer says so once (redline, "Runtime truth first").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import msgspec

from nsstore.errors import InvalidInput
from nsstore.search.engine import Answer, Hit

MAX_STATEMENTS: Final = 10
MAX_STATEMENT: Final = 1_000
MAX_TOPIC: Final = 4_000
CONTEXT: Final = "explicit_context"


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is so now: ``about`` names it in a word or a path, ``text`` says it."""

    about: str
    text: str


class TruthSource(Protocol):
    """Something that knows how things are now: runtime status, baseline, patches, files of the branch."""

    @property
    def name(self) -> str:
        """What it is called in an answer, as ``get_baseline``."""
        ...

    def ask(self, topic: str) -> Sequence[Statement]:
        """What is so now and belongs to a topic; nothing if it has nothing to say about it."""
        ...


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """What one source of truth said; ``silent`` if it could not be asked, so that nothing is known from it.

    A long statement is cut, and of many statements the first :data:`MAX_STATEMENTS` stand.
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
    truth = tuple([_asked(source, topic) for source in sources])
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


def _asked(source: TruthSource, topic: str) -> Truth:
    name = source.name
    try:
        said = [_short(one) for one in source.ask(topic)[:MAX_STATEMENTS]]
    except Exception:  # noqa: BLE001 - a host's own source may fail in any way; memory is not to stand in for it
        return Truth(source=name, statements=(), silent=True)
    return Truth(source=name, statements=tuple(said))


def _short(one: Statement) -> Statement:
    if len(one.text) <= MAX_STATEMENT:
        return one
    return Statement(about=one.about, text=f"{one.text[: MAX_STATEMENT - 1]}…")
