"""A line that is no message: whose call it was, which rule it breaks, and that nothing else is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.mcp.lines import Long
from nsstore.mcp.messages import (
    DEEP,
    DIGITS,
    HALF,
    NO_ID,
    NO_JSON,
    NO_METHOD,
    NO_OBJECT,
    NO_PARAMS,
    NO_UTF8,
    TOO_LONG,
    Refusal,
)
from nsstore.mcp.messages import refusal_of as refusal_by
from nsstore.mcp.stdio import is_request

PARSE, INVALID, PARAMS = -32700, -32600, -32602
NOTHING: dict[str, object] = {}
CALL: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 5,
    "method": "tools/call",
    "params": {"name": "list", "arguments": NOTHING},
}
EMPTY: list[object] = []


def refusal_of(line: bytes | Long) -> Refusal | None:
    """What is answered to a line, by what the SDK says that it reads."""
    return refusal_by(line, is_request)


def call(value: str, wanted: str = "5") -> tuple[bytes, ...]:
    """A call with a raw value among its arguments, as clients of both languages order its members."""
    params = f'"params":{{"name":"remember","arguments":{{"text":{value}}}}}'
    return (
        f'{{"jsonrpc":"2.0","id":{wanted},"method":"tools/call",{params}}}'.encode(),
        f'{{"method":"tools/call",{params},"jsonrpc":"2.0","id":{wanted}}}\r'.encode(),
        f'{{ "method" : "tools/call", {params}, "id" : {wanted} , "jsonrpc" : "2.0" }} '.encode(),
    )


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ('"\\ud800"', HALF),
        ('"\\udc00 and more"', HALF),
        ('{"\\ud83d":1}', HALF),
        ("1" + "0" * 5_000, DIGITS),
        ("-1" + "0" * 5_000, DIGITS),
        ("1" * 5_000 + ".5", DIGITS),
        ("[" * 3_000 + "]" * 3_000, DEEP),
        ("[" * 300 + "]" * 300, DEEP),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, DEEP),
        ("tru", NO_JSON),
        ('"a\tb"', NO_JSON),
        ('"a"}', NO_JSON),
        ("01", NO_JSON),
    ],
)
def test_what_no_reader_takes_is_refused_by_its_rule(value: str, rule: str) -> None:
    """The call is found wherever its id stands, and the rule is named in one line without its words."""
    for raw in call(value):
        assert refusal_of(raw) == Refusal(5, PARSE, rule)
    for raw in call(value, '"a-\\u00e9\\"7"'):
        assert refusal_of(raw) == Refusal('a-é"7', PARSE, rule)


def test_bytes_that_are_no_text_are_refused() -> None:
    """Bytes that are no UTF-8 are not stored as something else: the call is refused."""
    for bad in (b"\xff", b"\xed\xa0\x80", b"\xc3", b"\xf4\x90\x80\x80"):
        for raw in call('"a?b"'):
            assert refusal_of(raw.replace(b"?", bad)) == Refusal(5, PARSE, NO_UTF8)
    assert refusal_of(b'{"id":"\xff","method":"x"}') == Refusal(None, PARSE, NO_UTF8)


def test_a_line_that_is_too_long_is_refused() -> None:
    """Of a line that is not kept its ends say whose call it was."""
    for raw in call(json.dumps("x" * 100_000)):
        assert refusal_of(Long(raw[:4_096], raw[-4_096:])) == Refusal(5, INVALID, TOO_LONG)
    assert refusal_of(Long(b"x" * 4_096, b"x" * 4_096)) == Refusal(None, INVALID, TOO_LONG)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"method":"x","params":{"id":6,"a":[',
        b'{"method":"x","params":{"a":[{"b":1,"id":6}}',
        b'{"method":"x","params":{"id":6}} x',
        b'{"params":{"method":"x","id":6},"a":',
        b'{"id":6,"result":{"a":',
        b'{"id":6.5,"method":"x',
        b'{"id":1e3,"method":"x',
        b'{"id":null,"method":"x',
        b'{"id":true,"method":"x',
        b'{"id":[6],"method":"x',
        b'{"id":"\\ud800","method":"x","a":',
        b'{"id":"' + b"9" * 5_000 + b'","method":"x","a":',
        b'{"id":1' + b"0" * 5_000 + b',"method":"x"}',
        b'"id":6,"method":"x"',
        b"\xff\xfe\x00",
        b"hello",
        b"{",
        b"\xef\xbb\xbf",
        b"\0" * 100,
        b"[" * 20_000,
    ],
)
def test_no_id_is_made_up(raw: bytes) -> None:
    """Where it is not plain whose call it was, nobody's is answered, and the id is null."""
    refused = refusal_of(raw)
    assert refused is not None
    assert (refused.id, refused.code) == (None, PARSE)


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        (EMPTY, Refusal(None, INVALID, NO_OBJECT)),
        ([CALL, CALL], Refusal(None, INVALID, NO_OBJECT)),
        (None, Refusal(None, INVALID, NO_OBJECT)),
        ("text", Refusal(None, INVALID, NO_OBJECT)),
        (NOTHING, Refusal(None, INVALID, NO_METHOD)),
        ({"jsonrpc": "2.0", "id": 5}, Refusal(5, INVALID, NO_METHOD)),
        ({"jsonrpc": "2.0", "id": "5"}, Refusal("5", INVALID, NO_METHOD)),
        ({**CALL, "method": 7}, Refusal(5, INVALID, NO_METHOD)),
        ({**CALL, "method": None}, Refusal(5, INVALID, NO_METHOD)),
        ({**CALL, "jsonrpc": "1.0"}, Refusal(5, INVALID, NO_METHOD)),
        ({**CALL, "jsonrpc": 2}, Refusal(5, INVALID, NO_METHOD)),
        ({**CALL, "result": NOTHING}, Refusal(5, INVALID, NO_METHOD)),
        ({**CALL, "error": {"code": 1, "message": "x"}}, Refusal(5, INVALID, NO_METHOD)),
        ({**CALL, "params": EMPTY}, Refusal(5, PARAMS, NO_PARAMS)),
        ({**CALL, "params": "x"}, Refusal(5, PARAMS, NO_PARAMS)),
        *(
            ({**CALL, "id": one}, Refusal(None, INVALID, NO_ID))
            for one in (None, True, 1.5, 5.0, [5], {"a": 1}, float("nan"), "\ud800")
        ),
    ],
)
def test_what_is_no_call_is_refused(said: object, refused: Refusal) -> None:
    """JSON that is no request is refused with the id it has, if that is one."""
    assert refusal_of(json.dumps(said).encode()) == refused


@pytest.mark.parametrize(
    "said",
    [
        CALL,
        {**CALL, "id": "5"},
        {**CALL, "id": ""},
        {**CALL, "id": 10**400},
        {**CALL, "params": None},
        {**CALL, "more": 1},
        {**CALL, "method": ""},
        {"jsonrpc": "2.0", "id": -1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": EMPTY},
        {"jsonrpc": "1.0", "method": 7},
        {"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": EMPTY}},
        {"jsonrpc": "2.0", "id": 55, "result": NOTHING},
        {"jsonrpc": "2.0", "id": 55, "result": 7},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    ],
)
def test_a_message_is_left_to_the_server(said: dict[str, object]) -> None:
    """A call goes on; a notification and an answer, whatever they are, are never answered."""
    assert refusal_of(json.dumps(said).encode()) is None
    assert refusal_of(json.dumps(said, ensure_ascii=False).encode() + b"\r") is None


@pytest.mark.parametrize("raw", [b"", b"   ", b"\r", b"\t"])
def test_an_empty_line_is_nothing(raw: bytes) -> None:
    """A line of nothing but space says nothing, and nothing is answered."""
    assert refusal_of(raw) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.integers() | st.text(max_size=4) | JSON,
        "method": st.just("ping") | JSON,
        "params": st.just(NOTHING) | JSON,
        "result": JSON,
        "error": JSON,
    },
)


@given(MEMBERS)
def test_what_is_not_refused_is_read(said: dict[str, object]) -> None:
    """A request that goes on to the server is one to the SDK too, so that it is answered there."""
    raw = json.dumps(said).encode()
    refused = refusal_of(raw)
    if refused is None and "method" in said and "id" in said:
        assert is_request(raw)
    elif refused is not None:
        assert refused.message.isprintable()


@given(st.binary(max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_no_bytes_are_too_odd(raw: bytes, start: int, end: int) -> None:
    """Whatever comes in place of a part of a call, it is refused or left to the server, and nothing fails."""
    whole = json.dumps(CALL).encode()
    spoilt = whole[:start] + raw.replace(b"\n", b" ") + whole[end:]
    refused = refusal_of(spoilt)
    assert refused is None or refused.code in {PARSE, INVALID, PARAMS}
