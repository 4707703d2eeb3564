"""An agent at its tools: a server in this process, with a host that binds a typical scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, types

from bench.world import Who, World, unflushed
from nsstore import OpenStore, Session
from nsstore.mcp.server import server_of
from nsstore.session import TruthSource

Done = TypeVar("Done")


class Desk:
    """A host whose scope a test may change between calls, as a person changes a branch."""

    def __init__(self, store: OpenStore) -> None:
        self.store = store
        self.who = Who()
        self.given: Sequence[TruthSource] = ()
        self.fails: Exception | None = None
        self._last: Session | None = None

    def session(self) -> Session:
        """The session of the scope of this moment."""
        if self.fails is not None:
            raise self.fails
        found = self.who.bind(self.store)
        if self._last is None or self._last.envelope != found.envelope:
            self._last = found
        return self._last

    def sources(self) -> Sequence[TruthSource]:
        """The sources that the test gave."""
        return self.given

    def talk(self, talking: Callable[[Client], Awaitable[Done]], mode: str = "auto") -> Done:
        """Run a conversation of the SDK's own client with a server of this host."""

        async def run() -> Done:
            async with Client(server_of(self), mode=mode) as client:
                return await talking(client)

        return anyio.run(run)

    def call(self, tool: str, /, **given: Any) -> types.CallToolResult:  # noqa: ANN401 - whatever an agent says
        """What a call comes to; the client has checked the result against the tool's schema."""

        async def talking(client: Client) -> types.CallToolResult:
            found = await client.call_tool(tool, given)
            assert isinstance(found, types.CallToolResult)
            return found

        return self.talk(talking)

    def ok(self, tool: str, /, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
        """The structured result of a call that has to succeed."""
        found = self.call(tool, **given)
        assert not found.is_error, text_of(found)
        structured: dict[str, Any] | None = found.structured_content
        assert structured is not None
        return structured

    def fault(self, tool: str, /, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
        """The error of a call that has to fail; its one line of text says the same."""
        found = self.call(tool, **given)
        assert found.is_error
        error = error_of(found)
        assert error["message"] in text_of(found)
        return error


def text_of(found: types.CallToolResult) -> str:
    """The text beside a structured result."""
    (content,) = found.content
    assert isinstance(content, types.TextContent)
    return content.text


def error_of(found: types.CallToolResult) -> dict[str, Any]:
    """What a program is told of a failure: apart from what it could hold against the tool's schema."""
    assert found.is_error
    assert found.structured_content is None
    assert found.meta is not None
    error: dict[str, Any] = found.meta["nsstore/error"]
    return error


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A host with an empty store in which nothing is flushed."""
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    with unflushed(), World(place=tmp_path).make() as store:
        yield Desk(store)
