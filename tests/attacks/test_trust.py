"""The trust home emptied, damaged or exchanged; and keys that are not the tenant's."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.attacks import (
    AREAS,
    Harm,
    copied,
    elsewhere,
    lines,
    remove,
    require_refused,
    require_unharmed,
    rewrite,
)
from bench.house import House, answers, namespace, reads, warm
from bench.world import World
from nsstore import IntegrityError, Note, NotVisible, OpenStore, Refused, WitnessError
from nsstore.incident import IncidentKind as Kind
from nsstore.ledger import Line, make_line
from nsstore.scope import Area
from nsstore.store.sealing import Sealed, Sealer
from nsstore.writers.note import draft

UNPROVEN = Harm.of(Kind.ANCHOR_BROKEN)


def empty(house: House) -> None:
    """Delete everything in the trust home."""
    for path in house.home.iterdir():
        remove(path)


def other_store(house: House) -> Path:
    """The trust home of another store."""
    other = World(place=house.world.place / "other")
    other.make().close()
    (home,) = other.trust.iterdir()
    return home


def foreign_keys(house: House) -> None:
    """Put the keys of another store in the place of these."""
    shutil.copy2(other_store(house) / "keys.json", house.home / "keys.json")


def foreign_home(house: House) -> None:
    """Put the whole trust home of another store in the place of this one."""
    source, home = other_store(house), house.home
    remove(home)
    shutil.copytree(source, home)


NOT_OPENED: dict[str, tuple[Callable[[House], object], str]] = {
    "emptied": (empty, "keys"),
    "removed": (lambda house: remove(house.home), "keys"),
    "keys removed": (lambda house: (house.home / "keys.json").unlink(), "keys"),
    "keys emptied": (lambda house: (house.home / "keys.json").write_bytes(b""), "keys"),
    "keys cut short": (lambda house: rewrite(house.home / "keys.json", lambda raw: raw[:-20]), "keys"),
    "binding removed": (lambda house: (house.home / "binding.json").unlink(), "binding"),
    "binding damaged": (lambda house: (house.home / "binding.json").write_bytes(b"\xff"), "binding"),
    "home of another store": (foreign_home, "binding"),
}


@pytest.mark.parametrize("name", NOT_OPENED)
def test_not_opened(house: House, name: str) -> None:
    """Without its own keys and binding a store does not open, and the refusal says what helps."""
    change, reason = NOT_OPENED[name]
    change(house)
    with pytest.raises(Refused) as refused:
        house.world.open()
    assert refused.value.reason == reason
    assert str(house.world.place) not in str(refused.value)


def each_anchor_file(house: House, change: Callable[[Path], object]) -> None:
    """Change every anchor file of the namespaces; the heads of the audit stay."""
    for path in sorted((house.home / "anchors").rglob("*.anchors")):
        if "audit" not in path.relative_to(house.home).parts:
            change(path)


ANCHORS: dict[str, Callable[[House], object]] = {
    "trust home emptied": empty,
    "removed": lambda house: each_anchor_file(house, Path.unlink),
    "emptied": lambda house: each_anchor_file(house, lambda path: path.write_bytes(b"")),
    "zeros": lambda house: each_anchor_file(house, lambda path: path.write_bytes(bytes(path.stat().st_size))),
    "cut short": lambda house: each_anchor_file(house, lambda path: rewrite(path, lambda raw: raw[:100])),
    "each byte turned": lambda house: each_anchor_file(
        house, lambda path: rewrite(path, lambda raw: bytes(byte ^ 255 for byte in raw))
    ),
    "of another tenant": lambda house: each_anchor_file(
        house,
        lambda path: (
            shutil.copy2(house.anchors("memory", house.neighbours[-1].who), path)
            if "acme" in path.parts
            else None
        ),
    ),
}


@pytest.mark.parametrize("name", ANCHORS)
def test_anchors_gone(house: House, name: str) -> None:
    """Without a valid anchor nothing written is served, by any verb, warm or cold, nor written to."""
    with house.world.open() as store:
        warm(store, house)
        ANCHORS[name](house)

        def check(one: OpenStore) -> None:
            for area in AREAS:
                require_refused(house, one, area, UNPROVEN)

        def cold() -> None:
            with house.world.open() as fresh:
                check(fresh)

        if name != "trust home emptied":
            elsewhere(cold)
        check(store)


def test_foreign_keys(house: House) -> None:
    """With the keys of another store nothing is served; with its own again, all is."""
    with house.world.open() as store:
        before = warm(store, house)
    own = (house.home / "keys.json").read_bytes()
    foreign_keys(house)
    with house.world.open() as store:
        for found in (house.owner, *house.neighbours):
            for area in AREAS:
                for read in reads(found.who.bind(store), found, area).values():
                    with pytest.raises((IntegrityError, WitnessError)):
                        read()
    (house.home / "keys.json").write_bytes(own)
    with house.world.open() as store:
        require_unharmed(store, before)


@pytest.mark.parametrize("area", AREAS)
def test_an_older_anchor_alone_is_repaired(house: House, area: Area) -> None:
    """An anchor behind its chain, as a power cut leaves it, costs nothing: the next writer moves it up."""
    anchors = house.anchors(area)
    older = copied(house, anchors)
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        session.remember("since then") if area == "memory" else session.state.put("plan", "since then")
        before = warm(store, house)
    rewrite(anchors, lambda _: older.read_bytes())
    with house.world.open() as store:
        require_unharmed(store, before)
        session = house.owner.who.bind(store)
        session.remember("and now") if area == "memory" else session.state.put("plan", "and now")
    assert anchors.read_bytes() != older.read_bytes()


def sealed_for_another(house: House, store: OpenStore) -> tuple[Sealed, Line]:
    """A record of the owner's scope at the head of its chain, and its line, under another tenant's key."""
    who = house.owner.who
    leaf = store.leaf(namespace(who, "memory"))
    ledger = leaf.read()
    note = draft(store, who.bind(store).envelope, Note(text="a forged quartz"), area="memory", key=None)
    keys, chain = store.trust.keys, leaf.place.chain
    thief = type(keys)(keys.active, keys.masters)
    evil = keys.tenant(keys.active, ("tenant", "evil"))
    assert evil is not None
    thief._tenants[keys.active, chain.tenant] = evil  # pyright: ignore[reportPrivateUsage]  # the theft under test
    made = Sealer(thief, chain).seal(note, ledger.seq + 1, ledger.head)
    return made, make_line(thief, chain, made.event, keys.active)


def test_another_tenants_key(house: House) -> None:
    """Who has one tenant's key can add nothing to another tenant's memory, with or without a line."""
    with house.world.open() as store:
        before = warm(store, house)
        forged, line = sealed_for_another(house, store)
        path = house.folder() / f"{forged.draft.record_id}.md"
        path.write_bytes(forged.raw)
        path.chmod(0o600)
        session = house.owner.who.bind(store)
        assert answers(session, house.owner) == before[house.owner]
        with pytest.raises(NotVisible):
            session.get(path.stem)
        rewrite(house.ledger(), lambda raw: raw + line.raw)
        assert len(lines(house.ledger())) == 5
        require_refused(house, store, "memory", Harm.of(Kind.CHAIN_BROKEN))
