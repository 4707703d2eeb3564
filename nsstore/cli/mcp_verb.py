"""The verb ``mcp``: the tools for an agent, over standard input and output."""

from __future__ import annotations

import click

from nsstore.cli.asker import flagged, scope_flags

client_option = click.option(
    "--client",
    metavar="NAME",
    help="The client that starts this, as claude-code: its hook hands the session over, and no variable"
    " that it sets widens the scope.",
)


@click.command()
@client_option
@scope_flags
def mcp(*, client: str | None, as_json: bool, **given: str | None) -> None:  # noqa: ARG001 - of errors
    """Serve an agent's tools over standard input and output.

    It is an agent's client that starts this, as `nsstore setup` has it: remember, search, recall, get, list,
    update, forget, state_get, state_put and evidence, in the one scope that the flags, the variables, your
    configuration, the bound checkout and git say. No tool takes a part of it. The session is the client's
    own, or that of --session or NSSTORE_SESSION: the one of your configuration is for what you type
    yourself. Branch and commit are looked at on each call.
    """
    from nsstore.host.acting import Acting
    from nsstore.mcp.server import SOURCE_TOOL
    from nsstore.mcp.stdio import serve

    acting = Acting(client=client, source_tool=SOURCE_TOOL, flags=flagged(given))
    try:
        serve(acting)
    finally:
        acting.close()
