"""The server as a process: the protocol on standard input and output, and nothing else on either."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCRequest, jsonrpc_message_adapter

from nsstore.mcp.binding import Host
from nsstore.mcp.lines import Lines, Read
from nsstore.mcp.messages import Refusal, refusal_of
from nsstore.mcp.server import server_of


def serve(host: Host) -> None:
    """Serve until standard input ends. What is no message is answered with the rule it breaks.

    Raises ``BrokenPipeError`` if nobody reads the answers any more.
    """
    _hush()
    try:
        anyio.run(_serve, host)
    except BaseExceptionGroup as group:
        gone = (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError)
        _, rest = group.split(gone)
        if rest is not None:
            raise
        raise BrokenPipeError from None


async def _serve(host: Host) -> None:
    server = server_of(host)

    async def messages() -> AsyncIterator[bytes]:
        """The lines that are left to the SDK; what is none of its own is answered at its place among them."""
        async for line in Lines(_reader()):
            refused = refusal_of(line, is_request)
            if refused is None:
                yield cast("bytes", line)
            else:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await outgoing.send(SessionMessage(_error(refused)))

    lines = cast("anyio.AsyncFile[str]", messages())  # all that the SDK does with it is to go through it
    async with stdio_server(stdin=lines) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def is_request(line: bytes) -> bool:
    """Whether the SDK reads a line as a request, which it answers."""
    try:
        return isinstance(jsonrpc_message_adapter.validate_json(line, by_name=False), JSONRPCRequest)
    except ValueError:
        return False


def _error(refused: Refusal) -> JSONRPCError:
    error = ErrorData(code=refused.code, message=refused.message)
    return JSONRPCError(jsonrpc="2.0", id=refused.id, error=error)


def _reader() -> Read:
    """Standard input itself, past every buffer: what is read is what has come."""
    raw = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)  # a process's own input has one
    return cast("Read", raw.read)


def _hush() -> None:
    """Have nothing logged: standard error is the person's, and a traceback in it helps nobody."""
    for name in ("mcp", "asyncio"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
