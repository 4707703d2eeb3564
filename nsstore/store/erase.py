"""Erasing what is forgotten: every copy of it that the store itself made, then its file, then its views."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore import layout
from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import EscapeError, SystemFailure
from nsstore.ledger import MAX_TOGETHER, Erased
from nsstore.root import NOT_OURS, Dir, Root
from nsstore.scope import Namespace
from nsstore.store.leaf import Leaf
from nsstore.store.sealing import MAX_FILE

if TYPE_CHECKING:
    from nsstore.store.entry import Entry

_BEGIN: Final = b"---\n"
_FENCE: Final = b"\n---\n"
_WRITTEN: Final = re.compile(rb"[^\0]+")
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
    if directory is None:
        _erase_copies(entry, [])
    else:
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
    """Remove drafts and set-aside leftovers of this namespace that hold such a text, a piece of one, or none.

    A write that failed and was tried again left the same text under another record id, or no more of it
    than its title and tags: whose these were nobody can tell, so they go with the next forget.
    """
    ns, root = entry.leaf.place.ns, entry.leaf.store.root
    with suppress(EscapeError):
        drafts = root.dir(DRAFTS)
        if drafts is not None:
            _erase_in((drafts,), lambda raw: _is_copy(ns, raw, texts))
    erase_leftovers(root, lambda raw: _is_copy(ns, raw, texts))


def erase_leftovers(root: Root, goes: Callable[[bytes], bool]) -> None:
    """Remove, durably, what dead writers left and was set aside, by what there is of it."""
    with suppress(EscapeError):
        quarantine = root.dir(QUARANTINE)
        if quarantine is not None:
            with quarantine:
                _erase_in(_below(quarantine), goes)


def _erase_in(folders: Iterable[Dir], goes: Callable[[bytes], bool]) -> None:
    for folder in folders:
        with folder:
            for name in folder.names():
                raw = _read(folder, name)
                if raw is not None and goes(raw):
                    _unlink(folder, name, flush=True)


def _below(folder: Dir) -> Iterator[Dir]:
    """The directories in a folder; what somebody else put there is passed by."""
    for name in folder.folders():
        with suppress(EscapeError):
            below = folder.sub(name)
            if below is not None:
                yield below


def _is_copy(ns: Namespace, raw: bytes, texts: list[bytes]) -> bool:
    """Whether bytes that claim to be a record of this namespace hold one of the texts, or never got that far.

    A power cut leaves zeros for what was not on the disk yet: the end of a file, some of it, or the
    beginning, with which it claims nothing, and is known by its text alone.
    """
    head, _, body = raw.partition(_FENCE)
    if not raw.startswith(b"\0"):
        return _claims(head, ns) and (not body.strip(b"\0") or any(_is_piece(body, one) for one in texts))
    pieces = _WRITTEN.findall(body or raw)
    return bool(pieces) and any(all(piece in one for piece in pieces) for one in texts)


def _is_piece(body: bytes, text: bytes) -> bool:
    """Whether bytes are a text, or its beginning, with zeros in some places."""
    return all(text[one.start() : one.end()] == one[0] for one in _WRITTEN.finditer(body))


def _claims(head: bytes, ns: Namespace) -> bool:
    """Whether a header that may be cut off names a namespace; what is said of a text stands behind that."""
    said = claimed(head)
    named = all(said.get(f"{dimension}_id") == value for dimension, value in ns.dimensions)
    return named and said.get("type") == ns.area


def claimed(raw: bytes) -> dict[str, object]:
    """What the header of a leftover says, as far as it goes: claims, of which nothing is proven."""
    head = raw.partition(_FENCE)[0]
    said: dict[str, object] = {}
    for line in head.partition(b"\0")[0].removeprefix(_BEGIN).split(b"\n"):
        name, _, value = line.partition(b": ")
        with suppress(ValueError, RecursionError):
            said.setdefault(name.decode(), msgspec.json.decode(value))
    return said


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
