"""What an owner's word opens: one neighbour, to one asker, for reading, and as long as it stands."""

from __future__ import annotations

from typing import Final

from nsstore.harness.case import Case
from nsstore.harness.probes.provenance import require_whole
from nsstore.harness.provider import DIMENSIONS, Dimension, Refusal
from nsstore.harness.witness import Unproven
from nsstore.harness.world import HOME, Said, World, beside, refusal

TWO_VERBS: Final = ("search", "get")
SUBJECT: Final = ("tenant", "user", "project", "agent")
"""By what an owner names an asker at least: who it is, and in which project."""
QUICK: Final[tuple[Dimension, ...]] = ("user", "session", "workspace", "agent")
"""What one right could open for another one by mistake."""


def opens_what_it_names(world: World, case: Case) -> str:
    """What is next to an opened neighbour stays shut, and so does the neighbour to everybody else."""
    del case
    here, opened = world.fresh(), list[str]()
    mine = here.say(HOME, "the open room")
    for dimension in DIMENSIONS:
        there = beside(HOME, dimension)
        try:
            shared = here.provider.share(HOME, dimension, there)
        except Refusal:
            continue
        theirs = here.say(there, "the open room")
        here.finds(HOME, theirs, verbs=TWO_VERBS)
        _require_origin(here, theirs)
        for one in DIMENSIONS if world.full else QUICK:
            if one != dimension:
                here.hides(HOME, here.say(beside(there, one), "the open room"))
                if one in SUBJECT:
                    here.hides(beside(HOME, one), theirs)
        here.hides(there, mine)
        _require_reading_only(here, theirs)
        here.provider.revoke(shared)
        here.hides(HOME, theirs)
        opened.append(dimension)
    if not opened:
        return "nothing can be opened"
    return f"another {', '.join(opened)} is opened alone, to one asker, to read, and until it is taken back"


def _require_origin(world: World, theirs: Said) -> None:
    """Require that what is shown of another scope says that it is of that scope."""
    (first, *_) = world.provider.search(HOME, theirs.canary, 1)
    if first.provenance is not None:
        require_whole("search", first, theirs)


def _require_reading_only(world: World, theirs: Said) -> None:
    """Require that who may read a record by an owner's word may not forget it."""
    record_id = theirs.record_id
    if "forgets" not in world.abilities or record_id is None:
        return
    if refusal(lambda: world.provider.forget(HOME, record_id)) is None:
        raise Unproven("a right to read was enough to forget")
    world.finds(theirs.scope, theirs)
