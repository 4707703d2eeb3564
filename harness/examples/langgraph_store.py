"""LangGraph's `SqliteStore`: the whole scope as a tuple, the namespace of its items.

    pip install 'nsstore[examples]'
    nsstore accept --provider nsstore.harness.examples.langgraph_store:make

What to expect: red, though nothing crosses: each scope is a namespace of eight labels. The store keeps no
audit, so nothing shows which items were returned to whom: AC09. And it begins a transaction just before the
block that ends it, so a call that is interrupted between the two leaves it open, and every later one fails:
LK18, which takes `--full` to be met.

Two things hold only because of how it is used here. A search is one by prefix: asked with a shorter tuple it
returns what lies in every namespace below, so the tuple of a scope must never lack its last dimensions. And
without an index of embeddings the store does not look at the words of a question: they are matched here, over
the items of the one namespace. A store with an index would have to be tried on its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from nsstore.harness.provider import DIMENSIONS, Kept, Refusal, Scope, ScopeProperties

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Item

MOST: Final = 10_000
"""Items that a namespace is asked for; the store itself gives ten where nobody says."""
ABSENT: Final = "there is no such record in this scope"


class LangGraphStore:
    """A memory in a `SqliteStore` in memory."""

    def __init__(self) -> None:
        from langgraph.store.sqlite import (  # pyright: ignore[reportMissingTypeStubs] - it brings no types
            SqliteStore,
        )

        self._open = ExitStack()
        self._store: BaseStore = self._open.enter_context(SqliteStore.from_conn_string(":memory:"))

    def scope_properties(self) -> ScopeProperties:
        """All eight dimensions are labels of the namespace, and a score comes from its own items alone."""
        return ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=True)

    def remember(self, scope: Scope, text: str) -> str:
        """Keep a text under a key of its own."""
        return self._put(scope, str(uuid4()), text)

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        """The own texts that share most words with the question."""
        asked = set(query.casefold().split())
        found = [
            _kept(scope, one, score=len(shared) / len(asked))
            for one in self._items(scope)
            if (shared := asked & set(str(one.value["text"]).casefold().split()))
        ]
        return sorted(found, key=lambda one: one.score or 0.0, reverse=True)[:k]

    def get(self, scope: Scope, record_id: str) -> Kept:
        """One own item."""
        return _kept(scope, self._item(scope, record_id))

    def list(self, scope: Scope) -> Sequence[Kept]:
        """All own items."""
        return [_kept(scope, one) for one in self._items(scope)]

    def update(self, scope: Scope, record_id: str, text: str, metadata: Mapping[str, object]) -> str:
        """Put another text under the key of an own item; the caller's metadata stays apart from it."""
        self._item(scope, record_id)
        return self._put(scope, record_id, text, metadata)

    def forget(self, scope: Scope, record_id: str) -> None:
        """Delete an own item."""
        self._item(scope, record_id)
        self._store.delete(_namespace(scope), record_id)

    def close(self) -> None:
        """Close the store."""
        self._open.close()

    def _put(self, scope: Scope, key: str, text: str, metadata: Mapping[str, object] | None = None) -> str:
        self._store.put(_namespace(scope), key, {"text": text, "metadata": dict(metadata or {})})
        return key

    def _item(self, scope: Scope, key: str) -> Item:
        found = self._store.get(_namespace(scope), key)
        if found is None:
            raise Refusal(ABSENT)
        return found

    def _items(self, scope: Scope) -> Sequence[Item]:
        return self._store.search(_namespace(scope), limit=MOST)


def _namespace(scope: Scope) -> tuple[str, ...]:
    """The labels of a scope, all eight, behind one that is always the same.

    The store joins labels with a point and takes none in them, so a point is spelled otherwise. Raises
    :class:`Refusal` for what it takes for no label: an empty one, or no text.
    """
    values: list[object] = [getattr(scope, dimension) for dimension in DIMENSIONS]
    labels = [value for value in values if isinstance(value, str) and value and "\0" not in value]
    if len(labels) != len(values):
        raise Refusal("each dimension must be a text that is not empty and holds no NUL")
    return ("memories", *(label.replace("%", "%25").replace(".", "%2E") for label in labels))


def _kept(scope: Scope, one: Item, score: float | None = None) -> Kept:
    return Kept(
        record_id=one.key,
        text=str(one.value["text"]),
        score=score,
        provenance={
            "record_id": one.key,
            "scope": {dimension: getattr(scope, dimension) for dimension in DIMENSIONS},
            "source": "/".join(one.namespace),
            "match_reason": "own namespace" if score is None else "shared words",
            "created_at": one.created_at.isoformat(),
        },
    )


def make() -> LangGraphStore:
    """A new one, with nothing in it."""
    return LangGraphStore()
