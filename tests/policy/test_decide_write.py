"""What may be written: the own scope, over what could be read, without opening anything further."""

from collections.abc import Callable
from typing import cast

import pytest

from nsstore.policy import HOLDS_UNKNOWN, Decision, Reason, decide_forget, decide_write
from nsstore.record import ImportedFrom
from nsstore.scope import NOT_APPLICABLE, Privacy, Purpose, Sensitivity
from tests.policy.conftest import Ask, Record

NEW = "01934f2e-8b7a-7c3d-9e21-ffffffffffff"
OLD = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
OLDER = "01934f2e-8b7a-7c3d-9e21-000000000000"
WIDE = Privacy.LINKED_PROJECTS


def shown(decision: Decision) -> tuple[bool, Reason, bool]:
    """A decision as a tuple."""
    return decision.allowed, decision.reason, decision.stale


def test_the_own_scope_is_written(record: Record, ask: Ask) -> None:
    """A record of exactly the request's scope is written, for every purpose, in both areas."""
    for purpose in Purpose:
        assert shown(decide_write(ask(purpose=purpose), record(), ())) == (True, Reason.ALLOWED, False)
        state = record(type="state", key="plan")
        assert decide_write(ask(purpose=purpose), state, ()).allowed
    nowhere = ask(workspace_id=NOT_APPLICABLE, branch=NOT_APPLICABLE, baseline=NOT_APPLICABLE)
    assert decide_write(nowhere, record(workspace_id="-", branch="-", baseline="-"), ()).allowed


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tenant_id": "evil"}, Reason.OTHER_TENANT),
        ({"tenant_id": None, "group_id": "acme"}, Reason.OTHER_TENANT),
        ({"user_id": "bob"}, Reason.OTHER_USER),
        ({"project_id": "shop2"}, Reason.OTHER_PROJECT),
        ({"session_id": "s-2"}, Reason.OTHER_SESSION),
        ({"session_id": None, "conversation_id": "s-1"}, Reason.OTHER_SESSION),
        ({"workspace_id": "-"}, Reason.OTHER_WORKSPACE),
        ({"branch": "dev"}, Reason.OTHER_BRANCH),
        ({"branch": "old"}, Reason.STALE_BRANCH),
        ({"baseline": "v3"}, Reason.OTHER_BASELINE),
        ({"baseline": "v1"}, Reason.STALE_BASELINE),
        ({"agent_id": "human"}, Reason.OTHER_AGENT),
        ({"tool_context": "shell"}, Reason.OTHER_TOOL_CONTEXT),
        ({"tool_context": None}, Reason.OTHER_TOOL_CONTEXT),
        ({"task_id": "T-2"}, Reason.OTHER_TASK),
        ({"task_id": None}, Reason.OTHER_TASK),
        ({"sensitivity": Sensitivity.CONFIDENTIAL}, Reason.ABOVE_CLEARANCE),
        ({"privacy": WIDE}, Reason.PRIVACY_NEEDS_GRANT),
        ({"privacy": Privacy.TEAM}, Reason.PRIVACY_NEEDS_GRANT),
    ],
)
def test_anything_but_the_own_scope_is_denied(
    record: Record, ask: Ask, changes: dict[str, object], reason: Reason
) -> None:
    """Every field of the scope is the request's own, current and not only allowed one."""
    envelope = ask(also_branches=("old",), also_baselines=("v1",))
    assert shown(decide_write(envelope, record(**changes), ())) == (False, reason, False)


def test_no_privacy_is_the_narrowest(record: Record, ask: Ask) -> None:
    """A record without a privacy counts as open to its own project only, new or superseded."""
    assert decide_write(ask(), record(privacy=None), ()).allowed
    new = record(record_id=NEW, supersedes=(OLD,), privacy=WIDE)
    assert decide_write(ask(), new, [record(privacy=None)]).reason is Reason.WIDENS_PRIVACY


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ({}, {}, Reason.ALLOWED),
        ({"tool_context": None, "task_id": None}, {}, Reason.ALLOWED),
        ({"sensitivity": Sensitivity.PUBLIC}, {}, Reason.ALLOWED),
        ({"privacy": WIDE}, {}, Reason.ALLOWED),
        ({"user_id": "bob"}, {}, Reason.SUPERSEDES_NOT_VISIBLE),
        ({"tenant_id": "evil"}, {}, Reason.SUPERSEDES_NOT_VISIBLE),
        ({"sensitivity": Sensitivity.RESTRICTED}, {}, Reason.SUPERSEDES_NOT_VISIBLE),
        ({"branch": "dev"}, {}, Reason.SUPERSEDES_NOT_VISIBLE),
        ({"branch": "old"}, {}, Reason.SUPERSEDES_STALE),
        ({"baseline": "v1"}, {}, Reason.SUPERSEDES_STALE),
        ({"type": "state", "key": "plan"}, {}, Reason.SUPERSEDES_OTHER_KEY),
        ({}, {"type": "state", "key": "plan"}, Reason.SUPERSEDES_OTHER_KEY),
        ({"type": "state", "key": "a"}, {"type": "state", "key": "b"}, Reason.SUPERSEDES_OTHER_KEY),
        ({"type": "state", "key": "a"}, {"type": "state", "key": "a"}, Reason.ALLOWED),
        ({}, {"sensitivity": Sensitivity.PUBLIC}, Reason.LOWERS_SENSITIVITY),
        ({}, {"privacy": WIDE}, Reason.WIDENS_PRIVACY),
        ({"privacy": WIDE}, {"privacy": Privacy.TEAM}, Reason.WIDENS_PRIVACY),
        ({"privacy": WIDE}, {"privacy": WIDE}, Reason.PRIVACY_NEEDS_GRANT),
    ],
)
def test_superseding(
    record: Record, ask: Ask, old: dict[str, object], new: dict[str, object], reason: Reason
) -> None:
    """A record replaces only what its writer reads as current, of its kind, and opens it no further."""
    envelope = ask(also_branches=("old",), also_baselines=("v1",))
    written = record(record_id=NEW, supersedes=(OLD,), **new)
    decision = decide_write(envelope, written, [record(**old)])
    assert shown(decision) == (reason is Reason.ALLOWED, reason, False)


def test_absent_and_denied_are_one_answer(record: Record, ask: Ask) -> None:
    """A superseded id that was not found is denied exactly as one that may not be read."""
    new = record(record_id=NEW, supersedes=(OLD,))
    denied = decide_write(ask(), new, [record(user_id="bob")])
    assert decide_write(ask(), new, ()) == denied
    assert decide_write(ask(), new, [record(record_id=OLDER)]) == denied
    assert denied.reason is Reason.SUPERSEDES_NOT_VISIBLE


def test_every_superseded_record_is_looked_at(record: Record, ask: Ask) -> None:
    """One bad record among those superseded denies, and the first in id order makes the reason."""
    new = record(record_id=NEW, supersedes=(OLDER, OLD))
    fine, bad, stale = record(), record(record_id=OLDER, user_id="bob"), record(branch="old")
    envelope = ask(also_branches=("old",))
    assert decide_write(envelope, new, [fine, record(record_id=OLDER)]).allowed
    assert decide_write(envelope, new, [fine, bad]).reason is Reason.SUPERSEDES_NOT_VISIBLE
    for order in ([stale, bad], [bad, stale]):
        assert decide_write(envelope, new, order).reason is Reason.SUPERSEDES_NOT_VISIBLE
    assert decide_write(envelope, new, [stale, record(record_id=OLDER)]).reason is Reason.SUPERSEDES_STALE


def test_an_import_one_cannot_report_from_is_not_written_under_report(record: Record, ask: Ask) -> None:
    """What is written can be read back under the same request."""
    partial = ImportedFrom(
        created_at=None, digest=None, format="jsonl", item=None, record_id=None, scope=None
    )
    imported = record(imported_from=partial)
    assert decide_write(ask(purpose=Purpose.MAINTAIN), imported, ()).allowed
    denial = decide_write(ask(purpose=Purpose.REPORT), imported, ())
    assert shown(denial) == (False, Reason.INCOMPLETE_PROVENANCE, False)


@pytest.mark.parametrize("junk", [None, 1, "x", b"x", [], {}, object(), float("nan")])
def test_anything_else_is_denied_and_never_raises(record: Record, ask: Ask, junk: object) -> None:
    """Whatever stands for an envelope, a header or the superseded records, the answer is a decision."""
    write = cast("Callable[[object, object, object], Decision]", decide_write)
    new = record(record_id=NEW, supersedes=(OLD,))
    assert write(junk, record(), ()).reason is Reason.UNPROVEN_ASKER
    assert write(ask(), junk, ()).reason is Reason.UNPROVEN_OWNER
    assert write(ask(), new, junk).reason is Reason.SUPERSEDES_NOT_VISIBLE
    assert write(ask(), new, [junk]).reason is Reason.SUPERSEDES_NOT_VISIBLE
    assert write(ask(), record(), junk).allowed


def test_every_reason_is_reached(record: Record, ask: Ask) -> None:
    """The list of reasons is closed and holds none that no decision can have."""
    write = cast("Callable[[object, object, object], Decision]", decide_write)
    also: dict[str, object] = {"also_branches": ("old",), "also_baselines": ("v1",)}
    partial = ImportedFrom(
        created_at=None, digest=None, format="jsonl", item=None, record_id=None, scope=None
    )
    reached = {write(None, record(), ()).reason, write(ask(), None, ()).reason}
    for changes in (
        {},
        {"tenant_id": "x"},
        {"user_id": "x"},
        {"project_id": "x"},
        {"session_id": "x"},
        {"workspace_id": "x"},
        {"branch": "x"},
        {"branch": "old"},
        {"baseline": "x"},
        {"baseline": "v1"},
        {"agent_id": "x"},
        {"tool_context": "x"},
        {"task_id": "x"},
        {"sensitivity": Sensitivity.RESTRICTED},
        {"imported_from": partial},
        {"privacy": Privacy.TEAM},
    ):
        for purpose in (Purpose.RECALL, Purpose.REPORT):
            reached.add(decide_write(ask(purpose=purpose, **also), record(**changes), ()).reason)
    for old, new in (
        ({"user_id": "bob"}, {}),
        ({"branch": "old"}, {}),
        ({"type": "state", "key": "a"}, {}),
        ({}, {"sensitivity": Sensitivity.PUBLIC}),
        ({}, {"privacy": Privacy.TEAM}),
    ):
        written = record(record_id=NEW, supersedes=(OLD,), **new)
        reached.add(decide_write(ask(**also), written, [record(**old)]).reason)
    reached.add(decide_forget(ask(), record(retention_class="legal_hold")).reason)
    reached.add(decide_forget(ask(), record(), HOLDS_UNKNOWN).reason)
    assert reached == set(Reason)
