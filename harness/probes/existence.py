"""Whether a record is there: not to be told by an error or by the time that it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Final

from nsstore.harness.case import Case
from nsstore.harness.provider import Scope
from nsstore.harness.witness import Unproven
from nsstore.harness.world import COMMON, HOME, World, beside

ROUNDS: Final = 4
CALLS: Final = 60
MOST: Final = 1.5
"""How many times as long a call may take for a record that is there; less than that is noise."""
LONG: Final = "far away " * 10_000
"""What takes its time to be read."""


def existence_by_error(world: World, case: Case) -> str:
    """An id that is denied and one that never was get one answer, in every word."""
    del case
    told = 0
    for dimension in ("tenant", "user", "project", "session", "branch", "agent"):
        asker = beside(HOME, dimension)
        said = world.say(HOME, "there or not")
        assert said.record_id is not None
        if world.provider.known.has(asker, said.record_id):
            continue
        absent = world.provider.known.absent(said.record_id)
        for verb, ask in _verbs(world, asker):
            answers = [_answer(ask, one) for one in (said.record_id, absent)]
            if answers[0] != answers[1]:
                raise Unproven(f"{verb} tells a denied id of another {dimension} from one that never was")
            told += 1
    return f"{told} times one answer for what is denied and for what never was"


def existence_by_time(world: World, case: Case) -> str:
    """An id that is denied takes no longer, or shorter, than one that never was."""
    del case
    for dimension in ("session", "agent"):
        _require_same_time(world, beside(HOME, dimension))
    return "no difference in time between what is denied and what never was"


def _require_same_time(world: World, asker: Scope) -> None:
    said = world.say(HOME, "there or not " + LONG)
    world.say(asker, "of the asker")
    assert said.record_id is not None
    ids = [said.record_id, *(world.provider.known.absent(said.record_id, nth) for nth in range(2))]

    def ask(record_id: str) -> None:
        world.provider.get(asker, record_id)

    for one in ids:
        _answer(ask, one)
    told: list[float] = []
    for _ in range(ROUNDS):
        denied, *absent = _times(ask, ids)
        low, high = min(absent), max(absent)
        ratio = denied / high if denied > high else low / denied if denied < low else 1.0
        told.append(ratio if denied > high else -ratio)
    least = min(abs(one) for one in told)
    if least > MOST and len({one > 0 for one in told}) == 1:
        raise Unproven(f"a denied id takes {least:.1f} times as long, or as short, as one that never was")


def _times(ask: Callable[[str], object], ids: Sequence[str]) -> list[float]:
    took: list[list[float]] = [[] for _ in ids]
    for _ in range(CALLS):
        for number, one in enumerate(ids):
            began = time.perf_counter()
            _answer(ask, one)
            took[number].append(time.perf_counter() - began)
    return [median(one) for one in took]


def _verbs(world: World, asker: Scope) -> Iterator[tuple[str, Callable[[str], object]]]:
    provider = world.provider
    yield "get", lambda one: provider.get(asker, one)
    if "updates" in world.abilities:
        yield "update", lambda one: provider.update(asker, one, f"{COMMON} taken over", {})
    if "forgets" in world.abilities:
        yield "forget", lambda one: provider.forget(asker, one)


def _answer(ask: Callable[[str], object], record_id: str) -> str:
    """What a caller can tell: the type and the words of an error, without the id that was asked for."""
    try:
        ask(record_id)
    except Exception as err:  # noqa: BLE001 - whatever it is, it is compared
        return f"{type(err).__name__}: {err}".replace(record_id, "<id>")
    return "answered"
