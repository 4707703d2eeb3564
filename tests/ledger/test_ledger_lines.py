"""Ledger lines: golden bytes, one spelling each, and nothing of another chain, key or kind."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

import msgspec
import pytest

from nsstore import digests
from nsstore.ledger import BadLine, Genesis, Line, Written, make_line, read_line
from nsstore.ledger.lines import Event
from nsstore.trust import Chain, Keys, frame

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger_lines.jsonl"
STORE = bytes(range(16))
STATE_IDS = (("group", 'Verein "Süd" & Söhne'), ("project", "plan\\b"), ("workspace", "-"))


def golden() -> list[bytes]:
    """The golden lines: a memory chain of eight events, and the genesis of a state chain."""
    return GOLDEN.read_bytes().splitlines(keepends=True)


def test_the_golden_chain(keys: Keys, chain: Chain, lines: list[Line]) -> None:
    """Each golden line, made from the text of the format alone, is what is written and read."""
    assert [line.raw for line in lines] == golden()[:8]
    for line in lines:
        found = read_line(keys, chain, line.raw)
        assert found == line
        assert found.key_id == "0123abcd"


def test_the_golden_genesis_of_a_state_chain(keys: Keys) -> None:
    """A state namespace of a group, with ids that need escapes, has its golden genesis."""
    chain = Chain(STORE, "state", STATE_IDS)
    event = Genesis(seq=0, area="state", ids=STATE_IDS, nonce="f0" * 16, prev="0" * 64)
    assert make_line(keys, chain, event, keys.active).raw == golden()[8]
    assert read_line(keys, chain, golden()[8]).event == event


def test_the_golden_macs_are_what_the_format_says() -> None:
    """Each MAC is over LP(store id) LP(area) LP(each dimension, id) and the bytes before `,"mac"`."""

    def lp(*parts: str | bytes) -> bytes:
        raws = [part.encode() if isinstance(part, str) else part for part in parts]
        return b"".join(len(raw).to_bytes(4, "big") + raw for raw in raws)

    genesis = json.loads(golden()[0])
    prefix = lp(STORE, "memory", *(part for pair in genesis["ids"] for part in pair))
    key = blake2b(lp("tenant", "acme"), key=b"\xff" * 32, person=b"nss1/tenant", digest_size=32).digest()
    prev = "0" * 64
    for seq, raw in zip((*range(7), 10), golden()[:8], strict=True):
        found = json.loads(raw)
        body = raw[: raw.index(b',"mac"')]
        mac = blake2b(prefix + body, key=key, person=b"nss1/ledger", digest_size=32).hexdigest()
        assert found["mac"] == f"1:0123abcd:{mac}"
        assert (found["seq"], found["prev"]) == (seq, prev)
        prev = mac


def test_every_event_has_a_golden_line(lines: list[Line]) -> None:
    """No kind of event is without a golden line."""
    assert {type(line.event) for line in lines} == set(Event.__args__)


def test_a_written_line_is_a_pure_function(keys: Keys, chain: Chain, lines: list[Line]) -> None:
    """A line made again from the same event is the same, whichever key signs by now."""
    rotated = keys.rotated()
    for line in lines:
        assert make_line(rotated, chain, line.event, line.key_id).raw == line.raw
        assert read_line(rotated, chain, line.raw) == line


def remade(keys: Keys, chain: Chain, body: bytes) -> bytes:
    """A line with any body and a MAC that is right for it: what only a holder of the key can make."""
    return frame(keys, chain, digests.LEDGER, body, keys.active)[0]


def respelled(raw: bytes) -> dict[str, bytes]:
    """The object of a line in other spellings, each of which JSON takes for the same or for more."""
    body = raw[: raw.index(b',"mac"')] + b"}"
    whole = json.loads(body)
    first, event = body.split(b",", 1)[0], whole["event"].encode()
    return {
        "a space": body.replace(b":", b": ", 1),
        "a newline": body[:-1] + b"\n}",
        "an escape": body.replace(b'"event":"', b'"event":"\\u00%02x' % event[0]).replace(
            b"%02x" % event[0] + event, b"%02x" % event[0] + event[1:]
        ),
        "an escaped key": body.replace(b'"prev"', b'"\\u0070rev"'),
        "a float": body.replace(first, first + b".0", 1),
        "an exponent": body.replace(first, first + b"e0", 1),
        "a key twice": body[:-1] + b',"prev":"' + whole["prev"].encode() + b'"}',
        "a key more": body[:-1] + b',"note":null}',
        "a key less": body[: body.index(b',"prev"')] + b"}",
        "keys turned round": json.dumps(dict(reversed(whole.items())), separators=(",", ":")).encode(),
        "upper hex": body.replace(whole["prev"].encode(), b"A" * 64),
        "short hex": body.replace(whole["prev"].encode(), b"0" * 63),
        "seq as text": body.replace(b'{"seq":%d' % whole["seq"], b'{"seq":"%d"' % whole["seq"], 1),
        "a negative seq": body.replace(b'{"seq":', b'{"seq":-', 1)
        if whole["seq"]
        else body.replace(b"0", b"-1", 1),
        "a seq beyond": body.replace(b'{"seq":%d' % whole["seq"], b'{"seq":9223372036854775807', 1),
        "another event": body.replace(b'"event":"' + event, b'"event":"renewed'),
        "no event": body.replace(b'"event":"' + event + b'",', b""),
        "a list": b"[" + body + b"]",
        "nothing": b"{}",
    }


def is_refused(keys: Keys, chain: Chain, raw: bytes) -> bool:
    """Whether a line is none."""
    try:
        read_line(keys, chain, raw)
    except BadLine:
        return True
    return False


def test_only_one_spelling_of_each_event(keys: Keys, chain: Chain, lines: list[Line]) -> None:
    """Even with a right MAC, any other spelling, key, kind or type of an event is refused."""
    for line in lines:
        body = line.raw[: line.raw.index(b',"mac"')] + b"}"
        assert remade(keys, chain, body) == line.raw
        for name, other in respelled(line.raw).items():
            assert other != body, name
            raw = remade(keys, chain, other)
            assert is_refused(keys, chain, raw), f"{name} was taken: {other!r}"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("record", "01934F2E-8B7A-7C3D-9E21-0123456789AB"),
        ("record", "01934f2e-8b7a-4c3d-9e21-0123456789ab"),
        ("record", "01934f2e-8b7a-7c3d-7e21-0123456789ab"),
        ("record", "../01934f2e-8b7a-7c3d-9e21-0123456789ab"),
        ("record", "01934f2e-8b7a-7c3d-9e21-0123456789ab\n"), ("record", None), ("record", ""),
        ("seal", "2:0123abcd:" + "5e" * 32), ("seal", "1:0123abcd:" + "5e" * 31), ("seal", None),
        ("seal", "1:ffffffff:" + "5e" * 32), ("seal", "1:0123abcd:" + "5e" * 32 + "\n"),
        ("idem", "1d" * 31), ("idem", ""), ("idem", "1D" * 32), ("idem", 0), ("prev", None),
    ],
)  # fmt: skip
def test_fields_of_a_written_line(
    keys: Keys, chain: Chain, lines: list[Line], field: str, value: object
) -> None:
    """A written line whose record, seal, idempotency digest or prev is not of its form is refused."""
    whole = msgspec.to_builtins(lines[2].event)
    raw = remade(keys, chain, msgspec.json.encode(whole | {field: value}))
    with pytest.raises(BadLine):
        read_line(keys, chain, raw)


def test_a_seal_under_another_key_than_its_line(keys: Keys, chain: Chain) -> None:
    """A written line is MACed under the key id of its record's seal, or it is none."""
    rotated = keys.rotated()
    event = Written(
        seq=1,
        record="01934f2e-8b7a-7c3d-9e21-0123456789ab",
        seal="1:0123abcd:" + "5e" * 32,
        idem=None,
        prev="0" * 64,
    )
    read_line(rotated, chain, make_line(rotated, chain, event, "0123abcd").raw)
    with pytest.raises(BadLine, match="another key than its record"):
        read_line(rotated, chain, make_line(rotated, chain, event, rotated.active).raw)


def test_lines_of_another_chain(keys: Keys, lines: list[Line]) -> None:
    """No line reads in another namespace, area, tenant or store, nor with dimensions split elsewhere."""
    ids = (
        ("tenant", "acme"),
        ("user", "Zoë Müller"),
        ("project", "github.com/acme/shop"),
        ("session", "s-1"),
    )
    strangers = [
        Chain(STORE, "state", ids),
        Chain(bytes(16), "memory", ids),
        Chain(STORE, "memory", (("group", "acme"), *ids[1:])),
        Chain(STORE, "memory", (("tenant", "acme2"), *ids[1:])),
        Chain(STORE, "memory", (*ids[:3], ("session", "s-2"))),
        Chain(STORE, "memory", (*ids[:3], ("conversation", "s-1"))),
        Chain(STORE, "memory", (*ids[:2], ("project", "github.com/acme/shopsession"), ("", "s-1"))),
        Chain(STORE, "audit", ids[:1]),
    ]
    for stranger in strangers:
        for line in lines:
            with pytest.raises(BadLine):
                read_line(keys, stranger, line.raw)


def test_lines_under_another_key(keys: Keys, chain: Chain, lines: list[Line]) -> None:
    """A MAC under another tenant's or store's key, or made for the audit, is no MAC of this chain."""
    body = lines[1].raw[: lines[1].raw.index(b',"mac"')]
    other_tenant = keys.tenant(keys.active, ("tenant", "evil"))
    other_store = Keys("0123abcd", {"0123abcd": b"\x00" * 32}).tenant("0123abcd", chain.tenant)
    own = keys.tenant(keys.active, chain.tenant)
    assert other_tenant
    assert other_store
    assert own
    for key, person in ((other_tenant, digests.LEDGER), (other_store, digests.LEDGER), (own, digests.AUDIT)):
        mac = digests.mac(key, person, chain.prefix, body).hex()
        with pytest.raises(BadLine, match="MAC"):
            read_line(keys, chain, body + b',"mac":"1:0123abcd:' + mac.encode() + b'"}\n')


@pytest.mark.parametrize(
    "key_id", [b"00000000", b"0123ABCD", b"0123abc", b"0123abcde", b"\xff" * 8, b'":"":""']
)
def test_a_key_id_that_is_not_here(keys: Keys, chain: Chain, lines: list[Line], key_id: bytes) -> None:
    """A line that claims a key that is not here, or no key id at all, is refused."""
    for line in lines:
        with pytest.raises(BadLine):
            read_line(keys, chain, line.raw.replace(b'"mac":"1:0123abcd', b'"mac":"1:' + key_id))


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b"{}\n", b"\0" * 400, b"\xff" * 400 + b"\n", b'{"seq":0}\n' * 40]
)
def test_what_is_no_line(keys: Keys, chain: Chain, raw: bytes) -> None:
    """Blank, zero or foreign bytes are no line."""
    with pytest.raises(BadLine):
        read_line(keys, chain, raw)
