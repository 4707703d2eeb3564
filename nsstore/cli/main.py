"""The program ``nsstore``: every verb, and what all of them have in common."""

from __future__ import annotations

import click

from nsstore import __version__
from nsstore.cli.allow import allow
from nsstore.cli.audit import audit
from nsstore.cli.backup import backup, restore
from nsstore.cli.check import check
from nsstore.cli.examples import show_examples
from nsstore.cli.exporting import export
from nsstore.cli.hook import hook
from nsstore.cli.importing import import_
from nsstore.cli.keys import keys
from nsstore.cli.life import edit, expire, forget, update
from nsstore.cli.mcp_verb import mcp
from nsstore.cli.memory import history, list_, remember, search, show
from nsstore.cli.move import move
from nsstore.cli.owner import owner
from nsstore.cli.scope_verb import scope
from nsstore.cli.setup import demo, init
from nsstore.cli.setup_client import setup
from nsstore.cli.state import state
from nsstore.cli.verbs import PROGRAM, Verbs, help_without_verb

VERBS = (
    setup,
    init,
    demo,
    allow,
    scope,
    remember,
    search,
    show,
    list_,
    history,
    edit,
    update,
    forget,
    state,
    audit,
    expire,
    check,
    import_,
    export,
    keys,
    owner,
    backup,
    restore,
    move,
    mcp,
    hook,
)

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
    cls=Verbs,
    help=ABOUT,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "--version", prog_name=PROGRAM)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Every verb of the program."""
    help_without_verb(ctx)


for verb in VERBS:
    cli.add_command(verb)
show_examples(cli)


def main() -> None:
    """Run the program on the arguments of this process, and exit."""
    cli.main()
