"""Wherever the line between index and tail is, both halves together answer as one view would."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from bench.halves import SHARES, alone, ledger_of, pair_of, weighing, whole_of
from nsstore.search.analyser import terms
from nsstore.search.indexed import record_at
from nsstore.search.tantivy_door import Reader, Row, write_index
from nsstore.search.view import View


def some_texts(count: int, seed: int) -> list[str]:
    """Texts of very different lengths over a vocabulary in which few words are frequent."""
    dice = random.Random(seed)
    words = [f"w{number}x" for number in range(400)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return [
        " ".join(dice.choices(words, weights, k=int(dice.paretovariate(0.9)) % 60 + 3)) for _ in range(count)
    ]


@pytest.mark.parametrize("share", SHARES)
def test_every_split_finds_the_same_ten(tmp_path: Path, share: float) -> None:
    """Every question has the same first ten and scores, whatever part is in the index."""
    texts = some_texts(600, seed=3)
    whole = whole_of(texts)
    ledger, pair = ledger_of(len(texts)), pair_of(texts, int(len(texts) * share), tmp_path / "index")
    dice = random.Random(5)
    for _ in range(400):
        wanted = [f"w{int(dice.paretovariate(0.5)) % 400}x" for _ in range(dice.randint(1, 6))]
        best = alone(whole, wanted, 10)
        assert pair.search(tuple(dict.fromkeys(wanted)), ledger, 10, weighing(texts)) == best


def test_ties_come_in_ledger_order(tmp_path: Path) -> None:
    """Of records that are all alike the first ones come, in order, out of the index and of both halves."""
    texts = ["same words here"] * 60
    for cut in (0, 30, 60):
        found = pair_of(texts, cut, tmp_path / f"index-{cut}").search(
            ("word",), ledger_of(60), 12, weighing(texts)
        )
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
        found = pair.search(wanted, ledger, 10, weighing(texts))
        assert found == alone(left, wanted, 10)


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
