"""Check: what is enforced here, and whether everything in the store can be proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import json_option, store_option, store_path

if TYPE_CHECKING:
    from nsstore.cli.inspection import Finding, Inspection
    from nsstore.session import OpenStore

TOGETHER: Final = 3


@click.command()
@click.option("-v", "--verbose", is_flag=True, help="Every namespace and audit, not only what is wrong.")
@store_option
@json_option
def check(*, store: str | None, verbose: bool, as_json: bool) -> None:
    """Say what is enforced here, and what is wrong.

    Every record of every namespace is read, and every audit chain. What a writer that died left
    behind is repaired. What stands among the records without a seal is moved to the quarantine, and told.
    Nothing wrong is ever removed.
    """
    import nsstore
    from nsstore.cli.inspection import Inspection

    with nsstore.open(store_path(store)) as opened:
        enforced = enforcement(opened)
        inspection = Inspection(opened)
        inspection.run()
    if as_json:
        printing.emit(
            {
                "whole": not inspection.findings,
                "enforced": enforced,
                "findings": inspection.findings,
                "namespaces": inspection.namespaces,
                "audits": inspection.audits,
            }
        )
    else:
        printing.fields(enforced.items())
        _show(inspection, verbose=verbose)
    if inspection.findings:
        click.get_current_context().exit(FOUND_WRONG)


def enforcement(store: OpenStore) -> dict[str, str]:
    """What holds on this machine for this store, in words."""
    from nsstore.root.flusher import WINDOW_SECONDS

    root, trust = store.root, store.trust
    kernel = root.opener.name == "openat2"
    carries = (
        "a flush of a file carries its name" if root.flush_carries_name else "directories are flushed too"
    )
    return {
        "store": f"{store.store_id} at {root.path}",
        "trust home": f"{trust.home.path}, apart from the root, and bound to it by path and inode",
        "keys": f"{len(trust.keys.masters)}, signing with {trust.keys.active}",
        "opening": (
            "openat2: the kernel follows no link and leaves no device"
            if kernel
            else "walk: each component is opened without following a link (no openat2 here)"
        ),
        "new files": (
            "unnamed until they are whole" if root.unnamed_files else "named below tmp/ until they are whole"
        ),
        "file system": f"{root.filesystem}: {carries}",
        "owner": owner_words(store),
        "owner and mode": f"user {root.owner} alone, files 0600, directories 0700, at each opening",
        "routine appends": f"durable within {WINDOW_SECONDS * 2:g} s; records before their receipt",
    }


def owner_words(store: OpenStore) -> str:
    """Who the owner is, what is in force, how surely it was said, and what expires soon."""
    from nsstore.cli.statements import RETENTION, soon, told

    standing = store.rights.standing()
    if standing.damage is not None:
        return "the list of statements is not the one that was written: no grant opens anything"
    if standing.owner is None:
        return "none: every row is satisfied by equality alone"
    every = told(standing)
    live = [one for one in every if one.state == "live" and one.what != RETENTION]
    sure = ", ".join(sorted({one.assurance for one in live or every}))
    ending = f", {len(late)} within 30 days of its end" if (late := soon(standing)) else ""
    unmade = sum(one.state == "pending" for one in every)
    pending = f", {unmade} not made known: the next statement does it" if unmade else ""
    return f"{standing.owner.name}, {printing.count(len(live), 'grant')} in force{ending}{pending} ({sure})"


def _show(inspection: Inspection, *, verbose: bool) -> None:
    from nsstore.cli.inspection import WAY_OUT

    closed = sum(one.closed for one in inspection.namespaces)
    repaired = sum(one.repaired for one in inspection.namespaces)
    records = sum(one.records for one in inspection.namespaces)
    words = [
        f"{len(inspection.namespaces)} with {printing.count(records, 'proven record')}",
        f"{closed} closed" if closed else "",
        f"{repaired} repaired" if repaired else "",
    ]
    broken = sum(not one.verdict.whole for one in inspection.audits)
    given_up = sum(one.verdict.accepted for one in inspection.audits)
    audits = (
        f"{len(inspection.audits)}, of which {broken} not whole"
        if broken
        else f"{len(inspection.audits)}, all whole"
    )
    if given_up:
        audits += f"; the owner gave up {printing.count(given_up, 'event')} that are gone"
    printing.fields(
        (
            ("namespaces", ", ".join(filter(None, words)) if inspection.namespaces else "none yet"),
            ("audits", audits if inspection.audits else "none yet"),
        )
    )
    if verbose:
        printing.say()
        printing.table(
            ("records", "state", "path"),
            [
                (
                    str(one.records),
                    "closed" if one.closed else "repaired" if one.repaired else "whole",
                    one.path,
                )
                for one in inspection.namespaces
            ],
        )
        printing.say()
        printing.table(
            ("events", "state", "audit"),
            [
                (str(one.verdict.events), "whole" if one.verdict.whole else "not whole", "=".join(one.tenant))
                for one in inspection.audits
            ],
        )
    printing.say()
    folded = _folded(inspection.findings)
    for finding in folded:
        printing.say(f"{finding.kind}: {finding.path}: {finding.what}", bold=True)
        if finding.remedy:
            printing.say(finding.remedy, indent=4)
        if finding.incident and finding.incident not in finding.what:
            printing.say(f"incident {finding.incident}", dim=True, indent=4)
    if lacking := sum(one.way_out is not None for one in inspection.namespaces):
        which = printing.count(lacking, "closed namespace lacks", "closed namespaces lack")
        printing.say(
            f"{which} what is lost: without a newer copy, `{WAY_OUT} --dry-run` lists it, and `{WAY_OUT}` has"
            " the owner give it up"
        )
    printing.say("nothing is wrong" if not inspection.findings else f"{len(inspection.findings)} found wrong")
    if len(folded) < len(inspection.findings):
        printing.note("--json has every name that is kept out")


def _folded(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, but for many names of one directory that are kept out as one kind: these as one."""
    from nsstore.cli.inspection import KEPT_OUT, Finding

    apart: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        place = (one.path.rpartition("/")[0], one.kind) if one.what == KEPT_OUT else (one.path, "")
        apart.setdefault(place, []).append(one)
    shown = list[Finding]()
    for (path, kind), group in apart.items():
        if kind and len(group) > TOGETHER:
            what = f"{printing.count(len(group), 'name')} {KEPT_OUT}"
            shown.append(Finding(path=path, kind=kind, what=what, remedy=group[0].remedy))
        else:
            shown += group
    return shown
