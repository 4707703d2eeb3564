"""Area 2 of the public bug reports, BR-25, BR-26, BR-28, BR-36 to BR-39: links, roots and modes."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

import nsstore
from bench.binding import bind, tree
from bench.child import Report, in_child
from bench.world import Who, World
from nsstore import EscapeError, IntegrityError, NotVisible, OpenStore, Session, StoreError, WitnessError
from nsstore.audit import EventKind, read_events
from nsstore.root import system

LEVELS = {
    "tenant": "memory/acme",
    "user": "memory/acme/alice",
    "project": "memory/acme/alice/shop",
    "session": "memory/acme/alice/shop/s-1",
    "ledger folder": "ledger/memory/acme/alice/shop",
    "ledger": "ledger/memory/acme/alice/shop/s-1.log",
    "lock": "ledger/memory/acme/alice/shop/s-1.lock",
    "audit": "audit/tenants/acme",
    "audit lock": "audit/tenants/acme/audit.lock",
    "top": "memory",
}
TARGETS = ("evil's", "/etc", "itself")


def everything(session: Session, record_id: str) -> list[Callable[[], object]]:
    """A call of every verb."""
    return [
        lambda: session.get(record_id),
        session.list,
        lambda: session.search("quartz"),
        lambda: session.history(record_id),
        lambda: session.remember("never"),
    ]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", LEVELS)
def test_br25_a_link_at_any_level(world: World, level: str, target: str) -> None:
    """No verb goes through it, warm or cold, and what it leads to stays as it was."""
    with world.open() as store:
        record_id = bind(store).remember("quartz").record_id
        bind(store, tenant_id="evil").remember("quartz evil")
    path = world.root / LEVELS[level]
    path.rename(world.place / "aside")
    goal = {
        "evil's": world.root / LEVELS[level].replace("acme", "evil"),
        "/etc": Path("/etc") if (world.place / "aside").is_dir() else Path("/etc/passwd"),
        "itself": path,
    }[target]
    path.symlink_to(goal)
    outside = (os.stat("/etc").st_mtime_ns, os.stat("/etc/passwd").st_mtime_ns)
    before = tree(world.root, but=("audit",))
    with world.open() as store:
        calls = everything(bind(store), record_id)
        for call in calls[-1:] if level == "lock" else calls:
            with pytest.raises((EscapeError, WitnessError)):
                call()
        if level != "top":
            assert bind(store, tenant_id="evil").list().total == 1
    assert (os.stat("/etc").st_mtime_ns, os.stat("/etc/passwd").st_mtime_ns) == outside
    now = tree(world.root, but=("audit",))
    now.pop("ledger/memory/evil/alice/shop/s-1.lock", None)
    before.pop("ledger/memory/evil/alice/shop/s-1.lock", None)
    assert now == before


def test_br26_a_dangling_link_makes_nothing(world: World) -> None:
    """Nothing is ever made where a link without a target points."""
    outside = world.place / "outside"
    outside.mkdir()
    for name in ("memory/acme", "ledger/memory", "audit/tenants/acme", "tmp", "quarantine"):
        other = World(place=world.place / name.replace("/", "-"))
        other.place.mkdir()
        other.make().close()
        path = other.root / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.symlink_to(outside / "new")
        with other.open() as store:
            if name not in ("tmp", "quarantine"):
                with pytest.raises((EscapeError, WitnessError)):
                    bind(store).remember("quartz")
            else:
                bind(store).remember("quartz")
        assert list(outside.iterdir()) == []


def test_br26_a_dangling_draft_folder(world: World) -> None:
    """Where drafts have names, their folder is no link either."""
    outside = world.place / "outside"
    outside.mkdir()
    (world.root / "tmp").symlink_to(outside / "new")
    named = patch.object(system, "has_unnamed_files", return_value=False)
    with named, world.open() as store, pytest.raises(StoreError) as caught:
        bind(store).remember("quartz")
    assert caught.value.kind in ("escape", "witness")
    assert list(outside.iterdir()) == []


def test_br28_a_second_name_is_refused(world: World) -> None:
    """A hard link never brings in a foreign record: not while it has two names, and not when one is gone."""
    with world.open() as store:
        theirs = bind(store, tenant_id="evil").remember("quartz evil").record_id
        mine = bind(store).remember("quartz").record_id
        (evil,) = (world.root / "memory" / "evil").rglob("*.md")
        raw = evil.read_bytes()
        folder = next((world.root / "memory" / "acme").rglob("*.md")).parent
        os.link(evil, folder / evil.name)
        for turn in range(2):
            session = bind(store)
            assert [one.record_id for one in session.list().items] == [mine]
            assert [hit.record_id for hit in session.search("quartz evil").hits] == [mine]
            with pytest.raises(NotVisible):
                session.get(theirs)
            if turn == 0:
                evil.unlink()
        assert (folder / evil.name).read_bytes() == raw
        told = {line.reason for line in read_events(store.audit, ("tenant", "acme")) if line.incident}
        assert "linked" in told
        with pytest.raises(IntegrityError):
            bind(store, tenant_id="evil").list()


def test_br36_the_root_may_be_reached_through_a_link(world: World) -> None:
    """Both ways lead to one store: one lock, one identity, no incident."""
    link = world.place / "link"
    link.symlink_to(world.root)
    with nsstore.open(link, trust_home=world.trust) as one, world.open() as other:
        bind(one).remember("through the link")
        bind(other).remember("through the path")
        assert one.store_id == other.store_id
        for store in (one, other):
            assert bind(store).list().total == 2
            assert len(bind(store).search("link path").hits) == 2

        def elsewhere(_: Report) -> None:
            with nsstore.open(link, trust_home=world.trust) as third:
                bind(third).remember("through the link again")

        assert in_child(elsewhere).status == 0
        assert bind(other).list().total == 3
        events = {line.event for line in read_events(other.audit, ("tenant", "acme"))}
        assert events.isdisjoint({EventKind.CONTAMINATION, EventKind.UNTAGGED, EventKind.GAP})


def test_br38_another_stores_records_stay_its_own(world: World, tmp_path: Path) -> None:
    """Records copied in from a store with the same scopes are never read: their seals are of other keys."""
    other = World(place=tmp_path / "other")
    other.place.mkdir()
    with other.make() as store:
        theirs = bind(store).remember("quartz of the other store").record_id
    with world.open() as store:
        mine = bind(store).remember("quartz").record_id
        (source,) = (other.root / "memory").rglob("*.md")
        (genuine,) = (world.root / "memory").rglob("*.md")
        (genuine.parent / source.name).write_bytes(source.read_bytes())
        (genuine.parent / source.name).chmod(0o600)
        assert [one.record_id for one in bind(store).list().items] == [mine]
        with pytest.raises(NotVisible):
            bind(store).get(theirs)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
@pytest.mark.parametrize("named", [False, True], ids=["unnamed drafts", "named drafts"])
def test_br39_one_mode_under_any_umask(tmp_path: Path, umask: int, named: object) -> None:
    """Files are 0600 and directories 0700, whatever the umask and however they come to be."""
    world = World(place=tmp_path / "deep" / "er")

    def task(_: Report) -> None:
        os.umask(umask)
        if named:
            patch.object(system, "has_unnamed_files", return_value=False).start()
        with world.make() as store:
            session = Who().bind(store)
            first = session.remember("quartz").record_id
            session.remember("quartz again", supersedes=[first])
            session.remember_many(["one", "two"])
            session.state.put("plan", "one")
            session.search("quartz")

    assert in_child(task).status == 0
    for path in tmp_path.rglob("*"):
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_br39_nobody_elses_permissions_are_used(store: OpenStore, world: World) -> None:
    """A folder that others could write to is not used."""
    bind(store).remember("quartz")
    folder = world.root / "memory" / "acme" / "alice" / "shop" / "s-1"
    for mode in (0o777, 0o750, 0o1700, 0o2700):
        folder.chmod(mode)
        with pytest.raises(EscapeError):
            bind(store).list()
    folder.chmod(0o700)
    assert bind(store).list().total == 1
