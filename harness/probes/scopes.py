"""Who finds what: the own scope, a neighbour in one dimension, and what the code's history makes stale."""

from __future__ import annotations

from typing import cast

from nsstore.harness.case import Case
from nsstore.harness.provider import DIMENSIONS, Dimension, Refusal
from nsstore.harness.witness import Unproven
from nsstore.harness.world import HOME, World, among, beside, changed

TWO_VERBS = ("search", "get")


def dimensions_of(case: Case) -> tuple[Dimension, ...]:
    """The dimensions that a case is about."""
    return cast("tuple[Dimension, ...]", tuple(case.given["dimensions"].split()))


def own_scope(world: World, case: Case) -> str:
    """What is remembered is found again by its own scope, at once and by another opening of the provider."""
    del case
    scopes = (HOME, beside(HOME, *DIMENSIONS), *(beside(HOME, one) for one in DIMENSIONS if world.full))
    said = [world.say(scope, f"the release train leaves on day {day}") for day in (1, 2) for scope in scopes]
    for one in said:
        world.finds(one.scope, one)
    if "reopens" in world.abilities:
        other = world.second()
        for one in said:
            world.finds(one.scope, one, at=other)
    return f"{len(said)} of {len(said)} found again, by every verb that reads"


def other_scope(world: World, case: Case) -> str:
    """A neighbour's record is denied both ways, and open only as long as an owner says so."""
    told: list[str] = []
    for dimension in dimensions_of(case):
        there = beside(HOME, dimension)
        mine, theirs = world.say(HOME, "the release train"), world.say(there, "the release train")
        world.finds(HOME, mine)
        world.finds(there, theirs)
        world.hides(HOME, theirs)
        world.hides(there, mine)
        told.append(f"another {dimension} is denied, both ways")
        if "shares" not in world.abilities:
            continue
        try:
            shared = world.provider.share(HOME, dimension, there)
        except Refusal:
            told.append("and nothing opens it")
            continue
        if case.given.get("never_shared"):
            raise Unproven(f"an owner could open another {dimension}")
        world.finds(HOME, theirs, verbs=TWO_VERBS)
        world.hides(there, mine)
        world.hides(beside(HOME, "workspace", "agent"), theirs)
        for scope in (beside(there, "branch"), changed(HOME, **{dimension: "a-third-one"})):
            world.hides(HOME, world.say(scope, "the release train"))
        world.provider.revoke(shared)
        world.hides(HOME, theirs)
        told.append("open by the owner's word, one way, and denied as soon as that is taken back")
    return ", ".join(told)


def stale_context(world: World, case: Case) -> str:
    """What is of another branch or baseline is no answer; where it is allowed it comes marked, and last."""
    dimensions = dimensions_of(case)
    mine = world.say(HOME, "the train is blue")
    for dimension in dimensions:
        there = beside(HOME, dimension)
        theirs = world.say(there, "the train is blue")
        world.hides(HOME, theirs)
        world.hides(there, mine)
        if "stale" not in world.abilities:
            continue
        alone = world.provider.search(HOME, "train blue", 10)
        found = world.provider.search_beside(HOME, "train blue", 10, (there,))
        current = tuple(one for one in found if not one.stale)
        if [one.text for one in current] != [one.text for one in alone]:
            raise Unproven(f"what is current changed when another {dimension} was allowed beside it")
        if found[: len(current)] != current:
            raise Unproven(f"what is of another {dimension} stands before what is current")
        if not among(found, theirs):
            raise Unproven(f"what is of an allowed other {dimension} did not come back")
    return f"another {' or '.join(dimensions)} is no evidence of now"
