"""Area 2 of the public bug reports where it is about views, forgetting, backups and imports."""

import os
from pathlib import Path

import pytest

from bench.binding import bind, tree
from bench.keeping import back_up, quick_keys
from bench.world import World
from nsstore import EscapeError, IntegrityError, InvalidInput, OpenStore, StoreError
from nsstore.audit import read_events
from nsstore.store import Below, expire, forget_below
from tests.cases.conftest import error_of, filled, generations, ids, keep
from tests.cli.conftest import Person, unattended
from tests.climbing import CLIMBING

pytestmark = pytest.mark.usefixtures("kept_views")
TENANT = ("tenant", "acme")
LEVELS = ["", "views", "views/*", "views/*/*", "views/*/*/g-*", "views/*/*/manifest", "open"]
FOLDERS = ["memory/acme", "memory/acme/alice", "memory/acme/alice/shop", "memory/acme/alice/shop/s-1"]


@pytest.mark.parametrize("goal", ["evil's", "/etc", "nowhere"])
@pytest.mark.parametrize("level", LEVELS)
def test_br25_a_link_in_the_cache(store: OpenStore, world: World, level: str, goal: str) -> None:
    """Through a link at any level of the cache nothing is read, made or removed; all answers are right."""
    session, evil = bind(store), bind(store, tenant_id="evil")
    theirs = filled(evil)
    keep(store, evil)
    (foreign,) = generations()
    mine = filled(session)
    keep(store, session)
    (own,) = [one for one in generations() if one != foreign]
    home = own.parents[3]
    store.close()
    path = home / level  # the cache itself, or where copies are opened, there by now or not
    if "views" in level:
        (path,) = [one for one in home.glob(level) if foreign.parents[1] not in (one, *one.parents)]
    aside = world.place / "aside"
    if path.exists():
        path.rename(aside)
    outside = world.place / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    to = {
        "evil's": foreign if level.endswith("g-*") else foreign.parents[1] if level == "views/*" else outside,
        "/etc": Path("/etc"),
        "nowhere": world.place / "nowhere",
    }[goal]
    path.symlink_to(to)
    before, etc = tree(outside), os.stat("/etc").st_mtime_ns
    with world.open() as fresh:
        there = bind(fresh)
        for turn in range(3):
            assert sorted(ids(there, "common")) == sorted(mine)
            mine.append(there.remember(f"common {turn}").record_id)
            mine += [one.record_id for one in there.remember_many(["common"] * 9)]
            fresh.settle()
        assert sorted(ids(bind(fresh, tenant_id="evil"), "common")) == sorted(theirs)
        try:
            there.forget(mine[-1])
        except StoreError:
            assert not level or level in (
                "views",
                "open",
            )  # a whole cache that leads elsewhere is not ours to empty
        assert mine[-1] not in ids(there, "common")
    assert tree(outside) == before
    assert os.stat("/etc").st_mtime_ns == etc
    assert not (world.place / "nowhere").exists()


@pytest.mark.parametrize("folder", FOLDERS)
def test_br25_no_bulk_verb_goes_through_a_link(world: World, folder: str) -> None:
    """Forgetting a scope, expiring and backing up go through no link; what it leads to stays as it was."""
    with world.open() as store:
        for tenant in ("acme", "evil"):
            for user in ("alice", "bob"):
                session = bind(store, tenant_id=tenant, user_id=user)
                session.remember("quartz")
                session.remember("ends", ttl=0.001)
    path = world.root / folder
    path.rename(world.place / "aside")
    path.symlink_to(world.root / folder.replace("acme", "evil"))
    evil = tree(world.root / "memory" / "evil")
    with world.open() as store:
        for call in (
            lambda: forget_below(store, Below(tenant=TENANT)),
            lambda: forget_below(store, Below(tenant=TENANT, user="alice"), even_damaged=True),
            lambda: expire(store, Below(tenant=TENANT)),
            lambda: back_up(store, world.place / "backup"),
        ):
            assert str(world.place) not in str(error_of(call))
        assert tree(world.root / "memory" / "evil") == evil
        assert bind(store, tenant_id="evil").list().total == 1
    assert path.is_symlink()


def test_br28_forgetting_a_record_of_two_names(store: OpenStore, world: World) -> None:
    """A second name of a record, outside, is told and never written to; what it names is not served."""
    session = bind(store)
    one = session.remember("quartz").record_id
    other = session.remember("quartz too").record_id
    (path,) = (world.root / "memory").rglob(f"{one}.md")
    outside = world.place / "second"
    os.link(path, outside)
    raw = outside.read_bytes()
    for call in (
        session.list,
        lambda: session.get(one),
        lambda: session.search("quartz"),
        lambda: session.forget(one),
        lambda: session.remember("newer", supersedes=[one]),
    ):
        with pytest.raises((IntegrityError, EscapeError)):
            call()
    assert outside.read_bytes() == raw
    assert "linked" in {line.reason for line in read_events(store.audit, TENANT) if line.incident}
    outside.unlink()
    assert {item.record_id for item in session.list().items} == {one, other}
    session.forget(one)
    assert not path.exists()


@pytest.mark.parametrize("name", [*CLIMBING, "/etc/passwd"])
def test_br29_no_bulk_or_later_verb_climbs(store: OpenStore, world: World, person: Person, name: str) -> None:
    """No id climbs in forget, in a dry run, in a bulk forget, or in a grant; nothing is made on the way."""
    session = bind(store)
    before = tree(world.root, but=("audit",))
    for call in (
        lambda: session.forget(name),
        lambda: session.forget(name, dry_run=True),
        lambda: session.forget(name, only_this=True),
        lambda: session.list(before=name),
        lambda: session.state.get("plan", version=name),
        lambda: Below(tenant=("tenant", name)),
        lambda: Below(tenant=TENANT, user=name),
        lambda: Below(tenant=TENANT, project=name),
        lambda: Below(tenant=TENANT, user="a", project="p", session=("session", name)),
    ):
        with pytest.raises(InvalidInput):
            call()
    assert tree(world.root, but=("audit",)) == before
    there = tree(person.place)
    for command in (
        ("forget", "--", name),
        ("edit", "--", name),
        ("history", "--", name),
        ("forget", "--whole", "user", "--unattended", "--user", name),
        ("forget", "--whole", "session", "--unattended", "--session", name),
        ("expire", "--tenant", name),
    ):
        assert person(*command).exit_code == 3, command
    after = tree(person.place)
    assert {one for one in after if "/audit/" not in one} == {one for one in there if "/audit/" not in one}


@pytest.mark.parametrize("name", ["store-evil", "store2", "store/../store-evil"])
def test_br24_beside_is_not_inside(person: Person, name: str) -> None:
    """A place whose name begins like the store's is another place; one that leads back into it is refused."""
    person.remember("quartz")
    beside = person.place / name
    beside.mkdir(exist_ok=True, parents=True)
    with quick_keys():
        person.ok("backup", str(beside / "b"), *unattended(person))
        for inside in (
            person.place / "store-evil" / ".." / "store" / "b",
            person.store / "memory" / "b",
            person.store / "memory" / ".." / "b",
            *(one / "b" for one in person.trust.iterdir()),
        ):
            (person.place / "store-evil").mkdir(exist_ok=True)
            assert person("backup", str(inside), *unattended(person)).exit_code in (3, 9), inside
        link = person.place / f"link{len(name)}"
        link.symlink_to(person.store)
        assert person("backup", str(link / "b"), *unattended(person)).exit_code == 3
        for target in (person.store / "again", person.store / "memory" / "again", link / "again"):
            done = person("restore", str(beside / "b"), str(target), *unattended(person))
            assert done.exit_code != 0
            assert not target.exists() or list(target.iterdir()) == []
    assert not list(person.store.rglob("b"))
    assert person.json("list")["items"]
    for home in (person.store / "cache", person.store / ".." / "store" / "cache", link / "cache"):
        assert person("list", NSSTORE_CACHE_HOME=str(home)).exit_code == 3
    person.ok("list", NSSTORE_CACHE_HOME=str(beside.resolve() / "cache"))


def test_br34_no_verb_takes_the_root_or_a_folder(store: OpenStore, world: World) -> None:
    """Where a folder stands in a file's place, or the reverse, later verbs fail typed and name no place."""
    session = bind(store)
    mine = session.remember("quartz").record_id
    bind(store, user_id="secretuser").remember("quartz")
    (path,) = (world.root / "memory" / "acme" / "alice").rglob("*.md")
    raw = path.read_bytes()
    path.unlink()
    path.mkdir(mode=0o700)
    for call in (
        lambda: session.forget(mine),
        lambda: session.get(mine),
        lambda: forget_below(store, Below(tenant=TENANT, user="alice")),
        lambda: expire(store, Below(tenant=TENANT, user="alice")),
        lambda: session.remember("x", supersedes=[mine]),
    ):
        said = str(error_of(call))
        assert not any(words in said for words in (str(world.place), "secretuser", "quartz"))
    assert path.is_dir()
    path.rmdir()
    path.write_bytes(raw)
    path.chmod(0o600)
    with world.open() as fresh:
        assert bind(fresh).list().total == 1
        assert bind(fresh, user_id="secretuser").list().total == 1
