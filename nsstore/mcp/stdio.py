"""The server as a process: the protocol on standard input and output, and nothing else on either."""

from __future__ import annotations

import logging
import sys
from typing import cast

import anyio
from mcp.server.stdio import stdio_server

from nsstore.mcp.binding import Host
from nsstore.mcp.lines import Lines, Read
from nsstore.mcp.server import server_of


def serve(host: Host) -> None:
    """Serve until standard input ends. What is no message is passed over.

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
    lines = cast(
        "anyio.AsyncFile[str]", Lines(_reader())
    )  # all that the SDK does with it is to go through it
    async with stdio_server(stdin=lines) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _reader() -> Read:
    """Standard input itself, past every buffer: what is read is what has come."""
    raw = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)  # a process's own input has one
    return cast("Read", raw.read)


def _hush() -> None:
    """Have nothing logged: standard error is the person's, and a traceback in it helps nobody."""
    for name in ("mcp", "asyncio"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
