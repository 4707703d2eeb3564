"""A backup, a restore and an acceptance are killed at each step; what another process then finds."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench.child import KILLED, Counter, Report, die, in_child
from bench.keeping import back_up, give_up, put_back
from bench.owning import Hand
from bench.world import Who, World
from nsstore import EscapeError, IntegrityError, InvalidInput, OpenStore, Refused, SystemFailure
from nsstore.root.steps import hooked
from nsstore.store.accept import losses

MOST = 600
SAID = ("the first of them", "the second of them")
ME = Who()

pytestmark = pytest.mark.usefixtures("unflushed")


def killed(act: Callable[[], object], at: int) -> bool:
    """Do something in a process of its own that dies at one step: whether it did."""

    def task(_: Report) -> None:
        with hooked(Counter(at, die)):
            act()

    ended = in_child(task)
    assert ended.status in (0, KILLED), ended
    return ended.status == KILLED


@pytest.fixture
def begun(place: Path) -> tuple[World, Hand, Path]:
    """A store with an owner and two records, and its backup."""
    world = World(place=place)
    file = place / "everything.backup"
    with world.make() as store:
        hand = Hand.of(store)
        for text in SAID:
            ME.bind(store).remember(text)
        ME.bind(store).state.put("plan", "the plan")
        back_up(store, file)
    return world, hand, file


def texts(store: OpenStore) -> set[str]:
    """What is found."""
    me = ME.bind(store)
    return {one.text for one in me.list().items} | {me.state.get("plan").text}


def test_restore_killed_elsewhere(begun: tuple[World, Hand, Path]) -> None:
    """The directory is no store, and can be made one again, removed before or not, or is the whole store."""
    world, _, file = begun
    whole: list[bool] = []
    for at in range(MOST):
        other = World(place=world.place / f"e{at}")
        died = killed(partial(put_back, file, other), at)
        is_store = (other.root / "store.json").exists()
        whole.append(is_store)
        if not is_store:
            with pytest.raises((InvalidInput, Refused)):
                other.open()
            if at % 4 == 0:
                shutil.rmtree(other.root, ignore_errors=True)
            elif at % 4 == 3:
                shutil.rmtree(other.place, ignore_errors=True)
                continue
            put_back(file, other)
        with other.open() as store:
            assert texts(store) == {*SAID, "the plan"}
            assert (losses(store).losses, losses(store).others) == ((), ())
            ME.bind(store).remember("it goes on")
        shutil.rmtree(other.place)
        if not died:
            assert at >= 80
            claimed = whole.index(True)
            assert claimed >= 60
            assert all(whole[claimed:])
            return
    raise AssertionError("a restore without an end")


def test_restore_killed_beside_a_newer_trust_home(begun: tuple[World, Hand, Path]) -> None:
    """Wherever it is killed, the trust home stays as new as it was: what lacks something stays closed."""
    world, hand, file = begun
    with world.open() as store:
        ME.bind(store).remember("after the backup")
    shutil.rmtree(world.root)
    for at in range(0, MOST, 3):
        died = killed(lambda: put_back(file, world), at)
        if not (world.root / "store.json").exists():
            with pytest.raises((InvalidInput, Refused)):
                world.open()
            if at % 2:
                shutil.rmtree(world.root, ignore_errors=True)
            put_back(file, world)
        with world.open() as store:
            assert [one.events for one in losses(store).losses] == [1]
            with pytest.raises(IntegrityError):
                ME.bind(store).list()
        if not died:
            with world.open() as store:
                give_up(store, hand)
                assert texts(store) == {*SAID, "the plan"}
            return
        shutil.rmtree(world.root)
    raise AssertionError("a restore without an end")


def test_restore_killed_and_filled(begun: tuple[World, Hand, Path]) -> None:
    """What came into what a killed restore left stays, and so does that; the error says what to do."""
    world, _, file = begun
    with world.open() as store:
        back_up(store, world.place / "another.backup")
        ME.bind(store).remember("after the backup")
        back_up(store, world.place / "later.backup")
    ends = set[str]()
    for at in range(0, MOST, 7):
        other = World(place=world.place / f"e{at}")
        died = killed(partial(put_back, file, other), at)
        if not died:
            assert ends == {"filled", "a later one is in the way", "the same records"}
            return
        if not (other.root / "restoring.json").exists():
            continue
        (other.root / "memory" / "mine").mkdir(parents=True)
        (other.root / "memory" / "mine" / "diary.txt").write_text("precious")
        shutil.copytree(other.root, other.place / "before")
        with pytest.raises((InvalidInput, EscapeError)):
            put_back(file, other)
        assert tree(other.root) == tree(other.place / "before")
        ends.add("filled")
        (other.root / "memory" / "mine" / "diary.txt").unlink()
        (other.root / "memory" / "mine").rmdir()
        if not any((other.root / "memory").iterdir()):
            (other.root / "memory").rmdir()
        before = tree(other.root)
        if any(name.startswith("ledger/memory/") for name in before):
            with pytest.raises(InvalidInput, match="Restore into another directory, or remove this one"):
                put_back(world.place / "later.backup", other)
            assert tree(other.root) == before
            ends.add("a later one is in the way")
        try:
            put_back(world.place / "another.backup", other)
            ends.add("the same records")
        except InvalidInput:  # its audit is longer: it tells of the first backup
            assert tree(other.root) == before
            put_back(file, other)
        with other.open() as store:
            assert texts(store) == {*SAID, "the plan"}
        shutil.rmtree(other.place)
    raise AssertionError("a restore without an end")


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a tree."""
    return {str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*") if one.is_file()}


def test_backup_killed(begun: tuple[World, Hand, Path]) -> None:
    """The file is not there, is refused, or is a whole backup; the store is as it was."""
    world, _, _ = begun

    def act(file: Path) -> None:
        with world.open() as store:
            back_up(store, file)

    ends = set[str]()
    for at in range(MOST):
        file, other = world.place / f"b{at}", World(place=world.place / f"e{at}")
        died = killed(partial(act, file), at)
        if file.exists():
            try:
                put_back(file, other)
            except (InvalidInput, Refused):
                ends.add("refused")
                assert not other.root.exists()
            else:
                ends.add("whole")
                with other.open() as store:
                    assert texts(store) == {*SAID, "the plan"}
                shutil.rmtree(other.place)
            file.unlink()
        if not died:
            assert at >= 40
            assert ends == {"refused", "whole"}
            with world.open() as store:
                assert texts(store) == {*SAID, "the plan"}
            return
    raise AssertionError("a backup without an end")


def test_acceptance_killed(begun: tuple[World, Hand, Path]) -> None:
    """A namespace is closed as before or goes on, and what was not reached is accepted by the next one."""
    world, hand, _ = begun
    with world.open() as store:
        gone = ME.bind(store).remember("a record that is lost").record_id
        other = Who(session="s-2").bind(store)
        other.remember("of another session")
    ledger = next((world.root / "ledger").rglob("s-2.log"))
    ledger.write_bytes(ledger.read_bytes().splitlines(keepends=True)[0])
    next(iter((world.root / "memory").rglob("s-2"))).rename(world.place / "s-2")
    next(world.root.rglob(f"{gone}.md")).unlink()
    shutil.copytree(world.root, world.place / "root-before")
    shutil.copytree(world.trust, world.place / "trust-before")
    states = set[int]()
    for at in range(MOST):
        died = killed(lambda: _accept(world, hand), at)
        with world.open() as store:
            left = losses(store)
            assert left.others == ()
            states.add(len(left.losses))
            if left.losses:
                assert died
                assert give_up(store, hand).changed == ()
            assert losses(store).losses == ()
            assert texts(store) == {*SAID, "the plan"}
            second = Who(session="s-2").bind(store)
            assert second.list().items == ()
            ME.bind(store).remember("it goes on")
            second.remember("it goes on too")
        with world.open() as store:
            assert texts(store) == {*SAID, "the plan", "it goes on"}
        if not died:
            assert at >= 30
            assert states == {0, 1, 2}
            return
        for name in ("root", "trust"):
            _put_back(world.place, name)
    raise AssertionError("an acceptance without an end")


def _accept(world: World, hand: Hand) -> None:
    with world.open() as store:
        give_up(store, hand)


def _put_back(place: Path, name: str) -> None:
    """The tree as it was before; the root keeps its inode, which it is bound by."""
    for one in (place / name).iterdir():
        if one.is_dir():
            shutil.rmtree(one)
        else:
            one.unlink()
    shutil.copytree(place / f"{name}-before", place / name, dirs_exist_ok=True)


def full(_: str) -> None:
    """Refuse a step as a full disk does."""
    raise OSError(28, "no space left")


def test_restore_on_a_full_disk(begun: tuple[World, Hand, Path]) -> None:
    """Whatever step the system refuses, the restore leaves no store and no file, or a whole store."""
    world, _, file = begun
    refused = 0
    for at in range(MOST):
        other, counter = World(place=world.place / f"f{at}"), Counter(at, full)
        try:
            with hooked(counter):
                put_back(file, other)
        except (SystemFailure, InvalidInput):
            refused += 1
            left = [one for one in other.root.rglob("*") if one.is_file()]
        else:
            left = [other.root / "store.json"]
        if left:  # whole, if only its claim was not flushed
            assert (other.root / "store.json").is_file()
            with other.open() as store:
                assert texts(store) == {*SAID, "the plan"}
        shutil.rmtree(other.place, ignore_errors=True)
        if counter.met <= at:
            assert refused >= 60
            return
    raise AssertionError("a restore without an end")


def test_backup_on_a_full_disk(begun: tuple[World, Hand, Path]) -> None:
    """Whatever step the system refuses, the backup leaves no file, or a whole one."""
    world, _, _ = begun
    refused = 0
    for at in range(MOST):
        file, counter = world.place / f"n{at}", Counter(at, full)
        with world.open() as store:
            try:
                with hooked(counter):
                    back_up(store, file)
            except SystemFailure:
                refused += 1
                assert not file.exists()
        if counter.met <= at:
            assert refused >= 20
            assert put_back(file, World(place=world.place / "elsewhere")).records == 3
            return
    raise AssertionError("a backup without an end")
