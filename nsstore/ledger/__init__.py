"""Witnesses membership: one chain of keyed events per namespace, and the intent of its next writer."""

from nsstore.ledger.intent import Intent, read_intent, write_intent
from nsstore.ledger.lines import Event, Genesis, Line, Recovered, Void, Written, make_line, read_line
from nsstore.ledger.membership import Ledger, extend
from nsstore.trust import BadLine

__all__ = [
    "BadLine",
    "Event",
    "Genesis",
    "Intent",
    "Ledger",
    "Line",
    "Recovered",
    "Void",
    "Written",
    "extend",
    "make_line",
    "read_intent",
    "read_line",
    "write_intent",
]
