"""A lock file taken away while a writer is at work: two writers at once, and nothing acknowledged is lost."""

import threading
from collections.abc import Callable
from functools import partial

import pytest

from bench.house import House, namespace
from bench.world import Who, World
from nsstore import IntegrityError, Receipt, StoreError
from nsstore.audit import read_events, verify
from nsstore.errors import WitnessError
from nsstore.root.steps import hooked


def run_as(name: str, work: Callable[[], None]) -> threading.Thread:
    """A named thread at work."""
    thread = threading.Thread(target=work, name=name)
    thread.start()
    return thread


def two_writers(
    world: World, who: Who, remove: Callable[[], None], at: int, *, begins: bool = False
) -> tuple[dict[str, Receipt], int, set[str]]:
    """Two processes' stores write at once; before step ``at`` of the first, its lock file is taken away.

    Where the namespace ``begins`` with them, the other one may meet it half begun, and say so. What was
    acknowledged, how many steps the first one met, and the texts that are there afterwards.
    """
    acknowledged: dict[str, Receipt] = {}
    met = 0
    second: list[threading.Thread] = []
    failures: list[StoreError] = []
    with world.open() as one, world.open() as two:
        sessions = {"first": who.bind(one), "second": who.bind(two)}

        def write(name: str) -> None:
            try:
                acknowledged[name] = sessions[name].remember(name)
            except StoreError as err:
                failures.append(err)

        def hook(_: str) -> None:
            nonlocal met
            if threading.current_thread().name != "first":
                return
            met += 1
            if met == at + 1:
                remove()
                second.append(run_as("second", lambda: write("second")))
                second[0].join(0.05)  # it finishes now, or waits for the first

        with hooked(hook):
            run_as("first", lambda: write("first")).join()
            for thread in second:
                thread.join()
    told = (WitnessError, IntegrityError) if begins else WitnessError
    assert all(getattr(err, "retryable", False) or isinstance(err, told) for err in failures), failures
    with world.open() as store:
        texts = {one.text for one in who.bind(store).list().items}
        who.bind(store).remember("afterwards")
        assert verify(store.audit, ("tenant", who.tenant)).events == len(
            list(read_events(store.audit, ("tenant", who.tenant)))
        )
    return acknowledged, met, texts


@pytest.mark.parametrize("which", ["namespace", "audit"])
def test_a_lock_removed_at_each_step(house: House, which: str) -> None:
    """Wherever the lock file is removed, what both writers acknowledged is there and the chains are whole."""
    who, path = house.owner.who, house.lock() if which == "namespace" else house.audit() / "audit.lock"
    at, met = 0, 1
    both = 0
    while at < met:
        acknowledged, met, texts = two_writers(house.world, who, partial(path.unlink, missing_ok=True), at)
        assert {name for name in acknowledged if name in texts} == set(acknowledged)
        both += len(acknowledged) == 2
        at += 1
    assert both > at // 2
    with house.world.open() as store:
        assert verify(store.audit, ("tenant", who.tenant)).whole


def test_a_lock_removed_while_a_namespace_begins(house: House) -> None:
    """The first record of a namespace is not lost to another first record."""
    at, met = 0, 1
    while at < met:
        who = Who(session=f"fresh-{at}")
        path = house.lock(who=who)
        acknowledged, met, texts = two_writers(
            house.world, who, partial(path.unlink, missing_ok=True), at, begins=True
        )
        assert set(acknowledged) <= texts, namespace(who, "memory")
        at += 1
    assert met > 10
