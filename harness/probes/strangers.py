"""Records that nobody owns, or that are not what they say: none of them is ever an answer."""

from __future__ import annotations

from contextlib import suppress

from nsstore.harness.case import LEAST_DRIFT, Case
from nsstore.harness.probes.ranking import counted, drift_of, ranked, usual
from nsstore.harness.provider import Dimension, Planted, Refusal, Scope
from nsstore.harness.witness import Unproven, Witnessed
from nsstore.harness.world import COMMON, HOME, Said, World, beside, changed

NAMESPACE: tuple[Dimension, ...] = ("tenant", "user", "project", "session")


def untagged(world: World, case: Case) -> str:
    """A record that lacks a dimension is refused, or read by nobody; one without any tag is never read."""
    del case
    told = "none of them can be written"
    for dimension in NAMESPACE:
        for value in (None, ""):
            scope = changed(HOME, **{dimension: value})
            said = unowned(world, scope)
            if said is not None:
                told = "what can be written of them is read by nobody"
                world.hides(HOME, said)
                world.hides(scope, said)
    if "on_files" in world.abilities:
        other = world.fresh()
        mine = other.say(HOME)
        stray = planted(other, Planted.UNTAGGED)
        other.hides(HOME, stray)
        other.finds(HOME, mine)
        told += ", and one that was put there without a tag is read by nobody"
    return f"records without tenant, user, project or session: {told}"


def unowned(world: World, scope: Scope) -> Said | None:
    """Try to have a text remembered that nobody may read then; ``None`` if it is refused."""
    canary = world.canary()
    world.provider.known.own(canary, None)
    text = f"{COMMON} of nobody {canary}"
    try:
        record_id = world.provider.remember(scope, text)
    except Refusal:
        return None
    return Said(scope=scope, record_id=record_id, text=text, canary=canary)


def planted(world: World, kind: Planted, said: Said | None = None, words: str = "of nobody") -> Said:
    """Put something among the records at home that nobody may read; ``said`` is what it is made of."""
    text = said.text if said else f"{COMMON} {words} {world.canary()}"
    canary = said.canary if said else text.rpartition(" ")[2]
    world.provider.known.own(canary, None)
    world.provider.plant(HOME, text, kind)
    return Said(scope=HOME, record_id=said.record_id if said else None, text=text, canary=canary)


def strays(world: World, case: Case) -> str:
    """What was put there without a tag is read by nobody, by no verb and in no opening."""
    del case
    here = world.fresh()
    mine = here.say(HOME, "beside strays")
    kept = [planted(here, Planted.UNTAGGED) for _ in range(3)]
    for at in _openings(here):
        for stray in kept:
            here.hides(HOME, stray, at=at)
            here.hides(beside(HOME, "session"), stray, at=at)
        here.finds(HOME, mine, at=at)
    return f"{len(kept)} records without a tag are read by nobody, and what is genuine goes on"


def strays_weigh_nothing(world: World, case: Case) -> str:
    """What was put there without a tag is not searched: no order, score or count moves by it."""
    del case
    here, before, listed = usual(world)
    for _ in range(5):
        planted(here, Planted.UNTAGGED, words="blue harbour train")
    for at in _openings(here):
        after = ranked(here, at=at)
        if drift_of(before, after) > LEAST_DRIFT or counted(here, at=at) != listed:
            raise Unproven("records without a tag weigh in what is found, or are counted")
    return "records without a tag move no order, score or count"


def foreign(world: World, case: Case) -> str:
    """A genuine record of another scope is not served from where it was moved to."""
    del case
    here = world.fresh()
    mine = here.say(HOME, "in its place")
    moved = [here.say(beside(HOME, dimension), "out of its place") for dimension in NAMESPACE]
    for theirs in moved:
        here.provider.plant(HOME, theirs.text, Planted.FOREIGN)
    for at in _openings(here):
        for theirs in moved:
            here.hides(HOME, theirs, at=at)
            here.finds(theirs.scope, theirs, at=at)
        here.finds(HOME, mine, at=at)
    return f"a genuine record of another {', '.join(NAMESPACE)} is not served where it was put"


def forged(world: World, case: Case) -> str:
    """A record that claims a scope and was made by somebody else is not served."""
    del case
    here = world.fresh()
    mine = here.say(HOME, "genuine")
    stray = planted(here, Planted.FORGED)
    for at in _openings(here):
        here.hides(HOME, stray, at=at)
        here.finds(HOME, mine, at=at)
    return "a record that only claims its scope is not served, and what is genuine goes on"


def altered(world: World, case: Case) -> str:
    """A genuine record of which a byte was changed is not served, as it is or as it was."""
    del case
    here, there = world.fresh(), beside(HOME, "user")
    mine, theirs = here.say(HOME, "to be changed"), here.say(there, "left alone")
    here.finds(HOME, mine)  # so that it is in whatever is kept of it
    planted(here, Planted.ALTERED, mine)
    for at in _openings(here):
        here.hides(HOME, mine, at=at)
        for query in ("changed", COMMON):
            with suppress(Refusal):
                if any("to be changed" in one.text for one in at.search(HOME, query, 10)):
                    raise Unproven("a record that was changed is served")
        here.finds(there, theirs, at=at)
    return "a record with a changed byte is not served, and other scopes go on"


def adopted(world: World, case: Case) -> str:
    """What was put there is not taken over later: not by another opening, a write or a forget."""
    del case
    here = world.fresh()
    mine, other = here.say(HOME, "genuine"), here.say(HOME, "soon forgotten")
    put = [planted(here, Planted.UNTAGGED), planted(here, Planted.FORGED)]
    for at in _openings(here):
        here.say(HOME, "written after it", to=at)
        if "forgets" in world.abilities and other.record_id is not None and at is here.provider:
            at.forget(HOME, other.record_id)
            at.known.own(other.canary, None)
        for one in put:
            here.hides(HOME, one, at=at)
        here.finds(HOME, mine, at=at)
    return "nothing that was put there is taken over by what happens later"


def _openings(world: World) -> list[Witnessed]:
    """The provider, and where it can be opened once more the other one."""
    return [world.provider, *([world.second()] if "reopens" in world.abilities else [])]
