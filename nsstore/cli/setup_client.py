"""Two commands to memory that works: a store, its owner, a policy, a checkout and a client, on one screen."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

import click

from nsstore.cli import printing
from nsstore.cli.asker import flagged
from nsstore.cli.flags import BY_NAME, json_option, store_option
from nsstore.cli.passphrase import passphrase_option, unattended_option
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.cli.setup_plan import Plan
    from nsstore.cli.setup_values import Given, Value

NAMES: Final = ("claude-code", "codex", "other")
DIMENSIONS: Final = ("tenant", "group", "user", "project", "session")
NOWHERE: Final = (
    "{} contains the store or its trust home, so it is no checkout, and none is bound now: `cd` to yours and"
    " run this there, or `nsstore allow` there later"
)
NO_STORE: Final = "there is nothing to undo: no store is set up for you (--store names one that is elsewhere)"


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
@click.option(
    "--agent",
    "agents",
    metavar="ID",
    multiple=True,
    help="One more agent that the policy names, as your client tells nsstore; may be given more than once.",
)
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
    agents: tuple[str, ...],
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

    CLIENT is claude-code, codex, or other with --agent. Run it in the checkout. What is there already stays;
    where something is missing, this makes the store and the owner's key, sealed under a passphrase that is
    asked for; signs one personal policy (your agents read what each of them wrote for you, each project by
    itself); binds the checkout you stand in; and adds server, hooks and skill to the client's own files, of
    which nothing is lost. For other it prints what your client is told. --undo puts the files back, without
    CLIENT those of every client. With --unattended nothing is asked, and every value has its flag.
    """
    if undo:
        _undo((client,) if client is not None else NAMES, store, as_json=as_json)
        return
    if client is None:
        raise InvalidInput(f"which client? One of {', '.join(NAMES)}")
    from nsstore.cli.setup_plan import Plan
    from nsstore.cli.setup_values import Given, complete
    from nsstore.scope import check_id

    known = Given(
        client=client,
        agents=tuple(check_id("--agent", one) for one in agents),
        flags=flagged({**given, "store": store}),
        no_checkout=no_checkout,
        days=days,
        unattended=unattended,
        passphrase_file=passphrase_file,
    )
    plan = Plan(known, complete(known)) if unattended else _asked(known, as_json=as_json)
    done = plan.carry_out()
    if as_json:
        printing.emit(done)
        return
    for line in plan.told():
        printing.say(line)
    for server in plan.servers():
        printing.body(json.dumps(server))  # to be pasted, so nothing breaks it into lines
    for line in plan.further(done):
        printing.say(line)


def _asked(known: Given, *, as_json: bool) -> Plan:
    """What somebody at the terminal agreed to, value by value and as a whole; nobody is asked for nothing."""
    from nsstore.cli.setup_plan import Plan
    from nsstore.cli.setup_values import proposals, said
    from nsstore.errors import Refused

    values = said(known)
    rest = proposals(values)
    project = None if rest else _project_to_ask(known, values)
    if not rest and project is None and not (plan := Plan(known, values)).steps():
        return plan
    if as_json or not printing.somebody_answers():
        raise Refused(
            "setup asks at a terminal, and this is none: --unattended takes every value by its flag",
            reason="unattended",
        )
    printing.say("Memory for your agent", bold=True)
    if rest or project is not None:
        printing.say("Enter keeps what stands in brackets; anything else takes its place.", dim=True)
        printing.say()
    for name, one in rest.items():
        _ask(values, name, one)
    if rest:
        project = _project_to_ask(known, values)
    if project is not None:
        _ask(values, "project", project)
    plan = Plan(known, values)
    printing.say()
    printing.table(("what", "is", "from"), plan.rows(), flexible=(1,), fold=True)
    printing.say()
    for line in plan.steps():
        printing.say(line, mark="-", indent=2)
    printing.say()
    if (caution := plan.caution()) is not None:
        printing.note(caution)
    if not click.confirm("Set this up?", default=True, err=True):
        _nothing()
    return plan


def _project_to_ask(known: Given, values: dict[str, Value]) -> Value | None:
    """The proposal for the checkout where somebody stands; ``None`` for one that needs no question.

    As what it is bound already goes into ``values``; that none can be bound here is told.
    """
    from nsstore.cli.setup_values import place_of

    if known.no_checkout or "project" in values:
        return None
    place = place_of(values["store"].value)
    project = place.project()
    if project is None:
        printing.note(NOWHERE.format(place.top))
    elif project.fixed:
        values["project"] = project
    return None if project is None or project.fixed else project


def _ask(values: dict[str, Value], name: str, proposal: Value) -> None:
    """Have somebody keep a proposal or give another value, until it is one."""
    from nsstore.cli.setup_values import ASKED, Value

    while True:
        answer: str = click.prompt(ASKED[name], default=proposal.value or None, err=True)
        try:
            source = proposal.source if answer == proposal.value else "answer"
            values[name] = Value(proposal.checked(name, answer), source, fixed=False)
        except InvalidInput as err:
            printing.note(str(err))
        else:
            return


def _nothing() -> NoReturn:
    """End as somebody does who says no; whoever runs the verb tells that nothing is changed."""
    raise click.Abort


def _undo(clients: Sequence[str], store: str | None, *, as_json: bool) -> None:
    """Put back the clients' files; the store, its owner and what is remembered stay."""
    import nsstore
    from nsstore.host.config import config_path
    from nsstore.host.inference import STORE, stated
    from nsstore.host.journal import journal_of, undo

    known = stated({}, os.environ)  # before the configuration may go
    place = store or known[STORE].value
    if place is None:
        raise InvalidInput(NO_STORE)
    put_back: list[str] = []
    with nsstore.open(place) as opened:
        home = opened.trust.home
        found = {one: journal for one in clients if (journal := journal_of(home, one)) is not None}
        if not found:
            raise InvalidInput(f"there is nothing to undo for {' or '.join(clients)} in this store")
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
    flags = [f"--store {shlex.quote(kept)}"]
    printing.say(f"The store stays, with what is remembered and whom it is open to: {kept}")
    printing.say("To see its policy, which `nsstore owner revoke` ends:")
    printing.command(("nsstore owner list", *flags))
    flags += [f"--{one} {shlex.quote(value)}" for one in ("tenant", "group") if (value := known[one].value)]
    printing.say("To let go of a checkout, in it:")
    printing.command(("nsstore allow --end", *flags))
