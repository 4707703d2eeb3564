"""A run ends and judges, whatever a provider does."""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import cast

import pytest

from nsstore.errors import InvalidInput
from nsstore.harness.case import CRITERIA, Outcome, Report, Result
from nsstore.harness.mutants.strict import Strict
from nsstore.harness.provider import DIMENSIONS, Dimension, Kept, Scope, ScopeProperties
from nsstore.harness.running import Suite, cases, run

Search = Callable[[Strict, Scope, str, int], Sequence[Kept]]


def with_search(search: Search) -> type[Strict]:
    """A provider with another search."""
    return type("Changed", (Strict,), {"search": search})


def seen(report: Report, case: str) -> str:
    """What a case saw."""
    return next(one.seen for one in report.results if one.case.id == case)


@pytest.mark.parametrize(
    "raised", [ZeroDivisionError("a/b"), SystemExit(3), KeyboardInterrupt(), MemoryError()]
)
def test_an_exception_fails_its_case(raised: BaseException) -> None:
    """Whatever a provider raises is named in the case that met it, and the run goes on to its end."""

    def search(it: Strict, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        del it, scope, query, k
        raise raised

    report = run(with_search(search))
    assert len(report.results) == len(cases())
    assert {one.case.id for one in report.failed()} >= set(CRITERIA) - {"AC06", "AC08"}
    assert seen(report, "AC01").startswith(type(raised).__name__)


def test_what_a_provider_declares_may_fail_too() -> None:
    """A provider that cannot say what it declares, or what it can do, fails cases and not the run."""

    def declared(it: Strict) -> ScopeProperties:
        raise ZeroDivisionError(f"{it}"[:0])

    report = run(type("Mute", (Strict,), {"scope_properties": declared}))
    assert {"AC02", "AC08"} <= {one.case.id for one in report.failed()}
    assert seen(report, "AC02").startswith("ZeroDivisionError")

    class Odd:
        """Raises something odd for whatever it is asked."""

        def __getattr__(self, name: str) -> object:
            raise ZeroDivisionError(name)

    odd = cast("Callable[[], Strict]", Odd)
    assert {one.outcome for one in run(odd).results} == {Outcome.FAILED}


def test_a_provider_that_cannot_be_made() -> None:
    """Where there is no provider every case fails, each saying why, and it is tried once."""
    tries: list[int] = []

    def make() -> Strict:
        tries.append(1)
        raise OSError("no disk")

    report = run(make)
    assert len(tries) == 1
    assert {one.outcome for one in report.results} == {Outcome.FAILED}
    assert seen(report, "LK01") == "no provider: OSError: no disk"
    assert report.provider == "not made"


def test_a_case_that_hangs_ends_at_its_deadline() -> None:
    """A call that does not come back fails its case; the next ones meet a new provider."""
    let_go = threading.Event()

    def search(it: Strict, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        if query.startswith("release"):
            let_go.wait(60)
        return Strict.search(it, scope, query, k)

    def hang(it: Strict, scope: Scope, text: str) -> str:
        if "release" in text:
            let_go.wait(60)
        return Strict.remember(it, scope, text)

    began = time.monotonic()
    hanging = type("Hanging", (with_search(search),), {"remember": hang})
    report = run(hanging, only=["AC01", "AC02", "AC07"], deadline=0.3)
    assert time.monotonic() - began < 5
    assert seen(report, "AC01") == "no answer after 0.3 seconds"
    assert [one.outcome for one in report.results] == [Outcome.FAILED, Outcome.FAILED, Outcome.PASSED]
    let_go.set()


@pytest.mark.parametrize("how", ["raises", "hangs"])
def test_a_provider_that_does_not_let_go(how: str) -> None:
    """A provider that cannot be closed keeps no run from its end."""
    let_go = threading.Event()

    def close(it: Strict) -> None:
        del it
        if how == "raises":
            raise OSError
        let_go.wait(60)

    stubborn = type("Stubborn", (Strict,), {"close": close})
    began = time.monotonic()
    report = run(stubborn, only=["AC01"], deadline=0.3)
    assert seen(report, "AC01") == ("OSError: " if how == "raises" else "no answer after 0.3 seconds")
    assert time.monotonic() - began < 5
    let_go.set()


@pytest.mark.parametrize(
    "answer",
    [None, "records", {"a": 1}, ["one"], [Kept(record_id=cast("str", 7), text="x")], 3],
    ids=["none", "text", "mapping", "texts", "number as id", "number"],
)
def test_what_is_no_answer_fails(answer: object) -> None:
    """An answer of another shape is a failure in words, and not an error of the suite."""

    def search(it: Strict, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        del it, scope, query, k
        return cast("Sequence[Kept]", answer)

    report = run(with_search(search), only=["AC01"])
    assert seen(report, "AC01") == "search gave something else than records"


def test_more_than_was_asked_for_fails() -> None:
    """A search that gives more than ``k`` does not do what it is asked."""

    def search(it: Strict, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        return [*Strict.search(it, scope, query, k)] * 6

    assert "when asked for 5" in seen(run(with_search(search), only=["AC01"]), "AC01")


def test_what_is_not_declared_is_not_proven() -> None:
    """A provider that keeps sessions apart and does not say so fails the cases about sessions."""

    def declared(it: Strict) -> ScopeProperties:
        del it
        names: frozenset[Dimension] = frozenset(one for one in DIMENSIONS if one != "session")
        return ScopeProperties(separates=names, filters_before_ranking=True)

    modest = type("Modest", (Strict,), {"scope_properties": declared})
    report = run(modest, only=["AC02", "AC03", "AC08"])
    assert [one.case.id for one in report.failed()] == ["AC02", "AC08"]
    assert seen(report, "AC02") == "not declared to be kept apart: session"


def test_two_runs_have_one_verdict() -> None:
    """The same provider gets the same outcome in every case, in the same order, each time."""
    first, second = run(Strict), run(Strict)
    assert [(one.case.id, one.outcome, one.seen) for one in first.results] == [
        (one.case.id, one.outcome, one.seen) for one in second.results
    ]


def test_some_cases_alone() -> None:
    """Named cases run alone, in the order of their ids, are heard as they come, and are no verdict."""
    heard: list[Result] = []
    report = run(Strict, only={"LK20", "AC03"}, told=heard.append)
    assert [one.case.id for one in heard] == ["AC03", "LK20"] == [one.case.id for one in report.results]
    assert report.failed() == ()
    assert not report.green
    with pytest.raises(InvalidInput, match="AC99"):
        run(Strict, only=["AC01", "AC99"])


def test_every_case_by_itself_is_as_in_a_run() -> None:
    """No case leans on what another one left behind."""
    with Suite(Strict) as suite:
        backwards = [suite.result(case) for case in reversed(cases())]
    assert {one.outcome for one in backwards} == {Outcome.PASSED}
    for case in cases():
        assert run(Strict, only=[case.id]).failed() == ()


def test_the_suite_leaves_no_profile_behind() -> None:
    """Where calls are cut short, whoever watches the program goes on watching it."""
    assert sys.getprofile() is None
    run(Strict, only=["LK18"])
    assert sys.getprofile() is None
