"""Keeps records: publish, read, forget, recover one namespace; whatever is not proven is not served."""

from nsstore.store.answers import ADVISORY, Found, Provenance, found_of, provenance_of
from nsstore.store.below import Below, Erasure, forget_below
from nsstore.store.entry import recover
from nsstore.store.expiring import expire
from nsstore.store.forget import Choose, Chosen, Forgot, forget
from nsstore.store.leaf import Leaf
from nsstore.store.making import create_root, move, open_root
from nsstore.store.publish import MAX_BATCH, Prepare, publish
from nsstore.store.reading import Vanished, read_member, tag
from nsstore.store.sealing import Draft, Tag, tag_of
from nsstore.store.sessions import Sessions
from nsstore.store.sight import Sight, answered
from nsstore.store.spent import may_be_spent
from nsstore.store.store import Store

__all__ = [
    "ADVISORY",
    "MAX_BATCH",
    "Below",
    "Choose",
    "Chosen",
    "Draft",
    "Erasure",
    "Forgot",
    "Found",
    "Leaf",
    "Prepare",
    "Provenance",
    "Sessions",
    "Sight",
    "Store",
    "Tag",
    "Vanished",
    "answered",
    "create_root",
    "expire",
    "forget",
    "forget_below",
    "found_of",
    "may_be_spent",
    "move",
    "open_root",
    "provenance_of",
    "publish",
    "read_member",
    "recover",
    "tag",
    "tag_of",
]
