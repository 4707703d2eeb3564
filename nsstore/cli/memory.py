"""Remember, search, get, list and history: the memory of one scope."""

from __future__ import annotations

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, scoped
from nsstore.cli.flags import (
    WORD,
    expires_option,
    ext_option,
    idempotency_option,
    limit_option,
    object_of,
    retention_option,
    seconds_of,
    sensitivity_option,
    text_of,
    text_option,
    ttl_option,
)
from nsstore.cli.records import hits, rows, show, stale_hits

PRIVACIES = ("project_only", "linked_projects", "team")


@click.command()
@click.argument("text", required=False, metavar="[TEXT|-]")
@click.option("--kind", metavar="WORD", help=f"What kind of record it is, such as decision or lesson. {WORD}")
@click.option("--title", metavar="TEXT", help="A title of at most 200 characters.")
@click.option("--tag", "tags", multiple=True, metavar="TEXT", help="A tag; may be given up to 32 times.")
@sensitivity_option
@click.option(
    "--privacy", type=click.Choice(PRIVACIES), default="project_only",
    help="Which projects may ever see it; project_only if not given, and more needs a grant.",
)  # fmt: skip
@retention_option
@click.option(
    "--supersedes", multiple=True, metavar="ID", help="A record it takes the place of; up to 16 times."
)
@expires_option
@ttl_option
@ext_option
@idempotency_option
@scoped
def remember(
    asker: Asker,
    *,
    text: str | None,
    kind: str | None,
    title: str | None,
    tags: tuple[str, ...],
    sensitivity: str,
    privacy: str,
    retention_class: str,
    supersedes: tuple[str, ...],
    expires_at: str | None,
    ttl: str | None,
    ext: str | None,
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Remember a text and print its record id.

    The text is the argument, or all of standard input, byte for byte.
    """
    with asker.session() as session:
        receipt = session.remember(
            text_of(text),
            kind=kind,
            title=title,
            tags=tags,
            sensitivity=sensitivity,
            privacy=privacy,
            retention_class=retention_class,
            supersedes=supersedes,
            ext=object_of("--ext", ext),
            idempotency_key=idempotency_key,
            expires_at=expires_at,
            ttl=seconds_of("--ttl", ttl),
        )
    if as_json:
        printing.emit(receipt)
    else:
        printing.say(receipt.record_id)


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option(
    "-k", "--limit", "k", type=int, default=10, metavar="N",
    help="At most this many, from 1 to 1000; 10 if not given.",
)  # fmt: skip
@scoped
def search(asker: Asker, *, words: tuple[str, ...], k: int, as_json: bool) -> None:
    """Find the best records of this scope for some words.

    What is of an allowed other branch or baseline stands apart, as stale.
    """
    with asker.session() as session:
        answer = session.search(" ".join(words), k=k)
    if as_json:
        printing.emit(answer)
        return
    hits(answer.hits)
    if answer.stale:
        stale_hits(answer.stale)
    for notice in answer.notices:
        printing.note(notice)
    if not answer.hits:
        printing.note(
            "nothing current found in this scope" if answer.stale else "nothing found in this scope"
        )
    if answer.hits or answer.stale:
        printing.note(answer.advisory)


@click.command()
@click.argument("record_id", metavar="ID")
@text_option
@scoped
def get(asker: Asker, *, record_id: str, only_text: bool, as_json: bool) -> None:
    """Show one record of this scope, and where it comes from."""
    with asker.session() as session:
        found = session.get(record_id)
    show(found, only_text=only_text, as_json=as_json)


@click.command("list")
@limit_option
@click.option("--before", metavar="ID", help="Only what is older than this record: where a list goes on.")
@click.option("--all", "include_superseded", is_flag=True, help="Superseded records too.")
@scoped
def list_(asker: Asker, *, limit: int, before: str | None, include_superseded: bool, as_json: bool) -> None:
    """List the records of this scope, newest first."""
    with asker.session() as session:
        listing = session.list(limit=limit, before=before, include_superseded=include_superseded)
    if as_json:
        printing.emit(listing)
        return
    rows(listing.items)
    if listing.older:
        last = listing.items[-1].record_id
        printing.note(f"{listing.older} of {listing.total} records are older: --before {last} goes on")


@click.command()
@click.argument("record_id", metavar="ID")
@scoped
def history(asker: Asker, *, record_id: str, as_json: bool) -> None:
    """List every version that led to or from a record, newest first."""
    with asker.session() as session:
        versions = session.history(record_id)
    if as_json:
        printing.emit({"versions": versions})
    else:
        rows(versions)
