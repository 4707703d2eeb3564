"""Questions put to nsstore and to what it is measured against, in turn, in one process."""

from __future__ import annotations

import gc
import itertools
import random
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter

from bench.baselines import BaselineError
from bench.budgets import Subject, Verdict, budgets_of, judge, summarize
from bench.world import unflushed
from nsstore import OpenStore, Session
from nsstore.harness.texts import texts

Ask = Callable[[str], object]
WORDS = 8
BATCH = 250


def some_texts(count: int, seed: int = 7) -> list[str]:
    """Distinct texts of 1 KB, the same in every run."""
    return list(itertools.islice((text for batch in texts(100, seed) for text in batch), count))


def questions(given: Sequence[str], count: int, seed: int = 11) -> list[str]:
    """Questions of eight words each, every one from a text drawn at random: common words and rare ones."""
    dice = random.Random(seed)
    return [" ".join(dice.sample(dice.choice(given)[:-1].split(), WORDS)) for _ in range(count)]


def fill(session: Session, given: Sequence[str]) -> list[str]:
    """Remember every text, unflushed, since no power fails here; the record ids."""
    ids: list[str] = []
    with unflushed():
        for start in range(0, len(given), BATCH):
            ids += [one.record_id for one in session.remember_many(given[start : start + BATCH])]
    return ids


def settled(session: Session, store: OpenStore, question: str) -> None:
    """Ask until what is folded in the background is folded."""
    for _ in range(3):
        session.search(question)
        store.settle()


def race(asked: Sequence[str], contenders: Mapping[str, Ask], rounds: int) -> dict[str, list[float]]:
    """Seconds of each contender for each question in each round, round robin; the first one's turn moves.

    So nobody is asked with its own last answer still in the processor's caches, as in life. The first
    round, in which everything is read for the first time, is not counted.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders.items())
    for number in range(rounds + 1):
        for question in asked:
            for name, ask in order:
                start = perf_counter()
                ask(question)
                taken = perf_counter() - start
                if number:
                    times[name].append(taken)
            order.append(order.pop(0))
    return times


def require_ten(asked: Sequence[str], contenders: Mapping[str, Ask]) -> None:
    """Require that each contender finds ten for each question: an empty answer is a fast one."""
    for name, ask in contenders.items():
        for question in asked:
            found = ask(question)
            if len(getattr(found, "hits", found)) != 10:  # type: ignore[arg-type] # an answer or a list of rows
                raise BaselineError(f"{name} did not find ten records")


def verdicts_of(subject: Subject, times: Mapping[str, Sequence[float]]) -> list[Verdict]:
    """The verdict on every budget of a subject, from the times of one interleaved run."""
    found = {name: summarize(name, taken, 1) for name, taken in times.items()}
    return [judge(budget, found["nsstore"], found[budget.baseline]) for budget in budgets_of(subject)]


@contextmanager
def quiet() -> Generator[None]:
    """What was built before the block is not gone through by the collector while something is timed."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
