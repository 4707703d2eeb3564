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
    from collections.abc import Iterator

    from nsstore.store.accept import Loss
    from nsstore.store.gone import Gone
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
    help="What is left of the store: what it proves of the time after the backup counts.",
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
    them, and `nsstore owner accept` does it. Sessions that were begun after the backup come from --old; of
    what neither has there is a count, and the exit code is 1.
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
        lost = [loss_told(one) for one in done.lacking.losses]
        printing.emit({**as_told(done), "lost": lost, "gone": [gone_told(one) for one in done.gone]})
    else:
        _show(done, old=old is not None)
    if not done.whole:
        click.get_current_context().exit(FOUND_WRONG)


def as_told(done: Restored) -> dict[str, object]:
    """A restore as JSON tells it, but for what is lost."""
    import msgspec

    told: dict[str, object] = msgspec.to_builtins(done)
    del told["lacking"], told["gone"]
    return {**told, "closed": [{"path": path, "kind": kind} for path, kind in done.lacking.others]}


def loss_told(one: Loss) -> dict[str, object]:
    """A loss as JSON tells it."""
    return {"path": one.path, "ids": one.ids, "events": one.events, "records": one.records}


def gone_told(one: Gone) -> dict[str, object]:
    """Namespaces that are gone whole, as JSON tells them."""
    return {"below": one.below, "namespaces": one.namespaces}


def show_gone(gone: tuple[Gone, ...], where: str) -> None:
    """Tell how many namespaces the trust home alone knows, each below its path, and what to do.

    ``where`` ends the sentence: who does not know them.
    """
    for one in gone:
        number, place = printing.count(one.namespaces, one.leaf), one.below.partition("/")[2]
        printing.note(f"{number} of {place} that {where}")
    if gone:
        one = gone[0]
        printing.note(
            "the trust home keeps a digest of each and no name, so which they are is for you to know:"
            f" `nsstore owner accept --gone {one.below}/{one.leaf.upper()}` gives one up, by its id"
        )


def show_losses(losses: tuple[Loss, ...]) -> None:
    """Tell what each namespace lacks, the lost records by their ids."""
    printing.table(
        ("events", "records", "namespace"),
        [(str(one.events), str(len(one.records)), one.path) for one in losses],
    )
    for one in losses:
        for record_id in one.records:
            printing.say(f"{one.path}/{record_id}.md", dim=True, indent=4)


def _brought(done: Restored) -> Iterator[str]:
    """What came from what is left of the store, in words."""
    if done.brought:
        yield printing.count(done.brought, "later record")
    if done.begun:
        yield printing.count(len(done.begun), "later namespace")
    if done.events:
        yield printing.count(done.events, "later event of audits", "later events of audits")


def _show(done: Restored, *, old: bool) -> None:
    printing.fields(
        (
            ("store", f"{done.store_id} at {done.path}"),
            ("backup of", done.made_at),
            (
                "put back",
                f"{printing.count(done.records, 'record')} of {printing.count(done.namespaces, 'namespace')}",
            ),
            (
                "trust home",
                f"lacked {printing.count(done.keys, 'key')} and {printing.count(done.anchors, 'anchor')}",
            ),
            ("from what is left", ", ".join(_brought(done)) or None),
            ("kept out", f"{len(done.kept_out)} forgotten after the backup" if done.kept_out else None),
        )
    )
    for path in done.begun:
        printing.say(f"begun after the backup: {path}", indent=4)
    for folder, record_id in done.kept_out:
        printing.say(f"{folder}/{record_id}.md", dim=True, indent=4)
    behind = [f"{path}: left behind, since {why}" for path, why in done.left]
    behind += [
        f"{path}: no file of a store, so nothing of the time after the backup counts there"
        for path in done.passed_by
    ]
    for words in behind[:SHOWN]:
        printing.note(words)
    if len(behind) > SHOWN:
        printing.note(f"{len(behind) - SHOWN} more names like these: --json has them all")
    for path, what in (*done.lacking.others, *done.audits):
        printing.note(f"{path}: {what}")
    show_gone(done.gone, "neither this backup nor what is left knows" if old else "this backup does not know")
    if done.audits:
        printing.note("`nsstore owner accept` has the owner give up what an audit lacks as well")
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
