"""Wherever the line between index and tail is, both halves together answer as one view would."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from nsstore.ledger import Ledger, Written
from nsstore.search.analyser import terms
from nsstore.search.indexed import Base, record_at
from nsstore.search.pair import Pair
from nsstore.search.tantivy_door import Reader, Row, write_index
from nsstore.search.view import View
from nsstore.trust import Chain

CHAIN = Chain(bytes(16), "memory", (("tenant", "t"), ("user", "u"), ("project", "p"), ("session", "s")))


def some_texts(count: int, seed: int) -> list[str]:
    """Texts of very different lengths over a vocabulary in which few words are frequent."""
    dice = random.Random(seed)
    words = [f"w{number}x" for number in range(400)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return [
        " ".join(dice.choices(words, weights, k=int(dice.paretovariate(0.9)) % 60 + 3)) for _ in range(count)
    ]


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


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0])
def test_every_split_finds_the_same_ten(tmp_path: Path, share: float) -> None:
    """At least 99.5 % of questions have the same first ten, whatever part of the records is in the index."""
    texts = some_texts(600, seed=3)
    whole = View()
    for number, text in enumerate(texts):
        whole.add(f"r{number}", text)
    ledger, pair = ledger_of(len(texts)), pair_of(texts, int(len(texts) * share), tmp_path / "index")
    dice, same = random.Random(5), 0
    asked = [
        [f"w{int(dice.paretovariate(0.5)) % 400}x" for _ in range(dice.randint(1, 6))] for _ in range(400)
    ]
    for wanted in asked:
        best = {hit.record_id: hit.score for hit in whole.search(wanted, 10)}
        found = dict(pair.search(tuple(dict.fromkeys(wanted)), ledger, 10))
        same += best.keys() == found.keys()
        for record_id in best.keys() & found.keys():
            assert found[record_id] == pytest.approx(best[record_id], rel=0.2)
    assert same >= 0.995 * len(asked)


def test_ties_come_in_ledger_order(tmp_path: Path) -> None:
    """Of records that are all alike the first ones come, in order, out of the index and of both halves."""
    texts = ["same words here"] * 60
    for cut in (0, 30, 60):
        found = pair_of(texts, cut, tmp_path / f"index-{cut}").search(("word",), ledger_of(60), 12)
        assert [record_id for record_id, _ in found] == [f"r{number}" for number in range(12)]


def test_what_is_gone_weighs_nothing(tmp_path: Path) -> None:
    """BR-62: with half of the index gone, ids and scores are those of a view that never held it."""
    texts = some_texts(120, seed=9)
    pair = pair_of(texts, 100, tmp_path / "index")
    for number in range(0, 100, 2):
        pair.leave_out(f"r{number}", terms(texts[number]))
    left = View()
    for number, text in enumerate(texts):
        if number >= 100 or number % 2:
            left.add(f"r{number}", text)
    ledger = ledger_of(len(texts))
    for wanted in itertools.combinations([f"w{number}x" for number in range(12)], 2):
        best = left.search(wanted, 10)
        found = pair.search(wanted, ledger, 10)
        assert {hit.record_id for hit in best} == {record_id for record_id, _ in found}


@pytest.mark.parametrize("record_id", ["rec-1", "rec-2", "REC-1", "rec", "1", "the", "x" * 80])
def test_an_id_is_asked_for_whole(tmp_path: Path, record_id: str) -> None:
    """BR-61: an id in the index is found by itself alone, in its own case, and by no part of it."""
    everyone = ["rec-1", "rec-2", "REC-1", "rec", "1", "the", "x" * 80]
    write_index(
        str(tmp_path),
        [Row(one, number + 1, "alpha") for number, one in enumerate(everyone) if one != record_id],
        count=len(everyone) - 1,
        fresh=True,
    )
    reader = Reader.open(str(tmp_path))
    assert not reader.has(record_id)
    assert all(reader.has(one) for one in everyone if one != record_id)


def test_a_member_is_found_by_its_event() -> None:
    """Whether or not other events came between, and after one was forgotten, a seq finds its own member."""
    for gap in (0, 3):
        ledger = ledger_of(10, gap)
        assert [record_at(ledger, seq + gap) for seq in (1, 5, 10)] == ["r0", "r4", "r9"]
        assert record_at(ledger, 11 + gap) is None
        del ledger.members["r4"]
        ledger.order.remove("r4")
        assert record_at(ledger, 5 + gap) is None
        assert record_at(ledger, 6 + gap) == "r5"
