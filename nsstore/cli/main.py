"""The program ``nsstore``: every verb, and what all of them have in common."""

from __future__ import annotations

import click

from nsstore import __version__
from nsstore.cli.audit import audit
from nsstore.cli.backup import backup, restore
from nsstore.cli.check import check
from nsstore.cli.importing import import_
from nsstore.cli.keys import keys
from nsstore.cli.life import edit, expire, forget
from nsstore.cli.memory import get, history, list_, remember, search
from nsstore.cli.move import move
from nsstore.cli.owner import owner
from nsstore.cli.setup import demo, init
from nsstore.cli.state import state
from nsstore.cli.verbs import PROGRAM, Verbs, help_without_verb

VERBS = (
    init,
    demo,
    remember,
    search,
    get,
    list_,
    history,
    edit,
    forget,
    state,
    audit,
    expire,
    check,
    import_,
    keys,
    owner,
    backup,
    restore,
    move,
)

ABOUT = """Memory for AI agents in plain files, in which nothing crosses from one scope to another.

Who asks is never guessed: every dimension comes from its flag or its variable, as `--tenant acme` or
NSSTORE_TENANT=acme, and - says that there is no workspace, branch or baseline. Only these have a value
of their own: the agent is human, the purpose recall, the clearance internal, and the source tool
nsstore-cli.

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


def main() -> None:
    """Run the program on the arguments of this process, and exit."""
    cli.main()
