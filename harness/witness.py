"""A witness between the suite and a provider: looks every answer through for what its asker may not read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeVar, cast

import msgspec

from nsstore.harness import provider as contract
from nsstore.harness.case import Ability, Metrics
from nsstore.harness.provider import Dimension, Engine, Kept, Planted, Provider, Scope, ScopeProperties

CANARY: Final = re.compile(r"zq[a-z0-9]{12}")
PROTOCOLS: Final[Mapping[Ability, type[object]]] = {
    "gets": contract.Gets,
    "lists": contract.Lists,
    "updates": contract.Updates,
    "annotates": contract.Annotates,
    "forgets": contract.Forgets,
    "shares": contract.Shares,
    "stale": contract.Stale,
    "advises": contract.Advises,
    "audits": contract.Audits,
    "on_files": contract.OnFiles,
    "reopens": contract.Reopens,
    "guards": contract.Guards,
}
Answered = TypeVar("Answered")


class Unproven(Exception):
    """What a case must see was not seen; the message says what was."""


class Counts(msgspec.Struct, kw_only=True):
    """What was counted over every answer so far."""

    answers: int = 0
    hits: int = 0
    foreign: int = 0
    ranked: int = 0
    hijacked: int = 0
    wanted: int = 0
    found: int = 0
    drift: float = 0.0

    def metrics(self) -> Metrics:
        """The figures of a report."""
        return Metrics(
            answers=self.answers,
            hits=self.hits,
            foreign_rate=self.foreign / self.hits if self.hits else 0.0,
            authorised_recall=self.found / self.wanted if self.wanted else 1.0,
            hijack_rate=self.hijacked / self.ranked if self.ranked else 0.0,
            drift=self.drift,
        )


class Known:
    """Whose each canary and each record id is, and what is open beyond equality."""

    def __init__(self) -> None:
        self._canaries: dict[str, Scope | None] = {}
        self._ids: dict[str, list[Scope]] = {}
        self._opened: list[tuple[Scope, Scope]] = []

    def own(self, canary: str, scope: Scope | None) -> None:
        """Note whose a canary is; ``None``: nobody may read it (any more)."""
        self._canaries[canary] = scope

    def gave(self, record_id: str, scope: Scope) -> None:
        """Note whose an id is that the provider gave; several scopes may have equal ones."""
        self._ids[record_id] = [*self._ids.get(record_id, ()), scope]

    def has(self, asker: Scope, record_id: str) -> bool:
        """Whether an asker has a record of its own under this id, whoever else has one."""
        return asker in self._ids.get(record_id, ())

    def absent(self, like: str, nth: int = 0) -> str:
        """An id of the same form that was never given: the last characters are others."""
        for number in range(nth, nth + 10_000):
            turned = [_turned(one, number // 10**place) for place, one in enumerate(reversed(like[-4:]))]
            other = like[:-4] + "".join(reversed(turned))
            if other != like and other not in self._ids:
                return other
        return like + like

    def open(self, asker: Scope, owner: Scope) -> None:
        """Note that an asker may read what another scope holds."""
        self._opened.append((asker, owner))

    def shut(self, asker: Scope, owner: Scope) -> None:
        """Note that it may not any more."""
        self._opened.remove((asker, owner))

    def may_read(self, asker: Scope, owner: Scope | None) -> bool:
        """Whether an asker may read what this scope holds."""
        return owner is not None and (asker == owner or (asker, owner) in self._opened)

    def foreign(self, asker: Scope, raw: str) -> bool:
        """Whether a text holds a canary that the asker may not read."""
        found = (one for one in CANARY.findall(raw) if one in self._canaries)
        return any(not self.may_read(asker, self._canaries[one]) for one in found)

    def is_foreign(self, asker: Scope, one: Kept) -> bool:
        """Whether a record is one that the asker may not read, by its id or by anything said of it."""
        owners = self._ids.get(one.record_id)
        if owners is not None and not any(self.may_read(asker, owner) for owner in owners):
            return True
        return self.foreign(asker, f"{one.record_id} {one.text} {one.provenance}")


class Witnessed:
    """A provider of which every answer, and every message, is looked through and counted.

    Raises :class:`Unproven` for one that holds what its asker may not read, and else whatever the
    provider raises.
    """

    def __init__(self, provider: Provider, counts: Counts, known: Known) -> None:
        self._it = provider
        self.counts = counts
        self.known = known

    @cached_property
    def abilities(self) -> frozenset[Ability]:
        """What it can do beside remembering and searching."""
        return frozenset(one for one, protocol in PROTOCOLS.items() if isinstance(self._it, protocol))

    @property
    def name(self) -> str:
        """What the provider is called."""
        return f"{type(self._it).__module__}:{type(self._it).__qualname__}"

    def scope_properties(self) -> ScopeProperties | None:
        """What it declares."""
        return self._it.scope_properties()

    def remember(self, scope: Scope, text: str) -> str:
        return self._gave(scope, lambda: self._it.remember(scope, text))

    def search(self, scope: Scope, query: str, k: int = 10) -> tuple[Kept, ...]:
        found = self._looked(scope, "search", lambda: self._it.search(scope, query, k), ranked=True)
        if len(found) > k:
            raise Unproven(f"search gave {len(found)} records when asked for {k}")
        return found

    def get(self, scope: Scope, record_id: str) -> Kept:
        it = cast("contract.Gets", self._it)
        return self._looked(scope, "get", lambda: (it.get(scope, record_id),))[0]

    def list(self, scope: Scope) -> tuple[Kept, ...]:
        return self._looked(scope, "list", lambda: cast("contract.Lists", self._it).list(scope))

    def update(self, scope: Scope, record_id: str, text: str, metadata: Mapping[str, object]) -> str:
        it = cast("contract.Updates", self._it)
        return self._gave(scope, lambda: it.update(scope, record_id, text, metadata))

    def remember_with(self, scope: Scope, text: str, metadata: Mapping[str, object]) -> str:
        it = cast("contract.Annotates", self._it)
        return self._gave(scope, lambda: it.remember_with(scope, text, metadata))

    def forget(self, scope: Scope, record_id: str) -> None:
        self._said(scope, lambda: cast("contract.Forgets", self._it).forget(scope, record_id))

    def share(self, asker: Scope, dimension: Dimension, owner: Scope) -> object:
        token = cast("contract.Shares", self._it).share(asker, dimension, owner)
        self.known.open(asker, owner)
        return token, asker, owner

    def revoke(self, shared: object) -> None:
        """Close what :meth:`share` opened, whose answer this is."""
        token, asker, owner = cast("tuple[object, Scope, Scope]", shared)
        self.known.shut(asker, owner)
        cast("contract.Shares", self._it).revoke(token)

    def search_beside(self, scope: Scope, query: str, k: int, beside: Sequence[Scope]) -> tuple[Kept, ...]:
        """As the provider's; what is of ``beside`` may be read here, if it is marked."""
        it = cast("contract.Stale", self._it)
        for one in beside:
            self.known.open(scope, one)
        try:
            return self._looked(scope, "search", lambda: it.search_beside(scope, query, k, beside))
        finally:
            for one in beside:
                self.known.shut(scope, one)

    def evidence(self, scope: Scope, topic: str, now: str) -> tuple[str | Kept, ...]:
        it = cast("contract.Advises", self._it)
        told = self._said(scope, lambda: tuple(it.evidence(scope, topic, now)))
        self._look(scope, "evidence", [one for one in told if isinstance(one, Kept)])
        if any(self.known.foreign(scope, one) for one in told if isinstance(one, str)):
            raise Unproven("evidence told what the scope may not read")
        return told

    def audited(self) -> tuple[Mapping[str, object], ...]:
        """The events so far."""
        return tuple(cast("contract.Audits", self._it).audited())

    def plant(self, scope: Scope, text: str, kind: Planted) -> None:
        cast("contract.OnFiles", self._it).plant(scope, text, kind)

    def files(self) -> Mapping[str, bytes]:
        return cast("contract.OnFiles", self._it).files()

    def second(self) -> Witnessed:
        """Another one of it, looked through in the same way."""
        return Witnessed(cast("contract.Reopens", self._it).second(), self.counts, self.known)

    def through(self, scope: Scope, query: str, engine: Engine) -> tuple[Kept, ...]:
        it = cast("contract.Guards", self._it)
        return self._looked(scope, "through", lambda: it.through(scope, query, engine))

    def close(self) -> None:
        self._it.close()

    def _gave(self, scope: Scope, call: Callable[[], str]) -> str:
        """The id that a call gives a record of a scope."""
        record_id = self._said(scope, call)
        if type(record_id) is not str:
            raise Unproven("a record was given an id that is no text")
        self.known.gave(record_id, scope)
        return record_id

    def _said(self, asker: Scope, call: Callable[[], Answered]) -> Answered:
        """The answer of a call; what it raises tells nothing of others either."""
        try:
            return call()
        except Exception as err:
            if self.known.foreign(asker, f"{err}"):
                self.counts.foreign += 1
                raise Unproven(f"{type(err).__name__} told what the scope may not read") from err
            raise

    def _looked(
        self, asker: Scope, verb: str, call: Callable[[], Iterable[Kept]], *, ranked: bool = False
    ) -> tuple[Kept, ...]:
        found = self._said(asker, call)
        kept = tuple(found) if isinstance(cast("object", found), Sequence) else None
        if kept is None or not all(_is_record(one) for one in kept):
            raise Unproven(f"{verb} gave something else than records")
        self._look(asker, verb, kept, ranked=ranked)
        return kept

    def _look(self, asker: Scope, verb: str, kept: Sequence[Kept], *, ranked: bool = False) -> None:
        """Count an answer. Raises :class:`Unproven` for a foreign record in it."""
        foreign = [self.known.is_foreign(asker, one) for one in kept]
        self.counts.answers += 1
        self.counts.hits += len(kept)
        self.counts.foreign += sum(foreign)
        if ranked and kept:
            self.counts.ranked += 1
            self.counts.hijacked += foreign[0]
        if any(foreign):
            raise Unproven(f"{verb} showed {sum(foreign)} of {len(kept)} that the scope may not read")


def _turned(one: str, by: int) -> str:
    """Another character of the same kind."""
    if one.isdigit():
        return str((int(one) + by + 1) % 10)
    return "abcdef"[(ord(one) + by + 1) % 6] if one.islower() else one


def _is_record(one: object) -> bool:
    return isinstance(one, Kept) and type(one.record_id) is str and type(one.text) is str
