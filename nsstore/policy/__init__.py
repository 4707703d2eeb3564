"""Decides: who may read and write which record, from values alone, touching nothing."""

from nsstore.policy.decide import decide, decide_class
from nsstore.policy.explaining import Reader, Row, explain, explain_class, readers
from nsstore.policy.readability import ReadClass, readability_class
from nsstore.policy.reasons import Decision, Reason
from nsstore.policy.retention import (
    HOLDS_UNKNOWN,
    LEGAL_HOLD,
    LONGEST_KEPT,
    NOTHING_SET,
    Retention,
    decide_forget,
    expiry,
    expiry_clock,
    is_held,
    lifetime,
    trusted,
)
from nsstore.policy.rights import (
    NO_RIGHTS,
    Allowed,
    Asker,
    Every,
    Grant,
    Kind,
    Opens,
    Pair,
    Rights,
    Source,
    check_kinds,
    personal,
)
from nsstore.policy.write import decide_write

__all__ = [
    "HOLDS_UNKNOWN",
    "LEGAL_HOLD",
    "LONGEST_KEPT",
    "NOTHING_SET",
    "NO_RIGHTS",
    "Allowed",
    "Asker",
    "Decision",
    "Every",
    "Grant",
    "Kind",
    "Opens",
    "Pair",
    "ReadClass",
    "Reader",
    "Reason",
    "Retention",
    "Rights",
    "Row",
    "Source",
    "check_kinds",
    "decide",
    "decide_class",
    "decide_forget",
    "decide_write",
    "expiry",
    "expiry_clock",
    "explain",
    "explain_class",
    "is_held",
    "lifetime",
    "personal",
    "readability_class",
    "readers",
    "trusted",
]
