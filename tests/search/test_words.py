"""What records spell is kept for views over several sessions, and is believed only as this store's word."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.owning import Hand
from bench.world import Who, World
from nsstore import OpenStore, Sensitivity, Session
from nsstore.incident import IncidentKind
from nsstore.policy import Every, Kind, Opens
from nsstore.search import joint
from nsstore.search.matches import spell
from nsstore.store.proven import Proven
from tests.search.conftest import cache, ids
from tests.search.test_view_damage import incidents

EVERY = Opens(sessions=Every(every="session"))
COUNT = 20
ME = Who(session="s-0")


@pytest.fixture
def owned(world: World) -> Iterator[OpenStore]:
    """Three sessions under one grant, whose words a search kept; one record is confidential, one ends."""
    with world.make() as store:
        for number in range(3):
            session = Who(session=f"s-{number}").bind(store)
            old = session.remember(f"quartz old{number}").record_id
            session.remember_many(f"quartz filler{number}x{one}" for one in range(COUNT))
            session.remember(f"quartz newer{number}", supersedes=[old])
        above = Who(session="s-2", clearance=Sensitivity.CONFIDENTIAL)
        above.bind(store).remember("quartz secret", sensitivity="confidential")
        Who(session="s-1").bind(store).remember("quartz ending", ttl=1000.0)
        Hand.of(store).grant(store, Kind.CROSS_SESSION, opens=EVERY)
        ME.bind(store).search("quartz")
        store.settle()
        yield store


def kept_words(store: OpenStore) -> list[Path]:
    """The files of kept words."""
    return sorted(cache(store).glob("views/*/terms"))


def spelled(world: World, monkeypatch: pytest.MonkeyPatch, who: Who = ME) -> tuple[int, list[str]]:
    """How many records a fresh process analyses for one wide search, and what it finds."""
    count = 0

    def counted(proven: Proven) -> tuple[list[str], ...]:
        nonlocal count
        count += 1
        return spell(proven)

    with world.open() as fresh, monkeypatch.context() as patch:
        patch.setattr(joint, "spell", counted)
        found = ids(who.bind(fresh).search("quartz", k=1000))
        fresh.settle()
    return count, found


def test_a_fresh_process_analyses_nothing_again(
    owned: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the words at hand no record is analysed for a wide search, and the answer is the same."""
    assert len(kept_words(owned)) == 3
    count, found = spelled(world, monkeypatch)
    assert count == 0
    assert len(found) == 3 * (COUNT + 1) + 1
    shutil.rmtree(cache(owned))
    again, expected = spelled(world, monkeypatch)
    assert again == 3 * (COUNT + 2) + 1
    assert found == expected


@pytest.mark.usefixtures("owned")
def test_what_is_not_readable_stays_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that one asker's search kept show nothing to another, and what that one may read is added."""
    above = Who(session="s-0", clearance=Sensitivity.CONFIDENTIAL)
    before = spelled(world, monkeypatch)[1]
    assert len(spelled(world, monkeypatch, above)[1]) == len(before) + 1
    assert spelled(world, monkeypatch)[1] == before


def test_what_is_forgotten_is_in_no_file(
    owned: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forget takes the words of its namespace with it, and they are kept anew without what is gone."""
    session = Who(session="s-1").bind(owned)
    gone = session.search("filler1x7", k=1).hits[0].record_id
    assert any(b"filler1x7" in path.read_bytes() for path in kept_words(owned))
    session.forget(gone)
    assert len(kept_words(owned)) == 2
    count, found = spelled(world, monkeypatch)
    assert count == COUNT + 2  # the one that was superseded as well
    assert gone not in found
    assert len(kept_words(owned)) == 3
    assert not any(b"filler1x7" in path.read_bytes() for path in kept_words(owned))
    assert spelled(world, monkeypatch) == (0, found)


@pytest.mark.parametrize("how", ["flipped", "torn", "empty", "another's", "open to others", "a link"])
def test_damaged_words_are_told_and_not_believed(
    owned: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Words that this store did not keep of this namespace are worked out again from the records."""
    expected = spelled(world, monkeypatch)[1]
    path, other, _ = kept_words(owned)
    raw = path.read_bytes()
    if how == "flipped":
        path.write_bytes(raw.replace(b"quartz", b"basalt", 1))
    elif how == "torn":
        os.truncate(path, 100)
    elif how == "empty":
        os.truncate(path, 0)
    elif how == "another's":
        path.write_bytes(other.read_bytes())
    elif how == "open to others":
        path.chmod(0o644)
    else:
        shutil.move(path, path.parent / "elsewhere")
        path.symlink_to(path.parent / "elsewhere")
    count, found = spelled(world, monkeypatch)
    assert count >= COUNT + 1
    assert found == expected
    assert IncidentKind.VIEW_DAMAGED in incidents(owned)


def test_words_are_kept_again_when_many_came(
    owned: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few new records are analysed by each process; when there are many their words are kept too."""
    session: Session = Who(session="s-1").bind(owned)
    session.remember_many(f"quartz few{number}" for number in range(3))
    assert spelled(world, monkeypatch)[0] == 3
    assert spelled(world, monkeypatch)[0] == 3
    session.remember_many(f"quartz many{number}" for number in range(COUNT))
    assert spelled(world, monkeypatch)[0] == COUNT + 3
    assert spelled(world, monkeypatch)[0] == 0
