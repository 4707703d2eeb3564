"""What the audit has to tell, each time it happens."""

from __future__ import annotations

from functools import partial

from nsstore.harness.case import Case
from nsstore.harness.probes.engines import PROVEN, Playing
from nsstore.harness.probes.events import require_event
from nsstore.harness.probes.strangers import planted
from nsstore.harness.provider import Planted
from nsstore.harness.world import HOME, World, beside, refusal


def told_denial(world: World, case: Case) -> str:
    """A record that is denied for its scope is told, each time."""
    said = world.say(HOME, "to be denied")
    assert said.record_id is not None
    record_id = said.record_id
    for dimension in ("session", "user", "tenant"):
        asker, since = beside(HOME, dimension), len(world.provider.audited())
        refusal(partial(world.provider.get, asker, record_id))
        require_event(world.provider, case.reason, since)
    return "a denial of another session, user and tenant is told each time"


def told_untagged(world: World, case: Case) -> str:
    """A record without a tag that is met is told."""
    here = world.fresh()
    here.say(HOME, "beside a stray")
    planted(here, Planted.UNTAGGED)
    _read(here)
    require_event(here.provider, case.reason)
    return "a record without a tag is told when it is met"


def told_contamination(world: World, case: Case) -> str:
    """A record of another scope that is met is told."""
    here = world.fresh()
    here.say(HOME, "in its place")
    theirs = here.say(beside(HOME, "project"), "out of its place")
    here.provider.plant(HOME, theirs.text, Planted.FOREIGN)
    _read(here)
    require_event(here.provider, case.reason)
    return "a record of another project among the own is told when it is met"


def told_fallback(world: World, case: Case) -> str:
    """That memory is searched without an engine, or not at all, is told."""
    since = len(world.provider.audited())
    world.provider.through(HOME, "quartz", Playing(None, []))
    require_event(world.provider, case.reason, since)
    return "what is not asked is told"


def told_lying_engine(world: World, case: Case) -> str:
    """That an engine returned what is out of scope is told."""
    theirs = world.say(beside(HOME, "project"), "the engine room")
    assert theirs.record_id is not None
    since = len(world.provider.audited())
    world.provider.through(HOME, "quartz", Playing(PROVEN, [theirs.record_id]))
    require_event(world.provider, case.reason, since)
    return "an engine that returns a record of another project is told"


def _read(world: World) -> None:
    """Ask in every way for what is at home."""
    refusal(lambda: world.provider.search(HOME, "quartz", 10))
    if "lists" in world.abilities:
        refusal(lambda: world.provider.list(HOME))
