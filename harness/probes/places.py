"""Where records lie: each scope's apart, at a place that follows from the scope and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nsstore.harness.case import Case
from nsstore.harness.probes.strangers import NAMESPACE, unowned
from nsstore.harness.witness import Unproven
from nsstore.harness.world import HOME, Said, World, beside, changed

NOBODYS: Final = frozenset(
    {"default", "none", "null", "unknown", "anonymous", "undefined", "global", "shared"}
)


def apart(world: World, case: Case) -> str:
    """No directory and no file holds the words of two tenants, users, projects or sessions."""
    del case
    here = world.fresh()
    scopes = (HOME, *(beside(HOME, one) for one in NAMESPACE), beside(HOME, *NAMESPACE))
    said = [here.say(scope, "a place of its own") for scope in scopes for _ in range(2)]
    for one in said:
        here.provider.search(one.scope, one.canary, 5)
    files = here.provider.files()
    held: dict[str, str] = {}
    for one in said:
        folders = {path.rpartition("/")[0] for path in _holding(files, one)}
        if not folders:
            raise Unproven("no file holds what was remembered, so nothing shows where it lies")
        for folder in folders:
            owner = f"{[getattr(one.scope, name) for name in NAMESPACE]}"
            if held.setdefault(folder, owner) != owner:
                raise Unproven("one directory holds the words of two scopes")
    return f"{len(held)} directories, each of one scope"


def writes_its_own(world: World, case: Case) -> str:
    """A write changes no file that holds the words of another scope."""
    del case
    here = world.fresh()
    theirs = [here.say(beside(HOME, one), "already there") for one in NAMESPACE]
    before = here.provider.files()
    mine = here.say(HOME, "written now")
    after = here.provider.files()
    for one in theirs:
        for path in _holding(before, one):
            if after.get(path) != before[path]:
                raise Unproven("a write changed a file that holds the words of another scope")
        if any(path in _holding(after, mine) for path in _holding(after, one)):
            raise Unproven("a file holds the words of two scopes")
    return "a write leaves every file of another scope as it was"


def derived(world: World, case: Case) -> str:
    """Who lacks an id has no place: nothing is kept, and no place is called by a default."""
    del case
    here = world.fresh()
    here.say(HOME, "in its place")
    for dimension in NAMESPACE:
        for value in (None, ""):
            said = unowned(here, changed(HOME, **{dimension: value}))
            if said is not None and _holding(here.provider.files(), said):
                raise Unproven(f"a text without {dimension} was kept somewhere")
    parts = {part.lower() for path in here.provider.files() for part in path.split("/")}
    found = sorted(parts & NOBODYS)
    if found:
        raise Unproven(f"there is a place called {', '.join(found)}")
    return "what lacks an id is kept nowhere, and no place is nobody's"


def _holding(files: Mapping[str, bytes], said: Said) -> list[str]:
    """The files that hold the text of a record."""
    return [path for path, raw in files.items() if said.canary.encode() in raw]
