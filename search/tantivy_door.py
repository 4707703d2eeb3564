"""The only door to tantivy: its tokenizers and stemmer, and an index that holds ids and terms alone.

Nothing here parses a question, and nothing here takes a text: what is indexed is the terms of
:mod:`nsstore.search.analyser`, separated by spaces (``docs/design.md`` section 6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import tantivy

VERSION: Final[str] = vars(tantivy)["__version__"]  # which its type stubs do not name
MOST_SEGMENTS: Final = 24  # above, a search slows down, and the index is made anew as one

_RECORD: Final = "record"
_TERMS: Final = "terms"
_SEQ: Final = "seq"
_LENGTH: Final = "length"
_LEAST_HEAP: Final = 15_000_000  # bytes a thread; tantivy takes no less
_HEAP: Final = 64_000_000  # one segment up to about 100,000 records of 1 KB
_SMALL: Final = 4_000  # records that the least heap holds in one segment

Split = Callable[[str], list[str]]


def _schema() -> tantivy.Schema:
    build = tantivy.SchemaBuilder()
    # Raw and not stored: an id is asked for whole, and never found by a part of it.
    build.add_text_field(_RECORD, stored=False, tokenizer_name="raw", index_option="basic")
    build.add_text_field(_TERMS, stored=False, tokenizer_name="whitespace", index_option="freq")
    build.add_unsigned_field(_SEQ, stored=False, indexed=False, fast=True)
    build.add_unsigned_field(_LENGTH, stored=False, indexed=False, fast=True)
    return build.build()


_SCHEMA: Final = _schema()


class IndexFailed(Exception):
    """An index could not be opened or written; tantivy's own words stay behind, since they hold paths."""


def splitter(*, stop_words: Sequence[str] = (), stem: bool) -> Split:
    """A chain from a text to its words; ``stem`` folds, lowers and stems them too. For one thread."""
    chain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    if stem:
        # Folding comes before lower case: İ lowers to two characters, I to one.
        chain = chain.filter(tantivy.Filter.ascii_fold()).filter(tantivy.Filter.lowercase())
    if stop_words:
        chain = chain.filter(tantivy.Filter.custom_stopword([*stop_words]))
    if stem:
        chain = chain.filter(tantivy.Filter.stemmer("english"))
    return chain.build().analyze


class Row(NamedTuple):
    """What an index is told of a record: its id, its place in the ledger, and its terms, repeats included."""

    record_id: str
    seq: int
    terms: str

    @property
    def length(self) -> int:
        """How many terms it has."""
        return self.terms.count(" ") + 1 if self.terms else 0


class Match(NamedTuple):
    """A record that was found: its score, its place in the ledger, and how many terms it has."""

    score: float
    seq: int
    length: int


def write_index(path: str, rows: Iterable[Row], *, count: int, fresh: bool) -> None:
    """Add rows to the index in a directory, or make one there; whole when it returns.

    The directory is the caller's alone: no other writer, and no reader. Raises :class:`IndexFailed`;
    what is in the directory is then worth nothing.
    """
    try:
        _add(tantivy.Index(_SCHEMA, path, reuse=False) if fresh else tantivy.Index.open(path), rows, count)
    except (ValueError, OSError, RuntimeError) as err:
        raise IndexFailed("the index could not be written") from err


def _add(index: tantivy.Index, rows: Iterable[Row], count: int) -> None:
    writer = index.writer(_LEAST_HEAP if count <= _SMALL else _HEAP, 1)
    for row in rows:
        document = tantivy.Document()
        document.add_text(_RECORD, row.record_id)
        document.add_text(_TERMS, row.terms)
        document.add_unsigned(_SEQ, row.seq)
        document.add_unsigned(_LENGTH, row.length)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


class MemoryIndex:
    """An index that is kept in memory alone, and only grows."""

    def __init__(self) -> None:
        self._index = tantivy.Index(_SCHEMA)
        self._index.config_reader("manual")

    def add(self, rows: Sequence[Row]) -> Reader:
        """Take in rows, and open what there is then. Raises :class:`IndexFailed`."""
        try:
            _add(self._index, rows, len(rows))
            self._index.reload()
            return Reader(self._index.searcher())
        except (ValueError, OSError, RuntimeError) as err:
            raise IndexFailed("the index could not be written") from err


class Reader:
    """An open index; it holds one thread of tantivy's and what it mapped, and needs no name on the disk.

    Any thread may search. ``records`` counts what is in it.
    """

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self._searcher = searcher
        self.records: int = self._searcher.num_docs
        self.is_scattered: bool = self._searcher.num_segments > MOST_SEGMENTS

    @classmethod
    def open(cls, path: str) -> Reader:
        """Open what :func:`write_index` left in a directory. Raises :class:`IndexFailed`."""
        try:
            index = tantivy.Index.open(path)
            index.config_reader("manual")
            index.reload()
            return cls(index.searcher())
        except (ValueError, OSError, RuntimeError) as err:
            raise IndexFailed("the index could not be opened") from err

    def holding(self, term: str) -> int:
        """How many records hold a term."""
        return self._searcher.doc_freq(_TERMS, term)

    def has(self, record_id: str) -> bool:
        """Whether a record is in the index: its whole id, in its case."""
        return self._searcher.doc_freq(_RECORD, record_id) > 0

    def first(self, wanted: Sequence[str], limit: int) -> list[tuple[float, int]]:
        """The scores and places of the best records that hold any of the terms, best first.

        Of those that tie at the end, any may be left out.
        """
        hits = self._found([(term, 1.0) for term in wanted], limit)
        places = self._searcher.fast_field_values(_SEQ, [address for _, address in hits])
        return [(score, int(seq or 0)) for (score, _), seq in zip(hits, places, strict=True)]

    def best(self, wanted: Sequence[tuple[str, float]], limit: int) -> list[Match]:
        """As :meth:`first`, each term's weight times its boost."""
        hits = self._found(wanted, limit)
        addresses = [address for _, address in hits]
        places = self._searcher.fast_field_values(_SEQ, addresses)
        counted = self._searcher.fast_field_values(_LENGTH, addresses)
        return [
            Match(score, int(seq or 0), int(length or 0))
            for (score, _), seq, length in zip(hits, places, counted, strict=True)
        ]

    def _found(
        self, wanted: Sequence[tuple[str, float]], limit: int
    ) -> list[tuple[float, tantivy.DocAddress]]:
        clauses = [(tantivy.Occur.Should, _query(term, boost)) for term, boost in wanted]
        query = clauses[0][1] if len(clauses) == 1 else tantivy.Query.boolean_query(clauses)
        return self._searcher.search(query, limit, count=False).hits


def _query(term: str, boost: float) -> tantivy.Query:
    query = tantivy.Query.term_query(_SCHEMA, _TERMS, term, index_option="freq")
    return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)
