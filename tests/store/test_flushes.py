"""A power cut at each step, on a model of a disk that keeps only what a flush covered."""

import enum
import os
import random
import shutil
import stat
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import msgspec
import pytest

from bench.child import KILLED, Counter, Report, die, in_child
from bench.powercut.examine import audit_faults, examine
from bench.powercut.operations import BY_NAME, OPERATIONS, Kept, Operation, place_of
from bench.powercut.sabotage import records_unflushed, unlinks_unflushed
from bench.world import Who, World
from nsstore.root import system
from nsstore.root.steps import hooked

pytestmark = pytest.mark.usefixtures("unflushed")
NAMES = [one.name for one in OPERATIONS]
CHANGES = frozenset({"write", "link", "mkdir", "rename", "unlink", "truncate", "fsync", "syncfs"})
Choose = Callable[[], str]
"""What becomes of one change that no flush covered: ``lost``, ``kept``, or ``torn`` where bytes are added."""


class FileSystem(enum.Enum):
    """What the flush of a file covers: on ext4, xfs and btrfs its name, too."""

    BYTES_AND_NAME = True
    BYTES = False


class Disk:
    """Beneath one place: which names and bytes are durable, as this thread's flushes made them.

    What the flusher's thread does is not counted: it may come too late.
    """

    def __init__(self, place: Path, *, kind: FileSystem) -> None:
        self.place = place
        self.kind = kind
        self.thread = threading.get_ident()
        self.files: dict[int, bytes] = {}
        self.folders: dict[int, dict[str, int]] = {}
        self.named: set[int] = set()
        self.settle()

    def walk(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Every directory and file, parents first."""
        for folder, _, names in os.walk(self.place):
            for path in (Path(folder), *(Path(folder, name) for name in names)):
                yield path, path.lstat()

    def settle(self) -> None:
        """Everything is durable."""
        for path, found in self.walk():
            self._keep(path, found)

    def _keep(self, path: Path, found: os.stat_result) -> None:
        if stat.S_ISDIR(found.st_mode):
            self.folders[found.st_ino] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            self.files[found.st_ino] = path.read_bytes()

    def fsync(self, fd: int) -> None:
        """What ``fd`` is becomes durable, and for a file its name where flushes carry names."""
        if threading.get_ident() != self.thread:
            return
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            self.folders[found.st_ino] = {entry.name: entry.inode() for entry in os.scandir(fd)}
            return
        self.files[found.st_ino] = os.pread(fd, found.st_size, 0)
        if self.kind is FileSystem.BYTES_AND_NAME and found.st_ino not in self.named:
            self._name(found.st_ino)

    def _name(self, inode: int) -> None:
        for path, found in self.walk():
            if found.st_ino == inode:
                self.named.add(inode)
                self.folders.setdefault(path.parent.stat().st_ino, {})[path.name] = inode

    def syncfs(self, fd: int) -> None:
        """Everything is durable, whoever wrote it."""
        assert os.fstat(fd).st_dev == self.place.stat().st_dev
        self.settle()

    def cut(self, choose: Choose) -> None:
        """Take away what no flush covered, or leave it, as ``choose`` says for each change."""
        for path, found in list(self.walk()):
            if not path.exists():
                continue
            if not stat.S_ISDIR(found.st_mode):
                self._cut_file(path, found.st_ino, choose)
                continue
            durable = self.folders.get(found.st_ino, {})
            for entry in list(os.scandir(path)):
                if durable.get(entry.name) != entry.inode() and choose() == "lost":
                    shutil.rmtree(entry.path) if entry.is_dir() else os.unlink(entry.path)
            for name, inode in durable.items():
                if inode in self.files and not os.path.lexists(path / name) and choose() == "lost":
                    (path / name).write_bytes(self.files[inode])  # its removal never came to be
                    (path / name).chmod(0o600)

    def _cut_file(self, path: Path, inode: int, choose: Choose) -> None:
        now, durable = path.read_bytes(), self.files.get(inode, b"")
        if now == durable:
            return
        choice = choose()
        if choice == "torn" and now.startswith(durable):
            path.write_bytes(now[: len(durable) + (len(now) - len(durable)) // 2])
        elif choice != "kept":
            path.write_bytes(durable)


@pytest.fixture(params=FileSystem, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> FileSystem:
    """Both kinds of file system."""
    return FileSystem(request.param)


@contextmanager
def taken_for(kind: FileSystem, place: Path) -> Generator[None]:
    """The store takes the file system of this place for one of this kind."""
    fd = os.open(place, os.O_RDONLY)
    found = system.filesystem_type(fd)
    os.close(fd)
    carrying = frozenset({found}) if kind is FileSystem.BYTES_AND_NAME else frozenset[int]()
    with patch.object(system, "FLUSH_CARRIES_NAME", carrying):
        yield


def all_lost() -> Choose:
    """Nothing survives that no flush covered."""
    return lambda: "lost"


def by_chance(seed: object) -> Choose:
    """Anything may survive, in any mixture."""
    dice = random.Random(repr(seed))
    return lambda: dice.choice(("lost", "kept", "torn"))


def cut_at(
    world: World, who: Who, operation: Operation, at: int, choose: Choose, *, kind: FileSystem
) -> tuple[bool, list[Kept]]:
    """Run the operation until one of its changes, and let the power fail just before it."""

    def task(report: Report) -> None:
        with world.open() as store:
            session = who.bind(store)
            disk = Disk(world.place, kind=kind)
            system.fsync, system.syncfs = disk.fsync, disk.syncfs

            def fail(_: str) -> None:
                disk.cut(choose)
                die()

            count = Counter(at, fail)
            with hooked(lambda call: count(call) if call in CHANGES else None):
                operation.act(session, lambda one: report(msgspec.json.encode(one)))
            disk.cut(choose)
            os._exit(0)

    ended = in_child(task)
    assert ended.status in (0, KILLED), ended
    return ended.status == KILLED, [msgspec.json.decode(line, type=Kept) for line in ended.lines]


def cut_everywhere(place: Path, operation: Operation, chances: list[Choose], *, kind: FileSystem) -> int:
    """Let the power fail before each change and after the acknowledgement, each in a store of its own."""
    for at in range(1000):
        cut = False
        for turn, choose in enumerate(chances):
            with taken_for(kind, place), TemporaryDirectory(dir=place) as room:
                cut, faults = one_cut(World(place=Path(room)), operation, at, choose, kind=kind)
            assert faults == [], f"{operation.name}, change {at}, chance {turn}"
        if not cut:
            return at
    raise AssertionError("an operation without an end")


def one_cut(
    world: World, operation: Operation, at: int, choose: Choose, *, kind: FileSystem
) -> tuple[bool, list[str]]:
    """One power cut in a store of its own: whether there was such a change, and what is wrong afterwards."""
    world.make().close()
    who = place_of(operation, 0)
    before = operation.prepare(world, who)
    cut, kept = cut_at(world, who, operation, at, choose, kind=kind)
    faults = examine(world, who, operation.area, [*before, *kept], operation.tried, doomed=operation.doomed)
    return cut, faults + audit_faults(world, who.tenant, power_cut=True)


@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_power_fails_at_each_change(place: Path, operation: Operation) -> None:
    """What was acknowledged is there on the barest disk and on any other that the flushes allow."""
    chances = [all_lost()] if operation.least > 50 else [all_lost(), by_chance(operation.name)]
    assert cut_everywhere(place, operation, chances, kind=FileSystem.BYTES_AND_NAME) >= 8


@pytest.mark.parametrize("name", ["again", "batch", "version"])
def test_power_fails_where_names_need_a_flush(place: Path, name: str) -> None:
    """The same on other file systems; the long operations there are among the many chances."""
    chances = [all_lost(), by_chance(name)]
    assert cut_everywhere(place, BY_NAME[name], chances, kind=FileSystem.BYTES) >= 8


def test_the_whole_way_to_the_root_is_durable(place: Path, kind: FileSystem) -> None:
    """After the first record, root and trust home stay where they are, with every directory above them."""
    world = World(place=place / "made" / "on the way")

    def task(report: Report) -> None:
        disk = Disk(place, kind=kind)
        system.fsync, system.syncfs = disk.fsync, disk.syncfs
        receipt = Who().bind(world.make()).remember("a new note")
        report(receipt.record_id.encode())
        disk.cut(all_lost())
        os._exit(0)

    with taken_for(kind, place):
        ended = in_child(task)
    assert ended.status == 0
    kept = [Kept(record_id=line.decode(), text="a new note") for line in ended.lines]
    assert len(kept) == 1
    assert examine(world, Who(), "memory", kept, []) == []


@pytest.mark.parametrize("name", ["again", "batch", "version"])
def test_a_missing_flush_is_found(place: Path, name: str, kind: FileSystem) -> None:
    """A store that acknowledges before the record is flushed loses it on this disk."""
    operation = BY_NAME[name]
    with taken_for(kind, place), records_unflushed():
        cut, faults = one_cut(World(place=place), operation, -1, all_lost(), kind=kind)
    assert not cut
    assert f"acknowledged and lost: {operation.tried[0]!r}" in faults


@pytest.mark.parametrize("name", ["forget", "forget_document", "expire"])
def test_a_missing_flush_of_a_removal_is_found(place: Path, name: str, kind: FileSystem) -> None:
    """A store that acknowledges a forget before the removal is flushed has the text back on this disk."""
    operation = BY_NAME[name]
    with taken_for(kind, place), unlinks_unflushed():
        cut, faults = one_cut(World(place=place), operation, -1, all_lost(), kind=kind)
    assert not cut
    assert [one for one in faults if f"forgotten, and in a file: {operation.doomed[-1]!r}" in one]


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_power_fails_by_many_chances(place: Path, operation: Operation, kind: FileSystem) -> None:
    """Whatever mixture of unflushed changes survives, nothing acknowledged is lost and nothing is half."""
    chances = [all_lost(), *(by_chance((operation.name, seed)) for seed in range(12))]
    assert cut_everywhere(place, operation, chances, kind=kind) >= 8
