"""Why somebody may or may not read: for the asker's own rights, and, for the owner, of one record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, scoped
from nsstore.cli.flags import json_option, store_option, store_path
from nsstore.cli.owner_key import KeyFlags, with_key
from nsstore.errors import NotVisible, StoreError

if TYPE_CHECKING:
    from nsstore.cli.suggestion import Suggestion
    from nsstore.policy import Row
    from nsstore.record import Header
    from nsstore.session import OpenStore

NO_LIST: Final = (
    "the owner's list is not the one that was written, so no grant opens anything: `nsstore check`"
)


@click.command()
@click.argument("record_id", required=False)
@with_key
@scoped
def explain(asker: Asker, *, record_id: str | None, key: KeyFlags, as_json: bool) -> None:
    """Say what is open to a scope, and by which grant.

    Without RECORD_ID it is about the asker's own rights. With it, it says why that record may or may
    not be read from this scope, and which command would open it: the owner's look, which asks for the
    owner's passphrase and is audited.
    """
    from nsstore.cli.suggestion import Suggestion
    from nsstore.policy import decide_class, readability_class
    from nsstore.policy import explain as explained
    from nsstore.policy import explain_class as explained_class

    _require_id(record_id)
    with asker.open() as store:
        envelope = asker.bind(store).envelope
        standing = store.rights.standing()
        suggestion = Suggestion(envelope)
        verdict: str | None = None
        if record_id is None:
            rows = explained(envelope, standing.rights)
            answer: dict[str, object] = {"rows": [suggestion.told(row) for row in rows]}
            helps = suggestion.first(rows)
        else:
            key.unlock(store)
            cls = readability_class(find(store, record_id, "explain"))
            rows = explained_class(envelope, cls, standing.rights)
            decision = decide_class(envelope, cls, standing.rights)
            as_stale = ", as stale" if decision.stale else ""
            verdict = f"allowed{as_stale}" if decision.allowed else f"denied: {decision.reason.value}"
            helps = suggestion.for_record(rows)
            answer = {"rows": [suggestion.told(row, helps) for row in rows], "decision": decision}
        damaged = standing.damage is not None
    if as_json:
        printing.emit({**answer, "damaged": damaged})
        return
    _table(rows, suggestion, of_record=record_id is not None)
    if verdict is not None:
        printing.say(verdict, bold=True)
    if helps:
        words = "to open one of these, with what its row names:"
        printing.say("this would open what is closed here:" if verdict else words)
        printing.command(helps)
    if damaged:
        printing.note(NO_LIST)


def _require_id(record_id: str | None) -> None:
    from nsstore.scope import check_record_id

    if record_id is not None:
        check_record_id("RECORD_ID", record_id)


def _table(rows: Sequence[Row], suggestion: Suggestion, *, of_record: bool) -> None:
    printing.table(
        ("dimension", "value", "how", "opened by" if of_record else "opened by, or what would open it"),
        [
            (
                row.dimension,
                row.value or "",
                row.how,
                "; ".join(f"{number}: {words}" for number, words in row.opened)
                or suggestion.brief(row, of_record=of_record),
            )
            for row in rows
        ],
        flexible=(1, 3),
        fold=True,
    )


@click.command("who-can-read")
@click.argument("record_id")
@with_key
@store_option
@json_option
def who_can_read(*, record_id: str, key: KeyFlags, store: str | None, as_json: bool) -> None:
    """Say who may read a record, and by which grant.

    Its own scope, and whoever a grant lets; the grants of one asker's own records add up. It is the
    owner's look: it asks for the owner's passphrase and is audited.
    """
    import nsstore
    from nsstore.policy import readability_class, readers

    _require_id(record_id)
    with nsstore.open(store_path(store)) as opened:
        key.unlock(opened)
        found = readers(
            readability_class(find(opened, record_id, "who_can_read")), opened.rights.standing().rights
        )
    if as_json:
        printing.emit(found)
        return
    printing.table(
        ("by", "user", "agents", "purposes", "equal in"),
        [
            (
                "scope" if one.number is None else f"statement {one.number}",
                one.user,
                ", ".join(one.agents),
                ", ".join(one.purposes) or "every one",
                ", ".join(one.equal),
            )
            for one in found
        ],
        flexible=(2, 3, 4),
        fold=True,
    )


def find(store: OpenStore, record_id: str, verb: str) -> Header:
    """A record wherever it is, for the owner alone; audited. Raises :class:`NotVisible` for none."""
    from nsstore.audit import AuditEvent, EventKind
    from nsstore.store import read_member
    from nsstore.store.namespaces import survey_names

    for ns in survey_names(store.root).namespaces:
        leaf = store.leaf(ns)
        try:
            ledger = leaf.read()
        except StoreError:
            continue  # `nsstore check` tells of it
        if record_id in ledger.members:
            header = read_member(leaf, ledger, record_id).header
            event = AuditEvent(event=EventKind.READ, verb=verb, reason="owner", records=(record_id,), count=1)
            store.audit.append(ns.tenant, event)
            return header
    raise NotVisible(record_id)
