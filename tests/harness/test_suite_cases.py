"""The cases as data: each is of a document, has a way to be tried, and can fail."""

import inspect
import re
from pathlib import Path

import pytest

from nsstore.harness import probes
from nsstore.harness.case import CRITERIA, Case, Document
from nsstore.harness.cases import CASES
from nsstore.harness.mutants import MUTANTS
from nsstore.harness.probes import PROBES
from nsstore.harness.provider import DIMENSIONS, Audited
from nsstore.harness.running import cases
from nsstore.harness.witness import PROTOCOLS

REQUIREMENTS = Path(__file__).parents[2] / "docs" / "requirements"
PAGES = {Document.REDLINE: "redline.md", Document.BOUNDARY: "memory-boundary-contract-v1.md"}


def test_ids_are_in_order_and_each_is_one() -> None:
    """Every id is given once, has one of the four forms, and stands in its place."""
    ids = [case.id for case in CASES]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"(AC|RL|MB|LK)\d\d", one) for one in ids)
    assert set(CRITERIA) == {one for one in ids if one.startswith("AC")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_sentence_is_the_documents_own(case: Case) -> None:
    """What a case proves stands word for word in the document that asks for it."""
    if case.document in PAGES:
        page = re.sub(r"\s+", " ", (REQUIREMENTS / PAGES[case.document]).read_text())
        assert case.sentence in page
    else:
        assert case.sentence.endswith(".")


def test_every_criterion_has_its_case() -> None:
    """The list of criteria in the redline and the cases are the same ten, in the same order."""
    page = (REQUIREMENTS / PAGES[Document.REDLINE]).read_text()
    asked = re.findall(r"(?m)^\d+\. (.+)$", page.partition("## Acceptance Criteria")[2])
    assert asked == [case.sentence for case in CASES if case.id in CRITERIA]


def test_every_probe_is_used_and_says_what_it_sees() -> None:
    """No case names a way to be tried that is not there, and no way is there for no case."""
    assert {case.probe for case in CASES} == set(PROBES)
    assert all((probe.__doc__ or "").endswith(".") for probe in PROBES.values())
    assert all(inspect.getmodule(probe) is not probes for probe in PROBES.values())


def test_what_a_case_names_is_there() -> None:
    """Abilities, dimensions and events are those of the contract; no criterion needs an ability."""
    for case in CASES:
        assert set(case.needs) <= set(PROTOCOLS)
        assert set(case.given.get("dimensions", "").split()) <= set(DIMENSIONS)
        assert case.reason is None or case.reason in set(Audited)
        assert case.id not in CRITERIA or (case.needs == () and case.quick)


def test_every_case_can_fail() -> None:
    """For each case there is a leaky store that it has to catch."""
    assert {one for mutant in MUTANTS.values() for one in mutant.ids} == {case.id for case in CASES}


def test_a_quick_run_leaves_out_no_probe_but_that_of_time() -> None:
    """What a quick run leaves out it tries elsewhere; only what takes time to measure is for a full one."""
    quick = {case.probe for case in cases()} | {"starved", "unmoved"}  # both are all of AC10
    assert set(PROBES) - quick == {"existence_by_time"}
