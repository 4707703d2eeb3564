"""What is left of a store is taken only as plain files: what else stands there is told, and left unopened."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.keeping import back_up, everything, give_up, put_back, talk
from bench.owned import OPENS
from bench.owning import Hand
from bench.world import Who, World, quick_place
from nsstore import EscapeError, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.policy import Kind
from nsstore.root import READ, File, Root
from nsstore.root.named import NamedFile
from nsstore.store.restore import restore

LEDGER = "ledger/memory/acme/alice/shop/s-1.log"
RIGHTS = "rights/statements.log"


class Remains:
    """A store with a backup, what happened after it, and what is left of it beside where it was."""

    def __init__(self, place: Path) -> None:
        self.world = World(place=place)
        self.file, self.old = place / "backup", place / "old"
        with self.world.make() as store:
            self.hand = Hand.of(store)
            self.said = talk(store, 1)
            self.hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
            back_up(store, self.file)
            me = Who().bind(store)
            self.gone = me.list().items[0].record_id
            me.forget(self.gone)
            self.later = me.remember("after the backup").record_id
            Who(user="bob").bind(store).remember("bob's, after the backup")
            self.hand.revoke(store, 1)
        self.world.root.rename(self.old)


@pytest.fixture
def remains() -> Iterator[Remains]:
    """A damaged store, in memory."""
    with quick_place() as place:
        yield Remains(place)


def as_link(at: Path, apart: Path) -> None:
    """A symbolic link to the very file, or directory, that belongs there."""
    at.symlink_to(apart)


def as_dangling_link(at: Path, _: Path) -> None:
    """A symbolic link to nothing."""
    at.symlink_to("nowhere")


def as_fifo(at: Path, _: Path) -> None:
    """A FIFO, which nobody ever writes to."""
    os.mkfifo(at, 0o600)


def as_directory(at: Path, _: Path) -> None:
    """A directory."""
    at.mkdir(mode=0o700)


def as_second_name(at: Path, apart: Path) -> None:
    """The very file, with a second name elsewhere."""
    os.link(apart, at)


PUT: tuple[Callable[[Path, Path], None], ...] = (
    as_link,
    as_dangling_link,
    as_fifo,
    as_directory,
    as_second_name,
)


def put(remains: Remains, path: str, how: Callable[[Path, Path], None]) -> os.stat_result:
    """Take a name of the remains away and put something else there."""
    at, apart = remains.old / path, remains.world.place / "apart"
    at.rename(apart)
    how(at, apart)
    return os.lstat(at)


@pytest.mark.parametrize("how", PUT)
def test_in_place_of_a_ledger(remains: Remains, how: Callable[[Path, Path], None]) -> None:
    """One namespace is as if nothing were left of it, told and closed; the others go on from the remains."""
    before = put(remains, LEDGER, how)
    done = put_back(remains.file, remains.world, old=remains.old)
    assert done.passed_by == (LEDGER,)
    assert (done.kept_out, done.brought, done.rights) == ((), 1, None)
    assert [one.path for one in done.lacking.losses] == ["memory/acme/alice/shop/s-1"]
    assert os.lstat(remains.old / LEDGER)[:9] == before[:9], "left as it was, and never opened"
    with remains.world.open() as restored:
        give_up(restored, remains.hand)
        found = everything(restored)
        assert remains.said.keys() <= found.keys()
        assert remains.later not in found
        assert "bob's, after the backup" in found.values()


@pytest.mark.parametrize("how", PUT)
def test_in_place_of_a_record(remains: Remains, how: Callable[[Path, Path], None]) -> None:
    """A record that only the remains have stays missing and is told, with what stood in its place."""
    path = f"memory/acme/alice/shop/s-1/{remains.later}.md"
    put(remains, path, how)
    done = put_back(remains.file, remains.world, old=remains.old)
    assert done.passed_by == (path,)
    assert [one.records for one in done.lacking.losses] == [(remains.later,)]
    assert done.kept_out == (("memory/acme/alice/shop/s-1", remains.gone),)
    assert not any(one.is_symlink() for one in remains.world.root.rglob("*"))


@pytest.mark.parametrize("how", PUT)
def test_in_place_of_the_statements(remains: Remains, how: Callable[[Path, Path], None]) -> None:
    """The list is the backup's then, which the trust home knows as older: it opens nothing."""
    put(remains, RIGHTS, how)
    done = put_back(remains.file, remains.world, old=remains.old)
    assert (done.passed_by, done.rights) == ((RIGHTS,), IncidentKind.ROLLED_BACK)
    with remains.world.open() as restored:
        assert restored.rights.current().grants == ()


@pytest.mark.parametrize("how", [as_link, as_dangling_link, as_fifo])
@pytest.mark.parametrize("folder", ["ledger", "ledger/memory/acme/alice"])
def test_in_place_of_a_directory(remains: Remains, folder: str, how: Callable[[Path, Path], None]) -> None:
    """Nothing is reached through it: every ledger that would lie below it is told, and the rest goes on."""
    put(remains, folder, how)
    done = put_back(remains.file, remains.world, old=remains.old)
    assert done.passed_by
    assert all(one.startswith(f"{folder}/") for one in done.passed_by)
    assert LEDGER in done.passed_by
    assert done.brought == (0 if folder == "ledger" else 1)
    assert "memory/acme/alice/shop/s-1" in {one.path for one in done.lacking.losses}


@pytest.mark.parametrize("number", [errno.EACCES, errno.EAGAIN])
def test_what_is_shut(remains: Remains, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger of the remains that nobody may read, or that is leased, is passed by as well."""
    opened = Root.open_file

    def shut(root: Root, path: str, flags: int = READ) -> File | None:
        if path == LEDGER and root.path == str(remains.old):
            raise SystemFailure("opening", OSError(number, ""))
        return opened(root, path, flags)

    monkeypatch.setattr(Root, "open_file", shut)
    done = put_back(remains.file, remains.world, old=remains.old)
    assert done.passed_by == (LEDGER,)


def test_a_link_where_a_directory_is_made(remains: Remains) -> None:
    """A link that somebody puts into the new place meanwhile stays: nothing is written where it leads."""
    lure = remains.world.place / "lure"
    lure.mkdir(mode=0o700)

    def plant(_: int) -> None:
        if not os.path.lexists(remains.world.root / "memory"):
            (remains.world.root / "memory").symlink_to(lure)

    with NamedFile(str(remains.file), "the backup") as opened, pytest.raises(EscapeError, match="link"):
        restore(
            opened.read,
            remains.world.root,
            lambda: "correct horse battery",
            plant,
            trust_home=remains.world.trust,
            old=remains.old,
        )
    assert list(lure.iterdir()) == []
    assert os.listdir(remains.world.root) == ["memory"]
    assert (remains.world.root / "memory").is_symlink()
