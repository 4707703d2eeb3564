"""Views whose line between index and tail is drawn anywhere, for tests and measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from nsstore.ledger import Ledger, Written
from nsstore.search.analyser import terms
from nsstore.search.indexed import Base
from nsstore.search.pair import Pair
from nsstore.search.scoring import Scoring, Weigh, rarity, step_of
from nsstore.search.tantivy_door import Reader, Row, write_index
from nsstore.search.view import View
from nsstore.trust import Chain

SHARES: Final = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0)
CHAIN: Final = Chain(
    bytes(16), "memory", (("tenant", "t"), ("user", "u"), ("project", "p"), ("session", "s"))
)


def alone(view: View, wanted: Iterable[str], k: int) -> list[tuple[str, float]]:
    """The ids and scores of the ``k`` best of a view that is the whole, by its own statistics."""
    rarities = {term: rarity(len(view), view.holding(term)) for term in wanted}
    return view.top(rarities, view.tokens / max(1, len(view)), k)


def weighing(texts: Sequence[str]) -> Weigh:
    """Scores each record by the terms that its own bytes have."""

    def weigh(record_id: str, scoring: Scoring) -> float:
        found = terms(texts[int(record_id[1:])])
        return scoring.weigh(Counter(found).get, step_of(len(found)))[0]

    return weigh


def ledger_of(count: int, gap: int = 0) -> Ledger:
    """A ledger whose members joined one after the other, behind ``gap`` events of another kind."""
    ledger = Ledger(CHAIN)
    for number in range(count):
        written = Written(seq=number + 1 + gap, record=f"r{number}", seal="", idem=None, prev="")
        ledger.members[written.record] = written
        ledger.order.append(written.record)
    return ledger


def pair_of(texts: Sequence[str], cut: int, path: Path) -> Pair:
    """A view whose first ``cut`` records are in an index, and the others in its tail."""
    pair = Pair()
    if cut:
        path.mkdir()
        rows = [
            Row(f"r{number}", number + 1, " ".join(terms(text))) for number, text in enumerate(texts[:cut])
        ]
        write_index(str(path), rows, count=cut, fresh=True)
        tokens = sum(row.length for row in rows)
        pair.base = Base(Reader.open(str(path)), tokens=tokens, size=0)
    for number in range(cut, len(texts)):
        pair.tails[-1].add(f"r{number}", texts[number])
    return pair


def whole_of(texts: Sequence[str]) -> View:
    """A view of the records that is in memory alone."""
    view = View()
    for number, text in enumerate(texts):
        view.add(f"r{number}", text)
    return view
