"""Search engines of somebody else's: what shows no scope support is not asked, and none is believed."""

from __future__ import annotations

from collections.abc import Sequence

from nsstore.harness.case import Case
from nsstore.harness.probes.events import require_event
from nsstore.harness.provider import DIMENSIONS, Audited, ScopeProperties
from nsstore.harness.witness import Unproven
from nsstore.harness.world import HOME, Said, World, among, beside

PROVEN = ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=True)


class Playing:
    """An engine that declares and returns what a case wants of it."""

    def __init__(self, declared: ScopeProperties | None, ids: Sequence[str], *, fails: bool = False) -> None:
        self.declared = declared
        self.ids = ids
        self.fails = fails
        self.asked = 0

    def scope_properties(self) -> ScopeProperties | None:
        """What it declares."""
        return self.declared

    def search(self, query: str, k: int) -> Sequence[str]:
        """The same ids whatever is asked."""
        del query
        self.asked += 1
        if self.fails:
            raise OSError("the engine is away")
        return self.ids[:k]


def unproven_search(world: World, case: Case) -> str:
    """The provider declares what it keeps apart; an engine that does not is not asked, and not believed."""
    declared = world.provider.scope_properties()
    if declared is None:
        raise Unproven("the provider declares nothing of its scopes, so its search is not allowed")
    missing = [one for one in DIMENSIONS if one not in declared.separates]
    if missing or not declared.filters_before_ranking:
        raise Unproven(f"not declared: {', '.join(missing) or 'that it filters before ranking'}")
    told = "it declares every dimension and that it filters first"
    if "guards" in world.abilities:
        told += f"; {undeclared_engine(world, case)}; {lying_engine(world, case)}"
    return told


def undeclared_engine(world: World, case: Case) -> str:
    """An engine without scope support is not asked at all; memory is searched without it, or not at all."""
    del case
    mine, theirs = world.say(HOME, "the engine room"), world.say(beside(HOME, "project"), "the engine room")
    partly = ScopeProperties(separates=frozenset({"tenant"}), filters_before_ranking=True)
    late = ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=False)
    for properties in (None, partly, late):
        engine = Playing(properties, _ids(mine, theirs))
        world.provider.through(HOME, "engine room", engine)
        if engine.asked:
            raise Unproven("an engine that shows no scope support was asked")
    require_event(world.provider, Audited.FALLBACK_DISABLED)
    return "an engine that shows no scope support is not asked"


def lying_engine(world: World, case: Case) -> str:
    """Of an engine that returns what is out of scope nothing foreign is served, and it is not asked again."""
    del case
    mine, theirs = world.say(HOME, "the engine room"), world.say(beside(HOME, "project"), "the engine room")
    honest = Playing(PROVEN, _ids(mine))
    if not among(world.provider.through(HOME, "engine room", honest), mine):
        raise Unproven("what an engine with scope support finds in the own scope is not served")
    lying = Playing(PROVEN, _ids(theirs, mine))
    for _ in range(2):
        world.provider.through(HOME, "engine room", lying)
    require_event(world.provider, Audited.OUT_OF_SCOPE_PROVIDER)
    if lying.asked != 1:
        raise Unproven("an engine that returned a foreign record was asked again")
    return "one that returns a foreign record is found out and suspended"


def failing_engine(world: World, case: Case) -> str:
    """An engine that fails widens nothing: what is served without it is of the own scope."""
    del case
    mine = world.say(HOME, "the engine room")
    for scope in (beside(HOME, "session"), beside(HOME, "user")):
        world.say(scope, "the engine room")
    away = Playing(PROVEN, _ids(mine), fails=True)
    found = world.provider.through(HOME, "engine room", away)
    return f"{len(found)} records were found without the engine, each of the own scope"


def _ids(*said: Said) -> list[str]:
    return [one.record_id for one in said if one.record_id is not None]
