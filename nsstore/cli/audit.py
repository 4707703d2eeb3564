"""The audit of one tenant: its events, and whether its chain is whole."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, of_tenant
from nsstore.cli.exits import FOUND_WRONG
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.audit import AuditLine, AuditVerdict
    from nsstore.session import OpenStore

SHOWN: Final = 3
AT_ONCE: Final = 1000  # rows of one table on a terminal
UNPROVEN: Final = (
    "the audit keeps a keyed digest alone, and nothing that is there now gives it: `nsstore check` says what"
    " is wrong now"
)
OWNER: Final = frozenset({"owner", "accept", "explain", "who_can_read"})
HOLDER: Final = frozenset({"backup", "forget", "expire"})
"""Verbs that act on a store as a whole, with its keys, where no scope asks."""
GIVE_UP: Final = (
    "put the month's file back from a newer copy; without one, `nsstore owner accept` has the owner give up"
    " what is gone"
)
NO_AUDIT: Final = "there is no audit of this tenant"


@click.command()
@click.argument("what", type=click.Choice(["events", "verify"]), default="events", metavar="[events|verify]")
@click.option("-n", "--limit", type=int, metavar="N", help="Only the newest N events.")
@click.option("--incident", metavar="ID", help="Say what this incident is about, if it is still there.")
@of_tenant
def audit(asker: Asker, *, what: str, limit: int | None, incident: str | None, as_json: bool) -> None:
    """Show who asked for what, and who was told no.

    `audit verify` proves that no line of the tenant's chain was changed or taken away.
    """
    from nsstore.audit import read_lines

    tenant = asker.tenant()
    if incident is not None:
        if limit is not None or what == "verify":
            raise InvalidInput("--incident goes alone")
        with asker.open() as store:
            _show_incident(store, tenant, incident, as_json=as_json)
        return
    if limit is not None and what == "verify":
        raise InvalidInput("--limit goes with the events: a chain is verified whole")
    if limit is not None and limit < 1:
        raise InvalidInput("limit must be at least 1")
    with asker.open() as store:
        if what == "verify":
            _verify(store, tenant, as_json=as_json)
            return
        read = _Proven(read_lines(store.audit, tenant))
        _show_events(deque(read, min(limit, sys.maxsize)) if limit else read, as_json=as_json)
    if read.left_out:
        printing.note(
            f"{printing.count(read.left_out, 'line')} left out that no key here proves:"
            " `nsstore audit verify` says more"
        )
    elif not read.events:
        printing.note("nothing here of this tenant")


class _Proven:
    """The events of an audit, one after the other as they are read, and how many lines were none."""

    def __init__(self, lines: Iterable[AuditLine | None]) -> None:
        self._lines = lines
        self.events = self.left_out = 0

    def __iter__(self) -> Iterator[AuditLine]:
        for line in self._lines:
            if line is None:
                self.left_out += 1
            else:
                self.events += 1
                yield line


def _show_incident(store: OpenStore, tenant: tuple[str, str], incident: str, *, as_json: bool) -> None:
    from nsstore.cli.incident_found import find_incident

    found = find_incident(store, tenant, incident)
    if as_json:
        printing.emit(found)
        return
    printing.fields(
        (
            ("incident", found.incident),
            ("at", found.at),
            ("kind", found.kind),
            ("namespace", found.namespace),
            ("name", found.name),
            ("names", None if found.count is None else str(found.count)),
        )
    )
    if found.namespace is None:
        printing.note(UNPROVEN)


def _verify(store: OpenStore, tenant: tuple[str, str], *, as_json: bool) -> None:
    """Show whether a chain is whole. One that never began proves nothing: it may be a mistyped name."""
    from msgspec.structs import replace

    from nsstore.store.audits import verdict_of

    verdict = verdict_of(store, tenant)
    if verdict.whole and not verdict.events:
        verdict = replace(verdict, whole=False, faults=(NO_AUDIT,))
    _show_verdict(verdict, as_json=as_json)
    if not verdict.whole:
        click.get_current_context().exit(FOUND_WRONG)


def _show_events(events: Iterable[AuditLine], *, as_json: bool) -> None:
    """Show each event as it comes, on a terminal so many at a time, each time as one table."""
    if as_json:
        for event in events:
            printing.emit(event)
        return
    if printing.is_terminal():
        rows = ((printing.when(one.at, seconds=True), one.event, ", ".join(_told(one))) for one in events)
        while part := list(islice(rows, AT_ONCE)):
            printing.table(("at", "event", "what"), part, fold=True)
        return
    printing.table(
        ("at", "event", "verb", "by", "count", "reason", "incident", "records"),
        (
            (
                event.at,
                event.event,
                event.verb or "",
                _asker(event),
                "" if event.count is None else str(event.count),
                event.reason or "",
                event.incident or "",
                ",".join(event.records or ()),
            )
            for event in events
        ),
    )


def _told(event: AuditLine) -> Iterator[str]:
    """What an event says, part by part."""
    asker = _asker(event)
    verb = event.verb if event.verb != asker else None  # the owner's own statements
    if verb or asker:
        yield " by ".join(filter(None, (verb, asker))) if verb else f"by {asker}"
    if event.count is not None:
        counted = event.records is not None
        yield printing.count(event.count, "record") if counted else f"count {event.count}"
    if event.records:
        yield " ".join(event.records[:SHOWN])
        if len(event.records) > SHOWN:
            yield f"{len(event.records) - SHOWN} more"
    if event.reason and event.reason != asker:
        yield event.reason
    if event.incident:
        yield f"incident {event.incident}"


def _asker(event: AuditLine) -> str:
    """Who did it: whose scope asked, or, where none did, the owner or whoever holds the store's keys."""
    scope = event.scope or {}
    if not scope:
        return "owner" if event.verb in OWNER else "keys holder" if event.verb in HOLDER else ""
    place = scope.get("session_id") or scope.get("conversation_id")
    named = (scope.get("user_id"), scope.get("project_id"), place, scope.get("agent_id"))
    return " ".join(one for one in named if one)


def _show_verdict(verdict: AuditVerdict, *, as_json: bool) -> None:
    if as_json:
        printing.emit(verdict)
        return
    if verdict.whole:
        printing.say(
            f"whole: {printing.count(verdict.events, 'event')}, each follows the one before,"
            " up to the head that is known"
        )
        if verdict.accepted:
            printing.say(f"{printing.count(verdict.accepted, 'event')} gone, and given up by the owner")
        return
    for fault in verdict.faults:
        printing.say(fault if fault == NO_AUDIT else f"not whole: {fault}")
    if verdict.gaps:
        printing.say(f"not whole: {printing.count(verdict.gaps, 'event')} gone, and the chain tells so")
    if verdict.lost:
        printing.note(GIVE_UP)
