"""Two commands to memory that works: a store, its owner, a policy, a checkout and a client, on one screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

import click

from nsstore.cli import printing
from nsstore.cli.asker import flagged
from nsstore.cli.flags import BY_NAME, json_option, store_option, store_path
from nsstore.cli.passphrase import passphrase_option, unattended_option
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.cli.setup_plan import Given, Plan

NAMES: Final = ("claude-code", "codex")
DIMENSIONS: Final = ("tenant", "group", "user", "project", "session")


def _flags(command: Callable[..., None]) -> Callable[..., None]:
    for name in reversed(DIMENSIONS):
        one = BY_NAME[name]
        command = click.option(
            one.flag, name, envvar=one.variable, show_envvar=True, metavar="ID", help=one.help
        )(command)
    return command


@click.command("setup")
@click.argument("client", type=click.Choice(NAMES), required=False)
@_flags
@click.option("--no-checkout", is_flag=True, help="Bind no checkout now: `nsstore allow` does it later.")
@click.option(
    "--days",
    type=click.IntRange(1, 365),
    metavar="N",
    help="For how many days the policy holds; 365 if not given.",
)
@click.option("--undo", is_flag=True, help="Put back the client's files as they were before.")
@passphrase_option
@unattended_option
@store_option
@json_option
def setup(
    *,
    client: str | None,
    no_checkout: bool,
    days: int | None,
    undo: bool,
    passphrase_file: str | None,
    unattended: bool,
    store: str | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Set up memory for an agent, on one screen.

    CLIENT is claude-code or codex. Where something is not there yet, this makes the store and the owner's
    key, sealed under a passphrase that is asked for; signs one personal policy (your agents read what each
    of them wrote for you, each project by itself); binds the checkout you stand in; and adds server, hooks
    and skill to the client's own files, of which nothing is lost. --undo puts those back, without CLIENT
    those of every client. With --unattended nothing is asked, and every value has its flag.
    """
    if undo:
        _undo((client,) if client is not None else NAMES, store, as_json=as_json)
        return
    if client is None:
        raise InvalidInput(f"which client? One of {', '.join(NAMES)}")
    from nsstore.cli.setup_plan import Given, plan_of, proposed

    known = Given(
        client=client,
        flags=flagged({**given, "store": store}),
        no_checkout=no_checkout,
        days=days,
        unattended=unattended,
        passphrase_file=passphrase_file,
    )
    plan = plan_of(known, proposed(known, asking=False)) if unattended else _asked(known, as_json=as_json)
    done = plan.carry_out()
    if as_json:
        printing.emit(done)
        return
    for line in plan.told(done):
        printing.say(line)


def _asked(known: Given, *, as_json: bool) -> Plan:
    """What somebody at the terminal agreed to, value by value and as a whole."""
    from nsstore.cli.setup_plan import ASKED, Value, plan_of, proposed
    from nsstore.errors import Refused

    if as_json or not printing.somebody_answers():
        raise Refused(
            "setup asks at a terminal, and this is none: --unattended takes every value by its flag",
            reason="unattended",
        )
    values = proposed(known, asking=True)
    printing.say("Memory for your agent", bold=True)
    printing.say("Enter keeps what stands in brackets; anything else takes its place.", dim=True)
    printing.say()
    for name, words in ASKED.items():
        one = values.get(name)
        if one is None or one.fixed:
            continue
        while True:
            answer: str = click.prompt(words, default=one.value or None, err=True)
            try:
                source = one.source if answer == one.value else "answer"
                values[name] = Value(one.checked(name, answer), source, fixed=False)
                break
            except InvalidInput as err:
                printing.note(str(err))
    plan = plan_of(known, values)
    printing.say()
    printing.table(("what", "is", "from"), plan.rows(), flexible=(1,), fold=True)
    printing.say()
    for line in plan.steps():
        printing.say(f"- {line}")
    printing.say()
    if not click.confirm("Set this up?", default=True, err=True):
        _nothing()
    return plan


def _nothing() -> NoReturn:
    """End as somebody does who says no; whoever runs the verb tells that nothing is changed."""
    raise click.Abort


def _undo(clients: Sequence[str], store: str | None, *, as_json: bool) -> None:
    """Put back the clients' files; the store, its owner and what is remembered stay."""
    import nsstore
    from nsstore.host.config import config_path
    from nsstore.host.journal import journal_of, undo

    put_back: list[str] = []
    with nsstore.open(store_path(store)) as opened:
        home = opened.trust.home
        found = {one: journal for one in clients if (journal := journal_of(home, one)) is not None}
        if not found:
            raise InvalidInput(f"setup did nothing for {' or '.join(clients)} that is not undone already")
        for one in found:
            journal = journal_of(home, one)  # anew: the one before may have handed something on to it
            assert journal is not None
            put_back += undo(home, one, journal, shared=(config_path(os.environ),))
        kept = opened.root.path
    if as_json:
        printing.emit({"undone": put_back, "kept": kept})
        return
    for line in put_back:
        printing.say(f"put back: {line}")
    printing.say(f"The store stays, with what is remembered and whom it is open to: {kept}")
    printing.say(
        f"`nsstore owner list --store {kept}` shows its policy, which `nsstore owner revoke` ends;"
        " `nsstore allow --end` lets go of a checkout"
    )
