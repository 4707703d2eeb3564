"""Area 2 of the public bug reports, BR-24 to BR-35: paths and names."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import nsstore
from bench.binding import bind, tree
from bench.child import Report, in_child
from bench.world import World
from nsstore import InvalidInput, OpenStore, StoreError
from nsstore.layout import MAX_PATH_BYTES
from tests.climbing import CLIMBING

ID_FIELDS = [
    "tenant_id",
    "user_id",
    "project_id",
    "session_id",
    "workspace_id",
    "branch",
    "baseline",
    "agent_id",
]
DOTS = [*CLIMBING, "..\\x"]
ABSOLUTE = [
    "/etc/passwd",
    "//x",
    "C:\\x",
    "C:x",
    "\\\\srv\\share",
    "~root",
    "$HOME",
    "%APPDATA%",
    "/",
    "~",
    "c:",
]
SPELLINGS = [
    "..\\x",
    "%2e%2e%2f",
    "%252e%252e%252f",
    "..%c0%af",
    "\uff0e\uff0e\uff0fx",
    "\u2025",
    "a\u2215b",
    "a\u2044b",
    "\uff052e",
    "file:///x",
]
DEVICES = ["CON", "nul.txt", "AUX", "COM1", "com¹", "LPT9", "CONIN$", "xx:b", "PRN", "con.a.b", "aux", "NUL"]


def test_br24_a_sibling_is_not_inside(world: World, store: OpenStore) -> None:
    """Folders beside memory/ whose names begin alike are never looked into, and their way in is no id."""
    receipt = bind(store).remember("quartz")
    genuine = next((world.root / "memory").rglob("*.md"))
    for name in ("memory-evil", "memory2", "memory/../memory-evil"):
        evil = world.root / name / genuine.parent.relative_to(world.root / "memory")
        evil.mkdir(parents=True, exist_ok=True)
        (evil / f"{receipt.record_id[:-1]}0.md").write_bytes(genuine.read_bytes())
    assert [one.record_id for one in bind(store).list().items] == [receipt.record_id]
    with pytest.raises(InvalidInput):
        nsstore.open(
            world.root / "memory" / ".." / ".." / "root", create=True, trust_home=world.root / "trust"
        )


def refuse_everywhere(store: OpenStore, world: World, names: list[str]) -> None:
    """Every one of these names is refused as an id and as a record id, and nothing is made on the way."""
    before = tree(world.root, but=("audit",))
    session = bind(store)
    for name in names:
        for field in ID_FIELDS:
            with pytest.raises(InvalidInput, match=field):
                bind(store, **{field: name})
        with pytest.raises(InvalidInput):
            bind(store, allowed_branches=["main", name])
        verbs: list[Callable[[str], object]] = [
            session.get,
            session.history,
            lambda one: session.remember("x", supersedes=[one]),
            lambda one: session.state.put("k", "x", expect=one),
        ]
        for verb in verbs:
            with pytest.raises(InvalidInput):
                verb(name)
    assert tree(world.root, but=("audit",)) == before


def test_br29_dots_lead_nowhere(store: OpenStore, world: World) -> None:
    """No id climbs, in any dimension and any verb."""
    refuse_everywhere(store, world, DOTS)


def test_br30_absolute_paths_are_no_ids(store: OpenStore, world: World) -> None:
    """No id begins somewhere else, and nothing in it is expanded."""
    refuse_everywhere(store, world, ABSOLUTE)


@pytest.mark.parametrize("name", SPELLINGS)
def test_br31_no_spelling_becomes_a_separator(store: OpenStore, world: World, name: str) -> None:
    """Encoded and look-alike separators are refused, or are letters of one component that nobody decodes."""
    try:
        session = bind(store, user_id=name)
    except InvalidInput:
        return
    session.remember("quartz")
    (path,) = (world.root / "memory").rglob("*.md")
    parts = path.relative_to(world.root / "memory").parts
    assert len(parts) == 5
    assert all(part not in (".", "..") and part.isascii() for part in parts)
    assert session.list().items[0].provenance.scope["user_id"] == name


@pytest.mark.parametrize("name", DEVICES)
def test_br32_device_names_are_no_file_names(store: OpenStore, world: World, name: str) -> None:
    """What names a device elsewhere is never a component, so that a store can be moved."""
    bind(store, tenant_id=name, project_id=name, session_id=name, workspace_id=name).remember("quartz")
    reserved = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
    for path in (world.root / "memory").rglob("*"):
        stem = path.name.split(".")[0].rstrip(" ").lower()
        assert stem not in reserved
        assert path.name == path.name.rstrip(" .")
        assert not set(path.name) & set('<>:"|?*\\')


def test_br32_edges_are_no_part_of_an_id(store: OpenStore, world: World) -> None:
    """alice, alice. and ALICE are three users; an id with a space at its edge is none."""
    for name in ("alice ", " alice", "alice\t", "alice\u00a0"):
        with pytest.raises(InvalidInput):
            bind(store, user_id=name)
    for name in ("alice", "alice.", "ALICE", ".alice"):
        bind(store, user_id=name).remember("quartz")
    folders = {path.parent for path in (world.root / "memory").rglob("*.md")}
    assert len({str(path).casefold().rstrip(" .") for path in folders}) == 4


@pytest.mark.parametrize("name", ["a\x00b", "\ud800", "x" * 201, "e\u0301", "a\u202eb", "\ufeff"])
def test_br34_what_the_system_would_refuse_is_refused_before(store: OpenStore, name: str) -> None:
    """NUL, surrogates, lengths and other forms are typed refusals that do not repeat what they refuse."""
    for field in ID_FIELDS:
        with pytest.raises(InvalidInput) as caught:
            bind(store, **{field: name})
        assert name not in str(caught.value)


@pytest.mark.parametrize("name", ["x" * 200, "é" * 200, "中" * 200, "X" * 200])
def test_br34_long_ids_fit_a_file_name(store: OpenStore, world: World, name: str) -> None:
    """200 characters of any script are one component of at most 255 bytes, and come back whole."""
    session = bind(store, user_id=name)
    session.remember("quartz")
    assert session.list().items[0].provenance.scope["user_id"] == name
    assert max(len(os.fsencode(path.name)) for path in world.root.rglob("*")) <= 255


def test_br34_a_file_where_a_folder_belongs(store: OpenStore, world: World) -> None:
    """The error is typed and names neither the place of the root nor another scope."""
    bind(store, user_id="secretuser").remember("quartz")
    folder = world.root / "memory" / "acme"
    (folder / "alice").touch(mode=0o600)
    for call in (bind(store).list, lambda: bind(store).remember("x")):
        with pytest.raises(StoreError) as caught:
            call()
        assert caught.value.kind == "escape"
        assert str(world.place) not in str(caught.value)
        assert "secretuser" not in str(caught.value)
    assert bind(store, user_id="secretuser").list().total == 1


def test_br34_a_folder_without_permission() -> None:
    """An ordinary user who may not enter the folder gets a typed error without a path."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="nsstore-br34-") as place:

        def task(_: Report) -> None:
            if os.geteuid() == 0:
                os.chown(place, 65534, 65534)
                os.seteuid(65534)
            world = World(place=Path(place))
            with world.make() as store:
                session = bind(store)
                session.remember("quartz")
                (folder,) = (world.root / "memory").glob("*/*/*/*")
                folder.chmod(0)
                for call in (session.list, lambda: session.remember("x"), lambda: session.search("quartz")):
                    with pytest.raises(StoreError) as caught:
                        call()
                    assert caught.value.kind in ("os", "escape")
                    assert place not in str(caught.value)
                folder.chmod(0o700)
                assert session.list().total == 1

        ended = in_child(task)
        assert ended.status == 0


def test_br35_a_path_has_a_budget(tmp_path: Path) -> None:
    """A path that could not be finished is refused before the first directory of it is made."""
    deep = tmp_path
    while len(str(deep)) < 3300:
        deep /= "d" * 200
    deep.mkdir(parents=True)
    world = World(place=deep)
    with nsstore.open(world.root, create=True, trust_home=tmp_path / "trust") as store:
        long = dict.fromkeys(("tenant_id", "user_id", "project_id", "session_id"), "x" * 200)
        with pytest.raises(InvalidInput, match=str(MAX_PATH_BYTES)) as caught:
            bind(store, **long).remember("quartz")
        assert "ddd" not in str(caught.value)
        assert not (world.root / "memory").exists()
        assert not (world.root / "ledger").exists()
        bind(store).remember("quartz")
        assert bind(store).list().total == 1
