"""Every combination of rows, purposes and levels against an oracle that knows labels, not values."""

from collections.abc import Callable, Iterator
from itertools import product

import msgspec

from nsstore.policy import Decision, ReadClass, decide_class, readability_class
from nsstore.record import Header
from nsstore.scope import Purpose, ScopeEnvelope, Sensitivity

# What a record's field is called when it stands so to a request of main, v2, mcp and T-1 that also
# allows the branch old-branch and the baseline v1.
LABELS: dict[str, dict[str, object]] = {
    "tenant_id": {"equal": "acme", "other": "evil"},
    "user_id": {"equal": "alice", "other": "bob"},
    "project_id": {"equal": "shop", "other": "shop2"},
    "session_id": {"equal": "s-1", "other": "s-10"},
    "workspace_id": {"equal": "w-1", "other": "W-1"},
    "branch": {"equal": "main", "allowed": "old-branch", "other": "main2"},
    "baseline": {"equal": "v2", "allowed": "v1", "other": "-"},
    "agent_id": {"equal": "claude", "other": "codex"},
    "tool_context": {"equal": "mcp", "none": None, "other": "shell"},
    "task_id": {"equal": "T-1", "none": None, "other": "T-2"},
}
LEVELS = ["public", "internal", "confidential", "restricted"]

# The documented order of rows: which label of which field denies, and whether only in a report.
ANY, REPORT_ONLY = "any", "report"
DENIALS = (
    ("tenant_id", "other", ANY, "other_tenant"),
    ("user_id", "other", ANY, "other_user"),
    ("project_id", "other", ANY, "other_project"),
    ("session_id", "other", ANY, "other_session"),
    ("workspace_id", "other", ANY, "other_workspace"),
    ("branch", "other", ANY, "other_branch"),
    ("branch", "allowed", REPORT_ONLY, "stale_branch"),
    ("baseline", "other", ANY, "other_baseline"),
    ("baseline", "allowed", REPORT_ONLY, "stale_baseline"),
    ("agent_id", "other", ANY, "other_agent"),
    ("tool_context", "other", ANY, "other_tool_context"),
    ("task_id", "other", ANY, "other_task"),
    ("task_id", "none", REPORT_ONLY, "other_task"),
)

Cell = dict[str, str]
Answer = tuple[bool, str, bool]


def cells() -> Iterator[Cell]:
    """Every combination of the rows' labels."""
    for labels in product(*LABELS.values()):
        yield dict(zip(LABELS, labels, strict=True))


def identity_answer(cell: Cell, purpose: str) -> Answer:
    """What the rows before sensitivity answer, from the labels alone."""
    denials = [
        reason for field, label, when, reason in DENIALS if cell[field] == label and when in {ANY, purpose}
    ]
    if denials:
        return False, denials[0], False
    if "allowed" in cell.values():
        return True, "stale_branch" if cell["branch"] == "allowed" else "stale_baseline", True
    return True, "allowed", False


def level_answer(before: Answer, purpose: str, level: str, clearance: str, *, reportable: bool) -> Answer:
    """What the last two rows make of the answer of the others."""
    if not before[0]:
        return before
    if LEVELS.index(level) > LEVELS.index(clearance):
        return False, "above_clearance", False
    if purpose == "report" and not reportable:
        return False, "incomplete_provenance", False
    return before


def shown(decision: Decision) -> Answer:
    """A decision as plain values."""
    return decision.allowed, str(decision.reason), decision.stale


def class_of(header: Header, cell: Cell) -> ReadClass:
    """The class of a record whose fields stand as the cell's labels say."""
    fields = {field: LABELS[field][label] for field, label in cell.items()}
    return readability_class(msgspec.structs.replace(header, **fields))


def test_every_combination(record: Callable[..., Header], ask: Callable[..., ScopeEnvelope]) -> None:
    """All rows, purposes, sensitivities, clearances and provenance are decided as the oracle says."""
    also: dict[str, object] = {"also_branches": ("old-branch",), "also_baselines": ("v1",)}
    envelopes = {
        (str(purpose), str(clearance)): ask(purpose=purpose, clearance=clearance, **also)
        for purpose, clearance in product(Purpose, Sensitivity)
    }
    wrong: list[object] = []
    seen: dict[Answer, int] = {}
    for cell in cells():
        base = class_of(record(), cell)
        before = {str(purpose): identity_answer(cell, str(purpose)) for purpose in Purpose}
        for level, reportable in product(Sensitivity, (True, False)):
            cls = msgspec.structs.replace(base, sensitivity=level, reportable=reportable)
            for (purpose, clearance), envelope in envelopes.items():
                expected = level_answer(before[purpose], purpose, level, clearance, reportable=reportable)
                found = shown(decide_class(envelope, cls))
                seen[found] = seen.get(found, 0) + 1
                if found != expected:
                    wrong.append((cell, level, reportable, purpose, clearance, found, expected))
    assert wrong[:3] == []
    assert sum(seen.values()) == 64 * 3**4 * 4 * 2 * 5 * 4
    # Deny by default shows in the numbers too: of the 64 ways that six rows can stand, one is open.
    assert sum(count for answer, count in seen.items() if answer[0]) < sum(seen.values()) / 64
    assert len(seen) == 17
