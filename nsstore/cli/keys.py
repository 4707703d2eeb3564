"""The keys of a store: back them up, put them back, add a new one."""

from __future__ import annotations

import click

from nsstore.cli import printing
from nsstore.cli.flags import a_file, json_option, store_option, store_path
from nsstore.cli.passphrase import passphrase_from, passphrase_option, unattended_option
from nsstore.cli.verbs import Verbs, help_without_verb
from nsstore.errors import InvalidInput


@click.group(cls=Verbs, invoke_without_command=True)
@click.pass_context
def keys(ctx: click.Context) -> None:
    """Back up, restore and rotate the keys that prove a store.

    They lie in the trust home, outside the store: without them nobody can read it.
    """
    help_without_verb(ctx)


@keys.command()
@click.argument("file", shell_complete=a_file)
@unattended_option
@passphrase_option
@store_option
@json_option
def backup(
    *, file: str, unattended: bool, passphrase_file: str | None, store: str | None, as_json: bool
) -> None:
    """Write the keys to a new file, sealed under a passphrase.

    The passphrase has at least 8 characters. The file lies outside the store and its trust home, and
    holds all of the trust home: keys, binding and anchors.
    Do so again after `keys rotate` and now and then: what was begun after a backup is not in it.
    """
    import nsstore
    from nsstore.root.named import require_new, require_outside, write_new
    from nsstore.trust.backup import backup as seal

    what = printing.named(file, "the backup")
    with nsstore.open(store_path(store)) as opened:
        require_outside(file, what, opened.root.path, opened.trust.home.path)
        require_new(file, what)
        raw = seal(opened.trust, passphrase_from(passphrase_file, unattended=unattended, confirm=True))
        write_new(file, raw, what)
        store_id = opened.store_id
    if as_json:
        printing.emit({"store_id": store_id, "bytes": len(raw)})
    else:
        printing.say(f"{len(raw)} bytes: keep the file and the passphrase apart, and away from the store")


@keys.command()
@click.argument("file", shell_complete=a_file)
@unattended_option
@passphrase_option
@store_option
@json_option
def restore(
    *, file: str, unattended: bool, passphrase_file: str | None, store: str | None, as_json: bool
) -> None:
    """Put back from a backup what the trust home lacks.

    What is there stays as it is, so an old backup takes nothing back. Keys that ledgers name and that
    are still missing are told by their ids.
    A namespace that was begun after the backup stays closed: nothing proves it.
    """
    from nsstore.cli.named_keys import all_keys_named
    from nsstore.root import Root
    from nsstore.root.named import NamedFile
    from nsstore.store.making import NO_STORE, read_claim
    from nsstore.trust.backup import MAX_FILE
    from nsstore.trust.restore import restore as put_back

    try:
        root = Root.open(store_path(store))
    except FileNotFoundError:
        raise InvalidInput(NO_STORE) from None
    with root:
        store_id = read_claim(root)
        with NamedFile(file, printing.named(file, "the backup")) as opened:
            raw = opened.read_all(MAX_FILE)
        passphrase = passphrase_from(passphrase_file, unattended=unattended, confirm=False)
        done = put_back(raw, passphrase, root=root, store_id=store_id)
        missing = sorted(all_keys_named(root).difference(done.held))
    if as_json:
        printing.emit(
            {"keys": done.keys, "anchors": done.anchors, "binding": done.binding, "missing_keys": missing}
        )
    else:
        printing.say(
            f"put back: {printing.count(done.keys, 'key')}, {printing.count(done.anchors, 'anchor')}"
            f"{', the binding' if done.binding else ''}"
        )
        if missing:
            number = printing.count(len(missing), "key")
            printing.note(f"{number} that ledgers name, still missing: {', '.join(missing)}. A later backup?")
        printing.note("`nsstore check` says what the backup does not prove")


@keys.command()
@store_option
@json_option
def rotate(*, store: str | None, as_json: bool) -> None:
    """Add a new key, which seals from now on.

    The old keys stay: everything sealed before is proven by them.
    """
    import nsstore
    from nsstore.trust.keyring import rotate as add

    with nsstore.open(store_path(store)) as opened:
        key_id = add(opened.trust.home)
    if as_json:
        printing.emit({"active": key_id})
    else:
        printing.say(f"sealing with {key_id} from now on")
        printing.note("the last backup lacks this key: `nsstore keys backup FILE` makes a new one")
