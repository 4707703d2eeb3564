"""Remember, search, show, list and history: the memory of one scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

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
from nsstore.cli.records import Fields, emit_with, hits, newest_of, own_fields, rows, show_found, stale_hits
from nsstore.errors import StoreError

if TYPE_CHECKING:
    from nsstore.search.engine import Answer
    from nsstore.session import Session

PRIVACIES = ("project_only", "linked_projects", "team")
ADVICE = "advisory: runtime, baseline, branch files and the user come first"
WORD_ALONE = "nsstore"  # a term of its own in every text
APART = "other users' records are ranked apart, by scores of their own"
NO_WORD = "the query holds only words as common as “the”, or none"


@click.command()
@click.argument("text", required=False, metavar="[TEXT|-]")
@click.option("--kind", metavar="WORD", help=f"What kind of record it is, such as decision or lesson. {WORD}")
@click.option("--title", metavar="TEXT", help="A title of at most 200 characters.")
@click.option("--tag", "tags", multiple=True, metavar="TEXT", help="A tag; may be given up to 32 times.")
@sensitivity_option
@click.option(
    "--privacy", type=click.Choice(PRIVACIES), default="project_only",
    help="Which projects may ever see it: project_only if not given; no kind of grant opens more in this"
    " version, so others are refused.",
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

    The text is the argument, or all of standard input, byte for byte. If what it supersedes had a newer
    version already, both are current, and that is told; with --json `beside` names the others.
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
        beside = [one for one in _newer(session, supersedes) if one != receipt.record_id]
    if as_json:
        emit_with(receipt, beside=beside)
        return
    printing.say(receipt.record_id)
    if beside:
        printing.note(
            f"it took the place of what had a newer version already, {', '.join(beside)}:"
            f" {'both' if len(beside) == 1 else 'all'} are current"
        )


def _newer(session: Session, record_ids: Iterable[str]) -> list[str]:
    """The current versions that took the place of records; none of a record that is gone by now."""
    found: dict[str, None] = {}
    for record_id in record_ids:
        with suppress(StoreError):
            found |= dict.fromkeys(newest_of(session.history(record_id), record_id))
    return list(found)


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
    query = " ".join(words)
    with asker.session() as session:
        answer = session.search(query, k=k)
    if as_json:
        printing.emit(answer)
        return
    own = own_fields(session)
    hits(answer.hits, own)
    if answer.stale:
        stale_hits(answer.stale, own)
    for one in _notes(answer, query, own, _beside(session)):
        printing.note(one)


def _beside(session: Session) -> str:
    """What a search of this scope leaves out, whether or not there is anything; empty if nothing."""
    asked = session.envelope
    left = [
        flag
        for flag, allowed in (
            ("other branches (--allowed-branch)", asked.allowed_branches),
            ("other baselines (--allowed-baseline)", asked.allowed_baselines),
        )
        if len(allowed) == 1
    ]
    return f"not searched: {', '.join(left)}" if left else ""


def _notes(answer: Answer, query: str, own: Fields, beside: str) -> Iterator[str]:
    """What is to be said beside an answer, each on one short line."""
    from nsstore.store import ADVISORY

    yield from answer.notices
    found = (*answer.hits, *answer.stale)
    if any(hit.provenance.scope["user_id"] != own["user_id"] for hit in found):
        yield APART
    if not answer.hits:
        nothing = "nothing current found in this scope" if answer.stale else "nothing found in this scope"
        yield nothing if _says_something(query) else NO_WORD
        if beside and _says_something(query):
            yield beside
    if found:
        yield ADVICE if answer.advisory == ADVISORY else answer.advisory


def _says_something(query: str) -> bool:
    """Whether a query has a word that is searched for beside others: a mere “the” is not."""
    from nsstore.search.analyser import terms

    return len(terms(f"{query} {WORD_ALONE}")) > 1


@click.command()
@click.argument("record_id", metavar="ID")
@text_option
@scoped
def show(asker: Asker, *, record_id: str, only_text: bool, as_json: bool) -> None:
    """Show one record of this scope, and where it comes from.

    If a newer version took its place, that is told; with --json `superseded_by` names the newest ones.
    """
    with asker.session() as session:
        found = session.get(record_id)
        newer = _newer(session, (record_id,))
    show_found(found, only_text=only_text, as_json=as_json, newer=newer)
    if newer and not as_json:
        versions = "version is" if len(newer) == 1 else "versions are"
        printing.note(f"superseded: the newest {versions} {', '.join(newer)}")


@click.command("list")
@limit_option
@click.option("--before", metavar="ID", help="Only what is older than this record: where a list goes on.")
@click.option("--all", "include_superseded", is_flag=True, help="Superseded records too.")
@click.option("--every-session", is_flag=True, help="Those of every session of the project that is open.")
@scoped
def list_(
    asker: Asker,
    *,
    limit: int,
    before: str | None,
    include_superseded: bool,
    every_session: bool,
    as_json: bool,
) -> None:
    """List the records of this session, newest first.

    With --every-session also what your agents and you wrote in others, as far as the owner's policy opens
    them to this one.
    """
    with asker.session() as session:
        listing = session.list(
            limit=limit,
            before=before,
            include_superseded=include_superseded,
            every_session=every_session,
        )
    if as_json:
        printing.emit(listing)
        return
    rows(listing.items, own_fields(session))
    if listing.incomplete:
        from nsstore.search.engine import INCOMPLETE

        printing.note(INCOMPLETE)
    if listing.older:
        last = listing.items[-1].record_id
        are = "is" if listing.older == 1 else "are"
        records = printing.count(listing.total, "record")
        printing.note(f"{listing.older} of {records} {are} older: --before {last} goes on")


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
        rows(versions, own_fields(session), whole=True)
