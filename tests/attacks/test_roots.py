"""The whole root put back, moved, copied or relabelled."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import nsstore
from bench.attacks import AREAS, Harm, copied, elsewhere, moved_out, remove, require_refused, require_unharmed
from bench.house import KEY, House, answers, warm
from bench.world import World
from nsstore import EscapeError, OpenStore, Refused
from nsstore.audit import EventKind, read_events, verify
from nsstore.incident import IncidentKind as Kind

pytestmark = pytest.mark.usefixtures("memory")

BACK = Harm.of(Kind.ROLLED_BACK)


def write_more(house: House) -> None:
    """Genuine writes in both areas of the owner, by a process of its own."""
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        session.remember("taken back")
        session.state.put(KEY, "taken back")


def put_contents_back(house: House, copy: Path) -> None:
    """Put everything in the root back, so that the root is the directory it was."""
    for path in house.world.root.iterdir():
        remove(path)
    for path in copy.iterdir():
        target = house.world.root / path.name
        shutil.copytree(path, target) if path.is_dir() else shutil.copy2(path, target)


def test_the_whole_root_put_back(house: House) -> None:
    """What was written since is missed in every verb, warm and cold; what nobody wrote to goes on."""
    copy = copied(house, house.world.root)
    with house.world.open() as store:
        before = warm(store, house)
        write_more(house)
        answers(house.owner.who.bind(store), house.owner)
        put_contents_back(house, copy)

        def check(one: OpenStore) -> None:
            for area in AREAS:
                require_refused(house, one, area, BACK)
            require_unharmed(one, before, [house.owner])

        def cold() -> None:
            with house.world.open() as fresh:
                check(fresh)

        elsewhere(cold)
        check(store)
        tenant = ("tenant", house.owner.who.tenant)
        assert EventKind.GAP in {line.event for line in read_events(store.audit, tenant)}
        assert not verify(store.audit, tenant).whole


def test_the_whole_root_put_back_by_rename(house: House) -> None:
    """Another directory under the root's name is not opened, and who has the root open is stopped."""
    copy = copied(house, house.world.root)
    with house.world.open() as store:
        warm(store, house)
        write_more(house)
        moved_out(house, house.world.root)
        copy.rename(house.world.root)
        with pytest.raises(Refused) as refused:
            house.world.open()
        assert refused.value.reason == "binding"
        session = house.owner.who.bind(store)
        for call in (
            session.list,
            lambda: session.search("quartz"),
            lambda: session.get(house.owner.records[0]),
            lambda: session.history(house.owner.records[0]),
            lambda: session.remember("into nowhere"),
            lambda: session.state.get(KEY),
            lambda: session.state.put(KEY, "into nowhere"),
            session.state.list,
        ):
            with pytest.raises(EscapeError):
                call()


def test_the_root_moved_away(house: House) -> None:
    """A root that is not where it was is not written to, and works again when it is back."""
    with house.world.open() as store:
        before = warm(store, house)
        moved = moved_out(house, house.world.root)
        with pytest.raises(EscapeError):
            house.owner.who.bind(store).remember("into nowhere")
        moved.rename(house.world.root)
        require_unharmed(store, before)


def test_a_copy_is_not_opened(house: House) -> None:
    """A copied root does not open beside the original, nor in its place."""
    copy = copied(house, house.world.root)
    with pytest.raises(Refused) as refused:
        nsstore.open(copy, trust_home=house.world.trust)
    assert refused.value.reason == "binding"
    assert str(house.world.place) not in str(refused.value)


@pytest.mark.parametrize("all_of_it", [False, True], ids=["emptied", "removed"])
def test_the_whole_root_taken_away(house: House, *, all_of_it: bool) -> None:
    """A host program that makes its store if need be is told that there was one."""
    for path in house.world.root.iterdir():
        remove(path)
    if all_of_it:
        house.world.root.rmdir()
    with pytest.raises(Refused) as refused:
        house.world.make()
    assert refused.value.reason == "binding"
    assert str(house.world.place) not in str(refused.value)


def as_directory(path: Path) -> None:
    """A directory of that name."""
    path.unlink()
    path.mkdir(mode=0o700)


def as_link(path: Path) -> None:
    """A link to the very file."""
    path.symlink_to(path.rename(path.parent.parent / "claim"))


CLAIMS: dict[str, tuple[Callable[[Path], object], type[nsstore.StoreError]]] = {
    "removed": (Path.unlink, Refused),
    "empty": (lambda path: path.write_bytes(b""), Refused),
    "garbage": (lambda path: path.write_bytes(b"\xff{"), Refused),
    "deep": (lambda path: path.write_bytes(b"[" * 4000), Refused),
    "more fields": (lambda path: path.write_bytes(b'{"format":1,"store_id":"00","more":1}'), Refused),
    "other format": (
        lambda path: path.write_bytes(b'{"format":2,"store_id":"%s"}' % (b"0" * 32)),
        Refused,
    ),
    "unknown id": (lambda path: path.write_bytes(b'{"format":1,"store_id":"%s"}' % (b"0" * 32)), Refused),
    "id that is a path": (
        lambda path: path.write_bytes(b'{"format":1,"store_id":"../../../../../../../../etc/xx.."}'),
        Refused,
    ),
    "link": (as_link, EscapeError),
    "directory": (as_directory, EscapeError),
    "too long": (lambda path: path.write_bytes(b" " * 100_000), Refused),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_an_edited_claim(house: House, name: str) -> None:
    """Whatever store.json says, nothing opens but the store whose keys are bound to this root."""
    change, error = CLAIMS[name]
    path = house.world.root / "store.json"
    with house.world.open() as store:
        before = warm(store, house)
        change(path)
        with pytest.raises(error) as caught:
            house.world.open()
        assert type(caught.value) is error
        assert str(house.world.place) not in str(caught.value)
        require_unharmed(store, before)


def test_the_claim_of_another_store(house: House, tmp_path: Path) -> None:
    """The id of another store, whose keys are here, opens nothing: they are bound to its own root."""
    other = World(place=tmp_path / "other")
    nsstore.open(other.root, create=True, trust_home=house.world.trust).close()
    shutil.copy2(other.root / "store.json", house.world.root / "store.json")
    with pytest.raises(Refused) as refused:
        house.world.open()
    assert refused.value.reason == "binding"
