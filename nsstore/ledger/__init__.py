"""Witnesses membership: one chain of keyed events per namespace, and the intent of its next writer."""

from nsstore.ledger.brief import Brief
from nsstore.ledger.intent import Intent, read_intent, write_intent
from nsstore.ledger.lines import (
    MAX_TOGETHER,
    Erased,
    Event,
    Forgotten,
    Genesis,
    Line,
    Recovered,
    Resumed,
    Void,
    Written,
    framer_of,
    line_under,
    make_line,
    read_line,
)
from nsstore.ledger.membership import Ledger, extend
from nsstore.trust import BadLine

__all__ = [
    "MAX_TOGETHER",
    "BadLine",
    "Brief",
    "Erased",
    "Event",
    "Forgotten",
    "Genesis",
    "Intent",
    "Ledger",
    "Line",
    "Recovered",
    "Resumed",
    "Void",
    "Written",
    "extend",
    "framer_of",
    "line_under",
    "make_line",
    "read_intent",
    "read_line",
    "write_intent",
]
