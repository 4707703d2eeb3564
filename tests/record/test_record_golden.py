"""The golden records: bytes that every version must write and read as they stand.

A change here is a change of the format: people's records would have to be moved.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nsstore.digests import RECORD, TENANT, lp, mac
from nsstore.record import Header, ImportedFrom, decode, encode, seal_chunks, seal_parts
from nsstore.scope import Privacy, Sensitivity

Make = Callable[..., Header]

GOLDEN = Path(__file__).parents[1] / "golden"
STORE = bytes.fromhex("000102030405060708090a0b0c0d0e0f")
MASTER = bytes.fromhex("ff" * 32)
KEY_ID = "0123abcd"

LEAST: dict[str, object] = {
    "seq": 1,
    "prev": "0" * 64,
    "workspace_id": "-",
    "branch": "-",
    "baseline": "-",
    "agent_id": "human",
    "privacy": None,
}
FULL: dict[str, object] = {
    "tenant_id": None,
    "group_id": "Verein Müller & Söhne",
    "session_id": None,
    "conversation_id": "会話-1",
    "tool_context": "mcp:notes",
    "task_id": "T-17",
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "sensitivity": Sensitivity.RESTRICTED,
    "retention_class": "legal_hold",
    "expires_at": "2028-02-29T23:59:59.999999Z",
    "privacy": Privacy.LINKED_PROJECTS,
    "kind": "decision",
    "title": "No 007: \"quoted\" & 'so on', {a: b} # not a comment — ok 👍",
    "tags": ("#tag", "007", "no", "ключ"),
    "supersedes": ("01934f2e-0000-7000-8000-000000000000", "01934f2e-0000-7000-8000-000000000001"),
    "idempotency": "1d" * 32,
    "imported_from": ImportedFrom(
        created_at="1:56 pm on 8 May, 2023",
        digest="d1" * 32,
        format="jsonl",
        item="session_1, turn 4",
        record_id="D1:4",
        scope={"project_id": "conv-26", "user_id": "Caroline"},
    ),
    "ext": {
        "count": -9223372036854775808,
        "line.style": ["a", None, True, {"b": []}],
        "original": "title: x\nuser_id: mallory\n\x00\x1b\x7f\x85\xa0\u2028\u2029\ufeff\uffff😀",
    },
    "seq": 9223372036854775807,
}
STATE: dict[str, object] = {"type": "state", "key": "release plan/1.4", "privacy": Privacy.TEAM}
TEXT = '\n---\ntype: "memory"\n---\nÜber \x00 \x7f \u2028 \ufeff e\u0301 \r\n no newline at the end'
CASES: list[tuple[str, dict[str, object], str]] = [
    ("record_least.md", LEAST, "x"),
    ("record_memory.md", FULL, TEXT),
    ("record_state.md", STATE, "# Release plan\n\n1. Ship.\n"),
]


def tenant_key(header: Header) -> bytes:
    """The golden store's key of the header's tenant."""
    which, own = ("tenant", header.tenant_id) if header.tenant_id is not None else ("group", header.group_id)
    assert own is not None
    return mac(MASTER, TENANT, lp(which, own))


@pytest.mark.parametrize(("name", "fields", "text"), CASES)
def test_golden_records_are_written_and_read(
    make: Make, name: str, fields: dict[str, object], text: str
) -> None:
    """Each golden file is what its header and text are written as, and reads back as them."""
    golden = (GOLDEN / name).read_bytes()
    seal = decode(golden).header.seal
    header = make(**fields, seal=seal)
    assert encode(header, text) == golden
    assert decode(golden).header == header
    assert decode(golden).text == text


@pytest.mark.parametrize(("name", "fields", "text"), CASES)
def test_golden_records_are_sealed(make: Make, name: str, fields: dict[str, object], text: str) -> None:
    """Each golden file carries the seal of its bytes under the golden store's tenant key."""
    golden = (GOLDEN / name).read_bytes()
    header = make(**fields)
    key_id, stated = seal_parts(decode(golden).header.seal)
    chunks = seal_chunks(STORE, header.type, golden)
    assert key_id == KEY_ID
    assert stated == mac(tenant_key(header), RECORD, *chunks)
    assert text.encode() in b"".join(chunks)


def test_golden_records_use_every_field(make: Make) -> None:
    """Together the golden records have a value and, where the format allows it, a null in every field."""
    headers = [msgspec.structs.asdict(make(**fields)) for _, fields, _ in CASES]
    assert all(any(header[field] is not None for header in headers) for field in headers[0])
    never_null = {field for field in headers[0] if all(header[field] is not None for header in headers)}
    optional = {
        *("tenant_id", "group_id", "session_id", "conversation_id", "tool_context", "task_id", "commit"),
        *("expires_at", "privacy", "kind", "title", "tags", "supersedes", "key", "idempotency"),
        *("imported_from", "ext"),
    }
    assert never_null == set(headers[0]) - optional
