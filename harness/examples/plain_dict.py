"""A dict of dicts: the smallest memory that keeps every dimension apart.

    nsstore accept --provider nsstore.harness.examples.plain_dict:make

What to expect: green. The whole scope is the key, so nothing of another scope is ever at hand: not for an
answer, nor for a score, a count or an error. It ranks by the words that a text shares with the question,
within the one dict that the asker may read, and writes down each search and each denial. Cases about files,
sharing and other people's engines are not run: it has none of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from nsstore.harness.provider import DIMENSIONS, Audited, Kept, Refusal, Scope, ScopeProperties

NOT_VISIBLE: Final = "there is no such record in this scope"


class PlainDict:
    """A memory in a dict, gone when the process ends."""

    def __init__(self) -> None:
        self._kept: dict[Scope, dict[str, Kept]] = {}
        self._events: list[Mapping[str, object]] = []

    def scope_properties(self) -> ScopeProperties:
        """All eight dimensions are the key, and a score comes from the asker's own texts alone."""
        return ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=True)

    def remember(self, scope: Scope, text: str) -> str:
        """Keep a text; the id says nothing of the text or of whose it is."""
        record_id = str(uuid4())
        self._of(scope)[record_id] = Kept(
            record_id=record_id,
            text=text,
            provenance={
                "record_id": record_id,
                "scope": {dimension: getattr(scope, dimension) for dimension in DIMENSIONS},
                "source": "dict",
                "match_reason": "own",
                "created_at": datetime.now(UTC).isoformat(),
            },
        )
        return record_id

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        """The texts that share most words with the question, the newest first among equals."""
        asked = _words(query)
        found = [
            Kept(
                record_id=one.record_id,
                text=one.text,
                score=len(shared) / len(asked),
                provenance={**(one.provenance or {}), "match_reason": " ".join(sorted(shared))},
            )
            for one in reversed(self._of(scope).values())
            if (shared := asked & _words(one.text))
        ]
        best = sorted(found, key=lambda one: one.score or 0.0, reverse=True)[:k]
        records = [one.record_id for one in best]
        self._events.append({"event": Audited.SEARCHED, "reason": "own scope", "records": records})
        return best

    def get(self, scope: Scope, record_id: str) -> Kept:
        """One record; what is another scope's is answered like what never was."""
        found = self._of(scope).get(record_id)
        if found is None:
            self._events.append({"event": Audited.DENIED, "reason": "not in scope"})
            raise Refusal(NOT_VISIBLE)
        return found

    def list(self, scope: Scope) -> Sequence[Kept]:
        """All that this scope keeps, oldest first."""
        return tuple(self._of(scope).values())

    def forget(self, scope: Scope, record_id: str) -> None:
        """Take a record out of the only place where it is."""
        self.get(scope, record_id)
        del self._of(scope)[record_id]

    def audited(self) -> Sequence[Mapping[str, object]]:
        """What was searched and denied so far: ids, never a text."""
        return tuple(self._events)

    def close(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def _of(self, scope: Scope) -> dict[str, Kept]:
        """The one dict of a scope; a dimension that is missing, empty or no text is refused."""
        for dimension in DIMENSIONS:
            value: object = getattr(scope, dimension)
            if not isinstance(value, str) or not value.strip():
                raise Refusal(f"{dimension} must be a text that is not empty")
        return self._kept.setdefault(scope, {})


def _words(text: str) -> set[str]:
    return set(text.casefold().split())


def make() -> PlainDict:
    """A new one, with nothing in it."""
    return PlainDict()
