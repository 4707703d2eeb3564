"""Erasing what is forgotten: every copy of it that the store itself made, then its file, then its views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from nsstore import layout, record
from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import EscapeError, SystemFailure
from nsstore.ledger import MAX_TOGETHER, Erased
from nsstore.root import NOT_OURS, Dir
from nsstore.scope import Namespace
from nsstore.store.leaf import Leaf
from nsstore.store.sealing import MAX_FILE, namespace_of

if TYPE_CHECKING:
    from nsstore.store.entry import Entry

_FENCE: Final = b"\n---\n"
QUARANTINE: Final = "quarantine"
DRAFTS: Final = "tmp"


def erase(entry: Entry) -> None:
    """Take what the ledger has forgotten and not erased yet from the disk and from every view, durably.

    For a holder whose ledger and anchor are durable up to the forgetting, so that nothing can bring a
    record back whose file is gone. Cut short anywhere, it is done again from the beginning.
    """
    leaf = entry.leaf
    store, forgotten = leaf.store, entry.ledger.unfinished
    directory = store.root.dir(leaf.place.records)
    if directory is not None:
        with directory:
            _erase_copies(entry, _texts(directory, forgotten))
            for record_id in forgotten:
                _unlink(directory, f"{record_id}.md", flush=False)
            directory.flush()
    leaf.drop(forgotten)
    for drop in store.on_forget:
        drop(leaf.place.ns, forgotten)


def finish(entry: Entry) -> None:
    """Say in the ledger's last line, durably, that all that is forgotten is erased, which it is."""
    ledger = entry.ledger
    first = ledger.forgotten[ledger.unfinished[0]]
    erased = Erased(first=first, seq=ledger.seq + 1, prev=ledger.head.hex())
    entry.append(entry.line(erased), flush=True)
    entry.advance(flush=False)


def tell_forgotten(
    leaf: Leaf, event: EventKind, verb: str, scope: Mapping[str, str | None] | None, records: tuple[str, ...]
) -> None:
    """Audit durably that records are forgotten, as many in one event as in one ledger line."""
    for start in range(0, len(records), MAX_TOGETHER):
        some = records[start : start + MAX_TOGETHER]
        told = AuditEvent(event=event, verb=verb, scope=scope, records=some, count=len(some))
        leaf.store.audit.append(leaf.place.ns.tenant, told)


def _texts(directory: Dir, forgotten: Iterable[str]) -> list[bytes]:
    """The texts of records that are still there, by whose bytes their copies are known."""
    found = (_read(directory, f"{record_id}.md") for record_id in forgotten)
    return [raw.partition(_FENCE)[2] for raw in found if raw is not None]


def _erase_copies(entry: Entry, texts: list[bytes]) -> None:
    """Remove drafts and set-aside leftovers of this namespace that hold such a text, or a piece of one.

    A write that failed and was tried again left the same text under another record id.
    """
    ns = entry.leaf.place.ns
    for folder in _folders(entry):
        with folder:
            for name in folder.names():
                raw = _read(folder, name)
                if raw is not None and _is_copy(ns, raw, texts):
                    _unlink(folder, name, flush=True)


def _folders(entry: Entry) -> Iterator[Dir]:
    """Where the store puts what is no record yet, or never became one."""
    root = entry.leaf.store.root
    with suppress(EscapeError):
        drafts = root.dir(DRAFTS)
        if drafts is not None:
            yield drafts
    with suppress(EscapeError):
        quarantine = root.dir(QUARANTINE)
        if quarantine is not None:
            with quarantine:
                yield from _below(quarantine)


def _below(folder: Dir) -> Iterator[Dir]:
    """The directories in a folder; what somebody else put there is passed by."""
    for name in folder.folders():
        with suppress(EscapeError):
            below = folder.sub(name)
            if below is not None:
                yield below


def _is_copy(ns: Namespace, raw: bytes, texts: list[bytes]) -> bool:
    """Whether bytes that claim to be a record of this namespace hold one of the texts, or began to.

    A power cut may have left the beginning of a text, and zeros behind it.
    """
    head, fence, body = raw.partition(_FENCE)
    piece = body.rstrip(b"\0")
    if not piece or not any(text.startswith(piece) or text == body for text in texts):
        return False
    try:
        return namespace_of(record.decode(head + fence + b"-").header) == ns
    except record.Malformed:
        return False


def _read(folder: Dir, name: str) -> bytes | None:
    """The bytes of a name, or ``None`` for what is no file of the store or cannot be read."""
    try:
        return folder.read(name, MAX_FILE)
    except EscapeError:
        return None
    except SystemFailure as err:
        if err.errno in NOT_OURS:
            return None
        raise


def _unlink(folder: Dir, name: str, *, flush: bool) -> None:
    """Remove a name. A directory that somebody put there is no record: it stays, and is told as a stray."""
    try:
        folder.unlink(name, flush=flush)
    except SystemFailure:
        if layout.is_record_name(name) and name in folder.folders():
            return
        raise
