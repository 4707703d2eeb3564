"""Audit lines: golden bytes, and one line of JSON whatever an id is made of."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec
import pytest

from nsstore.audit import AuditEvent, AuditLine, EventKind
from nsstore.audit.events import framer_of, read_line, spelled, write_line
from nsstore.trust import BadLine, Chain, Keys

GOLDEN = Path(__file__).parents[1] / "golden" / "audit_lines.jsonl"
STORE = bytes(range(16))
KEYS = Keys("0123abcd", {"0123abcd": b"\xff" * 32})
CHAIN = Chain(STORE, "audit", (("tenant", "acme"),))
FIELDS: tuple[str, ...] = ("verb", "reason", "scope", "records", "count", "incident", "digest", "bytes")
NOTHING: Mapping[str, object] = dict.fromkeys(FIELDS)
LINES: list[dict[str, object]] = [
    {
        "at": "2026-11-30T23:59:59.999999Z",
        "event": EventKind.WRITTEN,
        "verb": "remember",
        "scope": {
            "tenant_id": "acme",
            "group_id": None,
            "user_id": 'Zoë "Z" Müller',
            "workspace_id": "-",
        },
        "records": ("01934f2e-8b7a-7c3d-9e21-0123456789ab",),
        "count": 1,
    },
    {
        "at": "2026-12-01T00:00:00.000000Z",
        "event": EventKind.DENIED,
        "verb": "get",
        "reason": "foreign_project",
        "digest": "d1" * 32,
    },
    {
        "at": "2026-11-30T23:59:59.000000Z",
        "event": EventKind.CONTAMINATION,
        "reason": "altered",
        "incident": "0123456789abcdef",
        "scope": {"user_id": "line\u2028feed\x9b31m\x7f\\n\ufeff"},
    },
    {"at": "2026-12-01T00:00:01.000001Z", "event": EventKind.REPAIRED, "bytes": 17},
]
HOSTILE = [
    'quote " and \\ back', "new\nline", "return\r\n", "tab\t", "\x1b[31mred\x1b[0m", "\x9b31m",
    "u\u2028v\u2029w", "\x85next", "\x00", "\x7f", "\x1c\x1d\x1e", '","mac":"1:0123abcd:' + "0" * 64, "}\n{",
    "\ufeffbom", "\u202egnp.exe", "</script>", "😀",
]  # fmt: skip


def line_of(seq: int, prev: str, fields: dict[str, object]) -> AuditLine:
    """An audit line of the given fields."""
    return msgspec.convert({**NOTHING, **fields, "seq": seq, "prev": prev}, AuditLine)


def write(line: AuditLine) -> tuple[bytes, bytes]:
    """The bytes and the MAC of an event written where the line says."""
    fields = msgspec.structs.asdict(line)
    seq, at, prev = fields.pop("seq"), fields.pop("at"), fields.pop("prev")
    return write_line(framer_of(KEYS, CHAIN), spelled(AuditEvent(**fields)), seq=seq, at=at, prev=prev)


def test_the_golden_chain() -> None:
    """Each golden line, made from the text of the format alone, is what is written and read."""
    prev = "0" * 64
    golden = GOLDEN.read_bytes().splitlines(keepends=True)
    assert len(golden) == len(LINES)
    for seq, (raw, fields) in enumerate(zip(golden, LINES, strict=True)):
        line = line_of(seq, prev, fields)
        written, mac = write(line)
        assert written == raw
        assert read_line(KEYS, CHAIN, raw) == (line, mac)
        prev = mac.hex()


def test_the_golden_macs_are_what_the_format_says() -> None:
    """Each MAC is over LP(store id) LP("audit") LP(dimension, id) and the bytes before `,"mac"`."""

    def lp(*parts: str | bytes) -> bytes:
        raws = [part.encode() if isinstance(part, str) else part for part in parts]
        return b"".join(len(raw).to_bytes(4, "big") + raw for raw in raws)

    key = blake2b(lp("tenant", "acme"), key=b"\xff" * 32, person=b"nss1/tenant", digest_size=32).digest()
    prev = "0" * 64
    for raw in GOLDEN.read_bytes().splitlines():
        found = json.loads(raw)
        said = lp(STORE, "audit", "tenant", "acme") + raw[: raw.index(b',"mac"')]
        assert found["prev"] == prev
        prev = blake2b(said, key=key, person=b"nss1/audit", digest_size=32).hexdigest()
        assert found["mac"] == f"1:0123abcd:{prev}"


@pytest.mark.parametrize("text", HOSTILE)
def test_an_event_is_one_line_of_json(text: str) -> None:
    """Whatever stands in an id, the event is one line of JSON, without a byte that a terminal acts on."""
    line = line_of(0, "0" * 64, LINES[1] | {"scope": {"user_id": text}, "records": (text,), "reason": text})
    raw, _ = write(line)
    assert raw.count(b"\n") == 1
    assert len(raw.decode().splitlines()) == 1
    assert not [one for one in raw.decode()[:-1] if unicodedata.category(one) in ("Cc", "Zl", "Zp")]
    found = json.loads(raw)
    assert found["scope"] == {"user_id": text}
    assert found["mac"].startswith("1:0123abcd:")
    assert list(found) == [*msgspec.structs.asdict(line), "mac"]
    assert read_line(KEYS, CHAIN, raw)[0] == line


def test_every_bit_counts() -> None:
    """Any one bit flipped in a line, and it is refused."""
    raw = GOLDEN.read_bytes().splitlines(keepends=True)[0]
    for position in range(len(raw)):
        changed = bytearray(raw)
        changed[position] ^= 1 << (position % 8)
        with pytest.raises(BadLine):
            read_line(KEYS, CHAIN, bytes(changed))


def test_lines_of_another_chain() -> None:
    """An audit line of one tenant, group, store or kind of chain is none of another."""
    strangers = [
        Chain(STORE, "audit", (("tenant", "evil"),)),
        Chain(STORE, "audit", (("group", "acme"),)),
        Chain(bytes(16), "audit", (("tenant", "acme"),)),
        Chain(STORE, "memory", (("tenant", "acme"),)),
    ]
    for raw in GOLDEN.read_bytes().splitlines(keepends=True):
        for stranger in strangers:
            with pytest.raises(BadLine):
                read_line(KEYS, stranger, raw)
        with pytest.raises(BadLine):
            read_line(KEYS.rotated().new(), CHAIN, raw)


def test_an_event_says_what_a_line_says() -> None:
    """Every field of an event is one of its line, which adds only its place in the chain and the time."""
    event = {field.name for field in msgspec.structs.fields(AuditEvent)}
    line = [field.name for field in msgspec.structs.fields(AuditLine)]
    assert set(line) - event == {"seq", "at", "prev"}
    assert event <= set(line)


def test_which_events_are_durable() -> None:
    """Only what happens all day is routine; every other kind, a new one too, is durable before the answer."""
    routine = {kind.value for kind in EventKind if not kind.security}
    assert routine == {"written", "read", "listed", "searched"}
