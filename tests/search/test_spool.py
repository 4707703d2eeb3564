"""What members were classified as is remembered, and believed only of the very chain it was told of."""

# pyright: reportPrivateUsage=false
# What a view is open on, and where it is kept, can only be seen behind the door.

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bench.world import Who, World
from nsstore import IntegrityError, OpenStore, Sensitivity, Session
from nsstore.incident import IncidentKind
from nsstore.ledger import Line, read_line
from nsstore.root import Dir
from nsstore.search import spool
from nsstore.store import reading
from nsstore.trust import Chain, Keys
from tests.search.conftest import cache, notes
from tests.search.test_view_damage import incidents


@pytest.fixture
def session(store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose members were classified and remembered."""
    monkeypatch.setattr(spool, "LEAST_KNOWN", 16)
    monkeypatch.setattr("nsstore.store.leaf.MANY", 8)
    session = Who(clearance=Sensitivity.CONFIDENTIAL).bind(store)
    session.remember_many(notes(30))
    session.remember("public common", sensitivity=Sensitivity.PUBLIC)
    old = session.remember("secret common", sensitivity=Sensitivity.CONFIDENTIAL).record_id
    session.remember("newer common", supersedes=[old], sensitivity=Sensitivity.CONFIDENTIAL)
    session.remember("ending common", ttl=1000.0)
    session.search("common")
    store.settle()
    assert len(list(cache(store).glob("known/*"))) == 1
    return session


def reads(world: World, monkeypatch: pytest.MonkeyPatch, clearance: Sensitivity) -> tuple[int, int]:
    """How many records a fresh process reads to list two of its own, and how many it may read."""
    count = 0
    whole = reading.read_proven

    def read(*args: object) -> object:
        nonlocal count
        count += 1
        return whole(*args)  # type: ignore[arg-type] # passed on as given

    with world.open() as fresh, monkeypatch.context() as patch:
        for module in ("reading", "sight"):
            patch.setattr(f"nsstore.store.{module}.read_proven", read)
        listed = Who(clearance=clearance).bind(fresh).list(limit=2)
    return count, listed.total


def test_a_fresh_process_reads_only_what_it_returns(
    session: Session, store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the tags at hand two records are read for a list of two; without them every member is."""
    assert session.envelope.clearance is Sensitivity.CONFIDENTIAL
    assert reads(world, monkeypatch, Sensitivity.CONFIDENTIAL) == (2, 33)
    assert reads(world, monkeypatch, Sensitivity.PUBLIC) == (1, 1)
    shutil.rmtree(cache(store))
    assert reads(world, monkeypatch, Sensitivity.CONFIDENTIAL) == (36, 33)


def test_what_came_since_is_read(session: Session, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members that joined behind what is remembered are classified by their bytes."""
    session.remember_many(notes(3, start=100))
    assert reads(world, monkeypatch, Sensitivity.CONFIDENTIAL) == (3 + 2, 36)


def test_the_tags_are_those_of_the_records(session: Session, store: OpenStore, world: World) -> None:
    """Every tag that is remembered is the one its record's bytes give, supersession and end included."""
    own = store.leaf(session._ns)
    with world.open() as fresh:
        there = fresh.leaf(own.place.ns)
        ledger = there.read()
        assert there.tags == {}
        assert {one: there.known_tag(one) for one in ledger.order} == own.tags
        assert len(there.tags) == 34


@pytest.mark.parametrize("how", ["flipped", "torn", "empty", "another's", "open to others", "a link"])
@pytest.mark.usefixtures("session")
def test_damaged_tags_are_told_and_not_believed(
    store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Tags that this store did not make for this namespace open nothing: all is classified by its bytes."""
    (path,) = cache(store).glob("known/*")
    raw = path.read_bytes()
    if how == "flipped":
        path.write_bytes(raw.replace(b"internal", b"public__"))
    elif how == "torn":
        os.truncate(path, 100)
    elif how == "empty":
        os.truncate(path, 0)
    elif how == "another's":
        other = Who(session="s-2").bind(store)
        other.remember_many(notes(40))
        other.search("common")
        store.settle()
        (theirs,) = set(cache(store).glob("known/*")) - {path}
        path.write_bytes(theirs.read_bytes())
    elif how == "open to others":
        path.chmod(0o644)
    else:
        shutil.move(path, Path(store.root.path).parent / "elsewhere")
        path.symlink_to(Path(store.root.path).parent / "elsewhere")
    assert reads(world, monkeypatch, Sensitivity.CONFIDENTIAL) == (36, 33)
    assert incidents(store) == [IncidentKind.VIEW_DAMAGED]


def verified(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many lines of ledgers a fresh process verifies for one search, and how often it lists names."""
    counts = {"lines": 0, "names": 0}
    names = Dir.names

    def line(keys: Keys, chain: Chain, raw: bytes) -> Line:
        counts["lines"] += 1
        return read_line(keys, chain, raw)

    def listed(self: Dir) -> list[str]:
        found = names(self)
        counts["names"] += any(name.endswith(".md") for name in found)
        return found

    with world.open() as fresh, monkeypatch.context() as patch:
        patch.setattr("nsstore.ledger.membership.read_line", line)
        patch.setattr(Dir, "names", listed)
        assert Who(clearance=Sensitivity.CONFIDENTIAL).bind(fresh).search("newer").hits
    return counts["lines"], counts["names"]


def test_a_fresh_process_goes_on_from_what_was_known(
    session: Session, store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is verified again that did not change; of what did, the lines that are new."""
    assert verified(world, monkeypatch) == (0, 0)
    session.remember("newer still")
    assert verified(world, monkeypatch) == (1, 1)
    shutil.rmtree(cache(store))
    assert verified(world, monkeypatch) == (36, 1)


@pytest.mark.parametrize("what", ["ledger", "directory"])
def test_what_changed_since_is_looked_at(
    session: Session, store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A ledger written over with its own bytes and a name that came and went are looked at again."""
    place, top = store.leaf(session._ns).place, Path(store.root.path)
    if what == "ledger":
        (top / place.ledger).write_bytes((top / place.ledger).read_bytes())
        assert verified(world, monkeypatch) == (0, 1)  # its bytes are the known ones
        raw = (top / place.ledger).read_bytes()
        (top / place.ledger).write_bytes(raw.replace(b'"seq":3,', b'"seq":4,', 1))
        with world.open() as fresh, pytest.raises(IntegrityError) as told:
            Who().bind(fresh).search("newer")
        assert told.value.incident_kind == IncidentKind.CHAIN_BROKEN
    else:
        (top / place.records / "stray").touch()
        assert verified(world, monkeypatch) == (35, 2)  # once more under the lock, from the beginning
        assert incidents(store) == [IncidentKind.STRAY]


def test_what_was_known_with_a_stray_spares_no_look(
    session: Session, store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory that held a stray when it was looked at is compared again by every process."""
    shutil.rmtree(cache(store))
    (Path(store.root.path) / store.leaf(session._ns).place.records / "stray").touch()
    with world.open() as fresh:
        Who(clearance=Sensitivity.CONFIDENTIAL).bind(fresh).search("newer")
        fresh.settle()
    assert len(list(cache(store).glob("known/*"))) == 1
    assert verified(world, monkeypatch) == (35, 2)


def test_older_tags_put_back_are_gone_on_from(
    session: Session, store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Genuine tags of an earlier state hold for what they were told of, but for what was forgotten since."""
    session.forget(session.search("ending").hits[0].record_id)
    store.settle()
    assert reads(world, monkeypatch, Sensitivity.CONFIDENTIAL)[1] == 32
    assert incidents(store) == []
