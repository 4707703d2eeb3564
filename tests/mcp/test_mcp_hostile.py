"""Hundreds of hostile lines to a server: each call is answered once, nothing else is, and it serves on."""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Thread
from typing import IO, Any, Final

import pytest

from nsstore.mcp.lines import MOST
from nsstore.mcp.tools import BY_NAME
from tests.mcp.test_mcp_process import HELLO, READY, Place, called, line
from tests.mcp.test_mcp_tools import LEAST

LINES: Final = 400
LONG: Final = 8
Whose = str | int | None
SILENT: Final = "silent"
ODD: Final[tuple[Any, ...]] = (
    *(None, True, -1, 2**63, 10**400, 1.5, float("nan"), "", "\0", "é" * 5_000, "../../etc", "*", "a\nb"),
    *([], [[[]]], {}, {"a": {"b": [1]}}, [None], "x" * 300_000, "\u202e\U000e0041", "-", "--help"),
)
NO_IDS: Final[tuple[Any, ...]] = (None, True, 1.5, [1], {"a": 1})
METHODS: Final = (
    *("nothing", "", "tools/list", "ping", "initialize", "resources/read", "notifications/x", "\0", *ODD),
)
PLACES: Final = ("jsonrpc", "params", "name", "arguments", "_meta", "token", "more", "result")
NEVER_READ: Final = (
    *(rb'"\ud800"', rb'"\udfffx"', b"1" * 5_000, b"[" * 3_000 + b"]" * 3_000, b"[" * 250 + b"]" * 250),
    *(b'"\xff"', b'"\xed\xa0\x80"', b'"\xc3"', b"tru", b'"a\tb"', b"01", b'"', b"}"),
)
NO_CALLS: Final = (
    *(b"hello", b"{", b"[]", b"null", b'"text"', b"{}", b'{"jsonrpc":"2.0"}', b"\xff\xfe\x00", b"\0" * 99),
    *(b"[" * 20_000, b"x" * 300_000, b"\xef\xbb\xbf{}", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
)
ORDERS: Final = (("jsonrpc", "id", "method", "params"), ("method", "params", "jsonrpc", "id"))


class Hostile:
    """Makes lines, and says of each what is to come of it: the id that is answered, null, or silence."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.number = 1_000

    def lines(self) -> Iterator[tuple[bytes, Whose]]:
        """As many lines as the test sends, some of every kind."""
        kinds = (
            *(self.arguments, self.arguments, self.members, self.method, self.spoilt, self.cut, self.no_id),
            *(self.no_call, self.notification, self.answer),
        )
        for at in range(LINES):
            yield self.random.choice(kinds)() if at % (LINES // LONG) else self.long()

    def call(self) -> dict[str, Any]:
        """A call that is as it should be, with an id of its own, in the order of one of two clients."""
        self.number += 1
        whose = self.random.choice((self.number, -self.number, f"n-{self.number}", f'é"\\{self.number}'))
        tool = self.random.choice(list(LEAST))
        made = called(0, tool, **LEAST[tool]) | {"id": whose}
        return {name: made[name] for name in self.random.choice(ORDERS)}

    def arguments(self) -> tuple[bytes, Whose]:
        """A call with an odd value of an argument, or an argument that nobody knows."""
        made = self.call()
        known = BY_NAME[made["params"]["name"]].takes.__struct_fields__
        name = self.random.choice((*known, "tenant_id", "\0", "x" * 1_000))
        made["params"]["arguments"] = made["params"]["arguments"] | {name: self.random.choice(ODD)}
        return line(made), made["id"]

    def members(self) -> tuple[bytes, Whose]:
        """A call that is odd around its arguments."""
        made, where = self.call(), self.random.choice(PLACES)
        into = made["params"] if where in {"name", "arguments", "_meta", "token"} else made
        odd = self.random.choice(ODD)
        into |= {"_meta": {"progressToken": odd}} if where == "token" else {where: odd}
        return line(made), made["id"]

    def method(self) -> tuple[bytes, Whose]:
        """A request of another method, or of none."""
        made = self.call() | {"method": self.random.choice(METHODS)}
        return line(made), made["id"]

    def spoilt(self) -> tuple[bytes, Whose]:
        """A call with something in it that no reader takes."""
        made = self.call()
        made["params"]["arguments"] = {"text": "HERE"}
        return line(made).replace(b'"HERE"', self.random.choice(NEVER_READ)), made["id"]

    def cut(self) -> tuple[bytes, Whose]:
        """The beginning of a call, as a client leaves it that is ended in the middle."""
        made = self.call()
        raw = line({name: made[name] for name in ORDERS[0]})
        return raw[: self.random.randint(raw.index(b'"params"'), len(raw) - 1)], made["id"]

    def no_id(self) -> tuple[bytes, Whose]:
        """A call whose id is none."""
        return line(self.call() | {"id": self.random.choice(NO_IDS)}), None

    def no_call(self) -> tuple[bytes, Whose]:
        """What is no call of anybody's."""
        return self.random.choice((*NO_CALLS, b"?" + self.random.randbytes(40).replace(b"\n", b"."))), None

    def notification(self) -> tuple[bytes, Whose]:
        """What is never answered, be it as it should or not."""
        name = self.random.choice(("initialized", "cancelled", "progress", "nothing"))
        params = self.random.choice(({"requestId": 1}, {"requestId": "x"}, {"progressToken": 10**400}, *ODD))
        made: dict[str, Any] = {"jsonrpc": "2.0", "method": f"notifications/{name}", "params": params}
        more: tuple[dict[str, Any], ...] = ({}, {"jsonrpc": 1}, {"method": 7}, {"more": 1})
        return self.random.choice((line(made | self.random.choice(more)), b" \t\r")), SILENT

    def answer(self) -> tuple[bytes, Whose]:
        """An answer to what nobody asked."""
        said: Any = self.random.choice(ODD)
        named: Any = self.random.choice((7, "7", *ODD))
        return line({"jsonrpc": "2.0", "id": named, self.random.choice(("result", "error")): said}), SILENT

    def long(self) -> tuple[bytes, Whose]:
        """A call that is longer than a line may be."""
        made = self.call()
        made["params"]["arguments"] = {"text": "x" * MOST}
        return line(made), made["id"]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("greeting", [(), (HELLO, READY)], ids=["before", "after"])
def test_every_call_is_answered_once(tmp_path: Path, seed: int, greeting: tuple[dict[str, Any], ...]) -> None:
    """Whatever comes in, before or after the greeting, no client waits for ever or gets a second answer."""
    place = Place(tmp_path)
    given = list(Hostile(Random(seed)).lines())
    asked: list[Whose] = [*([1] if greeting else []), *(one for _, one in given if one != SILENT)]
    raw = b"".join(one + b"\n" for one in (*map(line, greeting), *(one for one, _ in given)))
    rest = [HELLO | {"id": 2}, READY, called(3, "remember", text="still here"), called(4, "list")]
    with place.start() as server:
        assert server.stdin
        assert server.stdout
        sending = Thread(target=send, args=(server.stdin, raw), daemon=True)
        sending.start()
        told = list(messages(server.stdout.fileno(), len(asked)))
        assert [one for one in asked if one not in [each["id"] for each in told]] == []
        assert sorted(repr(one["id"]) for one in told) == sorted(map(repr, asked))
        sending.join()
        send(server.stdin, b"".join(line(one) + b"\n" for one in rest))
        assert {one["id"] for one in messages(server.stdout.fileno(), 3)} == {2, 3, 4}
        out, err = server.communicate(timeout=60)
    assert (out, err, server.returncode) == (b"", b"", 0)
    assert "still here" in place.texts()
    for one in told:
        assert ("error" in one) != ("result" in one)
        assert one["id"] is not None or one["error"]["code"] in {-32700, -32600}


def send(into: IO[bytes], raw: bytes) -> None:
    """Write it all, as fast as the server takes it."""
    into.write(raw)
    into.flush()


def messages(fd: int, wanted: int, seconds: float = 60) -> Iterator[dict[str, Any]]:
    """So many messages of a server, fewer if they do not come in time."""
    until, left = time.monotonic() + seconds, b""
    while wanted and select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
        chunk = os.read(fd, 1024 * 1024)
        *whole, left = (left + chunk).split(b"\n")
        for one in whole:
            wanted -= 1
            yield json.loads(one)
        if not chunk:
            return
