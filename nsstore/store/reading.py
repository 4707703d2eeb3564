"""Reading a member: its bytes are read, proven and compared with the ledger on every call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsstore.errors import EscapeError, IntegrityError, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger
from nsstore.record import Record
from nsstore.root import NOT_OURS, Dir
from nsstore.store.proven import Proven
from nsstore.store.sealing import MAX_FILE, Tag, Unproven, prove
from nsstore.store.survey import fetch, read_ledger

if TYPE_CHECKING:
    from nsstore.store.leaf import Leaf


class Vanished(Exception):
    """A record was forgotten between the look at its namespace and the reading of its file: look again."""


def read_member(leaf: Leaf, ledger: Ledger, record_id: str, directory: Dir | None = None) -> Record:
    """The record a member is, proven by its seal, its place and its ledger line just now.

    ``directory`` is the namespace's, if the caller holds it open. Raises :class:`IntegrityError` if it
    is gone, altered, replaced or replayed, :class:`EscapeError` if a link or special file stands in its
    place, and :class:`Vanished` if it was forgotten meanwhile.
    """
    return read_proven(leaf, ledger, record_id, directory).record


def read_proven(leaf: Leaf, ledger: Ledger, record_id: str, directory: Dir | None = None) -> Proven:
    """As :func:`read_member`, with what a decision looks at."""
    store, place = leaf.store, leaf.place
    name = f"{record_id}.md"
    try:
        raw = (
            directory.fetch(name, MAX_FILE)
            if directory is not None
            else fetch(store.root, place, name, MAX_FILE)
        )
    except EscapeError as err:
        store.witness.tell(place, IncidentKind.LINKED, str(err))
        raise
    except SystemFailure as err:
        if err.errno not in NOT_OURS:
            raise
        raise _damaged(leaf, IncidentKind.LINKED, record_id) from None
    if raw is None:
        raise _damaged(leaf, IncidentKind.MISSING, record_id)
    proven = store.proven.of(place.chain, record_id, raw)
    if proven is None:
        try:
            found = prove(store.trust.keys, place.chain, place.ns, name, raw)
        except Unproven as why:
            kind = IncidentKind.ALTERED if why.kind is IncidentKind.FORGED else why.kind
            raise _damaged(leaf, kind, record_id) from None
        proven = store.proven.keep(store.trust.keys, place.chain, found, raw)
    member = ledger.members.get(record_id)  # asked last: another thread may have forgotten it meanwhile
    if member is None or proven.record.header.seal != member.seal:
        store.proven.forget((record_id,))
        raise _damaged(leaf, IncidentKind.REPLAYED, record_id)
    if record_id not in leaf.tags:
        leaf.tags[record_id] = proven.tag
    return proven


def tag(leaf: Leaf, ledger: Ledger, record_id: str) -> Tag:
    """What is known of a member since it was proven last; proves it now if it never was here."""
    known = leaf.known_tag(record_id)
    return known if known is not None else read_proven(leaf, ledger, record_id).tag


def _damaged(leaf: Leaf, kind: IncidentKind, record_id: str) -> IntegrityError:
    """The failure to raise, told first; raises :class:`Vanished` if the chain says by now: forgotten."""
    store = leaf.store
    if record_id in read_ledger(store.root, store.trust, leaf.place, None)[0].forgotten:
        raise Vanished
    return leaf.store.witness.fail(leaf.place, kind, record_id)
