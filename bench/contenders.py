"""What a search of nsstore is measured against: the engine alone, and SQLite's full-text search.

Each is given the same records and asked for the same terms; each proves after a run that it found ten.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import tantivy

from nsstore.search.analyser import query_terms, terms

TEN = 10


class Asked(Protocol):
    """Something that answers a question with ids or rows."""

    name: str

    def ask(self, question: str) -> Sequence[object]: ...


class RawTantivy:
    """tantivy alone: analyse, search, read ten stored ids; nothing is read, proven, decided or audited."""

    name = "raw_tantivy"

    def __init__(self, directory: Path, texts: Sequence[str]) -> None:
        directory.mkdir()
        self.path = str(directory)
        build = tantivy.SchemaBuilder()
        build.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        build.add_text_field("terms", stored=False, tokenizer_name="whitespace", index_option="freq")
        self.schema = build.build()
        writer = tantivy.Index(self.schema, self.path).writer(64_000_000, 1)
        for number, text in enumerate(texts):
            document = tantivy.Document()
            document.add_text("id", f"0190b6f2-{number:08x}-7000-8000-000000000000")
            document.add_text("terms", " ".join(terms(text)))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self.searcher = self.open()

    def open(self) -> tantivy.Searcher:
        """Open the index as a fresh process would."""
        index = tantivy.Index.open(self.path)
        index.config_reader("manual")
        index.reload()
        return index.searcher()

    def ask(self, question: str) -> Sequence[object]:
        return self.ask_of(self.searcher, question)

    def ask_of(self, searcher: tantivy.Searcher, question: str) -> Sequence[object]:
        """Ask an open index."""
        query = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(self.schema, "terms", term, "freq"))
                for term in query_terms(question)
            ]
        )
        hits = searcher.search(query, TEN, count=False).hits
        return [searcher.doc(address).get_first("id") for _, address in hits]


class FirstOfTantivy:
    """Open the raw index and search it once."""

    name = "tantivy_open"

    def __init__(self, raw: RawTantivy) -> None:
        self.raw = raw

    def ask(self, question: str) -> Sequence[object]:
        return self.raw.ask_of(self.raw.open(), question)


class OwnFts5:
    """SQLite FTS5 in a database of its own: the same terms, any of them, ten rows with their content."""

    name = "fts5_own"

    def __init__(self, directory: Path, texts: Sequence[str]) -> None:
        directory.mkdir()
        self.db = sqlite3.connect(directory / "notes.db", isolation_level=None)
        self.db.execute("CREATE VIRTUAL TABLE notes USING fts5(id UNINDEXED, text, tokenize='porter')")
        rows = ((f"0190b6f2-{number:08x}", text) for number, text in enumerate(texts))
        self.db.execute("BEGIN")
        self.db.executemany("INSERT INTO notes VALUES (?, ?)", rows)
        self.db.execute("COMMIT")

    def ask(self, question: str) -> Sequence[object]:
        wanted = " OR ".join(f'"{term}"' for term in query_terms(question))
        return self.db.execute(
            "SELECT id, text FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10", (wanted,)
        ).fetchall()


class SharedFts5:
    """SQLite FTS5 in one database for every namespace, with a filter by scope: what most stores do."""

    name = "fts5_shared"

    def __init__(self, directory: Path, namespaces: Sequence[Sequence[str]], asked: int) -> None:
        directory.mkdir()
        self.scope = f"s-{asked}"
        self.db = sqlite3.connect(directory / "notes.db", isolation_level=None)
        self.db.execute("CREATE VIRTUAL TABLE notes USING fts5(scope UNINDEXED, text, tokenize='porter')")
        self.db.execute("BEGIN")
        for number, texts in enumerate(namespaces):
            self.db.executemany("INSERT INTO notes VALUES (?, ?)", ((f"s-{number}", text) for text in texts))
        self.db.execute("COMMIT")

    def ask(self, question: str) -> Sequence[object]:
        wanted = " OR ".join(f'"{term}"' for term in query_terms(question))
        return self.db.execute(
            "SELECT scope, text FROM notes WHERE notes MATCH ? AND scope = ? ORDER BY rank LIMIT 10",
            (wanted, self.scope),
        ).fetchall()
