"""What is known of a namespace may be that nothing is left in it."""

# pyright: reportPrivateUsage=false
# That something waits to be kept can only be brought about behind the door.

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest

from bench.world import Who, World
from nsstore.search.spool import LEAST_KNOWN

ME = Who()


def test_all_is_forgotten_before_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records that are forgotten while what is known of them waits to be kept leave an empty session."""
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    world, at_work = World(place=tmp_path), threading.Event()
    with world.make() as store:
        me = ME.bind(store)
        ids = [one.record_id for one in me.remember_many(f"quartz {n}" for n in range(LEAST_KNOWN))]
        store._searcher.views.folder.submit(partial(wait_for, at_work))
        me.search("quartz")
        for one in ids:
            me.forget(one)
        at_work.set()
        store.settle()
    with world.open() as store:
        me = ME.bind(store)
        assert me.list().items == ()
        assert me.search("quartz").hits == ()
        me.remember("quartz again")
        assert [one.text for one in me.list().items] == ["quartz again"]


def wait_for(event: threading.Event) -> None:
    """Keep the thread that keeps things at work."""
    assert event.wait(60)
