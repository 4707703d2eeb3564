"""The owner accepts a loss: what is gone is listed, signed once, and its namespaces go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nsstore.cli import printing
from nsstore.cli.backup import loss_told, show_losses
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import json_option, store_option, store_path
from nsstore.cli.owner_key import KeyFlags, require_fit, with_key
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.scope import Area, Namespace
    from nsstore.store import Store

NOTHING = "nothing is lost: there is nothing to accept"


@click.command()
@click.option("--dry-run", is_flag=True, help="Only list what is lost.")
@click.option(
    "--gone", multiple=True, metavar="NAMESPACE",
    help="A namespace of which nothing is left, as memory/acme/ada/atlas/monday; may be repeated.",
)  # fmt: skip
@click.option("--why", metavar="TEXT", help="Why, for whoever reads the list; not with --dry-run.")
@with_key
@store_option
@json_option
def accept(
    *, dry_run: bool, gone: tuple[str, ...], why: str | None, key: KeyFlags, store: str | None, as_json: bool
) -> None:
    """Give up what is lost, so that its namespaces open again.

    A namespace that is older than the trust home knows it, or lacks records, is closed. This lists what
    each one lacks, and asks for the owner's passphrase: one signed statement then gives up exactly that.
    Restore a backup first if there is one. What was forgotten in the time that is lost may be back: the
    ledger that told of it is lost too.
    """
    import nsstore
    from nsstore.scope import check_label
    from nsstore.store.accept import accept as give_up
    from nsstore.store.accept import losses

    if why is None and not dry_run:
        raise InvalidInput("why is it given up? --why says so to whoever reads the list")
    reason = check_label("--why", why or "a look")
    assurance = key.assurance()
    with nsstore.open(store_path(store)) as opened:
        lacking = losses(opened, [_named(opened, one) for one in gone])
        told = [loss_told(one) for one in lacking.losses]
        if not as_json:
            show_losses(lacking.losses)
            for path, kind in lacking.others:
                printing.note(f"{path} is closed for another reason, and is not accepted: {kind}")
        if dry_run or not lacking.losses:
            if as_json:
                printing.emit({"statement": None, "lost": told, "changed": []})
            elif not lacking.losses:
                printing.say(NOTHING)
            return
        owner = require_fit(opened.rights.standing()).owner
        assert owner is not None
        signer = key.unlock(opened)
        done = give_up(opened, signer, lacking.losses, by=owner.name, why=reason, assurance=assurance)
    if as_json:
        changed = [one.path for one in done.changed]
        printing.emit({"statement": done.statement, "lost": told, "changed": changed})
    else:
        number = printing.count(len(done.resumed), "namespace is", "namespaces are")
        printing.say(f"statement {done.statement} gives it up: {number} open again")
        for one in done.changed:
            printing.note(f"{one.path} changed meanwhile, and is as it was: do it again")
    if done.changed:
        click.get_current_context().exit(FOUND_WRONG)


def _named(store: Store, path: str) -> Namespace:
    """The namespace that a path below the root spells. Raises :class:`InvalidInput`."""
    from nsstore.store.namespaces import LEVELS, named

    area, *components = path.strip("/").split("/")
    areas: dict[str, Area] = {one: one for one in LEVELS}
    known = areas.get(area)
    if known is not None and len(components) == len(LEVELS[known]):
        found = named(store.root, known, tuple(components))
        if found is not None:
            return found
    raise InvalidInput("--gone takes a namespace as `nsstore check` spells it: memory/acme/ada/atlas/monday")
