"""Times a memory beside a baseline in one run: what is timed is looked through as in the suite's own world.

Both remember the same texts for the same scopes, two of everything, and are asked the same questions in turn.
"""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from random import Random
from time import perf_counter
from typing import Final, Literal, cast

from nsstore import __version__
from nsstore.harness.measured import BenchRun, Measured, part_medians, part_ratios
from nsstore.harness.provider import Kept, Provider, Scope, ScopeProperties
from nsstore.harness.texts import texts
from nsstore.harness.witness import Counts, Unproven
from nsstore.harness.worker import DEADLINE, LATE, Worker, in_words
from nsstore.harness.world import HOME, Said, World, among, neighbours

Verb = Literal["remember", "search"]
VERBS: Final[tuple[Verb, ...]] = ("remember", "search")
BASELINE: Final = "sqlite_fts"
OWN: Final = 200
FOREIGN: Final = 20
"""Records of the own scope, and of each of its neighbours, before anything is timed."""
ROUNDS: Final = 200
LEAST: Final = 20
SECONDS: Final = 20.0
"""A verb is timed in so many rounds, or in fewer if they take longer than that, but never in less."""
WARM_UP: Final = 3
WORDS: Final = 7
K: Final = 10


def timed(
    make: Callable[[], Provider],
    limits: Mapping[Verb, float] | None = None,
    *,
    label: str = "now",
    made_at: str | None = None,
    told: Callable[[int, int], object] | None = None,
    deadline: float = DEADLINE,
) -> BenchRun:
    """Time what ``make`` gives against one full-text table of SQLite in memory with a filter by scope.

    Each answer that is timed is looked through for what its asker may not read, and has to be full or hold
    the record that the question was made of: an empty answer is a fast one. Whatever else comes, or does not
    come within ``deadline`` seconds, leaves the verb without a figure and is one of the run's faults.
    ``limits`` are the budgets, by verb; ``told`` hears how many of how many steps are done.
    """
    contest = _Contest(make)
    worker = Worker()
    failure: BaseException | None = None
    for done, step in enumerate(contest.steps(), 1):
        failure = worker.do(step, deadline)
        if failure is not None:
            break
        if told is not None:
            told(done, contest.total)
    if failure is not LATE and worker.do(contest.close, deadline) is not LATE:
        worker.end()
    words = in_words(failure, deadline)
    counts = contest.sides[0].world.counts if contest.sides else Counts()
    return BenchRun(
        label=label,
        machine={
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.release()}",
            "processor": platform.machine(),
        },
        measured=tuple(contest.measured(limits or {})),
        faults=() if words is None else (f"{contest.doing}: {words}",),
        answers=counts.answers,
        hits=counts.hits,
        version=__version__,
        made_at=made_at,
    )


class _Watch:
    """A provider that notes how long its last call took; what came of it is whole by then."""

    def __init__(self, provider: Provider) -> None:
        self._it = provider
        self.taken = 0.0

    def scope_properties(self) -> ScopeProperties | None:
        return self._it.scope_properties()

    def remember(self, scope: Scope, text: str) -> str:
        start = perf_counter()
        record_id = self._it.remember(scope, text)
        self.taken = perf_counter() - start
        return record_id

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        start = perf_counter()
        found = self._it.search(scope, query, k)
        whole = list(found) if isinstance(cast("object", found), Sequence) else found
        self.taken = perf_counter() - start
        return whole

    def close(self) -> None:
        self._it.close()


class _Side:
    """One of the two memories: its world, what its own scope was told, and its times."""

    def __init__(self, make: Callable[[], Provider]) -> None:
        self.watch = _Watch(make())
        self.world = World(lambda: self.watch)
        self.said: list[Said] = []
        self.times: dict[Verb, list[float]] = {verb: [] for verb in VERBS}

    def tell(self, scope: Scope, text: str) -> None:
        """Remember a text, untimed."""
        said = self.world.say(scope, text)
        if scope == HOME:
            self.said.append(said)

    def remember(self, text: str) -> None:
        """Remember a text of the own scope."""
        self.tell(HOME, text)
        self.times["remember"].append(self.watch.taken)

    def search(self, number: int) -> None:
        """Ask by words of a record of the own scope.

        Raises :class:`Unproven` where neither that record comes nor as many as were asked for.
        """
        said = self.said[number % len(self.said)]
        question = " ".join((said.canary, *said.text.split()[1 : WORDS + 1]))
        found = self.world.provider.search(HOME, question, K)
        if len(found) < K and not among(found, said):
            raise Unproven(f"{len(found)} found, and not the record that the question was made of")
        self.times["search"].append(self.watch.taken)


class _Contest:
    """Both memories, and the steps of a run: each is one call into one of them."""

    def __init__(self, make: Callable[[], Provider]) -> None:
        self._make = make
        self._texts = (text for batch in texts(1) for text in batch)
        self._scopes = [*[HOME] * OWN, *(scope for scope in neighbours() for _ in range(FOREIGN))]
        Random(7).shuffle(self._scopes)  # noqa: S311 - foreign ones between the own, by age as well; no secret
        self.total = 1 + 2 * len(self._scopes) + 2 * len(VERBS) * (WARM_UP + ROUNDS)
        self.sides: list[_Side] = []
        self._ended = set[Verb]()
        self.doing = "Before anything was timed"

    def steps(self) -> Iterator[Callable[[], object]]:
        """The steps, in turn."""
        yield self._enter
        for scope, text in zip(self._scopes, self._texts, strict=False):
            yield from (partial(side.tell, scope, text) for side in self.sides)
        self.doing = "A timed remember"
        more = islice(self._texts, WARM_UP + ROUNDS)
        yield from self._in_turn("remember", [partial(_Side.remember, text=text) for text in more])
        self.doing = "A timed search"
        asked = range(WARM_UP + ROUNDS)
        yield from self._in_turn("search", [partial(_Side.search, number=number) for number in asked])

    def measured(self, limits: Mapping[Verb, float]) -> Iterator[Measured]:
        """The figure of each verb that was timed to its end."""
        for verb in VERBS:
            if verb in self._ended:
                ours, theirs = (side.times[verb] for side in self.sides)
                yield self._figure(verb, ours, theirs, limits.get(verb))

    def close(self) -> None:
        """Let go of both."""
        for side in self.sides:
            side.world.close()

    def _enter(self) -> None:
        # Whoever needs no baseline needs no sqlite3.
        from nsstore.harness.examples.sqlite_fts import make as baseline  # noqa: PLC0415 - as said

        self.sides = [_Side(self._make), _Side(baseline)]

    def _in_turn(
        self, verb: Verb, calls: Sequence[Callable[[_Side], object]]
    ) -> Iterator[Callable[[], object]]:
        """Each call to both, who comes first in turn; the first few are not counted."""
        order = list(self.sides)
        began = perf_counter()
        for number, call in enumerate(calls):
            if number == WARM_UP:
                for side in order:
                    side.times[verb].clear()
            if number >= WARM_UP + LEAST and perf_counter() - began > SECONDS:
                break
            yield from (partial(call, side) for side in order)
            order.reverse()
        self._ended.add(verb)

    def _figure(
        self, verb: Verb, ours: Sequence[float], theirs: Sequence[float], limit: float | None
    ) -> Measured:
        own, baseline = statistics.median(ours), statistics.median(theirs)
        ratio = own / baseline
        foreign = len(self._scopes) - OWN
        what = f"p50 of a text of 1 KB, behind {OWN} own and {foreign} foreign ones"
        if verb == "search":
            what = f"p50 of one that finds, among {OWN + ROUNDS} own and {foreign} foreign texts of 1 KB"
        return Measured(
            name=verb,
            what=f"{verb}, {what}",
            baseline=BASELINE,
            ratio=ratio,
            max_ratio=limit,
            met=limit is None or ratio <= limit,
            parts=part_ratios(part_medians(ours), part_medians(theirs)),
            rounds=len(ours),
            ours_us=own * 1e6,
            theirs_us=baseline * 1e6,
        )
