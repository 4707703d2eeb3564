"""The server as a process: the protocol alone on its output, whatever comes in and whoever goes away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client

import nsstore
from bench.world import World
from tests.cli.conftest import flags_of
from tests.mcp.conftest import error_of

Done = TypeVar("Done")
SCOPE = {
    "NSSTORE_TENANT": "acme",
    "NSSTORE_USER": "alice",
    "NSSTORE_PROJECT": "shop",
    "NSSTORE_AGENT": "claude",
    "NSSTORE_WORKSPACE": "w-1",
    "NSSTORE_BRANCH": "main",
    "NSSTORE_BASELINE": "v1",
    "NSSTORE_SESSION": "s-1",
}
COMMAND = [sys.executable, "-m", "nsstore", "mcp"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Place:
    """A store on a real disk, and the variables of a client that starts servers for it."""

    def __init__(self, place: Path) -> None:
        self.world = World(place=place)
        self.world.make().close()
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NSSTORE_")},
            **SCOPE,
            "NSSTORE_STORE": str(self.world.root),
            "NSSTORE_TRUST_HOME": str(self.world.trust),
            "NSSTORE_CACHE_HOME": str(place / "cache"),
            "NSSTORE_GATE": os.environ["NSSTORE_GATE"],
        }

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        """A server of this place."""
        return subprocess.Popen(
            [*COMMAND, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
        )

    def say(self, *lines: bytes, until: int | None = None) -> tuple[list[dict[str, Any]], bytes, int]:
        """What a server answers to these lines: messages, standard error, exit code.

        Its input ends behind them, or when the answer to the call ``until`` has come.
        """
        with self.start() as server:
            assert server.stdin
            assert server.stdout
            server.stdin.write(b"".join(one + b"\n" for one in lines))
            server.stdin.flush()
            told: list[dict[str, Any]] = []
            while until is not None and until not in {one.get("id") for one in told}:
                told.append(json.loads(server.stdout.readline()))
            out, err = server.communicate(timeout=60)
        return [*told, *map(json.loads, out.splitlines())], err, server.returncode

    def talk(self, talking: Callable[[Client], Awaitable[Done]], *args: str) -> Done:
        """Run a conversation of the SDK's own client with a server of its own."""
        parameters = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *args], env=self.env)

        async def run() -> Done:
            async with Client(stdio_client(parameters)) as client:
                return await talking(client)

        return anyio.run(run)

    def texts(self) -> list[str]:
        """What is in the session now, newest first; all of it proves."""
        with self.world.open() as store:
            session = store.bind(
                tenant_id="acme", user_id="alice", project_id="shop", session_id="s-1", agent_id="claude",
                workspace_id="w-1", branch="main", baseline="v1", source_tool="test", purpose="recall",
            )  # fmt: skip
            return [one.text for one in session.list().items]


def called(number: int, tool: str, **given: object) -> dict[str, Any]:
    """The message of a call."""
    params = {"name": tool, "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def line(message: object) -> bytes:
    """A message as a line."""
    return json.dumps(message).encode()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A store of this test's own."""
    return Place(tmp_path)


def test_a_client_remembers_and_a_later_one_finds(place: Place) -> None:
    """What one server kept another finds; the record says that it came through this server."""

    async def remember(client: Client) -> dict[str, Any]:
        found = await client.call_tool("remember", {"text": "The train leaves on Thursdays."})
        assert isinstance(found, types.CallToolResult)
        return found.structured_content or {}

    async def search(client: Client) -> dict[str, Any]:
        assert len((await client.list_tools()).tools) == 10
        found = await client.call_tool("search", {"query": "train"})
        assert isinstance(found, types.CallToolResult)
        return found.structured_content or {}

    kept = place.talk(remember)
    (hit,) = place.talk(search)["memory"]
    assert hit["record_id"] == kept["record_id"]
    assert hit["provenance"]["source_tool"] == "nsstore-mcp"
    assert str(place.world.place) not in json.dumps(hit)


GARBAGE = [
    b"",
    b"   ",
    b"hello",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe\x00",
    b"\x00" * 100,
    b"[" * 20_000,
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"1.0","id":1,"method":"x"}',
    b'{"jsonrpc":"2.0","id":7,"method":7}',
    b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":[]}',
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":["x"]}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nothing"}}',
    b'{"jsonrpc":"2.0","id":55,"result":{}}',
    b"x" * 300_000,
]


def test_garbage_is_passed_over(place: Place) -> None:
    """After lines that are no message the server serves on; its output is messages, its error empty."""
    wanted = called(70, "remember", text="still here")
    answers, err, code = place.say(
        *GARBAGE, line(HELLO), *GARBAGE, line(READY), *GARBAGE, line(wanted), *GARBAGE, until=70
    )
    assert err == b""
    assert code == 0
    assert all(one["jsonrpc"] == "2.0" for one in answers)
    (done,) = [one for one in answers if one.get("id") == 70]
    assert done["result"]["isError"] is False
    assert place.texts() == ["still here"]


def test_an_input_that_ends_ends_the_server(place: Place) -> None:
    """Nothing said, or half a line, is the end without a word."""
    for given in (b"", line(HELLO)[:40]):
        with place.start() as server:
            assert (*server.communicate(given, timeout=60), server.returncode) == (b"", b"", 0)


def test_nobody_reads_the_answers(place: Place) -> None:
    """A client that closes the server's output ends it without a traceback; what it asked for is whole."""
    with place.start() as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(line(HELLO) + b"\n" + line(READY) + b"\n")
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()
        for number in range(5):
            server.stdin.write(line(called(number + 2, "remember", text=f"text {number}")) + b"\n")
        server.stdin.flush()
        assert server.wait(timeout=30) == 141  # though its input never ends
        assert b"Traceback" not in server.stderr.read()
    assert set(place.texts()) <= {f"text {number}" for number in range(5)}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_an_end_by_force_leaves_whole_records(place: Place, how: signal.Signals) -> None:
    """A server that is killed among many calls leaves every acknowledged record, and none in half."""
    with place.start() as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(line(HELLO) + b"\n" + line(READY) + b"\n")
        for number in range(40):
            server.stdin.write(line(called(number + 2, "remember", text=f"text {number}")) + b"\n")
        server.stdin.flush()
        told = [json.loads(server.stdout.readline()) for _ in range(6)]
        server.send_signal(how)
        rest, err = server.communicate(timeout=30)
        assert b"Traceback" not in err
    told += [json.loads(one) for one in rest.splitlines() if one.endswith(b"}")]
    acknowledged = {f"text {one['id'] - 2}" for one in told if one["id"] > 1 and "result" in one}
    assert len(acknowledged) >= 5
    assert acknowledged <= set(place.texts())


def test_a_cancelled_call_is_whole_or_was_never_begun(place: Place) -> None:
    """After a cancellation the server serves on, and there is no half of a record."""
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    answers, err, code = place.say(
        line(HELLO),
        line(READY),
        line(called(2, "remember", text="x" * 200_000)),
        line(cancel),
        line(called(3, "list")),
        line(called(4, "remember", text="after")),
        until=4,
    )
    assert (err, code) == (b"", 0)
    assert 2 not in {one["id"] for one in answers if "result" in one}
    assert [len(text) for text in place.texts() if text != "after"] in ([], [200_000])
    assert "after" in place.texts()


def test_what_is_not_known_is_said_to_the_agent(place: Place) -> None:
    """Without a session the server serves, and each call says how to hand one over."""
    del place.env["NSSTORE_SESSION"]

    async def remember(client: Client) -> types.CallToolResult:
        found = await client.call_tool("remember", {"text": "a"})
        assert isinstance(found, types.CallToolResult)
        return found

    found = place.talk(remember, "--client", "claude-code", *flags_of(place.env))
    assert "nsstore hook claude-code start" in error_of(found)["message"]
    for name in ("NSSTORE_AGENT", "NSSTORE_PROJECT"):
        del place.env[name]
    found = place.talk(remember)
    assert "lacks project, agent" in error_of(found)["message"]


def test_a_hook_hands_over_to_a_running_server(place: Place) -> None:
    """The session that the client's hook names holds from the next call on, and the newest one counts."""
    del place.env["NSSTORE_SESSION"]

    def hand(session: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "nsstore", "hook", "claude-code", "start", *flags_of(place.env)],
            input=json.dumps({"session_id": session}).encode(),
            env=place.env,
            check=True,
            capture_output=True,
        )

    async def session_of(client: Client) -> str:
        await client.call_tool("remember", {"text": "a word"})
        found = await client.call_tool("search", {"query": "word"})
        assert isinstance(found, types.CallToolResult)
        if found.is_error:
            return str(error_of(found)["kind"])
        assert found.structured_content is not None
        return str(found.structured_content["memory"][0]["provenance"]["scope"]["session_id"])

    async def talking(client: Client) -> list[str]:
        seen = [await session_of(client)]
        for session in ("first", "second"):
            await anyio.to_thread.run_sync(hand, session)
            seen.append(await session_of(client))
        return seen

    client = ("--client", "claude-code", *flags_of(place.env))
    assert place.talk(talking, *client) == ["invalid", "first", "second"]


def test_help_needs_no_sdk() -> None:
    """Neither --help nor a refused flag imports the SDK."""
    code = (
        "import sys\nfrom nsstore.cli.main import main\n"
        "sys.argv[1:] = ['mcp', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert not {'mcp', 'mcp_types', 'pydantic', 'msgspec'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_library_needs_no_sdk() -> None:
    """A program that uses the library alone never imports the SDK."""
    code = f"import sys, nsstore\nnsstore.open\nassert 'mcp' not in sys.modules, {nsstore.__version__!r}\n"
    subprocess.run([sys.executable, "-c", code], check=True)
