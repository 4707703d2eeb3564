"""The import of a folder of Markdown: each file is one record of the session's own scope, or told why not.

A file is known by its path beneath the folder and the folder's name, and its version by a digest of its
bytes. The same version is never brought in twice; a changed one only on request, and then it takes the place
of the version before.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

import msgspec

from nsstore import digests
from nsstore.errors import EscapeError, InvalidInput, StoreError, SystemFailure
from nsstore.exchange.batches import Batches
from nsstore.exchange.claims import NotTaken, named_item
from nsstore.exchange.decoding import Unreadable
from nsstore.exchange.earlier import Earlier
from nsstore.exchange.markdown import FORMAT, MAX_FILE, declares_bundle, digest_of, is_markdown, note_of
from nsstore.root.named_folder import MAX_DEPTH, MAX_PATH, Entry, NamedFolder
from nsstore.session import OpenStore, Session
from nsstore.writers.note import Note

MAX_NAMES: Final = 200_000
INDEX: Final = "index.md"
RESERVED: Final = frozenset({INDEX, "log.md"})
CHANGED: Final = "it changed since it was imported: --update writes it as the next version"
TOO_DEEP: Final = (
    f"it lies deeper than {MAX_DEPTH} folders, or its path is longer than {MAX_PATH} bytes:"
    " import a folder further down"
)
NOT_FILES: Final = {
    "link": ("escape", "it is a link, and links are not followed: import what it leads to by itself"),
    "special": ("escape", "it is a device, a pipe or a socket, and is not opened"),
    "elsewhere": ("escape", "it lies on another file system: import it by itself"),
    "deep": ("invalid", TOO_DEEP),
    "closed": ("os", "it does not open for this user"),
}
HIDDEN: Final = "its name begins with a dot"
NOT_MARKDOWN: Final = "its name does not say Markdown"
EMPTY: Final = "it is empty"
OF_THE_BUNDLE: Final = "an index or log of the bundle is no concept"


class Refusal(msgspec.Struct, frozen=True):
    """A file that was not imported, the kind of its error, and why."""

    item: str
    kind: str
    reason: str


class PassedOver(msgspec.Struct, frozen=True):
    """What is no note of the folder, and why."""

    item: str
    reason: str


class NotedFile(msgspec.Struct, frozen=True):
    """Something that a file says of itself and its record does not: which field, and why."""

    item: str
    field: str
    reason: str


class FolderReport(msgspec.Struct, kw_only=True):
    """What came of an import: every name was written, there already, refused or passed over.

    ``updated`` counts those of the written that took the place of an earlier version of their file.
    ``not_taken`` is of the written: what they say of themselves stands in their front matter alone.
    """

    source: str
    dry_run: bool
    files: int = 0
    written: int = 0
    updated: int = 0
    repeated: int = 0
    passed_over: list[PassedOver] = msgspec.field(default_factory=list[PassedOver])
    not_taken: list[NotedFile] = msgspec.field(default_factory=list[NotedFile])
    refused: list[Refusal] = msgspec.field(default_factory=list[Refusal])


class ImportFolder:
    """Imports one folder through one session; ``report`` says at any time how far it came."""

    def __init__(
        self,
        store: OpenStore,
        session: Session,
        name: str,
        *,
        dry_run: bool,
        update: bool = False,
        encoding: str | None = None,
        words: Callable[[StoreError], str] = str,
    ) -> None:
        self._session = session
        self._update = update
        self._encoding = encoding
        self._batches: Batches[str] = Batches(store, session, self, dry_run=dry_run, words=words)
        self.report = FolderReport(source=name, dry_run=dry_run)
        self._not_taken: dict[str, tuple[NotTaken, ...]] = {}

    def run(
        self, folder: NamedFolder, progress: Callable[[int, int], None], *, only: str | None = None
    ) -> FolderReport:
        """Import every file, or ``only`` the one of that name; ``progress`` gets how many of how many.

        What stops it is raised; the files before are in, and a repeat goes on there.
        """
        entries = folder.entries(MAX_NAMES, _is_shown) if only is None else [Entry(only, "file")]
        earlier = Earlier(self._session, FORMAT)
        reserved = RESERVED if _is_bundle(folder, entries) else frozenset[str]()
        for done, entry in enumerate(entries, 1):
            if (why := _passed_over(entry, reserved)) is not None:
                self.report.passed_over.append(PassedOver(shown(entry.path), why))
            elif entry.what in NOT_FILES:
                self.report.files += 1
                self.refused(entry.path, *NOT_FILES[entry.what])
            else:
                self.report.files += 1
                self._file(folder, entry, earlier)
            progress(done, len(entries))
        self._batches.flush()
        self._batches.witness(len(self.report.refused))
        self.report.refused.sort(key=lambda one: one.item)
        self.report.not_taken.sort(key=lambda one: one.item)
        return self.report

    def _file(self, folder: NamedFolder, entry: Entry, earlier: Earlier) -> None:
        try:
            raw = folder.read(entry.path, MAX_FILE)
        except (EscapeError, InvalidInput, SystemFailure) as err:
            self.refused(entry.path, err.kind, str(err))
            return
        item = named_item(f"{self.report.source}/{entry.path}")
        version, digest = earlier.version(item), digest_of(raw)
        if version is not None and version.digest == digest:
            self.report.repeated += 1
            return
        try:
            taken = note_of(raw, entry.path, item, self._encoding)
        except Unreadable as why:
            self.refused(entry.path, "invalid", str(why))
            return
        if taken is None:
            self.report.files -= 1
            self.report.passed_over.append(PassedOver(shown(entry.path), EMPTY))
        elif version is not None and not self._update:
            self.refused(entry.path, "changed", CHANGED)
        else:
            old = () if version is None else (earlier.head(version.record_id),)
            key = digests.digest(digests.DIGEST, digests.lp("import", FORMAT, item, digest, *old)).hex()
            keyed = msgspec.structs.replace(taken.note, idempotency_key=f"import:{key}", supersedes=old)
            self._not_taken[entry.path] = taken.not_taken
            self._batches.add(entry.path, keyed)

    def taken(self, place: str, note: Note, *, repeated: bool) -> None:
        """Count a file that is in, and keep what it says that its record does not."""
        not_taken = self._not_taken.pop(place, ())
        if repeated:
            self.report.repeated += 1
            return
        self.report.written += 1
        self.report.updated += bool(note.supersedes)
        self.report.not_taken += [NotedFile(shown(place), one.field, one.reason) for one in not_taken]

    def refused(self, place: str, kind: str, reason: str) -> None:
        """Keep why a file is not in."""
        self._not_taken.pop(place, None)
        self.report.refused.append(Refusal(shown(place), kind, reason))


def shown(path: str) -> str:
    """A path beneath the folder as text; bytes that are no UTF-8 are escapes."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _is_shown(name: str) -> bool:
    return not name.startswith(".")


def _is_bundle(folder: NamedFolder, entries: list[Entry]) -> bool:
    """Whether the folder says that it is a bundle of the Open Knowledge Format."""
    if not any(entry.path == INDEX and entry.what == "file" for entry in entries):
        return False
    try:
        return declares_bundle(folder.read(INDEX, MAX_FILE))
    except (EscapeError, InvalidInput, SystemFailure):
        return False


def _passed_over(entry: Entry, reserved: frozenset[str]) -> str | None:
    """Why a name is no note of the folder, or ``None`` if it is one, or should have been."""
    name = entry.path.rpartition("/")[2]
    if entry.what == "passed" or not _is_shown(name):
        return HIDDEN
    if entry.what in {"file", "special"} and not is_markdown(name):
        return NOT_MARKDOWN
    return OF_THE_BUNDLE if name in reserved and entry.what == "file" else None
