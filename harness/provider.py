"""What the acceptance suite asks of a memory: one small protocol, and abilities that it may have beside.

A provider keeps texts for askers. It needs nothing of nsstore: its scopes are plain texts, and what it
lacks is told by not having the method. A case that needs an ability the provider lacks is not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Literal, Protocol, runtime_checkable

import msgspec

Dimension = Literal["tenant", "user", "project", "session", "workspace", "branch", "baseline", "agent"]
DIMENSIONS: Final[tuple[Dimension, ...]] = (
    "tenant", "user", "project", "session", "workspace", "branch", "baseline", "agent",
)  # fmt: skip


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, or whose a record is: the dimensions of the redline's core rule, each a plain text.

    A probe may give a value that is no id (empty, a pattern, ``None``) to see that it is refused.
    """

    tenant: str
    user: str
    project: str
    session: str
    workspace: str
    branch: str
    baseline: str
    agent: str


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A record that a provider returned: its id, its text, its score if it ranks, and where it comes from.

    ``provenance`` is what the provider says of it by the names of the redline: ``record_id``, ``scope``
    (a mapping by dimension), ``source``, ``match_reason``, ``created_at``; ``None`` where it says nothing.
    ``stale`` marks what is of an allowed other branch or baseline.
    """

    record_id: str
    text: str
    score: float | None = None
    stale: bool = False
    provenance: Mapping[str, object] | None = None


class Refusal(Exception):
    """A provider's refusal: it did nothing. Any other exception is a failure of the provider itself."""


class ScopeProperties(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider declares of its scopes; what is not declared is not believed, and what is gets proven.

    ``separates`` are the dimensions by which it keeps records apart; ``filters_before_ranking`` says that
    what an asker may not read is in no ranking, count or statistic that the asker gets.
    """

    separates: frozenset[Dimension]
    filters_before_ranking: bool


@runtime_checkable
class Provider(Protocol):
    """A memory under test. Every method may raise :class:`Refusal`."""

    def scope_properties(self) -> ScopeProperties | None:
        """What the provider declares of its scopes; ``None`` if nothing: it is then not allowed (AC08)."""
        ...

    def remember(self, scope: Scope, text: str) -> str:
        """Keep a text for exactly this scope, and return the record's id."""
        ...

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        """The ``k`` best of the records that this scope may read, best first."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


@runtime_checkable
class Gets(Protocol):
    """Can show one record by its id."""

    def get(self, scope: Scope, record_id: str) -> Kept:
        """The record, or :class:`Refusal`: the same one whether it is absent or denied."""
        ...


@runtime_checkable
class Lists(Protocol):
    """Can list what a scope may read."""

    def list(self, scope: Scope) -> Sequence[Kept]:
        """All of it."""
        ...


@runtime_checkable
class Updates(Protocol):
    """Can put another text in the place of a record's."""

    def update(self, scope: Scope, record_id: str, text: str, metadata: Mapping[str, object]) -> str:
        """The id of the newest version; ``metadata`` is the caller's, and never moves a record."""
        ...


@runtime_checkable
class Forgets(Protocol):
    """Can forget a record for good."""

    def forget(self, scope: Scope, record_id: str) -> None:
        """The record is gone from every answer, and its text from every file."""
        ...


@runtime_checkable
class Annotates(Protocol):
    """Can keep a caller's own fields beside a text."""

    def remember_with(self, scope: Scope, text: str, metadata: Mapping[str, object]) -> str:
        """As ``remember``; ``metadata`` is the caller's, and says nothing of whose the record is."""
        ...


@runtime_checkable
class Shares(Protocol):
    """Has an owner who can open a dimension, and close it again."""

    def share(self, asker: Scope, dimension: Dimension, owner: Scope) -> object:
        """Open to ``asker`` what ``owner`` keeps, as far as they differ in this dimension alone; a token."""
        ...

    def revoke(self, token: object) -> None:
        """Close it again, at once."""
        ...


@runtime_checkable
class Stale(Protocol):
    """Can be told which other branches and baselines a request may see beside its own."""

    def search_beside(self, scope: Scope, query: str, k: int, beside: Sequence[Scope]) -> Sequence[Kept]:
        """As ``search``, and behind what is current, marked ``stale``, what is of ``beside``.

        These differ from ``scope`` in branch or baseline alone.
        """
        ...


@runtime_checkable
class Advises(Protocol):
    """Can set what is so now before what is remembered."""

    def evidence(self, scope: Scope, topic: str, now: str) -> Sequence[str | Kept]:
        """What a reader meets, in that order: texts are what is so now, beneath them what is remembered."""
        ...


class Audited(StrEnum):
    """The names of the events that cases look for, as the redline's section on audit has them."""

    SEARCHED = "searched"
    DENIED = "denied"
    UNTAGGED = "untagged"
    FALLBACK_DISABLED = "fallback_disabled"
    OUT_OF_SCOPE_PROVIDER = "out_of_scope_provider"
    CONTAMINATION = "contamination"


@runtime_checkable
class Audits(Protocol):
    """Tells what it denied, disabled or found."""

    def audited(self) -> Sequence[Mapping[str, object]]:
        """The events so far, oldest first, each with ``event`` (:class:`Audited`) and ``reason``.

        That of a search has ``records`` as well, the ids it returned.
        """
        ...


@runtime_checkable
class OnFiles(Protocol):
    """Keeps its records where the suite can plant something: files in a directory of its own."""

    def plant(self, scope: Scope, text: str, kind: Planted) -> None:
        """Put a record that says ``text`` where this scope's lie, as somebody who is not the provider would.

        What is moved, put back or changed is the genuine record that says so, or said so before it was
        forgotten.
        """
        ...

    def files(self) -> Mapping[str, bytes]:
        """Every file of it, by its path: where a forgotten text must not be."""
        ...


@runtime_checkable
class Reopens(Protocol):
    """Can be opened a second time over the same records, as another process would."""

    def second(self) -> Provider:
        """Another one of it, which knows nothing of what this one remembers in memory."""
        ...


@runtime_checkable
class Guards(Protocol):
    """Takes answers from a search engine of somebody else's (AC08)."""

    def through(self, scope: Scope, query: str, engine: Engine) -> Sequence[Kept]:
        """What a search through that engine gives; nothing of it is believed before it is proven."""
        ...


class Engine(Protocol):
    """Somebody else's search engine, as a case plays it."""

    def scope_properties(self) -> ScopeProperties | None:
        """What it declares."""
        ...

    def search(self, query: str, k: int) -> Sequence[str]:
        """Ids of records, of whatever scope."""
        ...


class Planted(StrEnum):
    """What somebody puts among the records of a scope."""

    UNTAGGED = "untagged"
    """A text without owner and scope."""
    FOREIGN = "foreign"
    """A genuine record of another scope, moved here."""
    FORGED = "forged"
    """A record that claims this scope, made by somebody else."""
    REPLAYED = "replayed"
    """A record of this scope that was forgotten, put back as it was."""
    ALTERED = "altered"
    """A genuine record of this scope of which a byte was changed."""
