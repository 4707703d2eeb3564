"""A small world for a provider under test: two of everything, and in each place a word found nowhere else.

The names of the second places begin with those of the first, or nearly so, as the ids of real neighbours do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from random import Random
from typing import Final

import msgspec

from nsstore.harness.provider import DIMENSIONS, Dimension, Kept, Provider, Refusal, Scope
from nsstore.harness.witness import Counts, Known, Unproven, Witnessed

HOME: Final = Scope(
    tenant="acme", user="ada", project="shop", session="s-1",
    workspace="w-1", branch="main", baseline="v1", agent="claude",
)  # fmt: skip
"""Where most cases ask."""
SECOND: Final = Scope(
    tenant="acme-corp", user="ada.l", project="shop-api", session="s-10",
    workspace="w-11", branch="main-2", baseline="v1.1", agent="claude-code",
)  # fmt: skip
COMMON: Final = "quartz"
"""A word that every record of a world holds."""
WORD: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What was remembered: whose, the id if one is known, the text, and the word that it alone holds."""

    scope: Scope
    record_id: str | None
    text: str
    canary: str


def changed(scope: Scope, **values: object) -> Scope:
    """A scope with other values in some dimensions, whatever they are."""
    return msgspec.structs.replace(scope, **values)


def beside(scope: Scope, *dimensions: Dimension) -> Scope:
    """The neighbour of a scope: of each of these dimensions the other of the world's two values."""
    other = {
        one: getattr(SECOND if getattr(scope, one) == getattr(HOME, one) else HOME, one) for one in dimensions
    }
    return changed(scope, **other)


def neighbours(scope: Scope = HOME) -> tuple[Scope, ...]:
    """Every scope that differs in one dimension alone, and the one that differs in all of them."""
    return (*(beside(scope, one) for one in DIMENSIONS), beside(scope, *DIMENSIONS))


def refusal(call: Callable[[], object]) -> str | None:
    """What a provider says when it refuses; ``None`` if it does not."""
    try:
        call()
    except Refusal as err:
        return str(err)
    return None


class World:
    """A provider under test, what it was told, and the ways to ask it; every answer is looked through.

    ``full`` says that there is time for more than a self-test has.
    """

    def __init__(
        self, make: Callable[[], Provider], *, full: bool = False, counts: Counts | None = None
    ) -> None:
        self.full = full
        self.counts = counts or Counts()
        self._make = make
        self._dice = Random()  # noqa: S311 - words that differ from run to run, no secret
        self._others: list[Witnessed] = []
        self.provider = Witnessed(make(), self.counts, Known())

    @property
    def abilities(self) -> Collection[str]:
        """What the provider can do beside remembering and searching."""
        return self.provider.abilities

    def around(self) -> tuple[Scope, ...]:
        """Neighbours of home whose records are made fast; where there is time, all of them."""
        near: tuple[Dimension, ...] = ("project", "session", "workspace", "branch", "baseline", "agent")
        return neighbours() if self.full else tuple(beside(HOME, one) for one in near)

    def fresh(self) -> World:
        """A world of its own around another new provider, which ends with this one's case."""
        world = World(self._make, full=self.full, counts=self.counts)
        self._others.append(world.provider)
        return world

    def second(self) -> Witnessed:
        """The provider opened once more over the same records."""
        other = self.provider.second()
        self._others.append(other)
        return other

    def canary(self) -> str:
        """A word that was never said before."""
        return "zq" + "".join(self._dice.choices(WORD, k=12))

    def say(
        self, scope: Scope = HOME, words: str = "", *, to: Witnessed | None = None, times: int = 1
    ) -> Said:
        """Remember a text for a scope: the common word, these ``words`` and a canary."""
        canary = self.canary()
        text = " ".join(filter(None, (COMMON, words, *[canary] * times)))
        provider = to or self.provider
        provider.known.own(canary, scope)
        return Said(scope=scope, record_id=provider.remember(scope, text), text=text, canary=canary)

    def finds(
        self,
        asker: Scope,
        said: Said,
        *,
        at: Witnessed | None = None,
        verbs: Collection[str] = ("search", "get", "list"),
    ) -> None:
        """Require that a record is served by every verb that reads. Raises :class:`Unproven`."""
        provider, record_id = at or self.provider, said.record_id
        showed: dict[str, bool] = {}
        if "search" in verbs:
            showed["search"] = among(provider.search(asker, said.canary, 5), said)
        if "get" in verbs and "gets" in provider.abilities and record_id is not None:
            showed["get"] = refusal(lambda: _require(provider.get(asker, record_id), said)) is None
        if "list" in verbs and "lists" in provider.abilities:
            showed["list"] = among(provider.list(asker), said)
        lacks = [verb for verb, shown in showed.items() if not shown]
        self.counts.wanted += len(showed)
        self.counts.found += len(showed) - len(lacks)
        if lacks:
            raise Unproven(f"{' and '.join(lacks)} did not show what the scope may read")

    def hides(self, asker: Scope, said: Said, *, at: Witnessed | None = None) -> None:
        """Require that no verb serves a record. Raises :class:`Unproven`."""
        provider, record_id = at or self.provider, said.record_id
        for query in (said.canary, said.text, COMMON):
            with suppress(Refusal):
                provider.search(asker, query, 10)
        if "lists" in provider.abilities:
            with suppress(Refusal):
                provider.list(asker)
        if "gets" not in provider.abilities or record_id is None:
            return
        if refusal(lambda: provider.get(asker, record_id)) is None and not provider.known.has(
            asker, record_id
        ):
            raise Unproven("get answered for an id that the scope may not read")

    def shows(self, asker: Scope, said: Said, *, at: Witnessed | None = None) -> bool:
        """Whether a search for a record's own word finds it."""
        return among((at or self.provider).search(asker, said.canary, 5), said)

    def end_case(self) -> None:
        """Let go of what a case opened for itself."""
        others, self._others = self._others, []
        for one in others:
            one.close()

    def close(self) -> None:
        """Let go of everything."""
        self.end_case()
        self.provider.close()


def among(answer: Iterable[Kept], said: Said) -> bool:
    """Whether a record that was said is in an answer."""
    return any(said.canary in one.text for one in answer)


def _require(one: Kept, said: Said) -> None:
    if said.canary not in one.text:
        raise Refusal("another record")
