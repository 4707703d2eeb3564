"""Decides: who may read and write which record, from values alone, touching nothing."""

from nsstore.policy.decide import decide, decide_class
from nsstore.policy.readability import ReadClass, readability_class
from nsstore.policy.reasons import Decision, Reason
from nsstore.policy.write import decide_write

__all__ = [
    "Decision",
    "ReadClass",
    "Reason",
    "decide",
    "decide_class",
    "decide_write",
    "readability_class",
]
