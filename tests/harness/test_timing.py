"""Timing a memory: both are asked in turn, and what is timed is looked through. No figure is judged here."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from threading import Event

import pytest

from nsstore.harness import timing
from nsstore.harness.examples.plain_dict import PlainDict
from nsstore.harness.examples.sqlite_fts import SqliteFts
from nsstore.harness.named import provider_of
from nsstore.harness.provider import Kept, Scope
from nsstore.harness.timing import VERBS, timed
from nsstore.harness.witness import CANARY
from nsstore.harness.world import HOME

pytestmark = pytest.mark.usefixtures("short")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short run."""
    for name, value in (("ROUNDS", 10), ("LEAST", 4), ("OWN", 12), ("FOREIGN", 2)):
        monkeypatch.setattr(timing, name, value)


class Told(PlainDict):
    """A good memory that notes what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, Scope, str]] = []

    def remember(self, scope: Scope, text: str) -> str:
        self.calls.append(("remember", scope, text))
        return super().remember(scope, text)

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        self.calls.append(("search", scope, query))
        return super().search(scope, query, k)


@pytest.mark.parametrize("name", ["nsstore", "nsstore.harness.examples.plain_dict:make"])
def test_each_verb_has_a_figure(name: str) -> None:
    """Both verbs are measured in every round, beside the baseline, with parts that tell the noise."""
    with provider_of(name) as make:
        run = timed(make, {"search": 1e9}, label="mine", made_at="2026-11-30T22:00:00.000000Z")
    assert [one.name for one in run.measured] == list(VERBS)
    assert run.faults == ()
    for one in run.measured:
        assert (one.baseline, one.rounds, len(one.parts)) == ("sqlite_fts", 10, 5)
        assert one.ours_us is not None
        assert one.theirs_us is not None
        assert one.ratio == pytest.approx(one.ours_us / one.theirs_us)
    assert [one.max_ratio for one in run.measured] == [None, 1e9]
    assert (run.label, run.made_at) == ("mine", "2026-11-30T22:00:00.000000Z")
    assert {"python", "system", "processor"} == set(run.machine)


def test_every_timed_search_is_looked_through() -> None:
    """Each search that is timed is an answer that was looked through, with its hits."""
    run = timed(PlainDict)
    assert run.answers == 10 + timing.WARM_UP
    assert run.hits >= run.answers


def test_the_world_is_the_suites() -> None:
    """The own scope and each of its neighbours have records, between each other, all of the same words."""
    one = Told()
    timed(lambda: one)
    filled = [scope for verb, scope, _ in one.calls if verb == "remember"][: 12 + 9 * 2]
    counted = Counter(filled)
    assert counted[HOME] == 12
    assert [count for scope, count in counted.items() if scope != HOME] == [2] * 9
    last_own = len(filled) - filled[::-1].index(HOME)
    assert any(scope != HOME for scope in filled[:last_own])
    assert {scope for verb, scope, _ in one.calls if verb == "search"} == {HOME}
    assert all(CANARY.search(text) for _, _, text in one.calls)


class Noting(SqliteFts):
    """A table that notes under a name what it is asked, but for the secret words."""

    def __init__(self, name: str, heard: list[tuple[str, str]]) -> None:
        super().__init__()
        self._name = name
        self._heard = heard

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        self._heard.append((self._name, CANARY.sub("", query)))
        return super().search(scope, query, k)


def test_both_hear_the_same_and_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the secret words both are asked the same, and each is first in half of the rounds."""
    heard: list[tuple[str, str]] = []
    baseline = "nsstore.harness.examples.sqlite_fts.make"
    monkeypatch.setattr(baseline, lambda: Noting("baseline", heard))
    timed(lambda: Noting("mine", heard))
    ours = [query for name, query in heard if name == "mine"]
    assert ours == [query for name, query in heard if name == "baseline"]
    first = Counter(name for name, _ in heard[::2])
    assert abs(first["mine"] - first["baseline"]) <= 1


class Leaky(PlainDict):
    """Finds everybody's."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        del scope
        asked = set(query.split())
        every = [one for kept in self._kept.values() for one in kept.values()]
        return sorted(every, key=lambda one: -len(asked & set(one.text.split())))[:k]


class Telling(PlainDict):
    """Tells another scope's text in an error, when it is asked for the seventh time."""

    asked = 0

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        self.asked += 1
        if self.asked == 7:
            other = next(iter(next(kept for scope, kept in self._kept.items() if scope != HOME).values()))
            raise LookupError(f"not {other.text}")
        return super().search(scope, query, k)


class Empty(PlainDict):
    """Finds nothing, and that fast."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        del scope, query, k
        return ()


class Unranked(PlainDict):
    """Finds the oldest that share a word."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        asked = set(query.split())
        return [one for one in self.list(scope) if asked & set(one.text.split())][:k]


class Exact(PlainDict):
    """Finds what holds every word alone."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        asked = set(query.split())
        return [one for one in self.list(scope) if asked <= set(one.text.split())][:k]


@pytest.mark.parametrize("make", [Unranked, Exact])
def test_how_good_the_answers_are_is_not_judged(make: Callable[[], PlainDict]) -> None:
    """A memory that ranks badly fills its answer, one that wants every word finds the one: both are timed."""
    assert timed(make).faults == ()


class Lazy(PlainDict):
    """Answers with what finds something only when it is read."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        return (one for one in super().search(scope, query, k))  # type: ignore[return-value] # no answer, as said


class Full(PlainDict):
    """Has no room for a timed text."""

    def remember(self, scope: Scope, text: str) -> str:
        if sum(map(len, self._kept.values())) >= 32:
            raise OSError("no room")
        return super().remember(scope, text)


class Broken(PlainDict):
    """Cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError("no database here")


class Greedy(PlainDict):
    """Gives more than it was asked for."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        return super().search(scope, query, k + 5)


@pytest.mark.parametrize(
    ("make", "fault", "measured"),
    [
        (Leaky, "A timed search: search showed", ["remember"]),
        (Telling, "A timed search: LookupError told what the scope may not read", ["remember"]),
        (Empty, "A timed search: 0 found, and not the record that the question was made of", ["remember"]),
        (Lazy, "A timed search: search gave something else than records", ["remember"]),
        (Greedy, "A timed search: search gave 15 records when asked for 10", ["remember"]),
        (Full, "A timed remember: OSError: no room", []),
        (Broken, "Before anything was timed: RuntimeError: no database here", []),
    ],
)
def test_what_is_no_answer_has_no_figure(
    make: Callable[[], PlainDict], fault: str, measured: list[str]
) -> None:
    """An answer that leaks, is empty or none at all ends the timing and is told; it has no ratio."""
    run = timed(make, {"search": 1e9, "remember": 1e9})
    assert len(run.faults) == 1
    assert run.faults[0].startswith(fault)
    assert [one.name for one in run.measured] == measured
    assert not run.met


class Hanging(PlainDict):
    """Never comes back from its fourth search."""

    asked = 0

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        self.asked += 1
        if self.asked == 4:
            Event().wait(30)
        return super().search(scope, query, k)


def test_a_call_that_hangs_ends_it() -> None:
    """A call that does not come back in time is told, and the run is over."""
    run = timed(Hanging, deadline=1)
    assert run.faults == ("A timed search: no answer after 1 seconds",)


class Late(PlainDict):
    """Works out an answer only when it is read, and is a sequence all the same."""

    class Answer(list[Kept]):
        """An answer that takes its time when somebody goes through it."""

        def __iter__(self) -> Iterator[Kept]:
            time.sleep(0.003)
            return super().__iter__()

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        return self.Answer(super().search(scope, query, k))


def test_what_an_answer_takes_to_read_counts() -> None:
    """A memory that puts off its work until its answer is read is timed with that work."""
    found = timed(Late).of("search")
    assert found is not None
    assert found.ours_us is not None
    assert found.ours_us >= 3_000


def test_progress_is_told() -> None:
    """Each step is heard of, up to the last of as many as there are."""
    heard: list[tuple[int, int]] = []
    timed(PlainDict, told=lambda done, total: heard.append((done, total)))
    assert [done for done, _ in heard] == list(range(1, len(heard) + 1))
    assert heard[-1] == (len(heard), len(heard))


def test_a_slow_memory_is_asked_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rounds take longer than there is time, fewer of them do; never less than the least."""
    monkeypatch.setattr(timing, "SECONDS", 0.0)
    run = timed(PlainDict)
    assert [one.rounds for one in run.measured] == [timing.LEAST] * 2


def test_a_provider_ends_with_it() -> None:
    """What was made for a run is closed after it, also where it broke."""
    closed: list[str] = []

    class Closing(Empty):
        def close(self) -> None:
            closed.append("closed")

    timed(Closing)
    assert closed == ["closed"]
