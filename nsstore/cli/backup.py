"""A whole store in one file, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nsstore.cli import printing
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import a_file, a_folder, json_option, store_option, store_path
from nsstore.cli.passphrase import passphrase_from, passphrase_option, unattended_option
from nsstore.cli.progress import bar

if TYPE_CHECKING:
    from nsstore.store.accept import Loss
    from nsstore.store.restore import Restored

SHOWN = 20


@click.command()
@click.argument("file", shell_complete=a_file)
@unattended_option
@passphrase_option
@store_option
@json_option
def backup(
    *, file: str, unattended: bool, passphrase_file: str | None, store: str | None, as_json: bool
) -> None:
    """Write the whole store to one new file.

    Every record, ledger, audit and the owner's list are in it as they are, readable by whoever has the
    file; what the trust home holds is sealed under a passphrase of at least 8 characters. Others may
    read and write meanwhile. What is damaged is left out and told, and the exit code is 1 then.
    """
    import nsstore
    from nsstore.root.named import NewNamed, require_outside
    from nsstore.store.backup import backup as copy
    from nsstore.trust.backup import require_long

    with nsstore.open(store_path(store)) as opened:
        require_outside(file, "the backup", opened.root.path, opened.trust.home.path)
        passphrase = passphrase_from(passphrase_file, unattended=unattended, confirm=True)
        require_long(passphrase)
        with NewNamed(file, "the backup") as out, bar("backing up", None, shown=not as_json) as told:
            done = copy(opened, out, passphrase, told)
    if as_json:
        printing.emit(done)
    else:
        printing.say(
            f"{printing.count(done.records, 'record')} of {printing.count(done.namespaces, 'namespace')},"
            f" {printing.count(done.audits, 'audit')}: {done.bytes} bytes"
        )
        for path, kind in done.left_out[:SHOWN]:
            printing.note(f"left out, since it is damaged: {path} ({kind})")
        if len(done.left_out) > SHOWN:
            printing.note(f"{len(done.left_out) - SHOWN} more are left out: --json has them all")
        printing.note("whoever has the file can read the records; keep the passphrase apart from it")
    if done.left_out:
        click.get_current_context().exit(FOUND_WRONG)


@click.command()
@click.argument("file", shell_complete=a_file)
@click.argument("path", metavar="DIR", shell_complete=a_folder)
@click.option(
    "--old", metavar="DIR", shell_complete=a_folder,
    help="What is left of the store: what its ledgers prove of the time after the backup counts.",
)  # fmt: skip
@unattended_option
@passphrase_option
@json_option
def restore(
    *, file: str, path: str, old: str | None, unattended: bool, passphrase_file: str | None, as_json: bool
) -> None:
    """Make a store again from its backup.

    DIR must be absent, an empty directory, or one where a restore of the same file was cut short.
    Everything is proven before it is put there: one byte that was changed, one file more or less, and
    nothing is. The trust home gets what it lacks. Where this machine knows that more happened after the
    backup, the namespaces it happened in stay closed until the owner accepts that it is lost: this lists
    them, and `nsstore owner accept` does it.
    """
    from nsstore.root.named import NamedFile, require_utf8
    from nsstore.store.restore import restore as put_back

    require_utf8(path, "the path of a store")
    with NamedFile(file, "the backup") as opened, bar("restoring", opened.size, shown=not as_json) as told:
        done = put_back(
            opened.read,
            path,
            lambda: passphrase_from(passphrase_file, unattended=unattended, confirm=False),
            told,
            old=old,
        )
    if as_json:
        printing.emit({**as_told(done), "lost": [loss_told(one) for one in done.lacking.losses]})
    else:
        _show(done)
    if done.lacking.losses or done.lacking.others or done.rights is not None or done.passed_by:
        click.get_current_context().exit(FOUND_WRONG)


def as_told(done: Restored) -> dict[str, object]:
    """A restore as JSON tells it, but for what is lost."""
    import msgspec

    told: dict[str, object] = msgspec.to_builtins(done)
    del told["lacking"]
    return {**told, "closed": [{"path": path, "kind": kind} for path, kind in done.lacking.others]}


def loss_told(one: Loss) -> dict[str, object]:
    """A loss as JSON tells it."""
    return {"path": one.path, "ids": one.ids, "events": one.events, "records": one.records}


def show_losses(losses: tuple[Loss, ...]) -> None:
    """Tell what each namespace lacks, the lost records by their ids."""
    printing.table(
        ("events", "records", "namespace"),
        [(str(one.events), str(len(one.records)), one.path) for one in losses],
    )
    for one in losses:
        for record_id in one.records:
            printing.say(f"{one.path}/{record_id}.md", dim=True, indent=4)


def _show(done: Restored) -> None:
    printing.fields(
        (
            ("store", f"{done.store_id} at {done.path}"),
            ("backup of", done.made_at),
            ("put back", f"{done.records} records of {printing.count(done.namespaces, 'namespace')}"),
            ("trust home", f"{printing.count(done.keys, 'key')} and {done.anchors} anchors were missing"),
            ("from what is left", f"{done.brought} later records" if done.brought else None),
            ("kept out", f"{len(done.kept_out)} forgotten after the backup" if done.kept_out else None),
        )
    )
    for folder, record_id in done.kept_out:
        printing.say(f"{folder}/{record_id}.md", dim=True, indent=4)
    for path in done.passed_by[:SHOWN]:
        printing.note(f"{path}: no file of a store, so nothing of the time after the backup counts there")
    if len(done.passed_by) > SHOWN:
        printing.note(f"{len(done.passed_by) - SHOWN} more names like these: --json has them all")
    for path, what in (*done.lacking.others, *done.audits):
        printing.note(f"{path}: {what}")
    if done.rights is not None:
        printing.note(
            "the owner's list is older than the trust home knows it, and what was revoked since is not known:"
            " no grant opens anything until the owner begins anew with `nsstore owner init --anew`"
        )
    if done.lacking.losses:
        printing.say()
        show_losses(done.lacking.losses)
        printing.note(
            "these namespaces are closed: they lack what happened after the backup. Which of it was written"
            " and which forgotten is not known, so what was forgotten since is among what was put back."
            " `nsstore owner accept` opens them"
        )
