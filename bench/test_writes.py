"""Durable writes against their budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import nsstore
from bench.baselines import Baseline, FlushProbe
from bench.budgets import BATCH, Subject, Verdict, budgets_of
from bench.rounds import Benchmark, contest
from nsstore import Receipt, Session

MakeBaseline = Callable[[str], Baseline]


# The measured disk may be the checkout's own, and keys that live for one run are no one's secret.
pytestmark = pytest.mark.filterwarnings("ignore:the trust home lies:UserWarning")


@pytest.fixture
def session(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session of a fresh store whose root, keys and anchors lie on the measured disk."""
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(room / "cache"))
    with nsstore.open(room / "root", create=True, trust_home=room / "trust") as store:
        yield store.bind(
            tenant_id="bench",
            user_id="writer",
            project_id="budgets",
            session_id="writes",
            agent_id="human",
            workspace_id=nsstore.NA,
            branch=nsstore.NA,
            baseline=nsstore.NA,
            source_tool="bench",
            purpose="recall",
        )


def baselines_of(subject: Subject, make: MakeBaseline) -> list[Baseline]:
    """The baselines that the budgets of ``subject`` name, each made once."""
    return [make(name) for name in dict.fromkeys(budget.baseline for budget in budgets_of(subject))]


def require_kept(session: Session, receipts: Sequence[Receipt], given: Sequence[str]) -> None:
    """Require that every acknowledged text reads back verified and equal."""
    assert len(receipts) == len(given) > 0
    for receipt, text in zip(receipts, given, strict=True):
        assert session.get(receipt.record_id).text == text


def require_met(found: Sequence[Verdict]) -> None:
    """Require every budget, naming the ones that are missed."""
    missed = [f"{one.budget.name} is {one.ratio:.2f}" for one in found if not one.met]
    if missed:
        pytest.fail("budget missed: " + ", ".join(missed), pytrace=False)


def test_remember(
    benchmark: Benchmark, session: Session, baseline: MakeBaseline, verdicts: list[Verdict], probe: FlushProbe
) -> None:
    """One durable ``remember`` stays within its budgets, and every text of the run reads back."""
    given: list[str] = []
    receipts: list[Receipt] = []

    def keep(texts: Sequence[str]) -> None:
        receipts.append(session.remember(texts[0]))
        given.extend(texts)

    found = contest(
        benchmark, "remember", keep, baselines_of("remember", baseline), probe, batch=1, rounds=1500
    )
    verdicts.extend(found)
    require_kept(session, receipts, given)
    require_met(found)


def test_remember_many(
    benchmark: Benchmark, session: Session, baseline: MakeBaseline, verdicts: list[Verdict], probe: FlushProbe
) -> None:
    """A durable batch stays within its budget per record, and every text of the run reads back."""
    given: list[str] = []
    receipts: list[Receipt] = []

    def keep(texts: Sequence[str]) -> None:
        receipts.extend(session.remember_many(texts))
        given.extend(texts)

    found = contest(
        benchmark,
        "remember_many",
        keep,
        baselines_of("remember_many", baseline),
        probe,
        batch=BATCH,
        rounds=150,
    )
    verdicts.extend(found)
    require_kept(session, receipts, given)
    require_met(found)
