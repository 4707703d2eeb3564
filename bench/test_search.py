"""Searches of one namespace against the engines that prove, decide and audit nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.budgets import Subject, Verdict
from bench.contenders import OwnFts5, RawTantivy
from bench.race import Ask, fill, questions, quiet, race, require_ten, settled, some_texts, verdicts_of
from bench.test_writes import require_met
from bench.world import Who
from nsstore import OpenStore

pytestmark = pytest.mark.filterwarnings("ignore:the trust home lies:UserWarning")
ROUNDS = 6
QUESTIONS = 60


@pytest.mark.parametrize(
    ("subject", "count"),
    [
        ("search_100", 100),
        ("search_1k", 1_000),
        ("search_10k", 10_000),
        pytest.param("search_100k", 100_000, marks=pytest.mark.long),
    ],
)
def test_search(room: Path, store: OpenStore, verdicts: list[Verdict], subject: Subject, count: int) -> None:
    """A search with ten hits, each read, proven, decided and audited, against engines that do none of it."""
    given = some_texts(count)
    session = Who().bind(store)
    fill(session, given)
    asked = questions(given, QUESTIONS)
    settled(session, store, asked[0])
    contenders: dict[str, Ask] = {
        "nsstore": session.search,
        "raw_tantivy": RawTantivy(room / "tantivy", given).ask,
        "fts5_own": OwnFts5(room / "fts5", given).ask,
    }
    require_ten(asked, contenders)
    with quiet():
        found = verdicts_of(subject, race(asked, contenders, ROUNDS if count < 100_000 else 2))
    verdicts.extend(found)
    require_met(found)
