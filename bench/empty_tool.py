"""``python -m bench.empty_tool``: a server with one tool that does nothing, as fast as the SDK can be."""

from __future__ import annotations

from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server


async def _list(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:  # noqa: ANN401 - the SDK's
    tool = types.Tool(name="nothing", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def _call(_: Any, __: types.CallToolRequestParams) -> types.CallToolResult:  # noqa: ANN401 - the SDK's
    return types.CallToolResult(content=[])


async def _serve() -> None:
    server: Server[Any] = Server("empty", on_list_tools=_list, on_call_tool=_call)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_serve)
