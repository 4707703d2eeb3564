"""A search over a thousand sessions under one grant against one over the same number of records in one."""

from __future__ import annotations

import pytest

from bench.budgets import Verdict
from bench.owning import Hand, asker
from bench.race import Ask, fill, questions, quiet, race, require_ten, settled, some_texts, verdicts_of
from bench.test_writes import require_met
from bench.world import Who
from nsstore import OpenStore
from nsstore.policy import Every, Kind, Opens

pytestmark = pytest.mark.filterwarnings("ignore:the trust home lies:UserWarning")
SESSIONS = 1_000
RECORDS = 20


def test_search_wide(store: OpenStore, verdicts: list[Verdict]) -> None:
    """A grant of a thousand sessions costs at most twice what their records in one session cost."""
    given = some_texts(SESSIONS * RECORDS)
    for number in range(SESSIONS):
        fill(Who(session=f"s-{number}").bind(store), given[number * RECORDS : (number + 1) * RECORDS])
    one, me = Who(project="one").bind(store), Who(session="now")
    fill(one, given)
    asked = questions(given, 30)
    settled(one, store, asked[0])
    Hand.of(store).grant(
        store, Kind.CROSS_SESSION, opens=Opens(sessions=Every(every="session")), to=asker(me)
    )
    contenders: dict[str, Ask] = {"nsstore": me.bind(store).search, "one_namespace": one.search}
    require_ten(asked, contenders)
    with quiet():
        found = verdicts_of("search_wide", race(asked, contenders, 4))
    verdicts.extend(found)
    require_met(found)
