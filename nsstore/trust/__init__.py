"""Touches the keys: seal keys, root binding and anchors, all of them outside the root."""

from nsstore.trust.anchors import Anchors, Cell, NoValidSlot
from nsstore.trust.cells import Anchor, Chain
from nsstore.trust.home import Trust, base, create_trust, open_trust, rebind
from nsstore.trust.keyed_line import BadLine, frame, unframe
from nsstore.trust.keys import Keys

__all__ = [
    "Anchor",
    "Anchors",
    "BadLine",
    "Cell",
    "Chain",
    "Keys",
    "NoValidSlot",
    "Trust",
    "base",
    "create_trust",
    "frame",
    "open_trust",
    "rebind",
    "unframe",
]
