"""Where an answer comes from: said with each record, and kept in the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from nsstore.harness.case import Case
from nsstore.harness.probes.events import require_event
from nsstore.harness.provider import DIMENSIONS, Audited, Kept, Scope
from nsstore.harness.witness import Unproven
from nsstore.harness.world import HOME, Said, World


def provenance(world: World, case: Case) -> str:
    """A search returns each record with its provenance, and the audit knows which were returned."""
    del case
    said = world.say(HOME, "where the train comes from")
    (first, *_) = world.provider.search(HOME, said.canary, 3) or (None,)
    if first is None or said.canary not in first.text:
        raise Unproven("the record was not found")
    require_whole("search", first, said)
    if "audits" not in world.abilities:
        raise Unproven("provenance is returned, and nothing shows that it is logged")
    logged = require_event(world.provider, Audited.SEARCHED)
    records = [one for event in logged for one in _many(event.get("records"))]
    if first.record_id not in records:
        raise Unproven("no event of a search names the record that it returned")
    return "id, whole scope, source, reason and time are returned, and the audit names the record"


def every_verb(world: World, case: Case) -> str:
    """Whatever verb a record is read by, its provenance comes with it."""
    del case
    said = world.say(HOME, "where the train comes from")
    read = {"search": world.provider.search(HOME, said.canary, 3)}
    if "gets" in world.abilities and said.record_id is not None:
        read["get"] = (world.provider.get(HOME, said.record_id),)
    if "lists" in world.abilities:
        read["list"] = world.provider.list(HOME)
    for verb, answer in read.items():
        mine = [one for one in answer if said.canary in one.text]
        if not mine:
            raise Unproven(f"{verb} did not show the record")
        require_whole(verb, mine[0], said)
    return f"{', '.join(read)}: each record with its id, whole scope, source, reason and time"


def require_whole(verb: str, one: Kept, said: Said) -> None:
    """Require that all the redline names is said of a record, and that it is so."""
    told = one.provenance
    if not isinstance(told, Mapping):
        raise Unproven(f"{verb} says nothing of where a record comes from")
    if told.get("record_id") != one.record_id:
        raise Unproven(f"{verb}: the provenance is of another record id")
    wrong = wrong_in(told, said.scope)
    if wrong:
        raise Unproven(f"{verb}: the provenance lacks or mistakes {', '.join(wrong)}")
    empty = [name for name in ("source", "match_reason", "created_at") if not told.get(name)]
    if empty:
        raise Unproven(f"{verb}: the provenance lacks {', '.join(empty)}")


def wrong_in(told: Mapping[str, object], scope: Scope) -> list[str]:
    """The dimensions of a scope that a provenance lacks, or has another value of."""
    given = told.get("scope")
    if not isinstance(given, Mapping):
        return list(DIMENSIONS)
    known = cast("Mapping[str, object]", given)
    return [name for name in DIMENSIONS if known.get(name) != getattr(scope, name)]


def _many(given: object) -> list[object]:
    return list(cast("list[object]", given)) if isinstance(given, list | tuple) else []
