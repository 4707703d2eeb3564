"""What ranks: nothing that may not be read takes a place, moves a score or changes a count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nsstore.harness.case import LEAST_DRIFT, Case
from nsstore.harness.provider import Scope
from nsstore.harness.witness import Unproven, Witnessed
from nsstore.harness.world import COMMON, HOME, Said, World, among, beside

WORDS: Final = ("blue train", "blue train", "red train on the blue line", "a train", "the blue harbour")
QUESTIONS: Final = ("blue train", "train", "harbour", COMMON, "blue")
Ranked = list[list[tuple[str, float | None]]]


def filtered_first(world: World, case: Case) -> str:
    """Many strong matches elsewhere leave a weak own one in place, and every score and count as it was."""
    return f"{starved(world, case)}, and {unmoved(world, case)}"


def starved(world: World, case: Case) -> str:
    """One weak match of the own is found though far more and stronger ones are next door."""
    del case
    here, many = world.fresh(), 60 if world.full else 12
    for scope in (beside(HOME, "session"), beside(HOME, "branch"), beside(HOME, "user")):
        for _ in range(many):
            here.say(scope, "granite granite granite")
    weak = here.say(HOME, "somewhere in a long text about trains and harbours there is granite")
    found = here.provider.search(HOME, "granite", 3)
    world.counts.wanted += 1
    if not among(found, weak):
        raise Unproven(f"a match of the own scope is not among {len(found)} when others have stronger ones")
    world.counts.found += 1
    return "a weak match of the own scope is found beside stronger ones elsewhere"


def unmoved(world: World, case: Case) -> str:
    """The same records come in the same order with the same scores, whatever is written elsewhere."""
    del case
    here, before, listed = usual(world)
    for scope in world.around():
        for number in range(8 if world.full else 2):
            said = here.say(scope, "blue harbour train", times=number + 1)
            if number == 0 and "forgets" in world.abilities and said.record_id is not None:
                here.provider.forget(scope, said.record_id)
    _require_same(world, before, ranked(here))
    if counted(here) != listed:
        raise Unproven("a list counts what others wrote")
    return "no order, score or count moves by what others write"


def two_worlds(world: World, case: Case) -> str:
    """Nothing shows whether others are there: their words before, between and behind the own move nothing."""
    del case
    found: list[Ranked] = []
    counts: list[tuple[int, ...]] = []
    for loud in (False, True):
        here = world.fresh()
        said: list[Said] = []
        for words in WORDS:
            for scope in world.around() if loud else ():
                for _ in range(3 if world.full else 1):
                    here.say(scope, f"{words} {words} elsewhere")
            said.append(here.say(HOME, words))
        answers = ranked(here)
        found.append([[(_which(text, said), score) for text, score in one] for one in answers])
        alone = [len(here.provider.search(HOME, "elsewhere", k)) for k in (1, 50)]
        counts.append((*alone, counted(here), *(len(one) for one in answers)))
    if counts[0] != counts[1]:
        raise Unproven("how many records are found or listed tells whether others wrote")
    _require_same(world, *found)
    return "scores, order and counts are those of a store in which nobody else is"


def _require_same(world: World, before: Ranked, after: Ranked) -> None:
    if texts_of(before) != texts_of(after):
        raise Unproven("what is found, or its order, changed by what others wrote")
    drift = drift_of(before, after)
    world.counts.drift = max(world.counts.drift, drift)
    if drift > LEAST_DRIFT:
        raise Unproven(f"a score moved by {drift:.1%} by what others wrote")


def _which(text: str, said: Sequence[Said]) -> str:
    return next((f"{number}" for number, one in enumerate(said) if one.canary in text), "none of them")


def usual(world: World) -> tuple[World, Ranked, int]:
    """Another world in which the usual was said, what the questions find there, and how long its list is."""
    here = world.fresh()
    for words in WORDS:
        here.say(HOME, words)
    return here, ranked(here), counted(here)


def ranked(world: World, scope: Scope = HOME, *, at: Witnessed | None = None) -> Ranked:
    """What the questions find, with the scores."""
    provider = at or world.provider
    return [[(one.text, one.score) for one in provider.search(scope, question, 20)] for question in QUESTIONS]


def counted(world: World, scope: Scope = HOME, *, at: Witnessed | None = None) -> int:
    """How many records a list shows; 0 where there are no lists."""
    return len((at or world.provider).list(scope)) if "lists" in world.abilities else 0


def texts_of(found: Ranked) -> list[list[str]]:
    """What was found, in its order."""
    return [[text for text, _ in one] for one in found]


def drift_of(before: Ranked, after: Ranked) -> float:
    """The largest change of a score, as a part of it; 1 where other records come, or in another order."""
    if texts_of(before) != texts_of(after):
        return 1.0
    pairs = (pair for one, other in zip(before, after, strict=True) for pair in zip(one, other, strict=True))
    scores = [(old, new) for (_, old), (_, new) in pairs]
    if any((old is None) is not (new is None) for old, new in scores):
        return 1.0
    known = [(old, new) for old, new in scores if old is not None and new is not None]
    return max((abs(new - old) / max(abs(old), abs(new), 1e-12) for old, new in known), default=0.0)
