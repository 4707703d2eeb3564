"""The program ``nsstore``: every verb, and what all of them have in common."""

from __future__ import annotations

from typing import Final

import click

from nsstore import __version__
from nsstore.cli.verbs import PROGRAM, Program, help_without_verb

VERBS: Final = {
    "setup": ("nsstore.cli.setup_client", "setup"),
    "init": ("nsstore.cli.setup", "init"),
    "demo": ("nsstore.cli.setup", "demo"),
    "allow": ("nsstore.cli.allow", "allow"),
    "scope": ("nsstore.cli.scope_verb", "scope"),
    "remember": ("nsstore.cli.memory", "remember"),
    "search": ("nsstore.cli.memory", "search"),
    "show": ("nsstore.cli.memory", "show"),
    "list": ("nsstore.cli.memory", "list_"),
    "history": ("nsstore.cli.memory", "history"),
    "edit": ("nsstore.cli.life", "edit"),
    "update": ("nsstore.cli.life", "update"),
    "forget": ("nsstore.cli.life", "forget"),
    "state": ("nsstore.cli.state", "state"),
    "audit": ("nsstore.cli.audit", "audit"),
    "expire": ("nsstore.cli.life", "expire"),
    "check": ("nsstore.cli.check", "check"),
    "selftest": ("nsstore.cli.selftest", "selftest"),
    "accept": ("nsstore.cli.accept", "accept"),
    "import": ("nsstore.cli.importing", "import_"),
    "export": ("nsstore.cli.exporting", "export"),
    "keys": ("nsstore.cli.keys", "keys"),
    "owner": ("nsstore.cli.owner", "owner"),
    "backup": ("nsstore.cli.backup", "backup"),
    "restore": ("nsstore.cli.backup", "restore"),
    "move": ("nsstore.cli.move", "move"),
    "mcp": ("nsstore.cli.mcp_verb", "mcp"),
    "hook": ("nsstore.cli.hook", "hook"),
}

ABOUT = """Memory for AI agents in plain files, in which nothing crosses from one scope to another.

Who asks is never guessed: each dimension comes from its flag, else its variable (`--tenant acme`,
NSSTORE_TENANT=acme), your own configuration, the checkout that you allowed, or git; `nsstore scope` shows
which. - says that there is no workspace, branch or baseline. Only these have a value of their own: the
agent is human, the purpose recall, the clearance internal, and the source tool nsstore-cli.

NSSTORE_STORE is the store's directory, NSSTORE_TRUST_HOME the one where the keys of stores lie, else
~/.local/state/nsstore.
"""


@click.group(
    PROGRAM,
    cls=Program,
    help=ABOUT,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "--version", prog_name=PROGRAM)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Every verb of the program."""
    help_without_verb(ctx)


assert isinstance(cli, Program)
cli.where = VERBS


def main() -> None:
    """Run the program on the arguments of this process, and exit."""
    cli.main()
