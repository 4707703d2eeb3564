"""An anchor file of any size loses no cell: what lies far behind is found, and one too many is refused."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

from bench.keeping import quick_keys
from bench.world import Who, World
from nsstore import OpenStore, Refused
from nsstore.root import Root
from nsstore.store.sessions import Sessions
from nsstore.trust import Anchor, Anchors, Chain, Keys
from nsstore.trust.cells import ANCHORS_LIMIT, CELL, SLOT, encode_slot
from nsstore.trust.restore import restore_elsewhere
from nsstore.trust.stock import AnchorFile, take_stock

PATH = "anchors/memory/acme/zoe/shop.anchors"
CHAIN = Chain(
    bytes(16), "memory", (("tenant", "acme"), ("user", "zoe"), ("project", "shop"), ("session", "s"))
)
HEAD = (7, b"\x77" * 32)
NEVER = ("no claim", lambda: None)
HELD = "at most 262,144 sessions"


@pytest.fixture
def anchors(tmp_path: Path) -> Generator[Anchors]:
    """The cells of a fresh trust home, in a file that is there but for its cells."""
    with Root.make(tmp_path / "home") as home:
        home.make_dir(PATH.rpartition("/")[0]).close()
        Path(home.path, PATH).touch(mode=0o600)
        yield Anchors(home, Keys("0123abcd", {"0123abcd": b"\xff" * 32}))


def cell(keys: Keys) -> bytes:
    """A cell of the chain."""
    return bytes(SLOT) + encode_slot(keys, CHAIN, Anchor(generation=1, seq=HEAD[0], head=HEAD[1]))


@pytest.mark.parametrize(
    "at", [0, 1024 * 1024 - CELL, 1024 * 1024, ANCHORS_LIMIT - CELL, ANCHORS_LIMIT, ANCHORS_LIMIT + 2**20]
)
def test_a_cell_anywhere_is_found(anchors: Anchors, at: int) -> None:
    """A chain that has a cell, however far behind, is never one that never had any."""
    fd = os.open(Path(anchors.home.path, PATH), os.O_WRONLY)
    os.pwrite(fd, cell(anchors.keys), at)
    os.close(fd)
    found = anchors.read(PATH, CHAIN)
    assert found is not None
    assert (found.seq, found.head) == HEAD
    anchors.create(PATH, CHAIN, lambda: pytest.fail("it has begun already"))


@pytest.mark.parametrize("size", [ANCHORS_LIMIT, ANCHORS_LIMIT + 1, ANCHORS_LIMIT + 5 * CELL])
def test_one_too_many_is_refused(anchors: Anchors, size: int) -> None:
    """A cell that no backup would hold is not written: nothing is begun, and the error says what to do."""
    path = Path(anchors.home.path, PATH)
    os.truncate(path, size)
    with pytest.raises(Refused, match=HELD) as told:
        anchors.create(PATH, CHAIN, lambda: pytest.fail("nothing may be begun"))
    assert told.value.reason == "too_many_sessions"
    assert path.stat().st_size == size
    os.truncate(path, ANCHORS_LIMIT - CELL)
    anchors.create(PATH, CHAIN, lambda: HEAD)
    assert path.stat().st_size == ANCHORS_LIMIT
    assert anchors.read(PATH, CHAIN) is not None


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A store with one session, whose anchor file somebody made too long."""
    world = World(place=tmp_path)
    with world.make() as store:
        Who().bind(store).remember("one")
    return world


def lengthened(store: OpenStore, size: int) -> Path:
    """The session's anchor file, made so long."""
    path = Path(store.trust.home.path, "anchors/memory/acme/alice/shop.anchors")
    os.truncate(path, size)
    return path


def test_a_session_too_many(world: World) -> None:
    """Where no room is left a new session writes nothing at all, and the old ones go on."""
    with world.open() as store:
        lengthened(store, ANCHORS_LIMIT)
        with pytest.raises(Refused, match=HELD):
            Who(session="s-2").bind(store).remember("two")
        assert not [*world.root.rglob("s-2.log")]
        me = Who().bind(store)
        me.remember("three")
        assert len(me.list().items) == 2
        assert Who(session="s-2").bind(store).list().items == ()


def test_what_reads_them_all(world: World) -> None:
    """What looks at every cell of a file refuses one that is too long, and never leaves some of them out."""
    with world.open() as store:
        lengthened(store, ANCHORS_LIMIT + CELL)
        with pytest.raises(Refused, match=HELD):
            take_stock(store.trust.home)
        sessions = Sessions(store, ("tenant", "acme"), "alice", "shop")
        for _ in range(2):
            with pytest.raises(Refused, match=HELD):
                sessions.look()
        assert len(Who().bind(store).list().items) == 1


@pytest.mark.parametrize("size", [ANCHORS_LIMIT, ANCHORS_LIMIT + CELL])
def test_a_restore_writes_over_no_cell(world: World, size: int) -> None:
    """A backup whose cells find no room is refused, and no cell that is there is written over."""
    with world.open() as store, quick_keys():
        stock = take_stock(store.trust.home)
        path = lengthened(store, size)
        given = msgspec.structs.replace(
            stock,
            anchors=(
                AnchorFile(path="anchors/memory/acme/alice/shop.anchors", cells=cell(store.trust.keys)),
            ),
        )
        with path.open("r+b") as file:
            file.seek(size - CELL)
            file.write(last := os.urandom(CELL))
        with pytest.raises(Refused, match=HELD):
            restore_elsewhere(
                given, root=store.root, store_id=store.trust.store_id, trust_home=world.trust, claim=NEVER
            )
        assert path.stat().st_size == size
        assert path.read_bytes()[-CELL:] == last
