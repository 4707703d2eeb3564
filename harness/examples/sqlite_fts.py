"""SQLite FTS5: one table for everybody, and a filter on the columns of the scope.

    nsstore accept --provider nsstore.harness.examples.sqlite_fts:make

What to expect: red, though no row of another scope is ever returned: the filter is right, and AC01 to AC05
pass. But `bm25()` weighs a word by how many rows of the whole table hold it, whoever may read them, so the
score of an own row tells what others keep: AC10, RL10, LK11. It says so itself
(`filters_before_ranking=False`), which AC08 does not allow. An empty text is a tenant like any other, so all
who lost theirs share one memory: AC06, LK04. And nothing writes down which rows were returned to whom: AC09.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from nsstore.harness.provider import DIMENSIONS, Kept, Refusal, Scope, ScopeProperties

TABLE: Final = f"""CREATE VIRTUAL TABLE memory USING fts5(
    text, created_at UNINDEXED, {", ".join(f"{dimension} UNINDEXED" for dimension in DIMENSIONS)}
)"""
OWN: Final = " AND ".join(f"{dimension} = :{dimension}" for dimension in DIMENSIONS)
COLUMNS: Final = f"rowid, text, created_at, {', '.join(DIMENSIONS)}"


class SqliteFts:
    """A memory in one full-text table of a database in memory."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self._database.execute(TABLE)

    def scope_properties(self) -> ScopeProperties:
        """Each dimension is a column of the filter; the statistics of the ranking are everybody's."""
        return ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=False)

    def remember(self, scope: Scope, text: str) -> str:
        """Keep a text beside its scope."""
        names = ("text", "created_at", *DIMENSIONS)
        values = {"text": text, "created_at": datetime.now(UTC).isoformat(), **_columns(scope)}
        marks = ", ".join(f":{name}" for name in names)
        made = self._database.execute(f"INSERT INTO memory ({', '.join(names)}) VALUES ({marks})", values)  # noqa: S608 - fixed names
        return str(made.lastrowid)

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        """The best of the own rows by `bm25()`; each word of the question is a word, never an operator."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        if not words:
            return ()
        rows = self._database.execute(
            f"SELECT {COLUMNS}, -bm25(memory) AS score FROM memory"  # noqa: S608 - fixed names
            f" WHERE memory MATCH :words AND {OWN} ORDER BY score DESC LIMIT :k",
            {"words": words, "k": k, **_columns(scope)},
        )
        return [_kept(row, score=row[-1]) for row in rows]

    def get(self, scope: Scope, record_id: str) -> Kept:
        """One own row."""
        row = self._database.execute(
            f"SELECT {COLUMNS} FROM memory WHERE rowid = :id AND {OWN}",  # noqa: S608 - fixed names
            {"id": record_id, **_columns(scope)},
        ).fetchone()
        if row is None:
            raise Refusal("there is no such record in this scope")
        return _kept(row)

    def list(self, scope: Scope) -> Sequence[Kept]:
        """All own rows, oldest first."""
        rows = self._database.execute(
            f"SELECT {COLUMNS} FROM memory WHERE {OWN} ORDER BY rowid",  # noqa: S608 - fixed names
            _columns(scope),
        )
        return [_kept(row) for row in rows]

    def update(self, scope: Scope, record_id: str, text: str, metadata: Mapping[str, object]) -> str:
        """Put another text in an own row; there is no column for the caller's metadata."""
        del metadata
        self.get(scope, record_id)
        self._database.execute("UPDATE memory SET text = ? WHERE rowid = ?", (text, record_id))
        return record_id

    def forget(self, scope: Scope, record_id: str) -> None:
        """Delete an own row."""
        self.get(scope, record_id)
        self._database.execute("DELETE FROM memory WHERE rowid = ?", (record_id,))

    def close(self) -> None:
        """Close the database."""
        self._database.close()


def _columns(scope: Scope) -> dict[str, object]:
    return {dimension: getattr(scope, dimension) for dimension in DIMENSIONS}


def _kept(row: tuple[object, ...], score: object = None) -> Kept:
    record_id, text, created_at, *scope = row[: 3 + len(DIMENSIONS)]
    return Kept(
        record_id=str(record_id),
        text=str(text),
        score=score if isinstance(score, float) else None,
        provenance={
            "record_id": str(record_id),
            "scope": dict(zip(DIMENSIONS, scope, strict=True)),
            "source": "memory",
            "match_reason": "own row" if score is None else "bm25",
            "created_at": created_at,
        },
    )


def make() -> SqliteFts:
    """A new one, with nothing in it."""
    return SqliteFts()
