"""A view's scores are tantivy's, at several sizes."""

from __future__ import annotations

import random

import pytest
import tantivy

from bench.halves import alone
from nsstore.search.analyser import terms
from nsstore.search.view import View

# Lengths on both sides of every kind of step in the length table, among ordinary ones.
_LENGTHS = (0, 1, 2, 39, 40, 41, 42, 55, 56, 57, 60, 71, 72, 99, 100, 263, 264, 265, 1000, 2500)


class World:
    """The same random records in a view and in a tantivy index of one segment."""

    def __init__(self, size: int) -> None:
        self.chance = random.Random(size)
        self.view = View()
        schema = tantivy.SchemaBuilder().add_text_field("all", tokenizer_name="whitespace").build()
        index = tantivy.Index(schema)
        writer = index.writer(15_000_000, 1)
        for number in range(size):
            length = _LENGTHS[number] if number < len(_LENGTHS) else self.chance.randint(1, 60)
            text, title, tags = self.words(length), self.words(number % 3), [self.words(1)] * (number % 2)
            self.view.add(f"r{number}", text, title=title, tags=tags)
            found = terms(text) + terms(title) + [term for tag in tags for term in terms(tag)]
            document = tantivy.Document()
            document.add_text("all", " ".join(found))
            writer.add_document(document)
        writer.commit()
        index.reload()
        self.schema, self.searcher = schema, index.searcher()
        assert self.searcher.num_segments == 1

    def words(self, count: int) -> str:
        """Return random words, few of them common and most of them rare."""
        return " ".join(f"w{int(self.chance.paretovariate(0.6)) % 3000}" for _ in range(count))

    def tantivy_scores(self, wanted: list[str]) -> dict[str, float]:
        """Return every hit's score as tantivy gives it."""
        each = [(tantivy.Occur.Should, tantivy.Query.term_query(self.schema, "all", term)) for term in wanted]
        query = tantivy.Query.boolean_query(each)
        hits = self.searcher.search(query, limit=max(1, self.searcher.num_docs)).hits
        return {f"r{address.doc}": float(score) for score, address in hits}


@pytest.mark.parametrize("size", [10, 300, 3000])
def test_scores_equal_tantivy(size: int) -> None:
    """BM25 of the view and of a tantivy index agree to 1e-5 for every hit of 100 random questions."""
    world = World(size)
    hits = 0
    for _ in range(100):
        wanted = list(dict.fromkeys(world.words(world.chance.randint(1, 6)).split()))
        theirs = world.tantivy_scores(wanted)
        ours = dict(alone(world.view, wanted, size))
        assert ours.keys() == theirs.keys()
        assert all(abs(score - theirs[one]) <= 1e-5 * score for one, score in ours.items())
        best = sorted(theirs.values(), reverse=True)[:10]
        assert [score for _, score in alone(world.view, wanted, 10)] == pytest.approx(best, rel=1e-5)
        hits += len(theirs)
    assert hits > 20 * size  # the questions did find something to compare
