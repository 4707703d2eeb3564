"""What a trial needs of a store, so that it can be run against one that cheats.

A session of nsstore fits as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol


class Kept(Protocol):
    """A receipt: the id under which a text was kept."""

    @property
    def record_id(self) -> str: ...


class Got(Protocol):
    """A record read by its id."""

    @property
    def text(self) -> str: ...


class Origin(Protocol):
    """Where a hit says it is from: its scope's fields by name."""

    @property
    def scope(self) -> Mapping[str, object]: ...


class Found(Protocol):
    """A hit of a search."""

    @property
    def record_id(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def provenance(self) -> Origin: ...


class Told(Protocol):
    """An answer: ranked hits, and apart from them stale ones."""

    @property
    def hits(self) -> Sequence[Found]: ...

    @property
    def stale(self) -> Sequence[Found]: ...


class Memory(Protocol):
    """The part of a session that the trial uses."""

    def remember_many(self, notes: Iterable[str], /) -> Sequence[Kept]: ...

    def get(self, record_id: str, /) -> Got: ...

    def search(self, text: str, /, *, k: int) -> Told: ...


Bind = Callable[[Mapping[str, str]], Memory]
Tick = Callable[[int], None]
