"""Forget, edit and expire: what becomes of a record after it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, of_tenant, scoped
from nsstore.cli.flags import text_of
from nsstore.cli.records import show_forgotten
from nsstore.errors import InvalidInput, NotVisible, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nsstore.session import OpenStore, Session
    from nsstore.store import Below, Erasure, Found
    from nsstore.writers.note import Receipt

WHOLE: Final = ("session", "project", "user")
LEFT: Final = "expired that took the place of what stays: they stay too, and no verb serves either"
NEWER: Final = "a newer version took the place of this record: edit that one (`nsstore history ID` lists it)"
OTHER: Final = "this record is of another {}, who alone changes it"
UNASKED: Final = (
    "this record is of {}, and whether it is meant is asked at a terminal: --unattended forgets it without"
    " asking, --dry-run says what would go"
)

dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would go, and forget nothing.")


@click.command()
@click.argument("record_id", required=False, metavar="[ID]")
@click.option("--only-this", is_flag=True, help="Leave the versions that the record took the place of.")
@click.option(
    "--whole", type=click.Choice(WHOLE),
    help="Forget everything of the user's session, of the user's project, or of the user in this tenant.",
)  # fmt: skip
@click.option("--every-user", is_flag=True, help="With --whole project: of every user of the tenant.")
@click.option(
    "--leave-held",
    is_flag=True,
    help="With --whole: leave what is held, and forget the others, even what took its place.",
)
@click.option(
    "--even-damaged", is_flag=True,
    help="With --whole: also records that can no longer be proven; closed namespaces are passed over.",
)  # fmt: skip
@dry_run_option
@click.option("--unattended", is_flag=True, help="Do not ask whether it is meant.")
@scoped
def forget(
    asker: Asker,
    *,
    record_id: str | None,
    only_this: bool,
    whole: str | None,
    every_user: bool,
    leave_held: bool,
    even_damaged: bool,
    dry_run: bool,
    unattended: bool,
    as_json: bool,
) -> None:
    """Forget a record, or a whole scope, for good.

    With a record go the versions it took the place of, but for those of another session or agent: which
    these are is told. Nothing brings it back: its file goes, its views go, and no copy put back is
    served. What stays is that there was a record of this id. A record of your own in another session, or
    of an agent of yours, is forgotten as well, if you say so when you are asked. With --whole it is the
    owner's verb: whoever holds the store and its keys forgets the records of every agent
    there, and of documents those of the user or session.
    """
    if (record_id is None) == (whole is None):
        raise InvalidInput("forget takes a record id, or --whole session, project or user")
    if whole is None and (every_user or leave_held or even_damaged):
        raise InvalidInput("--every-user, --leave-held and --even-damaged go with --whole")
    if whole is not None and only_this:
        raise InvalidInput("--only-this goes with a record id")
    if record_id is not None:
        with asker.open() as store:
            session = asker.bind(store)
            try:
                receipt = session.forget(record_id, only_this=only_this, dry_run=dry_run)
            except (NotVisible, Refused) as err:
                its_own = _its_own(session, record_id, err)
                if not (unattended or dry_run):
                    _confirm_other(its_own, session)
                there = asker.of(its_own).bind(store)
                receipt = there.forget(record_id, only_this=only_this, dry_run=dry_run)
        show_forgotten(receipt, as_json=as_json)
        return
    assert whole is not None
    below = asker.below(whole, every_user=every_user, stated=unattended and not dry_run)
    with asker.open() as store:
        if not (dry_run or unattended):
            _confirm(store, below, leave_held=leave_held, even_damaged=even_damaged)
        from nsstore.store import forget_below

        done = forget_below(store, below, dry_run=dry_run, leave_held=leave_held, even_damaged=even_damaged)
    _show_all(done, dry_run=dry_run, as_json=as_json)


def _its_own(session: Session, record_id: str, why: Exception) -> Mapping[str, str | None]:
    """The scope that a record is of, where it is another one of the same user and open to who asks.

    Raises :class:`NotVisible`, and ``why`` it was not forgotten where it is of no other scope.
    """
    from nsstore.scope import envelope_fields
    from nsstore.session.versions import USER, require_own

    found = session.get(record_id)
    require_own(session, found, USER, OTHER)
    if found.provenance.scope == envelope_fields(session.envelope):
        raise why
    return found.provenance.scope


def _confirm_other(of: Mapping[str, str | None], session: Session) -> None:
    """Ask whether a record of another scope is meant. Raises :class:`Refused` where nobody answers."""
    from nsstore.cli.records import own_fields, whose

    own = own_fields(session)
    other = whose(of, own) or ", ".join(
        f"{name} {of[name]}" for name in ("branch", "baseline") if of[name] != own[name]
    )
    if not printing.somebody_answers():
        raise Refused(UNASKED.format(other), reason="unattended")
    click.confirm(printing.one_line(f"It is of {other}. Forget it for good?"), abort=True, err=True)


def _confirm(store: OpenStore, below: Below, *, leave_held: bool, even_damaged: bool) -> None:
    """Ask whether it is meant, with the number of records. Raises :class:`Refused` where nobody answers.

    What the run would be refused is refused before it is asked.
    """
    from nsstore.store import forget_below

    if not printing.somebody_answers():
        raise Refused(
            "this is asked at a terminal, and this is none: --unattended forgets without asking, --dry-run"
            " says what would go",
            reason="unattended",
        )
    seen = forget_below(store, below, dry_run=True, leave_held=leave_held, even_damaged=even_damaged)
    going = sum(len(one.records) for one in seen)
    named = ", ".join(f"{dimension} {value}" for dimension, value in below.pairs())
    question = f"Forget {printing.count(going, 'record')} of {named} for good?"
    click.confirm(printing.one_line(question), abort=True, err=True)


def _show_all(done: Sequence[Erasure], *, dry_run: bool, as_json: bool) -> None:
    total = sum(len(one.records) for one in done)
    if as_json:
        printing.emit({"records": total, "dry_run": dry_run, "namespaces": done})
        return
    rows = [("/".join((one.area, *(value for _, value in one.ids))), str(len(one.records))) for one in done]
    if rows:
        printing.table(("namespace", "records"), rows, flexible=(0,))
    for words, number in (
        ("held by their retention class", sum(one.held for one in done)),
        (LEFT, sum(one.left for one in done)),
        ("that could not be proven among them", sum(one.damaged for one in done)),
    ):
        if number:
            printing.note(f"{printing.count(number, 'record')} {words}")
    for one in done:
        if one.closed:
            printing.note(f"a namespace is closed and was passed over (incident {one.closed})")
    gone = printing.count(total, "record")
    printing.note(f"{gone} would be forgotten" if dry_run else f"{gone} forgotten for good")


@click.command()
@dry_run_option
@of_tenant
def expire(asker: Asker, *, dry_run: bool, as_json: bool) -> None:
    """Forget for good what has expired in this tenant.

    With a record go the versions it took the place of. No verb serves an expired record from its time
    on; this takes it from the disk. What its retention class holds stays, and so does what took the
    place of a record that stays: held, or of another agent, task or tool context.
    """
    from nsstore.store import Below
    from nsstore.store import expire as expire_below

    below = Below(tenant=asker.tenant())
    with asker.open() as store:
        done = expire_below(store, below, dry_run=dry_run)
    _show_all(done, dry_run=dry_run, as_json=as_json)


@click.command()
@click.argument("record_id", metavar="ID")
@scoped
def edit(asker: Asker, *, record_id: str, as_json: bool) -> None:
    """Edit a record's text in your editor, as a new version.

    It takes the old one's place. The editor is $VISUAL, else $EDITOR, else vi. An unchanged text, or an
    editor that fails, writes nothing. Nothing of the text stays outside the store, unless what you saved
    could not be written: then you are told the file it is kept in. The older version is in `nsstore
    history`.
    """
    from nsstore.record import MAX_TEXT
    from nsstore.root.editor import edited
    from nsstore.session.versions import next_version

    with asker.open() as store:
        session = asker.bind(store)
        found = _current(session, record_id)
        session.rehearse([next_version(found, found.text)])
        roots = (store.root.path, store.trust.home.path)
    with edited(found.text.encode(), MAX_TEXT + 1, *roots, kept=_tell_kept) as raw:
        text = _text(raw, found.text)
        receipt: Receipt | None = None
        if text != found.text:
            with asker.session() as session:
                (receipt,) = session.remember_many([next_version(_current(session, record_id), text)])
    if receipt is None:
        printing.note("the text is as it was: nothing is written")
    if as_json:
        printing.emit(receipt)
    elif receipt is not None:
        printing.say(receipt.record_id)


@click.command()
@click.argument("record_id", metavar="ID")
@click.argument("text", required=False, metavar="[TEXT|-]")
@scoped
def update(asker: Asker, *, record_id: str, text: str | None, as_json: bool) -> None:
    """Give a record a new text, as a new version.

    It takes the old one's place, with all that was said of it. The text is the argument, or all of standard
    input, byte for byte. The older version is in `nsstore history`.
    """
    from nsstore.session.versions import next_version

    with asker.session() as session:
        found = _current(session, record_id)
        (receipt,) = session.remember_many([next_version(found, text_of(text))])
    if as_json:
        printing.emit(receipt)
    else:
        printing.say(receipt.record_id)


def _tell_kept(path: str) -> None:
    printing.note(f"what you saved is not written, and is kept in {path}")


def _current(session: Session, record_id: str) -> Found:
    """The record, of the user's own and without a newer version. Raises :class:`Refused`."""
    from nsstore.session.versions import USER, newer_than, require_own

    found = session.get(record_id)
    if newer_than(session, record_id):
        raise Refused(NEWER, reason="superseded")
    require_own(session, found, USER, OTHER)
    return found


def _text(raw: bytes, before: str) -> str:
    """The edited text; a line end that the editor put behind a text without one does not count."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise InvalidInput("text must be UTF-8: nothing is changed") from None
    return text if before.endswith("\n") else text.removesuffix("\n")
