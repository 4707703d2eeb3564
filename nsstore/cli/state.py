"""State documents: get, put, list and history of keyed documents."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, scoped
from nsstore.cli.flags import (
    WORD,
    expires_option,
    ext_option,
    idempotency_option,
    object_of,
    retention_option,
    seconds_of,
    sensitivity_option,
    text_of,
    text_option,
    ttl_option,
)
from nsstore.cli.records import own_fields, rows, show_forgotten, show_found
from nsstore.cli.verbs import Verbs, help_without_verb
from nsstore.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from msgspec import UnsetType


@click.group(cls=Verbs, invoke_without_command=True)
@click.pass_context
def state(ctx: click.Context) -> None:
    """Keep documents under keys, each version written once."""
    help_without_verb(ctx)


@state.command("get")
@click.argument("key")
@click.option("--version", metavar="ID", help="This version of it; `nsstore state history` lists them.")
@text_option
@scoped
def get(asker: Asker, *, key: str, version: str | None, only_text: bool, as_json: bool) -> None:
    """Show the newest version of a document, or an older one."""
    with asker.session() as session:
        found = session.state.get(key, version=version)
    show_found(found, only_text=only_text, as_json=as_json)


@state.command("put")
@click.argument("key")
@click.argument("text", required=False, metavar="[TEXT|-]")
@click.option("--expect", metavar="ID", help="Refuse unless this record is the newest version.")
@click.option("--if-absent", is_flag=True, help="Refuse if there is a version already.")
@click.option("--kind", metavar="WORD", help=f"What kind of document it is. {WORD}")
@sensitivity_option
@retention_option
@expires_option
@ttl_option
@ext_option
@idempotency_option
@scoped
def put(
    asker: Asker,
    *,
    key: str,
    text: str | None,
    expect: str | None,
    if_absent: bool,
    kind: str | None,
    sensitivity: str,
    retention_class: str,
    expires_at: str | None,
    ttl: str | None,
    ext: str | None,
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Write the next version of a document, and print its record id."""
    with asker.session() as session, _in_these_words(if_absent=if_absent):
        receipt = session.state.put(
            key,
            text_of(text),
            expect=_expected(expect, if_absent=if_absent),
            kind=kind,
            sensitivity=sensitivity,
            retention_class=retention_class,
            ext=object_of("--ext", ext),
            idempotency_key=idempotency_key,
            expires_at=expires_at,
            ttl=seconds_of("--ttl", ttl),
        )
    if as_json:
        printing.emit(receipt)
    else:
        printing.say(receipt.record_id)


@contextmanager
def _in_these_words(*, if_absent: bool) -> Generator[None]:
    """A conflict with --if-absent is told as what it is: no later try can help."""
    try:
        yield
    except Refused as err:
        if if_absent and err.reason == "changed_meanwhile":
            raise Refused("there is a document under this key already", reason="present") from None
        raise


def _expected(expect: str | None, *, if_absent: bool) -> str | UnsetType | None:
    from msgspec import UNSET

    if expect is not None and if_absent:
        raise InvalidInput("only one of --expect and --if-absent may be given")
    return expect if expect is not None else None if if_absent else UNSET


@state.command("list")
@scoped
def list_(asker: Asker, *, as_json: bool) -> None:
    """List the newest version of every document of this scope."""
    with asker.session() as session:
        found = session.state.list()
    if as_json:
        printing.emit({"items": found})
    else:
        rows(found, own_fields(session))


@state.command("history")
@click.argument("key")
@scoped
def history(asker: Asker, *, key: str, as_json: bool) -> None:
    """List every version of a document, newest first."""
    with asker.session() as session:
        versions = session.state.history(key)
    if as_json:
        printing.emit({"versions": versions})
    else:
        rows(versions, own_fields(session), whole=True)


@state.command("forget")
@click.argument("key")
@click.option("--dry-run", is_flag=True, help="Say what would go, and forget nothing.")
@scoped
def forget(asker: Asker, *, key: str, dry_run: bool, as_json: bool) -> None:
    """Forget a document for good, every version of it."""
    with asker.session() as session:
        show_forgotten(session.state.forget(key, dry_run=dry_run), as_json=as_json)
