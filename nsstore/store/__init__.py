"""Keeps records: publish, read, recover one namespace; whatever is not proven is not served."""

from nsstore.store.answers import ADVISORY, Found, Provenance, found_of, provenance_of
from nsstore.store.leaf import Leaf
from nsstore.store.publish import MAX_BATCH, Prepare, publish
from nsstore.store.reading import read_member, tag
from nsstore.store.sealing import Draft, Tag, tag_of
from nsstore.store.sight import Sight
from nsstore.store.store import Store, create_root, move, open_root

__all__ = [
    "ADVISORY",
    "MAX_BATCH",
    "Draft",
    "Found",
    "Leaf",
    "Prepare",
    "Provenance",
    "Sight",
    "Store",
    "Tag",
    "create_root",
    "found_of",
    "move",
    "open_root",
    "provenance_of",
    "publish",
    "read_member",
    "tag",
    "tag_of",
]
