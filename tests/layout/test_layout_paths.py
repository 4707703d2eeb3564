"""Where records, chains, locks, anchors and audit lie, and how long a path may get."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore import layout
from nsstore.errors import InvalidInput
from nsstore.scope import NA, Namespace, Scope, check_id, memory_namespace, state_namespace

RECORD = "0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
OTHER_NAMES = (
    *("", ".md", "notes.md", "\u00e9.md", RECORD, f"{RECORD}.MD", f"{RECORD.upper()}.md", f"{RECORD}.md~"),
    *(f".{RECORD}.md", f"{RECORD}.md\n", f"{RECORD}.md.md", f"{RECORD} .md", f"x{RECORD}.md"),
    RECORD.replace("-7", "-4") + ".md",
)
SCOPE = Scope(
    tenant_id="acme",
    group_id=None,
    user_id="Alice",
    project_id="github.com/a/b",
    session_id="s1",
    conversation_id=None,
    workspace_id="w1",
    branch="main",
    baseline=NA,
    agent_id="human",
    tool_context=None,
    task_id=None,
)
GROUPED = msgspec.structs.replace(
    SCOPE, tenant_id=None, group_id="acme", session_id=None, conversation_id="s1", workspace_id=NA
)


def test_memory_paths() -> None:
    """A memory namespace has one directory, chain, lock and anchor file, all derived."""
    ns = memory_namespace(SCOPE)
    assert layout.record_dir(ns) == "memory/acme/+alice/github.com%2fa%2fb/s1"
    assert layout.record_path(ns, RECORD) == f"memory/acme/+alice/github.com%2fa%2fb/s1/{RECORD}.md"
    assert layout.ledger_path(ns) == "ledger/memory/acme/+alice/github.com%2fa%2fb/s1.log"
    assert layout.lock_path(ns) == "ledger/memory/acme/+alice/github.com%2fa%2fb/s1.lock"
    assert layout.anchor_path(ns) == "anchors/memory/acme/+alice/github.com%2fa%2fb.anchors"


def test_state_paths() -> None:
    """A state namespace too, with the marker where the workspace is not applicable."""
    ns = state_namespace(GROUPED)
    assert layout.record_dir(ns) == "state/%g.acme/github.com%2fa%2fb/%n."
    assert layout.ledger_path(ns) == "ledger/state/%g.acme/github.com%2fa%2fb/%n..log"
    assert layout.lock_path(ns) == "ledger/state/%g.acme/github.com%2fa%2fb/%n..lock"
    assert layout.anchor_path(ns) == "anchors/state/%g.acme/github.com%2fa%2fb.anchors"


def test_audit_paths() -> None:
    """A tenant and a group of one name have two audit chains; the lock lies inside its own directory."""
    assert layout.audit_dir(SCOPE.tenant) == "audit/tenants/acme"
    assert layout.audit_dir(GROUPED.tenant) == "audit/tenants/%g.acme"
    assert layout.audit_lock_path(SCOPE.tenant) == "audit/tenants/acme/audit.lock"
    assert layout.audit_head_path(GROUPED.tenant) == "anchors/audit/%g.acme.anchors"


def test_each_level_is_in_the_path() -> None:
    """Changing one dimension of a path, and only that, gives another directory (BR-21)."""
    memory = {layout.record_dir(memory_namespace(SCOPE))}
    state = {layout.record_dir(state_namespace(SCOPE))}
    for change in (
        {"tenant_id": "acme2"},
        {"user_id": "bob"},
        {"project_id": "p2"},
        {"session_id": "s2"},
        {"tenant_id": None, "group_id": "acme"},
        {"session_id": None, "conversation_id": "s1"},
    ):
        memory.add(layout.record_dir(memory_namespace(msgspec.structs.replace(SCOPE, **change))))
    for moved in ({"tenant_id": "acme2"}, {"project_id": "p2"}, {"workspace_id": "w2"}):
        state.add(layout.record_dir(state_namespace(msgspec.structs.replace(SCOPE, **moved))))
    state.add(layout.record_dir(state_namespace(msgspec.structs.replace(SCOPE, workspace_id=NA))))
    assert len(memory) == 7
    assert len(state) == 5


@pytest.mark.parametrize("separator", ["/", ".", "-", "_", " ", "%", "+", "~", ":", "\\"])
def test_no_separator_moves_a_boundary(separator: str) -> None:
    """Two ids never read as one level more or less, whatever stands between (BR-05)."""
    left = msgspec.structs.replace(SCOPE, project_id=f"aa{separator}bb", session_id="cc")
    right = msgspec.structs.replace(SCOPE, project_id="aa", session_id=f"bb{separator}cc")
    for path in (layout.record_dir, layout.ledger_path, layout.lock_path, layout.anchor_path):
        assert path(memory_namespace(left)) != path(memory_namespace(right))


@pytest.mark.parametrize("suffix", [".log", ".lock", ".anchors", ".md", ".jsonl"])
def test_no_id_is_the_file_of_another(suffix: str) -> None:
    """An id that ends like a file of ours gets no path of a sibling's file."""
    plain, twin = (
        SCOPE,
        msgspec.structs.replace(
            SCOPE, tenant_id=f"acme{suffix}", project_id=f"p{suffix}", session_id=f"s1{suffix}"
        ),
    )
    one, other = memory_namespace(plain), memory_namespace(twin)
    every = (layout.record_dir, layout.ledger_path, layout.lock_path, layout.anchor_path)
    audit = (layout.audit_dir, layout.audit_lock_path, layout.audit_head_path)
    ours = {path(one) for path in every} | {path(plain.tenant) for path in audit}
    theirs = {path(other) for path in every} | {path(twin.tenant) for path in audit}
    assert len(ours) == len(theirs) == 7
    assert not ours & theirs


def is_id(text: str) -> bool:
    """Whether the text is an id."""
    try:
        check_id("id", text)
    except InvalidInput:
        return False
    return True


ids = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20) | st.text(
    "./\\-aA:~", min_size=1, max_size=9
)


@given(ids.filter(is_id), ids.filter(is_id), ids.filter(is_id), ids.filter(is_id))
def test_no_id_leaves_its_place(tenant: str, user: str, project: str, session: str) -> None:
    """Whatever the ids, a path has exactly its levels, each a real name below the area (BR-24, BR-29)."""
    ns = Namespace(
        area="memory",
        dimensions=(("tenant", tenant), ("user", user), ("project", project), ("session", session)),
    )
    parts = layout.record_dir(ns).split("/")
    assert len(parts) == 5
    assert parts[0] == "memory"
    assert not {"", ".", ".."} & set(parts)
    assert layout.ledger_path(ns) == f"ledger/{'/'.join(parts)}.log"


def long_namespace(length: int) -> Namespace:
    """A memory namespace of four ids of that many characters."""
    name = "x" * length
    return Namespace(
        area="memory", dimensions=(("tenant", name), ("user", name), ("project", name), ("session", name))
    )


def test_budget_is_exact() -> None:
    """A record path of 4,095 bytes is allowed and one of 4,096 is not; only the number is told (BR-35)."""
    ns = long_namespace(200)
    below = len(f"/{layout.record_path(ns, RECORD)}")
    root = "/" + "zq7f3root/" * 400
    layout.check_budget(root[: 4095 - below], ns)
    with pytest.raises(InvalidInput, match="4096 bytes") as refusal:
        layout.check_budget(root[: 4095 - below] + "r", ns)
    assert "zq7f3root" not in str(refusal.value)
    assert "xxx" not in str(refusal.value)


def test_budget_counts_bytes() -> None:
    """The root counts in bytes of its name, not in characters."""
    ns = long_namespace(10)
    layout.check_budget("/" + "e" * 2500, ns)
    with pytest.raises(InvalidInput, match="limit is 4095"):
        layout.check_budget("/" + "é" * 2500, ns)


def test_budget_covers_every_path() -> None:
    """No path of a namespace is longer than the one the budget is taken from, and no name than 255 bytes."""
    for ns in (long_namespace(200), long_namespace(1), state_namespace(SCOPE), state_namespace(GROUPED)):
        record = layout.record_path(ns, RECORD)
        others = [layout.ledger_path(ns), layout.lock_path(ns), layout.audit_lock_path(ns.tenant)]
        assert all(len(path) <= len(record) for path in others)
        for path in (record, layout.anchor_path(ns), layout.audit_head_path(ns.tenant), *others):
            assert max(map(len, path.split("/"))) <= 255


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names_are_no_records(name: str) -> None:
    """Only the one spelling of a record's name is one: all else under an area is a stray."""
    assert layout.record_id_of(name) is None
    assert not layout.is_record_name(name)


def test_record_name_and_id() -> None:
    """The name of a record file is its id and the suffix, both ways."""
    assert layout.record_id_of(f"{RECORD}.md") == RECORD
    assert layout.is_record_name(f"{RECORD}.md")
    assert layout.record_path(memory_namespace(SCOPE), RECORD).endswith(f"/{RECORD}.md")


@pytest.mark.parametrize(
    "record_id", ["", "r1", "../r1", "..", f"../{RECORD}", f"{RECORD}/x", RECORD.upper()]
)
def test_no_other_record_id_has_a_path(record_id: str) -> None:
    """A record id that the store did not make has no path (BR-29)."""
    with pytest.raises(InvalidInput, match="record_id"):
        layout.record_path(memory_namespace(SCOPE), record_id)
