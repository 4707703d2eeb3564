"""The directory that a store is restored into: held alone, filled by nobody else, and given back whole."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

import nsstore
from bench.child import Counter
from bench.keeping import PASS, back_up, put_back, unseen
from bench.world import Who, World
from nsstore import InvalidInput, Refused, StoreError
from nsstore.root.named import NamedFile
from nsstore.root.steps import hooked
from nsstore.store import create_root, move
from nsstore.store.restore import restore
from nsstore.trust import home
from nsstore.trust import restore as trust_restore

STRIDE = 3  # each test begins at another step, so that together they come at all of them
NAMES = ("memory/mine/diary.txt", "mine.txt", "record", "audit", "ledger", "claim")
ME = Who()
SAID = {"the first of them", "the second of them"}
FOREIGN = "precious"

pytestmark = pytest.mark.usefixtures("unflushed")


@pytest.fixture(autouse=True)
def private() -> Iterator[None]:
    """What a test puts somewhere is private, as what the store puts."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture
def begun(place: Path) -> tuple[World, Path]:
    """A backup, and a world in which nothing is left of its store."""
    world = World(place=place)
    with world.make() as store:
        for text in SAID:
            ME.bind(store).remember(text)
        ME.bind(store).state.put("plan", "the plan")
        back_up(store, place / "backup")
    shutil.rmtree(world.root)
    shutil.rmtree(world.trust)
    return world, place / "backup"


def require_whole(world: World) -> None:
    """The store is the one that was backed up, and takes what it is given."""
    with world.open() as store:
        assert {one.text for one in ME.bind(store).list().items} == SAID
        assert ME.bind(store).state.get("plan").text == "the plan"
        ME.bind(store).remember("it goes on")


def asked(file: Path, world: World, meanwhile: Callable[[], None], passphrase: str = PASS) -> None:
    """Restore while something happens before the passphrase is given."""

    def ask() -> str:
        meanwhile()
        return passphrase

    with NamedFile(str(file), "the backup") as opened:
        restore(opened.read, world.root, ask, unseen, trust_home=world.trust)


def steps_of(act: Callable[[], object]) -> int:
    """How many steps something takes."""
    counter = Counter(-1, lambda _: None)
    with hooked(counter):
        act()
    return counter.met


def files(root: Path) -> dict[str, str]:
    """Every file of a tree."""
    return {str(one.relative_to(root)): one.read_bytes().decode() for one in root.rglob("*") if one.is_file()}


def test_two_restores_at_once(begun: tuple[World, Path]) -> None:
    """Whatever step of one the other comes at, one of them makes the store and takes nothing of the other."""
    world, file = begun
    count = steps_of(lambda: put_back(file, World(place=world.place / "measured")))
    ends = set[tuple[bool, bool]]()
    for at in range(count):
        here = World(place=world.place / str(at))
        done: list[bool] = []

        def again(here: World, done: list[bool]) -> None:
            try:
                put_back(file, here)
                done.append(True)
            except (InvalidInput, Refused):
                done.append(False)

        def other(_: str, here: World = here, done: list[bool] = done) -> None:
            again(here, done)

        with hooked(Counter(at, other)):
            again(here, done)
        ends.add((done[0], done[1]))
        require_whole(here)
        shutil.rmtree(here.place)
    assert ends == {(True, False), (False, True)}


def test_filled_while_the_passphrase_is_asked_for(begun: tuple[World, Path]) -> None:
    """What came into the directory meanwhile stays as it is, whether the passphrase is right or not."""
    world, file = begun
    for name, empty in (("memory/mine/diary.txt", False), ("ledger", False), ("mine.txt", True)):
        for passphrase in (PASS, "wrong horse battery"):
            if empty:
                world.root.mkdir(mode=0o700)

            def fill(name: str = name) -> None:
                (world.root / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                (world.root / name).write_text(FOREIGN)

            with pytest.raises((InvalidInput, Refused)):
                asked(file, world, fill, passphrase)
            assert files(world.root) == {name: FOREIGN}
            assert not world.trust.exists()
            shutil.rmtree(world.root)


def test_a_store_made_while_the_passphrase_is_asked_for(begun: tuple[World, Path]) -> None:
    """A store that came there meanwhile is not written into, and the backup can be restored elsewhere."""
    world, file = begun

    def make() -> None:
        with world.make() as store:
            ME.bind(store).remember("of another store")

    with pytest.raises(InvalidInput, match="absent or empty"):
        asked(file, world, make)
    with world.open() as store:
        assert [one.text for one in ME.bind(store).list().items] == ["of another store"]
        ME.bind(store).remember("it goes on")
    other = World(place=world.place / "other")
    put_back(file, other)
    require_whole(other)


@pytest.mark.parametrize("name", NAMES)
def test_filled_at_each_step(begun: tuple[World, Path], name: str) -> None:
    """Whenever something else comes there, it stays; no store is made of it, and nothing else is left."""
    world, file = begun
    measured = World(place=world.place / "measured")
    count = steps_of(lambda: put_back(file, measured))
    paths = {
        "record": next((measured.root / "memory").rglob("*.md")),
        "audit": next((measured.root / "audit").rglob("*.jsonl")),
        "ledger": next((measured.root / "ledger").rglob("*.log")),
        "claim": measured.root / "store.json",
    }
    at_name = str(paths[name].relative_to(measured.root)) if name in paths else name
    ends = set[str]()
    for at in range(NAMES.index(name) % STRIDE, count, STRIDE):
        here = World(place=world.place / str(at))
        there = here.root / at_name
        put: list[bool] = []

        def fill(_: str, there: Path = there, put: list[bool] = put) -> None:
            with suppress(FileExistsError):
                there.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with there.open("x") as out:
                    put.append(True)
                    out.write(FOREIGN)

        try:
            with hooked(Counter(at, fill)):
                put_back(file, here)
        except StoreError:
            ends.add("refused")
            assert put == [True]
            assert files(here.root) == {at_name: FOREIGN}
        else:
            ends.add("whole")
            assert (here.root / "store.json").exists()
            assert not put or there.read_text() == FOREIGN
            if not put:
                require_whole(here)
        shutil.rmtree(here.place)
    assert "refused" in ends


def test_what_came_in_place_of_what_was_put_stays(begun: tuple[World, Path]) -> None:
    """A file that somebody put where a restored one was is not taken back with the others."""
    world, file = begun
    found: list[Path] = []

    def swap(_: int) -> None:
        for one in (world.root / "memory").rglob("*.md"):
            if not found:
                found.append(one)
                one.unlink()
                one.write_text(FOREIGN)
                (world.root / "mine.txt").write_text(FOREIGN)

    with NamedFile(str(file), "the backup") as opened, pytest.raises(InvalidInput, match="stays"):
        restore(opened.read, world.root, lambda: PASS, swap, trust_home=world.trust)
    record = str(found[0].relative_to(world.root))
    assert files(world.root) == {record: FOREIGN, "mine.txt": FOREIGN}


def test_a_place_that_was_cut_short_says_so(begun: tuple[World, Path]) -> None:
    """Opening and making a store there name the way out; a restore of another store does not go on there."""
    world, file = begun
    world.root.mkdir(mode=0o700)
    claim = world.root / "restoring.json"
    claim.touch(mode=0o600)
    claim.write_text('{"format":1,"store_id":"' + "0" * 32 + '"}\n')
    with pytest.raises(InvalidInput, match="restore the same backup"):
        world.open()
    with pytest.raises(InvalidInput, match="restore the same backup"):
        world.make()
    with pytest.raises(InvalidInput, match="restore the same backup"):
        create_root(world.root, world.trust)
    with pytest.raises(InvalidInput, match="the same backup"):
        put_back(file, world)
    assert os.listdir(world.root) == ["restoring.json"]


@pytest.mark.parametrize("first", ["restored", "made"])
def test_a_store_is_made_while_one_is_restored(begun: tuple[World, Path], first: str) -> None:
    """Of a restore and a making of a store at once, one is refused; what is there is one whole store."""
    world, file = begun

    def put(here: World) -> None:
        put_back(file, here)

    def make(here: World) -> None:
        here.make().close()

    mine, others = (put, make) if first == "restored" else (make, put)
    count = steps_of(lambda: mine(World(place=world.place / "measured")))
    for at in range(0, count, STRIDE):
        here = World(place=world.place / str(at))
        ends: list[bool] = []

        def act(one: Callable[[World], None], here: World = here, ends: list[bool] = ends) -> None:
            try:
                one(here)
                ends.append(True)
            except (InvalidInput, Refused):
                ends.append(False)

        def other(_: str, act: Callable[[Callable[[World], None]], None] = act) -> None:
            act(others)

        with hooked(Counter(at, other)):
            act(mine)
        assert any(ends), at
        with here.open() as store:
            kept = {one.text for one in ME.bind(store).list().items}
            assert kept in (SAID, set())
            assert not kept or ME.bind(store).state.get("plan").text == "the plan"
            ours = {"memory", "state", "ledger", "audit", "rights", "store.json"}
            assert {one.name for one in here.root.iterdir()} <= ours
            ME.bind(store).remember("it goes on")
        shutil.rmtree(here.place)


def test_one_store_in_two_places_at_once(begun: tuple[World, Path]) -> None:
    """Of two restores of one backup into two directories one is refused, and the other opens."""
    world, file = begun
    count = steps_of(lambda: put_back(file, World(place=world.place / "measured")))
    with patch.object(trust_restore, "WAIT", 0):
        for at in range(1, count, STRIDE):
            here = World(place=world.place / str(at))
            roots = (here.place / "one", here.place / "two")
            done: list[Path] = []

            def act(to: Path, here: World, done: list[Path]) -> None:
                with suppress(InvalidInput, Refused):
                    put_back(file, here, to=to)
                    done.append(to)

            def other(_: str, here: World = here, to: Path = roots[1], done: list[Path] = done) -> None:
                act(to, here, done)

            with hooked(Counter(at, other)):
                act(roots[0], here, done)
            assert len(done) == 1
            with nsstore.open(done[0], trust_home=here.trust) as store:
                assert {one.text for one in ME.bind(store).list().items} == SAID
            (not_made,) = set(roots) - set(done)
            assert not (not_made / "store.json").exists()
            shutil.rmtree(here.place)


def test_two_moves_at_once(begun: tuple[World, Path]) -> None:
    """Of two copies that are bound at once one is refused, and the one that is told so opens."""
    world, file = begun
    put_back(file, world)
    world.root.rename(world.place / "gone")
    copies = (world.place / "one", world.place / "two")
    for one in copies:
        shutil.copytree(world.place / "gone", one)
    (trust,) = world.trust.iterdir()
    kept = (trust / "binding.json").read_bytes()
    count = steps_of(lambda: move(copies[0], world.trust))
    with patch.object(home, "LIMIT_SECONDS", 0):
        for at in range(count):
            (trust / "binding.json").write_bytes(kept)
            done: list[Path] = []

            def act(one: Path, done: list[Path]) -> None:
                with suppress(Refused):
                    move(one, world.trust)
                    done.append(one)

            def other(_: str, done: list[Path] = done) -> None:
                act(copies[1], done)

            with hooked(Counter(at, other)):
                act(copies[0], done)
            (bound,) = done
            nsstore.open(bound, trust_home=world.trust).close()
    assert count > 3


def test_moved_again_while_it_is_bound(begun: tuple[World, Path]) -> None:
    """A store that goes away while it is bound is not bound to where it was."""
    world, file = begun
    put_back(file, world)
    world.root.rename(world.place / "moved")
    count = steps_of(lambda: move(world.place / "moved", world.trust))
    (world.place / "moved").rename(world.place / "moved-0")
    for at in range(count):
        there, away = world.place / f"moved-{at}", world.place / f"moved-{at + 1}"

        def go(_: str, there: Path = there, away: Path = away) -> None:
            there.rename(away)

        with suppress(StoreError), hooked(Counter(at, go)):
            move(there, world.trust)
        move(away, world.trust)
        nsstore.open(away, trust_home=world.trust).close()


def test_the_directory_removed_at_each_step(begun: tuple[World, Path]) -> None:
    """A directory that is taken away meanwhile is told as one of the known kinds, however a store is made."""
    world, file = begun

    def away(_: str = "") -> None:
        shutil.rmtree(world.root, ignore_errors=True)

    for act in (lambda: put_back(file, world), lambda: world.make().close()):
        count = steps_of(act)
        away()
        shutil.rmtree(world.trust)
        for at in range(count):
            with suppress(StoreError), hooked(Counter(at, away)):
                act()
            away()
            shutil.rmtree(world.trust, ignore_errors=True)
