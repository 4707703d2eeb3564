"""Making a store, and seeing what one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nsstore.cli import printing
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import a_folder, json_option
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.harness.demo import Verdict


@click.command()
@click.argument("path", shell_complete=a_folder)
@json_option
def init(*, path: str, as_json: bool) -> None:
    """Make a store, and its keys in the trust home.

    PATH must be absent or an empty directory.
    """
    from nsstore.root.named import require_utf8
    from nsstore.store import create_root

    require_utf8(path, "the path of a store")
    try:
        root, trust = create_root(path)
    except InvalidInput as err:
        raise InvalidInput(f"{printing.named(path, 'the path of a store')}: {err}") from None
    with root:
        made = {"store_id": trust.store_id.hex(), "path": root.path, "trust_home": trust.home.path}
        trust.close()
    if as_json:
        printing.emit(made)
        return
    printing.fields(made.items())
    printing.note("without the trust home nobody can read the store: `nsstore keys backup FILE` keeps a copy")


@click.command()
@json_option
def demo(*, as_json: bool) -> None:
    """Show in a temporary store that nothing crosses.

    Two tenants, two projects and two sessions remember, each finds its own, attempts to cross are
    refused, and so is a record of which one byte was changed.
    """
    from nsstore.harness.demo import run

    verdict = run()
    if as_json:
        printing.emit(verdict)
    else:
        _show(verdict)
    if not verdict.held:
        click.get_current_context().exit(FOUND_WRONG)


def _show(verdict: Verdict) -> None:
    part = ""
    for step in verdict.steps:
        if step.part != part:
            if part:
                printing.say()
            part = step.part
            printing.say(part, bold=True)
        mark, colour = ("✓", "green") if step.held else ("✗", "red")
        click.echo(f"  {click.style(mark, fg=colour)} {printing.printable(step.what)}")
        if step.told:
            printing.say(step.told, dim=True, indent=6)
    printing.say()
    printing.say("On the disk", bold=True)
    for line in verdict.tree:
        printing.say(line, indent=2)
    printing.say()
    printing.say("One record", bold=True)
    for line in verdict.record.splitlines():
        printing.say(line, indent=2)
    printing.say()
    broken = sum(not step.held for step in verdict.steps)
    kept = (
        f"All {len(verdict.steps)} held" if verdict.held else f"{broken} of {len(verdict.steps)} did not hold"
    )
    printing.say(f"{kept}, in {verdict.seconds:.1f} s.", bold=True)
