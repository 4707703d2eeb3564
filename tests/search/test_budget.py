"""How many bytes of views are kept, and which go first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nsstore.search.budget import ViewCache
from nsstore.search.pair import Pair


@dataclass
class Block:
    """A view of a known weight, with or without an open index."""

    weight: int
    open: bool = False

    def bytes_used(self) -> int:
        return self.weight

    def is_open(self) -> bool:
        return self.open


def test_least_recently_used_goes_first() -> None:
    """Above the budget the view that was not used for longest is let go, and only as many as needed."""
    cache = ViewCache[Block](100)
    for name in "abc":
        cache.put((name,), Block(30))
    assert cache.get(("a",)) is not None
    cache.put(("d",), Block(30))
    assert cache.get(("b",)) is None
    assert all(cache.get((name,)) is not None for name in "acd")
    assert cache.bytes_used() == 90


def test_absent_key_is_none() -> None:
    """A key that was never put, or differs in one part, finds nothing and keeps nothing."""
    cache = ViewCache[Block](100)
    cache.put(("acme", "s1"), Block(10))
    assert cache.get(("acme", "s2")) is None
    assert cache.get(("acme",)) is None
    assert len(cache) == 1


def test_growth_is_counted_when_used() -> None:
    """A view that grew since it was put pushes others out the next time it is used."""
    cache = ViewCache[Block](100)
    grows = Block(10)
    cache.put(("old",), Block(50))
    cache.put(("grows",), grows)
    grows.weight = 60
    assert cache.get(("grows",)) is grows
    assert cache.bytes_used() == 60
    assert cache.get(("old",)) is None


def test_view_above_the_budget_stays_alone() -> None:
    """The newest view is kept whatever it weighs, and goes as soon as another one is used."""
    cache = ViewCache[Block](100)
    cache.put(("small",), Block(10))
    cache.put(("big",), Block(1000))
    assert len(cache) == 1
    assert cache.get(("big",)) is not None
    cache.put(("next",), Block(10))
    assert cache.get(("big",)) is None
    assert cache.bytes_used() == 10


def test_open_indexes_are_bounded() -> None:
    """Above the number of open indexes the one that was not used for longest goes; others do not count."""
    cache = ViewCache[Block](1000, max_open=2)
    cache.put(("memory",), Block(10))
    for name in "ab":
        cache.put((name,), Block(10, open=True))
    assert cache.get(("a",)) is not None
    cache.put(("c",), Block(10, open=True))
    assert cache.get(("b",)) is None
    assert all(cache.get((name,)) is not None for name in ("a", "c", "memory"))
    assert cache.bytes_used() == 30


def test_an_index_opened_later_counts() -> None:
    """A view that got an index since it was put is counted when it is used next."""
    cache = ViewCache[Block](1000, max_open=1)
    first, second = Block(10, open=True), Block(10)
    cache.put(("first",), first)
    cache.put(("second",), second)
    second.open = True
    assert cache.get(("second",)) is second
    assert cache.get(("first",)) is None


def test_put_replaces() -> None:
    """A second view under a key takes the place and the weight of the first."""
    cache = ViewCache[Block](100)
    cache.put(("a",), Block(80))
    second = Block(20)
    cache.put(("a",), second)
    assert cache.get(("a",)) is second
    assert (len(cache), cache.bytes_used()) == (1, 20)


def test_drop_lets_go_of_what_matches() -> None:
    """Every view whose key matches is gone at once, with its bytes; the others stay."""
    cache = ViewCache[Block](1000)
    for tenant in ("acme", "evil"):
        for session in ("s1", "s2"):
            cache.put((tenant, session), Block(10))
    assert cache.drop(lambda key: key[0] == "evil") == 2
    assert cache.drop(lambda key: key[0] == "evil") == 0
    assert cache.get(("evil", "s1")) is None
    assert cache.get(("acme", "s1")) is not None
    assert cache.bytes_used() == 20


def test_empty_views_are_bounded_too() -> None:
    """Searches of ten thousand empty namespaces do not keep ten thousand views."""
    cache = ViewCache[Pair](200_000)
    for number in range(10_000):
        cache.put((str(number),), Pair())
    assert 1 < len(cache) <= 200
    assert cache.bytes_used() <= 200_000


def test_threads_share_a_cache() -> None:
    """Threads that get, put and drop at once leave a count of bytes that is exact."""
    cache = ViewCache[Block](500)

    def work(worker: int) -> None:
        for number in range(500):
            key = (str(number * worker % 40),)
            if cache.get(key) is None:
                cache.put(key, Block(10 + number % 30))
            if number % 50 == 0:
                cache.drop(lambda key: hash(key) % 3 == 0)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(1, 7)))
    assert cache.bytes_used() <= 500
    left = len(cache)
    assert cache.drop(lambda _: True) == left > 0
    assert cache.bytes_used() == 0
