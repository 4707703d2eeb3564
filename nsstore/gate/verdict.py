"""The gate: whether search is open in a store, to everybody, to whom the owner named, or to nobody."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from nsstore.errors import Refused
from nsstore.policy import Rights
from nsstore.scope import ScopeEnvelope

GATE_CLOSED: Final = "gate_closed"
ALLOWLISTED: Final = "allowlist"
CLOSED: Final = (
    "search is closed: {}. `nsstore selftest` tests it again; meanwhile the owner can let somebody search"
    " (`nsstore owner grant allowlist`), and what needs no search is open"
)
NOT_GREEN: Final = (
    "this build is not proven here ({}): you may search because the owner put you on the allowlist, so treat"
    " answers with care"
)


class State(StrEnum):
    """What the gate lets one asker do; each member's docstring is what it means, and there is no other."""

    CLOSED = "closed"
    """No search is answered; everything that needs none is."""
    ALLOWLIST = "allowlist"
    """Search is answered to this asker, whom the owner named, and each session is told why."""
    OPEN = "open"
    """The self-test of this build is green here: search is answered to everybody, each in their scope."""


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of this build in this place: ``green``, or ``why`` it is not, in a few words."""

    green: bool
    why: str

    def state(self, rights: Rights, envelope: ScopeEnvelope) -> State:
        """What one asker may do by the rights that are in force (redline, "Runtime Rule")."""
        if self.green:
            return State.OPEN
        return State.ALLOWLIST if rights.may_search(envelope) else State.CLOSED

    @property
    def notice(self) -> str:
        """What an asker on the allowlist is told."""
        return NOT_GREEN.format(self.why)

    def refusal(self) -> Refused:
        """What everybody else is told."""
        return Refused(CLOSED.format(self.why), reason=GATE_CLOSED)


UNTESTED: Final = Gate(green=False, why="nobody asked for a self-test of this build")
"""Of a store that was opened without a gate."""
UNDER_TEST: Final = Gate(green=True, why="this store is made to be tested")
"""Of a store that a self-test makes for itself."""
