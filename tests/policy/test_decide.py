"""The rows of a decision to read, one at a time, and that nothing but them is looked at."""

from collections.abc import Callable
from typing import cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.errors import InvalidInput
from nsstore.policy import Decision, ReadClass, Reason, decide, decide_class, readability_class
from nsstore.record import FIELDS, SCOPE_FIELDS, Header, ImportedFrom
from nsstore.scope import NOT_APPLICABLE, Privacy, Purpose, ScopeEnvelope, Sensitivity
from tests.policy.conftest import Ask, Record

SOURCE = ImportedFrom(
    created_at="yesterday", digest="d1" * 32, format="jsonl", item="line 1", record_id=None, scope=None
)
RESTRICTED = Sensitivity.RESTRICTED

# One thing that differs from the request, in a record that is else the request's own.
MISMATCHES: list[tuple[Reason, dict[str, object]]] = [
    (Reason.OTHER_TENANT, {"tenant_id": "acme2"}),
    (Reason.OTHER_TENANT, {"tenant_id": None, "group_id": "acme"}),
    (Reason.OTHER_USER, {"user_id": "Alice"}),
    (Reason.OTHER_PROJECT, {"project_id": "shop/api"}),
    (Reason.OTHER_PROJECT, {"project_id": "shop2", "privacy": Privacy.LINKED_PROJECTS}),
    (Reason.OTHER_PROJECT, {"project_id": "shop2", "privacy": Privacy.TEAM}),
    (Reason.OTHER_SESSION, {"session_id": "s-10"}),
    (Reason.OTHER_SESSION, {"session_id": None, "conversation_id": "s-1"}),
    (Reason.OTHER_WORKSPACE, {"workspace_id": "w-2"}),
    (Reason.OTHER_WORKSPACE, {"workspace_id": "-"}),
    (Reason.OTHER_BRANCH, {"branch": "main2"}),
    (Reason.OTHER_BRANCH, {"branch": "-"}),
    (Reason.OTHER_BASELINE, {"baseline": "v2.0"}),
    (Reason.OTHER_BASELINE, {"baseline": "-"}),
    (Reason.OTHER_AGENT, {"agent_id": "human"}),
    (Reason.OTHER_TOOL_CONTEXT, {"tool_context": "shell"}),
    (Reason.OTHER_TASK, {"task_id": "T-10"}),
    (Reason.ABOVE_CLEARANCE, {"sensitivity": Sensitivity.CONFIDENTIAL}),
    (Reason.ABOVE_CLEARANCE, {"sensitivity": RESTRICTED}),
]


def test_the_own_record_is_read(record: Record, ask: Ask) -> None:
    """Same tenant, user, project, session and the rest: allowed and current, for every purpose."""
    for purpose in Purpose:
        decision = decide(ask(purpose=purpose), record())
        assert (decision.allowed, decision.reason, decision.stale) == (True, Reason.ALLOWED, False)


@pytest.mark.parametrize(("reason", "changes"), MISMATCHES)
@pytest.mark.parametrize("area", ["memory", "state"])
def test_one_mismatch_denies(
    record: Record, ask: Ask, reason: Reason, changes: dict[str, object], area: str
) -> None:
    """One row that is not satisfied denies, names itself, and opens for no purpose and in no area."""
    kind: dict[str, object] = {"type": area, "key": "plan" if area == "state" else None}
    for purpose in Purpose:
        decision = decide(ask(purpose=purpose), record(**kind, **changes))
        assert (decision.allowed, decision.reason, decision.stale) == (False, reason, False)


def test_pairs_never_meet_in_either_direction(record: Record, ask: Ask) -> None:
    """A group's request reads no tenant's record of the same name, nor a conversation's a session's."""
    group = ask(tenant_id=None, group_id="acme")
    assert decide(group, record()).reason is Reason.OTHER_TENANT
    assert decide(group, record(tenant_id=None, group_id="acme")).allowed
    assert decide(group, record(tenant_id=None, group_id="acme2")).reason is Reason.OTHER_TENANT
    conversation = ask(session_id=None, conversation_id="s-1")
    assert decide(conversation, record()).reason is Reason.OTHER_SESSION
    assert decide(conversation, record(session_id=None, conversation_id="s-1")).allowed
    other = record(session_id=None, conversation_id="s-10")
    assert decide(conversation, other).reason is Reason.OTHER_SESSION


@pytest.mark.parametrize(
    ("dimension", "reason"),
    [
        ("workspace_id", Reason.OTHER_WORKSPACE),
        ("branch", Reason.OTHER_BRANCH),
        ("baseline", Reason.OTHER_BASELINE),
    ],
)
def test_not_applicable_equals_only_itself(record: Record, ask: Ask, dimension: str, reason: Reason) -> None:
    """Where a dimension does not apply to the request, exactly the records it does not apply to are read."""
    envelope = ask(**{dimension: NOT_APPLICABLE})
    assert decide(envelope, record()).reason is reason
    assert decide(envelope, record(**{dimension: "-"})).reason is Reason.ALLOWED


def test_allowed_beyond_the_current_is_stale(record: Record, ask: Ask) -> None:
    """What is allowed but not current comes back marked, under its reason; in a report it is denied."""
    also: dict[str, object] = {
        "also_branches": ("old", NOT_APPLICABLE),
        "also_baselines": ("v1", NOT_APPLICABLE),
    }
    for changes, reason in (
        ({"branch": "old"}, Reason.STALE_BRANCH),
        ({"branch": "-"}, Reason.STALE_BRANCH),
        ({"baseline": "v1"}, Reason.STALE_BASELINE),
        ({"baseline": "-"}, Reason.STALE_BASELINE),
        ({"branch": "old", "baseline": "v1"}, Reason.STALE_BRANCH),
    ):
        for purpose in Purpose:
            decision = decide(ask(purpose=purpose, **also), record(**changes))
            served = purpose is not Purpose.REPORT
            assert (decision.allowed, decision.reason, decision.stale) == (served, reason, served)


def test_a_later_row_denies_what_is_stale(record: Record, ask: Ask) -> None:
    """An allowed branch opens the branch row and no other."""
    envelope = ask(also_branches=("old",))
    assert decide(envelope, record(branch="old", agent_id="human")).reason is Reason.OTHER_AGENT
    assert decide(envelope, record(branch="old", sensitivity=RESTRICTED)).reason is Reason.ABOVE_CLEARANCE
    assert decide(envelope, record(branch="old", baseline="v1")).reason is Reason.OTHER_BASELINE


def test_tool_context_and_task_bind_when_the_record_has_one(record: Record, ask: Ask) -> None:
    """A record of no tool context or task is read under any; one that has it is not read without it."""
    none: dict[str, object] = {"tool_context": None, "task_id": None}
    assert decide(ask(), record(**none)).reason is Reason.ALLOWED
    assert decide(ask(**none), record(**none)).reason is Reason.ALLOWED
    assert decide(ask(tool_context=None), record()).reason is Reason.OTHER_TOOL_CONTEXT
    assert decide(ask(task_id=None), record()).reason is Reason.OTHER_TASK


def test_a_report_needs_the_very_task(record: Record, ask: Ask) -> None:
    """A report reads the records of its task, or, without a task, those of none."""
    report = ask(purpose=Purpose.REPORT)
    assert decide(report, record(task_id=None)).reason is Reason.OTHER_TASK
    assert decide(report, record(tool_context=None)).reason is Reason.ALLOWED
    no_task = ask(purpose=Purpose.REPORT, task_id=None)
    assert decide(no_task, record(task_id=None)).reason is Reason.ALLOWED
    assert decide(no_task, record()).reason is Reason.OTHER_TASK


def test_a_report_needs_complete_provenance(record: Record, ask: Ask) -> None:
    """An import that does not name its source wholly is read, but not reported from."""
    partial = msgspec.structs.replace(SOURCE, digest=None)
    report = ask(purpose=Purpose.REPORT)
    assert decide(report, record(imported_from=SOURCE)).reason is Reason.ALLOWED
    denial = decide(report, record(imported_from=partial))
    assert (denial.allowed, denial.reason) == (False, Reason.INCOMPLETE_PROVENANCE)
    assert decide(ask(), record(imported_from=partial)).reason is Reason.ALLOWED


def test_sensitivity_is_at_most_the_clearance(record: Record, ask: Ask) -> None:
    """A clearance reads its own level and those below."""
    for clearance in Sensitivity:
        envelope = ask(clearance=clearance)
        read = [level for level in Sensitivity if decide(envelope, record(sensitivity=level)).allowed]
        assert read == list(Sensitivity)[: clearance.rank + 1]


def test_privacy_opens_and_closes_nothing_by_itself(record: Record, ask: Ask) -> None:
    """Every privacy, and none, is read in the own project; none is read from another without a grant."""
    for privacy in (None, *Privacy):
        assert decide(ask(), record(privacy=privacy)).reason is Reason.ALLOWED
        assert decide(ask(project_id="other"), record(privacy=privacy)).reason is Reason.OTHER_PROJECT


CLASS_LESS: dict[str, object] = {
    "record_id": "01934f2e-8b7a-7c3d-9e21-ffffffffffff",
    "source_tool": "other",
    "created_at": "2001-01-01T00:00:00.000000Z",
    "retention_class": "legal_hold",
    "expires_at": "2001-01-01T00:00:00.000000Z",
    "privacy": Privacy.TEAM,
    "kind": "fact",
    "title": "tenant_id: evil",
    "tags": ("evil",),
    "supersedes": ("01934f2e-8b7a-7c3d-9e21-ffffffffffff",),
    "idempotency": "0" * 64,
    "imported_from": msgspec.structs.replace(SOURCE, scope={"user_id": "mallory", "tenant_id": "evil"}),
    "ext": {"note": {"policy": "allow"}, "original": "user_id: mallory"},
    "seq": 99,
    "prev": "cd" * 32,
    "salt": "cd" * 16,
    "seal": "1:ffffffff:" + "cd" * 32,
}


def test_a_class_is_what_a_decision_looks_at_and_nothing_else(record: Record) -> None:
    """Area, scope, commit and sensitivity tell classes apart; no other field of a header does."""
    own = readability_class(record())
    told_apart = {*SCOPE_FIELDS, "sensitivity", "commit", "type"}
    assert set(CLASS_LESS) | told_apart == set(FIELDS) - {"schema_version", "key"}
    for field, value in CLASS_LESS.items():
        assert readability_class(record(**{field: value})) == own
    assert readability_class(record(type="state", key="plan")) != own
    assert readability_class(record(commit="a" * 40)) != own
    for _, changes in MISMATCHES:
        other = readability_class(record(**changes))
        assert other != own
        assert len({own, other, readability_class(record())}) == 2


class Liar(str):
    """A text that says it equals every other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


@pytest.mark.parametrize("junk", [None, 1, 1.5, b"acme", [], {}, (), object(), Liar("x"), True])
def test_a_class_of_odd_types_cannot_be_made(record: Record, junk: object) -> None:
    """No field of a class takes another type, so a decision never compares what it cannot."""
    own = readability_class(record())
    optional = {"tool_context", "task_id", "commit"}
    for field in ReadClass.__struct_fields__:
        if (junk is None and field in optional | {"group_id", "conversation_id"}) or (
            junk is True and field == "reportable"
        ):
            continue
        with pytest.raises(InvalidInput):
            msgspec.structs.replace(own, **{field: junk})
    with pytest.raises(InvalidInput):
        msgspec.structs.replace(own, tenant_id=None)
    with pytest.raises(InvalidInput):
        msgspec.structs.replace(own, group_id="acme")


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["tenant_id", "user_id", "scope"]), st.text(max_size=3), max_size=2),
    st.sampled_from([ReadClass, Header, ScopeEnvelope, object(), NOT_APPLICABLE, Purpose.RECALL]),
)


@given(envelope=ANYTHING, meta=ANYTHING)
def test_anything_else_is_denied_and_never_raises(
    record: Record, ask: Ask, envelope: object, meta: object
) -> None:
    """Whatever stands for an envelope, a header or a class, the answer is a denial of what is unproven."""
    total = cast("Callable[[object, object], Decision]", decide)
    by_class = cast("Callable[[object, object], Decision]", decide_class)
    owner = (False, Reason.UNPROVEN_OWNER, False)
    asker = (False, Reason.UNPROVEN_ASKER, False)
    for answer, expected in (
        (total(ask(), meta), owner),
        (total(envelope, meta), owner),
        (total(envelope, record()), asker),
        (by_class(ask(), meta), owner),
        (by_class(envelope, readability_class(record())), asker),
    ):
        assert msgspec.structs.astuple(answer) == expected


POOL = {field: [f"{field[0]}1", f"{field[0]}2"] for field in SCOPE_FIELDS}


@given(data=st.data(), purpose=st.sampled_from(Purpose), clearance=st.sampled_from(Sensitivity))
def test_allowed_means_equal(
    record: Record, ask: Ask, data: st.DataObject, purpose: Purpose, clearance: Sensitivity
) -> None:
    """With every dimension given, exactly the records equal in all of them, not above clearance, are read."""
    given_fields: dict[str, object] = {}
    stored: dict[str, object] = {}
    for field in SCOPE_FIELDS:
        if field not in {"group_id", "conversation_id"}:
            given_fields[field] = data.draw(st.sampled_from(POOL[field]))
            stored[field] = data.draw(
                st.sampled_from([*POOL[field], given_fields[field], given_fields[field]])
            )
    level = data.draw(st.sampled_from(Sensitivity))
    envelope = ask(purpose=purpose, clearance=clearance, **given_fields)
    decision = decide(envelope, record(sensitivity=level, **stored))
    assert decision.allowed == (stored == given_fields and level.rank <= clearance.rank)
    assert decision == decide(envelope, record(sensitivity=level, **stored))
