"""A valid header to change one thing of."""

import re
from collections.abc import Callable
from typing import Protocol

import msgspec
import pytest

from nsstore.record import Header
from nsstore.scope import Privacy, Sensitivity

TYPICAL = Header(
    type="memory",
    schema_version=1,
    record_id="01934f2e-8b7a-7c3d-9e21-0123456789ab",
    tenant_id="acme",
    group_id=None,
    user_id="alice",
    project_id="github.com/acme/shop",
    session_id="s-2026-11-30",
    conversation_id=None,
    workspace_id="w-7f3a",
    branch="feature/pay",
    baseline="v1.4.0",
    agent_id="claude-code",
    tool_context=None,
    task_id=None,
    commit=None,
    source_tool="claude-code",
    created_at="2026-11-30T10:44:07.012345Z",
    sensitivity=Sensitivity.INTERNAL,
    retention_class="standard",
    expires_at=None,
    privacy=Privacy.PROJECT_ONLY,
    kind=None,
    title=None,
    tags=None,
    supersedes=None,
    key=None,
    idempotency=None,
    imported_from=None,
    ext=None,
    seq=7,
    prev="ab" * 32,
    salt="0f" * 16,
    seal="1:0123abcd:" + "5e" * 32,
)


class Make(Protocol):
    """Makes the typical header with the given fields changed, through the same checks as any other."""

    def __call__(self, **changes: object) -> Header: ...


@pytest.fixture(scope="session")
def make() -> Make:
    """The typical header, changed."""

    def change(**changes: object) -> Header:
        return msgspec.structs.replace(TYPICAL, **changes)

    return change


@pytest.fixture(scope="session")
def respell() -> Callable[[bytes, str, bytes], bytes]:
    """A record's bytes with the value of one header line spelled as given."""

    def change(raw: bytes, field: str, spelled: bytes) -> bytes:
        line = re.compile(b"(?m)^%s: .*$" % field.encode())
        assert line.search(raw)
        return line.sub(lambda _: field.encode() + b": " + spelled, raw, count=1)

    return change
