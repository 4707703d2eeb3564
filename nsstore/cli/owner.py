"""The owner: whose store it is, and everything that was opened in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.flags import json_option, store_option, store_path
from nsstore.cli.owner_accept import accept
from nsstore.cli.owner_explain import explain, who_can_read
from nsstore.cli.owner_grant import grant
from nsstore.cli.owner_key import KeyFlags, require_fit, why_option, with_key
from nsstore.cli.owner_retention import retention
from nsstore.cli.verbs import Verbs, help_without_verb
from nsstore.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from nsstore.cli.statements import Told
    from nsstore.rights import Standing, Statement

NONE: Final = (
    "this store has no owner, so nothing is open to anybody beyond an equal scope:"
    " `nsstore owner init --name NAME` makes one"
)


@click.group(cls=Verbs, invoke_without_command=True)
@click.pass_context
def owner(ctx: click.Context) -> None:
    """Open a dimension to somebody, for a time, and close it again.

    Without an owner nothing crosses. The owner's key is sealed under a passphrase that is asked for at
    the terminal; what it signs stands in one numbered list, and ends at once in every process when it
    is revoked.
    """
    help_without_verb(ctx)


@owner.command()
@click.option("--name", required=True, metavar="NAME", help="Whose name each statement carries.")
@click.option(
    "--anew", is_flag=True, help="Give up the owner's key and list that are there, and every grant."
)
@with_key
@store_option
@json_option
def init(*, name: str, anew: bool, key: KeyFlags, store: str | None, as_json: bool) -> None:
    """Make the owner's key, and the list that it signs.

    The key is sealed under a new passphrase of at least 8 characters, in the trust home or in the new
    file of --key. Whoever has key and passphrase can open everything within a tenant, so keep them from
    agents. --anew is for a lost key, a damaged list, or a clock that was once far ahead: the old list is
    set aside, and nothing of it opens anything.
    """
    from secrets import token_hex

    import nsstore
    from nsstore.rights import begin
    from nsstore.rights.signing import THERE
    from nsstore.root.named import require_new, require_outside, write_new
    from nsstore.scope import check_label
    from nsstore.trust.owner import KEY_FILE, OWNER_LIMIT
    from nsstore.trust.signer import Signer

    check_label("--name", name)
    assurance = key.assurance()
    with nsstore.open(store_path(store)) as opened:
        standing = opened.rights.standing()
        if not anew and standing.owner is not None and (standing.listing.known or standing.damage):
            raise Refused(THERE, reason="owner")
        signer = Signer.new(opened.trust.store_id)
        if key.key_file is not None:
            require_outside(key.key_file, "the owner's key", opened.root.path, opened.trust.home.path)
            require_new(key.key_file, "the owner's key")
        sealed = signer.sealed(key.passphrase(confirm=True))
        if key.key_file is not None:
            write_new(key.key_file, sealed, "the owner's key")
        else:
            before = opened.trust.home.read(KEY_FILE, OWNER_LIMIT)
            if before is not None:
                opened.trust.home.replace(f"{KEY_FILE}.before-{token_hex(4)}", before)
            opened.trust.home.replace(KEY_FILE, sealed)
        why = "the owner's key was made" if not anew else "the owner's key was made anew"
        begin(opened.rights.listed, signer, name, assurance, why=why, anew=anew)
    if as_json:
        printing.emit({"name": name, "public": signer.public, "assurance": assurance.value})
        return
    printing.fields((("owner", name), ("public key", signer.public), ("assurance", assurance.value)))
    printing.note("without key and passphrase nothing is granted or revoked: `nsstore keys backup FILE`")


@owner.command("list")
@store_option
@json_option
def list_(*, store: str | None, as_json: bool) -> None:
    """List the owner's statements, and what is in force."""
    import nsstore
    from nsstore.cli.statements import labelled, soon, told

    with nsstore.open(store_path(store)) as opened:
        standing = opened.rights.standing()
    if standing.owner is None and standing.damage is None:
        printing.emit([]) if as_json else printing.say(NONE)
        return
    require_fit(standing)
    statements = told(standing)
    if as_json:
        printing.emit(statements)
        return
    if printing.is_terminal():
        for one in statements:
            ends = f"until {printing.when(one.expires)}" if one.expires else ""
            head = (str(one.number), one.state, one.what, ends)
            printing.block(head, (one.to and f"to {one.to}", " ".join(labelled(one))))
    else:
        printing.table(
            ("number", "state", "what", "to", "opens", "expires"),
            [
                (str(one.number), one.state, one.what, one.to, one.opens, one.expires or "")
                for one in statements
            ],
        )
    for one in soon(standing):
        printing.note(f"statement {one.number} expires {one.expires}")


@owner.command()
@click.argument("number", type=int)
@store_option
@json_option
def show(*, number: int, store: str | None, as_json: bool) -> None:
    """Show one statement in full.

    To whom it opens what, who made it, when and why, and how surely it was the owner.
    """
    import nsstore

    with nsstore.open(store_path(store)) as opened:
        standing = require_fit(opened.rights.standing())
    from nsstore.cli.statements import labelled, revocation

    one, words = _find(standing, number)
    ended = revocation(standing, number)
    if as_json:
        import msgspec

        by = None if ended is None else ended.seq
        printing.emit({**msgspec.to_builtins(one), "state": words.state, "revoked_by": by})
        return
    printing.fields(
        (
            ("number", str(number)),
            ("state", words.state),
            ("what", words.what),
            ("to", words.to or None),
            labelled(words),
            ("made", f"{words.at} by {words.by}"),
            ("why", words.why),
            ("assurance", words.assurance),
            ("expires", words.expires),
            ("revoked", None if ended is None else f"{ended.at} by statement {ended.seq}"),
        )
    )


@owner.command()
@click.argument("number", type=int)
@why_option
@with_key
@store_option
@json_option
def revoke(*, number: int, why: str, key: KeyFlags, store: str | None, as_json: bool) -> None:
    """End a statement at once, in every process.

    A grant that is pending ends as well; one that has expired needs no end. Of retention the statement
    before counts again. If another grant opens the same, or a part of it, that is told.
    """
    import nsstore
    from nsstore.cli.statements import revocation
    from nsstore.cli.still_open import still_open
    from nsstore.rights import Allowlisted, Granted, Kept, Revoked
    from nsstore.scope import check_label

    check_label("--why", why)
    assurance = key.assurance()
    with nsstore.open(store_path(store)) as opened:
        standing = require_fit(opened.rights.standing())
        one, words = _find(standing, number)
        if not isinstance(one, Granted | Allowlisted | Kept):
            raise InvalidInput(
                f"statement {number} cannot be revoked: its kind is {words.what}, and only grants, entries of"
                " the allowlist and retention end"
            )
        if (ended := revocation(standing, number)) is not None:
            raise InvalidInput(f"statement {number} was revoked by statement {ended.seq}, at {ended.at}")
        assert standing.owner is not None
        name = standing.owner.name
        made = opened.rights.state(
            key.unlock(opened),
            one.tenant if isinstance(one, Kept) else one.to.tenant,
            lambda seq, at, prev: Revoked(
                seq=seq, at=at, by=name, why=why, assurance=assurance, prev=prev, number=number
            ),
        )
        left = still_open(opened.rights.standing(), one)
    if as_json:
        printing.emit({"number": made.seq, "revoked": number, "still_open_by": (*left.whole, *left.part)})
        return
    printing.say(f"statement {number} is revoked by statement {made.seq}")
    if by := left.whole or left.part:
        statements = f"statement{'s' if len(by) > 1 else ''} {', '.join(map(str, by))}"
        printing.note(f"what it opened is still open {'' if left.whole else 'in part '}by {statements}")


def _find(standing: Standing, number: int) -> tuple[Statement, Told]:
    """A statement by its number. Raises :class:`InvalidInput` for a number that no statement has."""
    from nsstore.cli.statements import told

    listing = standing.listing
    every = {one.statement.seq: one.statement for one in (*listing.known, *listing.beyond)}
    if number not in every:
        raise InvalidInput(f"no statement has the number {number}: `nsstore owner list`")
    return every[number], next(one for one in told(standing) if one.number == number)


for verb in (accept, grant, retention, explain, who_can_read):
    owner.add_command(verb)
