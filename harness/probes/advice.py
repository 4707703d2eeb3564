"""Memory is advisory: what is so now comes first."""

from __future__ import annotations

from nsstore.harness.case import Case
from nsstore.harness.witness import Unproven
from nsstore.harness.world import HOME, World


def truth_first(world: World, case: Case) -> str:
    """What is so now stands before everything remembered, and what is remembered still comes."""
    del case
    mine = world.say(HOME, "the train is green")
    now = "the train is blue since this morning"
    told = world.provider.evidence(HOME, f"train green {mine.canary}", now)
    if not told or not isinstance(told[0], str) or now not in told[0]:
        raise Unproven("what is so now does not come first")
    first = next((place for place, one in enumerate(told) if not isinstance(one, str)), len(told))
    if any(isinstance(one, str) and now in one for one in told[first:]):
        raise Unproven("what is so now stands among what is remembered")
    if not any(not isinstance(one, str) and mine.canary in one.text for one in told):
        raise Unproven("what is remembered does not come beneath")
    return "what is so now comes first, what is remembered beneath it"
