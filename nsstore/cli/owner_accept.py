"""The owner accepts a loss: what is gone is listed, signed once, and its namespaces go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nsstore.cli import printing
from nsstore.cli.backup import gone_told, loss_told, show_gone
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import json_option, store_option, store_path
from nsstore.cli.owner_key import KeyFlags, require_fit, with_key
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nsstore.rights import Assurance
    from nsstore.scope import Area, Namespace
    from nsstore.store import Store
    from nsstore.store.accept import Done, Lacking, Loss
    from nsstore.store.audits import AuditGap
    from nsstore.store.gone import Gone

NOTHING = "nothing is lost: there is nothing to accept"
UNTOLD = (
    "of events that no ledger tells of the trust home keeps the number alone: each may be a record that was"
    " written, or one that was forgotten"
)


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
    each one lacks, and what audits lack, and asks for the owner's passphrase: signed statements then give
    up exactly that. Restore a backup first if there is one. What was forgotten in the time that is lost may
    be back: the ledger that told of it is lost too. A namespace of which nothing is left is counted, and
    given up by its name with --gone: the trust home keeps no names. The exit code is 1 until each is named.
    """
    import nsstore
    from nsstore.scope import check_label
    from nsstore.store.gone import require_known

    if why is None and not dry_run:
        raise InvalidInput("why is it given up? --why says so to whoever reads the list")
    reason = check_label("--why", why or "a look")
    assurance = key.assurance()
    with nsstore.open(store_path(store)) as opened:
        named = [_named(opened, one) for one in gone]
        require_known(opened, named)
        seen = _Seen(opened, named)
        if not as_json:
            seen.show()
        done = None
        if not dry_run and seen.acceptable:
            owner = require_fit(opened.rights.standing()).owner
            assert owner is not None
            done = _Given(opened, seen, key, by=owner.name, why=reason, assurance=assurance)
    if as_json:
        printing.emit({**seen.told(), **(done.told() if done else {})})
    elif done is not None:
        done.show()
    elif not (seen.acceptable or seen.gone):
        printing.say(NOTHING)
    if seen.gone or (done is not None and done.changed):
        click.get_current_context().exit(FOUND_WRONG)


class _Seen:
    """What is lost of a store: in namespaces, in audits, and whole namespaces that nobody named."""

    def __init__(self, store: Store, named: Sequence[Namespace]) -> None:
        from nsstore.store.accept import losses
        from nsstore.store.audits import audit_gaps
        from nsstore.store.gone import gone
        from nsstore.store.namespaces import survey_names

        shown = survey_names(store.root).namespaces
        self.lacking: Lacking = losses(store, named)
        self.gaps: tuple[AuditGap, ...] = audit_gaps(store, shown)
        self.gone: tuple[Gone, ...] = gone(store, (*shown, *named))

    @property
    def acceptable(self) -> bool:
        return bool(self.lacking.losses or self.gaps)

    def told(self) -> dict[str, object]:
        """All of it as JSON tells it, with nothing accepted."""
        return {
            "statement": None,
            "lost": [loss_told(one) for one in self.lacking.losses],
            "audits": [
                {"path": one.path, "first": one.first, "last": one.last, "events": one.events}
                for one in self.gaps
            ],
            "gone": [gone_told(one) for one in self.gone],
            "changed": [],
        }

    def show(self) -> None:
        """All of it for a person."""
        _show_lost(self.lacking.losses)
        for one in self.gaps:
            printing.say(f"{one.path}: {printing.count(one.events, 'event')} of the audit")
        for path, kind in self.lacking.others:
            printing.note(f"{path} is closed for another reason, and is not accepted: {kind}")
        show_gone(self.gone, "the trust home knows and the disk does not")


class _Given:
    """What the owner gave up of it."""

    def __init__(
        self, store: Store, seen: _Seen, key: KeyFlags, *, by: str, why: str, assurance: Assurance
    ) -> None:
        from nsstore.store.accept import accept as give_up
        from nsstore.store.audits import accept_gaps

        signer, found = key.unlock(store), seen.lacking.losses
        self.done: Done | None = None
        if found:
            self.done = give_up(store, signer, found, by=by, why=why, assurance=assurance)
        self.gaps = seen.gaps
        self.numbers = accept_gaps(store, signer, seen.gaps, by=by, why=why, assurance=assurance)

    @property
    def changed(self) -> list[str]:
        return [one.path for one in self.done.changed] if self.done is not None else []

    def told(self) -> dict[str, object]:
        """The numbers of the statements, and what changed meanwhile."""
        number = self.done.statement if self.done is not None else None
        return {"statement": number, "audit_statements": self.numbers, "changed": self.changed}

    def show(self) -> None:
        """The same for a person."""
        if self.done is not None:
            again = printing.count(len(self.done.resumed), "namespace is", "namespaces are")
            printing.say(f"statement {self.done.statement} gives it up: {again} open again")
        for number, gap in zip(self.numbers, self.gaps, strict=True):
            printing.say(f"statement {number} gives up {printing.count(gap.events, 'event')} of {gap.path}")
        for path in self.changed:
            printing.note(f"{path} changed meanwhile, and is as it was: do it again")


def _show_lost(losses: Sequence[Loss]) -> None:
    """What each namespace lacks: records that its ledger names, and events that are only counted."""
    printing.table(("namespace", "lacks"), [(one.path, " and ".join(_lacks(one))) for one in losses])
    for one in losses:
        for record_id in one.records:
            printing.say(f"{one.path}/{record_id}.md", dim=True, indent=4)
    if any(one.events for one in losses):
        printing.note(UNTOLD)


def _lacks(one: Loss) -> Iterator[str]:
    if one.records:
        yield printing.count(len(one.records), "record")
    if one.events:
        yield f"{printing.count(one.events, 'event')} that no ledger tells of"


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
