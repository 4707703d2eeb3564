"""What is on the disk, or came from a provider, and should not be there, is missing, or was changed."""

from __future__ import annotations

import os
from enum import StrEnum


class IncidentKind(StrEnum):
    """The closed list of what can be wrong with a name, a file or a chain."""

    STRAY = "stray"  # a name that is no record's, where only records live
    UNTAGGED = "untagged"  # a file without a readable sealed header
    FORGED = "forged"  # a header, but no seal made with this store's keys
    ALTERED = "altered"  # a listed record whose bytes are not the sealed ones
    MISPLACED = "misplaced"  # a sealed record of another scope, name or area
    REPLAYED = "replayed"  # a sealed record that the chain does not hold (any more)
    MISSING = "missing"  # a listed record that is not there
    TORN = "torn"  # what a writer that died left of a record it never acknowledged
    ROLLED_BACK = "rolled_back"  # the anchor knows a newer head than the disk can show
    CHAIN_BROKEN = "chain_broken"  # a ledger line that is no line of this chain
    ANCHOR_BROKEN = "anchor_broken"  # no valid slot in the trust home, or none at all
    LINKED = "linked"  # a link, device, special file, foreign owner or mode on the way
    VIEW_DAMAGED = "view_damaged"  # an index in the cache home that is not as it was folded


def new_incident_id() -> str:
    """A random incident id: it tells nothing about what it stands for."""
    return os.urandom(8).hex()
