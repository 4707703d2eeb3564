"""Ways around the one that is guarded: words of a query, metadata, ids, companions of a hit, and a miss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final

from nsstore.harness.case import Case
from nsstore.harness.probes.provenance import wrong_in
from nsstore.harness.provider import DIMENSIONS, Refusal, Scope
from nsstore.harness.witness import Unproven
from nsstore.harness.world import COMMON, HOME, SECOND, Said, World, beside, neighbours, refusal

QUERIES: Final = (
    "*", "* OR quartz", "NOT zzz", "tenant:{0}", "tenant_id:{0}", "tenant_id:\"{0}\" OR quartz",
    "' OR 1=1 --", "quartz') OR (1=1", "quartz\" OR tenant = \"{0}", "text:quartz AND user:{1}",
    "{{\"tenant\": \"{0}\"}}", "tenant={0}&user={1}", "quartz | quartz", "../{0}/quartz",
)  # fmt: skip
ODD_QUERIES: Final = (
    "what's up?", "AND", '"unbalanced', "(((", "field:", "C:\\Users", "https://a.b/c", "-alpha", "alpha^1e30",
    "quartz~2", "qua?tz", "qu*", "[a TO z]", "{a TO z}", "/.*/", "quartz\x00quartz", "\U0001f600 مرحبا",
    '{"a": [1]}', "$where: 1", "quartz; DROP TABLE records", "%", "_", "a" * 5_000,
)  # fmt: skip
FIELDS: Final = (
    "tenant_id", "group_id", "user_id", "project_id", "session_id", "conversation_id", "workspace_id",
    "branch", "baseline", "agent_id", "record_id", "created_at", "schema_version", "scope", "namespace",
    *DIMENSIONS,
)  # fmt: skip


def filter_injection(world: World, case: Case) -> str:
    """A query is words: no spelling of it reaches a field, a filter or another scope."""
    del case
    mine = world.say(HOME, "the query")
    asked = QUERIES + (ODD_QUERIES if world.full else ())
    for query in asked:
        for scope in (HOME, SECOND):
            refusal(partial(world.provider.search, scope, _filled(query), 50))
    world.finds(HOME, mine)
    return f"{len(asked)} queries that look like filters found nothing of others"


def metadata_on_write(world: World, case: Case) -> str:
    """What a caller says beside a new text never moves it to another scope."""
    del case

    def write(metadata: dict[str, object]) -> Said:
        canary = world.canary()
        world.provider.known.own(canary, HOME)
        text = f"{COMMON} moved {canary}"
        record_id = world.provider.remember_with(HOME, text, metadata)
        return Said(scope=HOME, record_id=record_id, text=text, canary=canary)

    return _stays(world, write)


def metadata_on_update(world: World, case: Case) -> str:
    """What a caller says beside a newer text never moves it to another scope."""
    del case
    first = world.say(HOME, "moved")
    newest = [first]

    def write(metadata: dict[str, object]) -> Said:
        canary = world.canary()
        world.provider.known.own(canary, HOME)
        text = f"{COMMON} moved {canary}"
        assert newest[-1].record_id is not None
        record_id = world.provider.update(HOME, newest[-1].record_id, text, metadata)
        newest.append(Said(scope=HOME, record_id=record_id, text=text, canary=canary))
        return newest[-1]

    told = _stays(world, write)
    world.finds(HOME, newest[-1])
    write({})
    world.finds(HOME, newest[-1])
    return told


def _stays(world: World, write: Callable[[dict[str, object]], Said]) -> str:
    refused, everything = 0, dict[str, object]()
    for name in FIELDS:
        value = getattr(SECOND, name.removesuffix("_id"), "zq7f-other")
        everything[name] = value
    for metadata in (*({name: value} for name, value in everything.items()), everything):
        try:
            said = write(metadata)
        except Refusal:
            refused += 1
            continue
        world.finds(HOME, said)
        for scope in neighbours():
            world.hides(scope, said)
        (first, *_) = world.provider.search(HOME, said.canary, 1)
        if first.provenance is not None and wrong_in(first.provenance, HOME):
            raise Unproven(f"metadata changed what is said of the owner: {', '.join(metadata)}")
    return f"{len(FIELDS) + 1} ways to name another scope in metadata: {refused} refused, none moved a record"


def second_path(world: World, case: Case) -> str:
    """Whoever knows an id can do nothing with it in another scope, and every verb shows the same records."""
    del case
    mine = world.say(HOME, "behind the second door")
    assert mine.record_id is not None
    known = mine.record_id
    askers = [one for one in neighbours() if not world.provider.known.has(one, known)]
    for asker in askers:
        for verb, call in _verbs(world, asker, known):
            if refusal(call) is None:
                raise Unproven(f"{verb} took an id of another scope")
        world.finds(HOME, mine)
    here = world.fresh()
    said = [here.say(scope, "door") for scope in (HOME, *neighbours()) for _ in range(2)]
    for asker in (HOME, *neighbours()):
        own = {one.canary for one in said if one.scope == asker}
        for verb, shown in _shown(here, asker, said):
            if shown != own:
                raise Unproven(f"{verb} shows {len(shown)} records where the scope has {len(own)}")
    return "an id of another scope opens nothing, and every verb shows each scope its own records"


def _verbs(world: World, asker: Scope, record_id: str) -> Iterator[tuple[str, Callable[[], object]]]:
    provider = world.provider
    if "gets" in world.abilities:
        yield "get", lambda: provider.get(asker, record_id)
    if "updates" in world.abilities:
        yield "update", lambda: provider.update(asker, record_id, f"{COMMON} taken over", {})
    if "forgets" in world.abilities:
        yield "forget", lambda: provider.forget(asker, record_id)


def _shown(world: World, asker: Scope, said: list[Said]) -> Iterator[tuple[str, set[str]]]:
    provider = world.provider

    def among(texts: list[str]) -> set[str]:
        return {one.canary for one in said for text in texts if one.canary in text}

    yield "search", among([one.text for one in provider.search(asker, COMMON, 100)])
    if "lists" in world.abilities:
        yield "list", among([one.text for one in provider.list(asker)])
    if "gets" in world.abilities:
        got: list[str] = []
        for one in said:
            record_id = one.record_id
            if record_id is not None:
                with suppress(Refusal):
                    got.append(provider.get(asker, record_id).text)
        yield "get", among(got)


def neighbour_expansion(world: World, case: Case) -> str:
    """A hit brings no companion: not what was written next to it, nor what has its words or refers to it."""
    del case
    here = world.fresh()
    mine: list[Said] = []
    for turn in range(4 if world.full else 2):
        for scope in world.around():
            here.say(scope, f"chapter {turn} follows chapter {turn - 1}")
        mine.append(here.say(HOME, f"chapter {turn} follows chapter {turn - 1}"))
    for one in mine:
        if one.record_id is not None:
            for scope in world.around()[:4]:
                here.say(scope, f"see {one.record_id} chapter")
        found = here.provider.search(HOME, f"chapter {one.canary}", 50)
        if len(found) > len(mine):
            raise Unproven(f"{len(found)} records came where {len(mine)} match")
    return "a hit comes alone, whatever was written beside it or about it"


def fallback_widens(world: World, case: Case) -> str:
    """Who finds nothing in the own scope finds nothing: no wider place is searched instead."""
    del case
    here = world.fresh()
    for scope in world.around():
        here.say(scope, "obsidian")
    empty = here.provider.search(HOME, "obsidian", 10)
    if empty:
        raise Unproven(f"{len(empty)} records were found in a scope that never held any")
    mine = here.say(HOME, "basalt")
    for query in ("obsidian", "obsidia", f"obsidian {mine.canary}", ""):
        refusal(partial(here.provider.search, HOME, query, 50))
    here.hides(beside(HOME, "tenant", "user"), mine)
    return "a miss in the own scope stays a miss"


def latest_of_all(world: World, case: Case) -> str:
    """The newest records of a scope that has none are none, whatever was written elsewhere a moment ago."""
    del case
    here = world.fresh()
    for scope in world.around():
        here.say(scope, "the latest")
        shown = here.provider.list(HOME)
        if shown:
            raise Unproven(f"{len(shown)} records are the latest of a scope that has none")
    mine = here.say(HOME, "the latest")
    here.say(beside(HOME, "project"), "the latest")
    here.finds(HOME, mine)
    return "where nothing was remembered nothing is the latest"


def _filled(query: str) -> str:
    return query.format(SECOND.tenant, SECOND.user) if "{0}" in query or "{1}" in query else query
