"""The suite stays green for a provider that leaks nothing; for those that leak see test_mutants.py."""

from collections.abc import Sequence

import pytest

from nsstore.harness.case import CRITERIA, Outcome
from nsstore.harness.cases import CASES
from nsstore.harness.mutants.strict import Strict
from nsstore.harness.provider import Kept, Scope, ScopeProperties
from nsstore.harness.running import run


@pytest.mark.parametrize("full", [False, True], ids=["quick", "full"])
def test_what_leaks_nothing_passes(full: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A provider that keeps apart what it should passes every case that there is."""
    report = run(Strict, full=full)
    assert report.failed() == ()
    assert report.green
    assert {one.outcome for one in report.results} == {Outcome.PASSED}
    assert len(report.results) == sum(full or case.quick for case in CASES)
    metrics = report.metrics
    assert (metrics.foreign_rate, metrics.authorised_recall, metrics.hijack_rate) == (0.0, 1.0, 0.0)
    assert metrics.drift < 1e-9
    assert metrics.answers > 500
    assert metrics.hits > metrics.answers


class Bare:
    """A provider with nothing beside what it has to have."""

    def __init__(self) -> None:
        self._it = Strict()

    def scope_properties(self) -> ScopeProperties | None:
        return self._it.scope_properties()

    def remember(self, scope: Scope, text: str) -> str:
        return self._it.remember(scope, text)

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        return self._it.search(scope, query, k)

    def close(self) -> None:
        self._it.close()


def test_what_a_provider_cannot_do_is_not_run() -> None:
    """A case that needs an ability the provider lacks is no pass and no failure; every criterion runs."""
    report = run(Bare)
    not_run = {one.case.id for one in report.results if one.outcome is Outcome.NOT_RUN}
    assert not_run == {case.id for case in CASES if case.needs and case.quick}
    assert not_run.isdisjoint(CRITERIA)
    assert {one.case.id for one in report.failed()} == {"AC09"}  # nothing shows that a search was logged
    assert not report.green
    (one,) = (one for one in report.results if one.case.id == "RL16")
    assert one.seen == "the provider cannot do it: gets, audits"
