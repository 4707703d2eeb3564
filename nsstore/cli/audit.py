"""The audit of one tenant: its events, and whether its chain is whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, of_tenant
from nsstore.cli.exits import FOUND_WRONG

if TYPE_CHECKING:
    from nsstore.audit import AuditLine, AuditVerdict


@click.command()
@click.argument("what", type=click.Choice(["events", "verify"]), default="events", metavar="[events|verify]")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N events.")
@of_tenant
def audit(asker: Asker, *, what: str, limit: int | None, as_json: bool) -> None:
    """Show who asked for what, and who was told no.

    `audit verify` proves that no line of the tenant's chain was changed or taken away.
    """
    from nsstore.audit import read_events, verify

    tenant = asker.tenant()
    with asker.open() as store:
        if what == "verify":
            verdict = verify(store.audit, tenant)
            _show_verdict(verdict, as_json=as_json)
            if not verdict.whole:
                click.get_current_context().exit(FOUND_WRONG)
            return
        events = list(read_events(store.audit, tenant))
    _show_events(events[-limit:] if limit else events, as_json=as_json)


def _show_events(events: list[AuditLine], *, as_json: bool) -> None:
    if as_json:
        for event in events:
            printing.emit(event)
        return
    if printing.is_terminal():
        rows = [(printing.when(one.at, seconds=True), one.event, ", ".join(_told(one))) for one in events]
        printing.table(("at", "event", "what"), rows, fold=True)
        return
    printing.table(
        ("at", "event", "verb", "by", "count", "reason", "incident"),
        [
            (
                event.at,
                event.event,
                event.verb or "",
                _asker(event),
                "" if event.count is None else str(event.count),
                event.reason or "",
                event.incident or "",
            )
            for event in events
        ],
    )


def _told(event: AuditLine) -> Iterator[str]:
    """What an event says, part by part."""
    if event.verb or event.scope:
        yield f"{event.verb or ''} by {_asker(event)}".strip()
    if event.count is not None:
        yield f"count {event.count}"
    if event.reason:
        yield event.reason
    if event.incident:
        yield f"incident {event.incident}"


def _asker(event: AuditLine) -> str:
    scope = event.scope or {}
    place = scope.get("session_id") or scope.get("conversation_id")
    named = (scope.get("user_id"), scope.get("project_id"), place, scope.get("agent_id"))
    return " ".join(one for one in named if one)


def _show_verdict(verdict: AuditVerdict, *, as_json: bool) -> None:
    if as_json:
        printing.emit(verdict)
        return
    if verdict.whole:
        printing.say(
            f"whole: {verdict.events} events, each follows the one before, up to the head that is known"
        )
        return
    for fault in verdict.faults:
        printing.say(f"not whole: {fault}")
    if verdict.gaps:
        printing.say(f"not whole: {verdict.gaps} events are gone, and the chain tells so")
