"""Witnesses: whether this build was found to keep scopes apart on this machine."""

from nsstore.gate.fingerprint import Build, Fingerprint, Here, Looked, fingerprint_of, process
from nsstore.gate.kept import NOTHING, Home, Kept, Result, read_named, spelled
from nsstore.gate.testing import CouldNotRun, Mode, Proof, gate_of, known_here, test_now
from nsstore.gate.verdict import ALLOWLISTED, GATE_CLOSED, UNDER_TEST, UNTESTED, Gate, State

__all__ = [
    "ALLOWLISTED",
    "GATE_CLOSED",
    "NOTHING",
    "UNDER_TEST",
    "UNTESTED",
    "Build",
    "CouldNotRun",
    "Fingerprint",
    "Gate",
    "Here",
    "Home",
    "Kept",
    "Looked",
    "Mode",
    "Proof",
    "Result",
    "State",
    "fingerprint_of",
    "gate_of",
    "known_here",
    "process",
    "read_named",
    "spelled",
    "test_now",
]
