"""The import of a vault, twice, and what of it was not as it should be."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

from bench.importing.vault import Expected, Vault
from bench.world import Who
from nsstore import Found, OpenStore, Session
from nsstore.exchange.claims import named_item
from nsstore.exchange.import_folder import FolderReport, ImportFolder, shown
from nsstore.record.ext import ORIGINAL
from nsstore.root.named_folder import NamedFolder

FENCES: Final = re.compile(r"(---|\.\.\.)[ \t]*\r?\n")


class Figures(msgspec.Struct):
    """What an import came to: how long it took, what it did, and each fault that was found."""

    files: int
    size: int
    seconds: float
    written: int
    refused: dict[str, int]
    passed_over: dict[str, int]
    again_seconds: float
    again_written: int
    again_repeated: int
    faults: list[str]


def run(store: OpenStore, vault: Vault) -> Figures:
    """Import a vault into a new session, look at every record, and import it again."""
    session = Who().bind(store)
    start = time.perf_counter()
    first = imported(store, session, vault.folder)
    between = time.perf_counter()
    again = imported(store, session, vault.folder)
    end = time.perf_counter()
    faults = [*_told(first, vault), *_kept(session, vault), *_again(first, again)]
    return Figures(
        files=len(vault.files),
        size=vault.size,
        seconds=between - start,
        written=first.written,
        refused=dict(Counter(_short(one.reason) for one in first.refused)),
        passed_over=dict(Counter(one.reason for one in first.passed_over)),
        again_seconds=end - between,
        again_written=again.written,
        again_repeated=again.repeated,
        faults=faults,
    )


def imported(store: OpenStore, session: Session, folder: Path) -> FolderReport:
    """One import of the folder."""
    with NamedFolder(str(folder), "the vault") as opened:
        return ImportFolder(store, session, "vault", dry_run=False).run(opened, lambda _done, _total: None)


def _short(reason: str) -> str:
    return reason.partition(":")[0].partition(",")[0]


def _told(report: FolderReport, vault: Vault) -> list[str]:
    """Whether every name was told as what it is, and no name twice or not at all."""
    refused = {one.item: one.reason for one in report.refused}
    expected = {shown(path): one.refused for path, one in vault.files.items() if one.refused is not None}
    faults = [f"{name!r}: refused, {refused[name]}" for name in refused.keys() - expected.keys()]
    faults += [f"{name!r}: not refused" for name in expected.keys() - refused.keys()]
    faults += [
        f"{name!r}: {refused[name]!r} is not {why!r}"
        for name, why in expected.items()
        if not refused.get(name, why).startswith(why)
    ]
    if {one.item for one in report.passed_over} != {shown(path) for path in vault.passed_over}:
        faults.append("what was passed over is not what should have been")
    if not report.written + report.repeated + len(report.refused) == report.files == len(vault.files):
        faults.append("the numbers do not add up")
    return faults


def _kept(session: Session, vault: Vault) -> list[str]:
    """Whether each file that was taken is one record that says all it said, in this very scope."""
    expected = {named_item(f"vault/{path}"): one for path, one in vault.files.items() if one.refused is None}
    faults: list[str] = []
    before: str | None = None
    while True:
        page = session.list(limit=500, before=before)
        for found in page.items:
            origin = found.provenance.imported_from
            item = "" if origin is None else origin.item or ""
            wanted = expected.pop(item, None)
            faults += [f"{item!r}: there twice, or not asked for"] if wanted is None else _same(found, wanted)
        if not page.older:
            break
        before = page.items[-1].record_id
    return faults + [f"{item!r}: lost" for item in expected]


def _same(found: Found, wanted: Expected) -> list[str]:
    scope = found.provenance.scope
    right = {
        "text": _says(found.text, (found.ext or {}).get(ORIGINAL), wanted),
        "scope": (scope["tenant_id"], scope["user_id"], scope["session_id"]) == ("acme", "alice", "s-1"),
        "sensitivity": found.sensitivity == "internal",
        "privacy": found.privacy == "project_only",
    }
    item = found.provenance.imported_from
    return [
        f"{item and item.item!r}: its {name} is not as it was" for name, is_so in right.items() if not is_so
    ]


def _says(text: str, front: object, wanted: Expected) -> bool:
    """Whether text and front matter are as they should be: nothing but fences may be gone of a document."""
    if not wanted.found or front is None:
        return (text, front) == (wanted.text, wanted.front)
    before, between, behind = wanted.text.removesuffix(text).partition(str(front))
    fences = FENCES.fullmatch(before) is not None and FENCES.fullmatch(behind) is not None
    return fences and before + between + behind + text == wanted.text


def _again(first: FolderReport, again: FolderReport) -> list[str]:
    faults = [] if again.written == 0 else [f"the second import added {again.written}"]
    if again.repeated != first.written or again.refused != first.refused:
        faults.append("the second import does not tell the same")
    return faults
