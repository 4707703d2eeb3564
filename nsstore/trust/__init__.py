"""Touches the keys: seal keys, root binding and anchors, all of them outside the root."""

from nsstore.trust.anchors import Anchors, Cell, NoValidSlot, cells_by_name
from nsstore.trust.cells import Anchor, Chain
from nsstore.trust.home import Trust, base, create_trust, open_trust, rebind, require_not_lost
from nsstore.trust.keyed_line import BadLine, Framer, frame, unframe
from nsstore.trust.keys import Keys

__all__ = [
    "Anchor",
    "Anchors",
    "BadLine",
    "Cell",
    "Chain",
    "Framer",
    "Keys",
    "NoValidSlot",
    "Trust",
    "base",
    "cells_by_name",
    "create_trust",
    "frame",
    "open_trust",
    "rebind",
    "require_not_lost",
    "unframe",
]
