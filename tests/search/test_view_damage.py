"""Whatever happens to the files of a view is found out, told and mended, and the answer stays the same."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bench.world import Who, World
from nsstore import OpenStore
from nsstore.incident import IncidentKind
from tests.search.conftest import cache, everything, folded, kept, notes

Damage = Callable[[Path, Path], object]


def incidents(store: OpenStore) -> list[str]:
    """The kinds of incident that the tenant's audit holds."""
    lines = [
        line
        for path in Path(store.root.path).glob("audit/*/*/*.jsonl")
        for line in path.read_bytes().splitlines()
    ]
    events = [msgspec.json.decode(line) for line in lines]
    return [one["reason"] for one in events if one["event"] == "contamination"]


def segment(generation: Path, ending: str) -> Path:
    """One file of an index."""
    return next(path for path in sorted(generation.iterdir()) if path.suffix == f".{ending}")


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def other_meta(generation: Path, _: Path) -> None:
    """A meta.json that is valid and names no segment, as another index would have it."""
    meta = json.loads((generation / "meta.json").read_bytes())
    meta["segments"] = []
    (generation / "meta.json").write_text(json.dumps(meta))


def forged(_: Path, view: Path) -> None:
    """A manifest that says something else, with the MAC of before."""
    raw = (view / "manifest").read_bytes()
    (view / "manifest").write_bytes(raw.replace(b'"records":40', b'"records":41'))


def linked(generation: Path, view: Path) -> None:
    """A segment in another place, and a link to it."""
    path = segment(generation, "term")
    shutil.move(path, view.parent / "elsewhere")
    path.symlink_to(view.parent / "elsewhere")


def swapped(generation: Path, view: Path) -> None:
    """A link in the place of the whole generation."""
    shutil.move(generation, view.parent / "elsewhere")
    generation.symlink_to(view.parent / "elsewhere")


DAMAGES: dict[str, Damage] = {
    "meta.json missing": lambda generation, _: (generation / "meta.json").unlink(),
    "meta.json edited": lambda generation, _: flip(generation / "meta.json"),
    "meta.json of another index": other_meta,
    "segment truncated": lambda generation, _: os.truncate(segment(generation, "idx"), 10),
    "segment emptied": lambda generation, _: os.truncate(segment(generation, "term"), 0),
    "segment flipped": lambda generation, _: flip(segment(generation, "idx")),
    "segment missing": lambda generation, _: segment(generation, "fieldnorm").unlink(),
    "segment a link": linked,
    "segment open to others": lambda generation, _: segment(generation, "idx").chmod(0o644),
    "segment longer": lambda generation, _: segment(generation, "idx").write_bytes(
        segment(generation, "idx").read_bytes() + b"x"
    ),
    "generation missing": lambda generation, _: shutil.rmtree(generation),
    "generation a link": swapped,
    "views open to others": lambda _, view: view.parent.chmod(0o755),
    "view open to others": lambda _, view: view.chmod(0o755),
    "manifest missing": lambda _, view: (view / "manifest").unlink(),
    "manifest forged": forged,
    "manifest torn": lambda _, view: os.truncate(view / "manifest", 100),
    "manifest empty": lambda _, view: os.truncate(view / "manifest", 0),
    "manifest no JSON": lambda _, view: (view / "manifest").write_bytes(b"\xff" * 300),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
def test_damage_is_told_and_mended(store: OpenStore, world: World, damage: Damage) -> None:
    """Over damaged files an answer is the same; the damage is an incident, and the next fold mends it."""
    before = everything(folded(store))
    (generation,) = kept(store)
    store.close()
    damage(generation, generation.parent)
    with world.open() as other:
        session = Who().bind(other)
        assert everything(session) == before
        assert incidents(other) == [IncidentKind.VIEW_DAMAGED]
        for _ in range(2):
            session.search("common")
            other.settle()
        (mended,) = kept(other)
        assert mended.name != generation.name
    with world.open() as third:
        assert everything(Who().bind(third)) == before
        assert incidents(third) == [IncidentKind.VIEW_DAMAGED]


def test_an_older_view_put_back_is_gone_on_from(store: OpenStore, world: World) -> None:
    """A genuine view of an earlier state serves as far as it goes; what came since is added."""
    session = folded(store)
    (generation,) = kept(store)
    shutil.copytree(generation.parent, cache(store).parent / "older")
    session.remember_many(notes(12, start=100))
    for _ in range(2):
        session.search("common")
        store.settle()
    before = everything(session)
    assert [one.name for one in kept(store)] != [generation.name]
    store.close()
    shutil.rmtree(generation.parent)
    shutil.copytree(cache(store).parent / "older", generation.parent)
    with world.open() as other:
        assert everything(Who().bind(other)) == before
        assert incidents(other) == []


def test_an_older_view_put_back_does_not_bring_back(store: OpenStore, world: World) -> None:
    """A genuine view that holds what was forgotten since is used by nobody, and removed."""
    session = folded(store, 45)
    (generation,) = kept(store)
    shutil.copytree(generation.parent, cache(store).parent / "older")
    session.forget(session.search("unique7").hits[0].record_id)
    store.close()
    generation.parent.parent.mkdir(mode=0o700)
    shutil.copytree(cache(store).parent / "older", generation.parent)
    with world.open() as other:
        session = Who().bind(other)
        assert not session.search("unique7").hits
        assert len(session.search("common", k=100).hits) == 44
        assert generation not in kept(other)


def test_a_view_of_another_namespace_is_damage(store: OpenStore, world: World) -> None:
    """A whole view, moved into the place of another namespace's, has no valid manifest there."""
    before = everything(folded(store))
    (mine,) = kept(store)
    theirs = Who(session="s-2").bind(store)
    theirs.remember_many(["secret canary of another session"] * 50)
    for _ in range(2):
        theirs.search("canary")
        store.settle()
    (other_view,) = {one.parent for one in kept(store)} - {mine.parent}
    store.close()
    shutil.rmtree(mine.parent)
    shutil.copytree(other_view, mine.parent)
    with world.open() as other:
        session = Who().bind(other)
        assert not session.search("canary").hits
        assert everything(session) == before
        assert incidents(other) == [IncidentKind.VIEW_DAMAGED]


def test_lock_files_and_files_left_over_are_no_damage(store: OpenStore) -> None:
    """BR-56: what a killed writer leaves beside a view hinders nobody, and the next fold tidies it up."""
    session = folded(store)
    (generation,) = kept(store)
    view = generation.parent
    (generation / ".tantivy-writer.lock").touch()
    (generation / ("0" * 32 + ".idx")).write_bytes(b"of nobody")
    (view / "g-0123456789abcdef").mkdir()
    (view / "g-0123456789abcdef" / "half").write_bytes(b"a")
    (view / "manifest.0011223344556677").write_bytes(b"a")
    session.remember_many(notes(12, start=100))
    for _ in range(2):
        session.search("common")
        store.settle()
    assert sorted(path.name for path in view.iterdir() if not path.name.startswith("g-")) == [
        "lock",
        "manifest",
    ]
    assert len(kept(store)) == 1
    assert incidents(store) == []


def test_a_cache_home_that_is_gone_costs_nothing(store: OpenStore, world: World) -> None:
    """The whole cache home may be removed at any time, by whoever has it open too."""
    session = folded(store)
    before = everything(session)
    shutil.rmtree(cache(store).parent)
    assert everything(session) == before
    session.remember_many(notes(12, start=100))
    for _ in range(3):
        session.search("common")
        store.settle()
    with world.open() as other:
        assert everything(Who().bind(other)) == everything(session)
    assert incidents(store) == []


@pytest.mark.parametrize("where", ["", "memory", "../trust"])
def test_a_cache_home_in_the_store_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Views lie in neither the root nor the trust home: what they hold would prove itself, or be a stray."""
    from nsstore import InvalidInput

    world.make().close()
    monkeypatch.setenv("NSSTORE_CACHE_HOME", os.path.normpath(world.root / where))
    with pytest.raises(InvalidInput, match="NSSTORE_CACHE_HOME"):
        world.open()


def test_a_relative_cache_home_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache home that depends on where the process stands is named as the mistake it is."""
    from nsstore import InvalidInput

    monkeypatch.setenv("NSSTORE_CACHE_HOME", "cache")
    with pytest.raises(InvalidInput, match="NSSTORE_CACHE_HOME"):
        world.make()


def test_a_cache_home_that_cannot_be_made_leaves_views_in_memory(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where nothing can be kept every answer is the same, only slower to come to."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "file" / "cache"))
    with world.make() as store:
        session = Who().bind(store)
        session.remember_many(notes(45))
        for _ in range(3):
            assert len(session.search("common", k=100).hits) == 45
            store.settle()
