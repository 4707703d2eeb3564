"""What outlives a record or a call: copies, caches, other openings, a call cut short, an owner's word."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from nsstore.harness.case import LEAST_DRIFT, Case
from nsstore.harness.probes.cutting import Cut, cut_short, places
from nsstore.harness.probes.ranking import counted, drift_of, ranked, usual
from nsstore.harness.probes.strangers import planted
from nsstore.harness.provider import Planted, Refusal
from nsstore.harness.witness import Unproven
from nsstore.harness.world import COMMON, HOME, Said, World, among, beside, neighbours

MANY: Final = 80
"""Records of which a store keeps more than their files, if it ever does."""
PATIENCE: Final = 1.0
"""Seconds that it is given to do so."""


def forget_leaves_traces(world: World, case: Case) -> str:
    """A forgotten record is in no answer and no file, and weighs nothing in what is left."""
    del case
    here, before, listed = usual(world)
    gone = [here.say(HOME, "blue harbour train", times=number) for number in range(1, 5)]
    ranked(here)
    for one in gone:
        forget(here, one)
    for one in gone:
        here.hides(HOME, one)
    drift = drift_of(before, ranked(here))
    if drift > LEAST_DRIFT or counted(here) != listed:
        raise Unproven(f"what was forgotten still weighs: an order, a count or a score is off ({drift:.1%})")
    told = "in no answer, in no score"
    if "on_files" in world.abilities:
        told += f", in none of {_require_in_no_file(here, gone)} files"
        if world.full:
            _require_in_no_view(world)
    return f"what was forgotten is {told}"


def _require_in_no_file(world: World, gone: Sequence[Said]) -> int:
    files = world.provider.files()
    left = [path for path, raw in files.items() for one in gone if one.canary.encode() in raw]
    if left:
        raise Unproven(f"{len(left)} files still hold what was forgotten")
    return len(files)


def _require_in_no_view(world: World) -> None:
    """Forget some of many records, of which views are kept by then: of their scope, and of a wider one."""
    here, there = world.fresh(), beside(HOME, "session")
    said = [here.say(there, "blue harbour train") for _ in range(MANY)]
    gone, askers = said[:: MANY // 10], [there]
    if "shares" in world.abilities:
        with suppress(Refusal):
            here.provider.share(HOME, "session", there)
            askers.append(HOME)
    until = time.monotonic() + PATIENCE
    while not _keeps_more(here, gone) and time.monotonic() < until:  # it may do so in the background
        for asker in askers:
            here.provider.search(asker, "blue harbour", 5)
        time.sleep(PATIENCE / 50)
    for one in gone:
        forget(here, one)
    _require_in_no_file(here, gone)
    here.finds(there, said[1])


def _keeps_more(world: World, said: Sequence[Said]) -> bool:
    """Whether files hold the words of records more often than there are records."""
    files = world.provider.files().values()
    return sum(one.canary.encode() in raw for raw in files for one in said) > len(said)


def forget(world: World, said: Said) -> None:
    """Forget a record, which nobody may read from now on."""
    assert said.record_id is not None
    world.provider.forget(said.scope, said.record_id)
    world.provider.known.own(said.canary, None)


def replay(world: World, case: Case) -> str:
    """A record that was forgotten and is put back as it was stays forgotten, in every opening."""
    del case
    here = world.fresh()
    mine, gone = here.say(HOME, "the replay"), here.say(HOME, "the replay")
    forget(here, gone)
    planted(here, Planted.REPLAYED, gone)
    here.hides(HOME, gone)
    here.finds(HOME, mine)
    if "reopens" in world.abilities:
        other = here.second()
        here.hides(HOME, gone, at=other)
        here.finds(HOME, mine, at=other)
    here.say(HOME, "the replay")
    here.hides(HOME, gone)
    return "what was forgotten and put back stays forgotten, and the rest goes on"


def two_processes(world: World, case: Case) -> str:
    """Two openings see each other's records of one scope, none of another's, and what one forgets is gone."""
    del case
    one, other, there = world.provider, world.second(), beside(HOME, "session")
    theirs = world.say(there, "before the first", to=other)
    for turn in range(20 if world.full else 2):
        mine = world.say(HOME, f"by the first {turn}", to=one)
        theirs = world.say(there, f"by the second {turn}", to=other)
        own = world.say(HOME, f"by the second {turn}", to=other)
        for at in (one, other):
            world.finds(HOME, mine, at=at)
            world.finds(HOME, own, at=at)
            world.finds(there, theirs, at=at)
            world.hides(HOME, theirs, at=at)
            world.hides(there, own, at=at)
        if "forgets" in world.abilities and mine.record_id is not None:
            forget(world, mine)
            world.hides(HOME, mine, at=other)
    if "shares" in world.abilities:
        with suppress(Refusal):
            shared = world.provider.share(HOME, "session", there)
            world.finds(HOME, theirs, at=other, verbs=("search", "get"))
            world.provider.revoke(shared)
            world.hides(HOME, theirs, at=other)
    return "both find what either wrote in the scope, nothing of the other one's, and nothing forgotten"


def cache_without_identity(world: World, case: Case) -> str:
    """The same question from one asker after another is answered for each, and anew once a right ends."""
    del case
    here = world.fresh()
    askers = (HOME, *neighbours())
    said = [here.say(scope, "the same question") for scope in askers]
    for order in (askers, tuple(reversed(askers))) * (5 if world.full else 1):
        for asker in order:
            for query in ("same question", COMMON):
                found = here.provider.search(asker, query, 10)
                own = [one for one in said if one.scope == asker]
                if not all(among(found, one) for one in own):
                    raise Unproven("a question that somebody else had asked did not find the asker's own")
    if "shares" in world.abilities:
        _after_the_right_ended(here)
    if "forgets" in world.abilities:
        here.provider.search(HOME, "same question", 10)
        forget(here, said[0])
        here.provider.search(HOME, "same question", 10)
    return f"{len(askers)} askers with one question: each got its own answer"


def _after_the_right_ended(world: World) -> None:
    there = beside(HOME, "session")
    try:
        shared = world.provider.share(HOME, "session", there)
    except Refusal:
        return
    world.provider.search(HOME, "same question", 10)
    world.provider.revoke(shared)
    world.provider.search(HOME, "same question", 10)


def cancelled_call(world: World, case: Case) -> str:
    """A call that is cut short leaves nothing for the next asker, and a whole record or none."""
    del case
    here, there = world.fresh(), beside(HOME, "session")
    mine, theirs = here.say(HOME, "the cut"), here.say(there, "the cut")

    def ask() -> None:
        here.provider.search(HOME, "cut", 10)

    ask()
    cuts = _cut_everywhere(here, ask)
    for asker, own in ((there, theirs), (HOME, mine)):
        here.finds(asker, own)
    wrote: list[str] = []

    def write() -> None:
        canary = here.canary()
        here.provider.known.own(canary, HOME)
        wrote.append(f"{COMMON} cut {canary} whole")
        here.provider.remember(HOME, wrote[-1])

    cuts += _cut_everywhere(here, write)
    for text in wrote:
        found = here.provider.search(HOME, text, 50)
        halves = [one for one in found if text.split()[2] in one.text and one.text != text]
        if halves:
            raise Unproven("a call that was cut short left half a record")
    here.finds(there, theirs)
    here.finds(HOME, here.say(HOME, "after the cut"))
    return f"{cuts} calls cut short: the next asker got its own answer, and no record is half there"


def _cut_everywhere(world: World, call: Callable[[], None]) -> int:
    there = beside(HOME, "session")
    total, most, last = places(call), *((400, 100) if world.full else (12, 12))
    marks = sorted({*(total * step // most for step in range(most)), *range(max(0, total - last), total)})
    for at in marks:
        with suppress(Cut, Exception):  # however a call ends that was cut short
            cut_short(call, at)
        world.provider.search(there, "cut", 10)
    return len(marks)


def superseded(world: World, case: Case) -> str:
    """Once there is a newer version no search and no list shows the older one."""
    del case
    here = world.fresh()
    told = [here.say(HOME, "the first word")]
    for words in ("the second word", "the last word"):
        canary = here.canary()
        here.provider.known.own(canary, HOME)
        text, older = f"{COMMON} {words} {canary}", told[-1]
        assert older.record_id is not None
        record_id = here.provider.update(HOME, older.record_id, text, {})
        told.append(Said(scope=HOME, record_id=record_id, text=text, canary=canary))
    *older_ones, newest = told
    for at in (here.provider, *([here.second()] if "reopens" in world.abilities else [])):
        here.finds(HOME, newest, at=at)
        for one in older_ones:
            for query in (one.canary, "word", COMMON):
                if any(one.canary in it.text and not it.stale for it in at.search(HOME, query, 10)):
                    raise Unproven("an older version is found beside the newest")
            if "lists" in world.abilities and among(at.list(HOME), one):
                raise Unproven("an older version is listed beside the newest")
    return f"of {len(told)} versions the newest alone is served"


def merged_owners(world: World, case: Case) -> str:
    """The same text of two owners is two records: what happens to one leaves the other as it is."""
    del case
    here = world.fresh()
    text = f"{COMMON} the very same words"
    ids = {scope: here.provider.remember(scope, text) for scope in (HOME, *neighbours())}
    for asker in ids:
        shown = here.provider.search(asker, "very same words", 50)
        if [one.text for one in shown] != [text]:
            raise Unproven(f"{len(shown)} records where each owner has one of the same words")
    if "forgets" in world.abilities:
        here.provider.forget(HOME, ids[HOME])
        for scope in neighbours():
            if not here.provider.search(scope, "very same words", 5):
                raise Unproven("forgetting a record took another owner's with it")
    return f"{len(ids)} owners of the same words have one record each"
