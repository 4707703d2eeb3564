"""Reading a member: its bytes are read, proven and compared with the ledger on every call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsstore.errors import IntegrityError
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger
from nsstore.record import Record
from nsstore.store.sealing import MAX_FILE, Tag, Unproven, prove, tag_of
from nsstore.store.survey import fetch

if TYPE_CHECKING:
    from nsstore.store.leaf import Leaf


def read_member(leaf: Leaf, ledger: Ledger, record_id: str) -> Record:
    """The record a member is, proven by its seal, its place and its ledger line just now.

    Raises :class:`IntegrityError` if it is gone, altered, replaced or replayed, and
    :class:`EscapeError` if a link or special file stands in its place.
    """
    name = f"{record_id}.md"
    with leaf.store.witness.escapes(leaf.place):
        raw = fetch(leaf.store.root, leaf.place, name, MAX_FILE)
    if raw is None:
        raise _damaged(leaf, IncidentKind.MISSING, record_id)
    try:
        found = prove(leaf.store.trust.keys, leaf.place.chain, leaf.place.ns, name, raw)
    except Unproven as why:
        kind = IncidentKind.ALTERED if why.kind is IncidentKind.FORGED else why.kind
        raise _damaged(leaf, kind, record_id) from None
    member = ledger.members.get(record_id)
    if member is None or found.header.seal != member.seal:
        raise _damaged(leaf, IncidentKind.REPLAYED, record_id)
    leaf.tags.setdefault(record_id, tag_of(found.header))
    return found


def tag(leaf: Leaf, ledger: Ledger, record_id: str) -> Tag:
    """What is known of a member since it was proven last; proves it now if it never was here."""
    known = leaf.tags.get(record_id)
    return known if known is not None else tag_of(read_member(leaf, ledger, record_id).header)


def _damaged(leaf: Leaf, kind: IncidentKind, record_id: str) -> IntegrityError:
    return leaf.store.witness.fail(leaf.place, kind, record_id)
