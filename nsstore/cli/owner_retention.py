"""Retention: how long the records of a tenant are kept, and which are held, by the owner's word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, of_tenant
from nsstore.cli.flags import json_option, store_option, store_path
from nsstore.cli.owner_key import KeyFlags, require_fit, why_option, with_key
from nsstore.cli.verbs import Verbs, help_without_verb
from nsstore.errors import InvalidInput, Refused, StoreError

if TYPE_CHECKING:
    from nsstore.policy import Pair
    from nsstore.rights import Kept, Standing, Statement
    from nsstore.session import OpenStore

ALWAYS: Final = "always"
NOTHING: Final = "nothing is set for this tenant: no class has a duration, and legal_hold alone is held"
MEANWHILE: Final = "another statement was made meanwhile: look at what is set, then set it again"


@click.group(cls=Verbs, invoke_without_command=True)
@click.pass_context
def retention(ctx: click.Context) -> None:
    """Set how long records are kept, and which are held.

    One statement says it all for one tenant, and the newest counts. It is sealed into what is written
    from then on; what is held is neither forgotten nor erased, whenever it was written.
    """
    help_without_verb(ctx)


@retention.command("set")
@click.option("--tenant", metavar="ID", help="For whom: the tenant; this or --group.")
@click.option("--group", metavar="ID", help="For whom: the group; this or --tenant.")
@click.option(
    "--keep", multiple=True, metavar="CLASS=DAYS",
    help="How long a class is kept, as standard=90, or standard=always; may be given more than once.",
)  # fmt: skip
@click.option("--hold", multiple=True, metavar="CLASS", help="A class that is held from now on.")
@click.option("--lift", multiple=True, metavar="CLASS", help="A class that is held no longer.")
@click.option("--release", multiple=True, metavar="ID", help="A record let go of although its class is held.")
@click.option(
    "--trusted-until", metavar="TIME",
    help="A sealed time after this one counts as this one: as 2026-11-30T12:00:00Z, or always.",
)  # fmt: skip
@why_option
@with_key
@store_option
@json_option
def set_(
    *,
    tenant: str | None,
    group: str | None,
    keep: tuple[str, ...],
    hold: tuple[str, ...],
    lift: tuple[str, ...],
    release: tuple[str, ...],
    trusted_until: str | None,
    why: str,
    key: KeyFlags,
    store: str | None,
    as_json: bool,
) -> None:
    """Change what is set for a tenant.

    What is not named here stays as it is. `nsstore owner revoke` brings back what was set before.
    legal_hold is always held; only single records of it are let go of, with --release.
    """
    import nsstore
    from nsstore.rights import Kept
    from nsstore.scope import check_label

    check_label("--why", why)
    assurance = key.assurance()
    if (tenant is None) == (group is None):
        raise InvalidInput("exactly one of --tenant and --group must be given")
    if not (keep or hold or lift or release or trusted_until):
        raise InvalidInput("what is to change? --keep, --hold, --lift, --release or --trusted-until")
    whose: Pair = ("tenant", tenant) if tenant is not None else ("group", group or "")
    with nsstore.open(store_path(store)) as opened:
        standing = require_fit(opened.rights.standing())
        assert standing.owner is not None
        name, last = standing.owner.name, standing.listing.last
        before = _set_for(standing, whose)
        days = _days(before.days if before else (), keep)
        held = _held(before.held if before else (), hold, lift)
        released = tuple(sorted({*(before.released if before else ()), *release}))
        until = _until(before.trusted_until if before else None, trusted_until)

        def make(seq: int, at: str, prev: str) -> Statement:
            if last is None or prev != last.digest.hex():
                raise Refused(MEANWHILE, reason="changed_meanwhile", retryable=True)
            return Kept(
                seq=seq, at=at, by=name, why=why, assurance=assurance, prev=prev, tenant=whose,
                days=days, held=held, released=released, trusted_until=until,
            )  # fmt: skip

        changed = make(1, standing.now, last.digest.hex() if last else "")
        assert isinstance(changed, Kept)  # checked before anybody is asked for the passphrase
        if not as_json:
            _show(changed, numbered=False)
        signer = key.unlock(opened)
        missing = list(_missing(opened, whose, release))
        made = opened.rights.state(signer, whose, make)
    assert isinstance(made, Kept)
    if as_json:
        printing.emit(_told(made))
    else:
        printing.say(f"statement {made.seq}, until the next one or its revocation")
    for one in missing:
        printing.note(one)


def _missing(store: OpenStore, tenant: Pair, released: Iterable[str]) -> Iterator[str]:
    """Which of the records that are let go of are not here, as far as the tenant's ledgers are whole."""
    from nsstore.store.namespaces import survey_names

    left, forgotten, whole = set(released), set[str](), True
    for ns in survey_names(store.root).namespaces if left else ():
        if ns.tenant != tenant:
            continue
        try:
            ledger = store.leaf(ns).read()
        except StoreError:
            whole = False  # `nsstore check` tells of it
            continue
        left -= ledger.members.keys()
        forgotten |= left & ledger.forgotten.keys()
    for record_id in sorted(left):
        if record_id in forgotten:
            yield f"{record_id} is forgotten already: to let go of it changes nothing"
        elif whole:
            yield f"no record of {'='.join(tenant)} has the id {record_id}: to let go of it changes nothing"


@retention.command("show")
@of_tenant
def show(asker: Asker, *, as_json: bool) -> None:
    """Show what is set for a tenant."""
    tenant = asker.tenant()
    with asker.open() as store:
        standing = store.rights.standing()
    if standing.damage is not None:
        require_fit(standing)
    found = _set_for(standing, tenant)
    if as_json:
        printing.emit(None if found is None else _told(found))
    elif found is None:
        printing.say(NOTHING)
    else:
        _show(found)


@retention.command("list")
@store_option
@json_option
def list_(*, store: str | None, as_json: bool) -> None:
    """List what is set, tenant by tenant."""
    import nsstore
    from nsstore.cli.statements import kept
    from nsstore.rights import kept_of

    with nsstore.open(store_path(store)) as opened:
        standing = opened.rights.standing()
    if standing.damage is not None:
        require_fit(standing)
    every = sorted(kept_of(standing.listing).items())
    if as_json:
        printing.emit([_told(one) for _, one in every])
        return
    if not every:
        printing.note("nothing is set: no class has a duration, and legal_hold alone is held")
        return
    printing.table(
        ("statement", "for", "what is set"),
        [(str(one.seq), "=".join(tenant), kept(one)) for tenant, one in every],
        fold=True,
    )


def _set_for(standing: Standing, tenant: Pair) -> Kept | None:
    from nsstore.rights import kept_of

    return kept_of(standing.listing).get(tenant)


def _days(before: Iterable[tuple[str, int]], keep: Iterable[str]) -> tuple[tuple[str, int], ...]:
    days = dict(before)
    for given in keep:
        name, mark, length = given.partition("=")
        number = length.removesuffix("d")
        if length == ALWAYS:
            days.pop(name, None)
        elif mark and number.isascii() and number.isdigit() and len(number) < 8:
            days[name] = int(number)
        else:
            raise InvalidInput("--keep must be a class and days, as standard=90, or standard=always")
    return tuple(sorted(days.items()))


def _held(before: Iterable[str], hold: Iterable[str], lift: Iterable[str]) -> tuple[str, ...]:
    from nsstore.policy import LEGAL_HOLD

    if LEGAL_HOLD in lift:
        raise InvalidInput("legal_hold is always held: --release lets go of single records")
    held = {*before, *hold} - {LEGAL_HOLD}
    for name in lift:
        if name not in held:
            raise InvalidInput("--lift names a class that is not held")
    return tuple(sorted(held - {*lift}))


def _until(before: str | None, given: str | None) -> str | None:
    from datetime import datetime

    from nsstore.rights import spelled_time

    if given is None or given == ALWAYS:
        return before if given is None else None
    try:
        time = datetime.fromisoformat(given)
    except ValueError:
        time = None
    if time is None or time.utcoffset() is None:
        raise InvalidInput("--trusted-until must be a time that names its zone, as 2027-01-31T12:00:00Z")
    return spelled_time(time)


def _told(one: Kept) -> dict[str, object]:
    """What a statement sets, as a program reads it."""
    from nsstore.policy import LEGAL_HOLD

    return {
        "number": one.seq,
        one.tenant[0]: one.tenant[1],
        "days": dict(one.days),
        "held": sorted({LEGAL_HOLD, *one.held}),
        "released": one.released,
        "trusted_until": one.trusted_until,
    }


def _show(one: Kept, *, numbered: bool = True) -> None:
    from nsstore.policy import LEGAL_HOLD

    printing.fields(
        (
            ("statement", f"{one.seq}, made {one.at} by {one.by}" if numbered else None),
            ("for", "=".join(one.tenant)),
            *((f"kept as {name}", printing.count(days, "day")) for name, days in one.days),
            ("kept otherwise", "always, or as the record says"),
            ("held", ", ".join((LEGAL_HOLD, *one.held))),
            ("released", ", ".join(one.released) or None),
            ("times trusted until", one.trusted_until),
        )
    )
