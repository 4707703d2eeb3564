"""Area 2 of the public bug reports BR-35 to BR-39, where a store is copied."""

import json
import os
import stat
from pathlib import Path

import pytest

import nsstore
from bench.binding import bind
from bench.child import Report, in_child
from bench.keeping import back_up, put_back, quick_keys
from bench.owning import Hand
from bench.world import World
from nsstore import InvalidInput, OpenStore
from nsstore.audit import EventKind, read_events
from nsstore.root import system
from tests.cases.conftest import LEAST, error_of, filled, generations, ids, keep
from tests.cli.conftest import Person, unattended

pytestmark = pytest.mark.usefixtures("kept_views")
TENANT = ("tenant", "acme")


def test_br36_views_are_shared_through_a_link(world: World) -> None:
    """The store reached through a link and by its path uses one index, and finds the same."""
    link = world.place / "link"
    link.symlink_to(world.root)
    with nsstore.open(link, trust_home=world.trust) as one, world.open() as other:
        filled(bind(one))
        keep(one, bind(one))
        before = generations()
        assert len(before) == 1
        newer = bind(other).remember("common newer").record_id
        assert newer in ids(bind(one), "common")
        assert ids(bind(one), "common") == ids(bind(other), "common")
        assert generations() == before
        bind(one).forget(newer)
        assert newer not in ids(bind(other), "common")
        for store in (one, other):
            store.settle()
        events = {line.event for line in read_events(other.audit, TENANT)}
        assert EventKind.CONTAMINATION not in events


def test_br38_an_import_has_the_importers_scope(person: Person) -> None:
    """Whatever a line says of its scope, path or id, it lands in the importer's scope or is refused."""
    lines: list[dict[str, object]] = [
        {
            "text": "kept 1",
            "source": {"scope": {"tenant_id": "evil", "user_id": "root"}, "record_id": "../../x"},
        },
        {"text": "kept 2", "source": {"item": "../../../etc/passwd"}},
        {"text": "no", "tenant_id": "evil"},
        {"text": "no", "path": "../x"},
        {"text": "no", "record_id": "01934f2e-8b7a-7c3d-9e21-0123456789ab"},
        {"text": "no", "ext": {"user_id": "evil"}},
        {"text": "no", "privacy": "anything"},
        {"text": "no", "supersedes": ["01934f2e-8b7a-7c3d-9e21-0123456789ab"]},
        {"text": "no", "created_at": "2020-01-01"},
    ]
    file = person.place / "lines"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    report = person.json("import", str(file))
    assert person.json("list")["total"] == 2
    assert {one["text"] for one in person.json("list")["items"]} == {"kept 1", "kept 2"}
    assert len(report["refused"]) == 7 if isinstance(report.get("refused"), list) else report["refused"] == 7
    assert len(list(person.store.glob("memory/acme/*/atlas/*/*.md"))) == 2
    assert len(list(person.store.rglob("*.md"))) == 2
    for tenant in ("evil", "other"):
        assert person.json("list", NSSTORE_TENANT=tenant)["items"] == []
    found = person.json("show", person.json("list")["items"][0]["record_id"])
    assert found["provenance"]["scope"]["tenant_id"] == "acme"


def test_br38_a_backup_goes_where_it_is_told(person: Person, tmp_path: Path) -> None:
    """A backup that names another place is refused whole; nothing is put beside the target."""
    person.remember("quartz")
    with quick_keys():
        person.ok("backup", str(person.place / "b"), *unattended(person))
        raw = (person.place / "b").read_bytes()
        name = b'"path":"memory/acme/ada/atlas/monday/'
        assert name in raw
        for number, path in enumerate(
            (b'"path":"../cme/ada/atlas/monday/', b'"path":"/emory/acme/ada/atlas/monday/')
        ):
            file = person.place / f"evil{number}"
            file.write_bytes(raw.replace(name, path))
            file.chmod(0o600)
            target = tmp_path / f"target{number}"
            before = {one for one in tmp_path.rglob("*") if "/audit/" not in str(one)}
            done = person(
                "restore",
                str(file),
                str(target),
                *unattended(person),
                NSSTORE_TRUST_HOME=str(tmp_path / "fresh"),
            )
            assert done.exit_code != 0
            after = {one for one in tmp_path.rglob("*") if "/audit/" not in str(one)}
            assert not (target / "store.json").exists()
            assert {one for one in after - before if not one.is_relative_to(target)} <= {tmp_path / "fresh"}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("named", [False, True], ids=["unnamed drafts", "named drafts"])
def test_br39_later_files_have_one_mode_too(tmp_path: Path, umask: int, named: object) -> None:
    """Views, lists, backups, restored stores, months of audit and quarantines are 0600 and 0700 as well."""
    (tmp_path / "place").mkdir(mode=0o700)
    world = World(place=tmp_path / "place")
    other = World(place=tmp_path / "place" / "other")
    other.place.mkdir(mode=0o700)

    def old_kernel(_: int) -> bool:
        return False

    def task(_: Report) -> None:
        os.umask(umask)
        if named:
            pytest.MonkeyPatch().setattr(system, "has_unnamed_files", old_kernel)
        with world.make() as store:
            session = bind(store)
            mine = filled(session, LEAST + 5)
            keep(store, session)
            assert generations()
            session.forget(mine[0])
            keep(store, session)
            hand = Hand.of(store)
            hand.keep(store, {"standard": 30})
            session.remember("held for a time")
            genuine = next((world.root / "memory").rglob("*.md"))
            stray = genuine.parent / "019a2b3c-4d5e-7f60-8123-456789abcdef.md"
            stray.write_bytes(b"torn")
            stray.chmod(0o600)
            with world.open() as fresh:
                bind(fresh).remember("a write recovers what is torn")
                bind(fresh).list()
            stray.unlink(missing_ok=True)
            back_up(store, world.place / "backup")
        put_back(world.place / "backup", other)
        with other.open() as again:
            assert bind(again).list().total > LEAST

    assert in_child(task).status == 0
    checked = 0
    for path in (*world.place.rglob("*"), *(tmp_path / "cache").rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
        checked += 1
    assert checked > 100


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is one device only")
def test_br39_across_devices(world: World, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache home, a backup, an editor's room and a restored store on another device than the store do."""
    import shutil
    import tempfile

    place = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="nsstore-"))
    try:
        assert place.stat().st_dev != world.root.stat().st_dev
        monkeypatch.setenv("NSSTORE_CACHE_HOME", str(place / "cache"))
        with world.open() as store:
            session = bind(store)
            mine = filled(session)
            keep(store, session)
            back_up(store, place / "backup")
            session.forget(mine.pop())
            assert sorted(ids(session, "common")) == sorted(mine)
        other = World(place=place / "other")
        other.place.mkdir()
        put_back(place / "backup", other)
        with other.open() as again:
            assert len(ids(bind(again), "common")) == LEAST
        (place / "run").mkdir(mode=0o700)
        one = person.remember("one")
        newer = person.ok(
            "edit", one, EDITOR="sed -i s/one/two/", VISUAL=None, XDG_RUNTIME_DIR=str(place / "run")
        )
        assert person.json("show", newer.strip())["text"] == "two"
        assert list((place / "run").iterdir()) == []
    finally:
        shutil.rmtree(place)


def test_br35_a_restore_has_a_budget_too(store: OpenStore, world: World, tmp_path: Path) -> None:
    """Where the records' paths would not fit, a restore is refused and leaves no store behind."""
    long = dict.fromkeys(("tenant_id", "user_id", "project_id", "session_id"), "x" * 200)
    one = bind(store, **long).remember("quartz").record_id
    back_up(store, world.place / "backup")
    deep = tmp_path
    while len(str(deep)) < 3500:
        deep /= "d" * 200
    deep.mkdir(parents=True)
    other = World(place=tmp_path / "other")
    other.place.mkdir()
    err = error_of(lambda: put_back(world.place / "backup", other, to=deep / "root"))
    assert isinstance(err, InvalidInput)
    assert "ddd" not in str(err)
    assert not (deep / "root").exists()
    assert bind(store, **long).get(one).text == "quartz"
