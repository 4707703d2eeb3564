"""A furnished world: a few scopes with records in them, and every verb that reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Self

import msgspec

from bench.world import Who, World
from nsstore import NotVisible, OpenStore, Session
from nsstore.audit import AuditLine, read_events
from nsstore.layout import anchor_path, audit_dir, ledger_path, lock_path, record_dir
from nsstore.root import SETTLED_NS
from nsstore.scope import Area, Namespace

KEY: Final = "plan"
OWNER: Final = Who()
NEIGHBOURS: Final = (
    Who(session="s-2", workspace="w-2"),
    Who(project="other", session="s-1"),
    Who(tenant="evil"),
)
TEXTS: Final = ("alpha quartz", "beta quartz", "gamma quartz")


class Furnished(msgspec.Struct, frozen=True, kw_only=True):
    """What one scope holds: three records, the last superseding the second, and a document's two versions."""

    who: Who
    records: tuple[str, ...]
    versions: tuple[str, ...]

    @classmethod
    def by(cls, store: OpenStore, who: Who) -> Self:
        """Furnish a scope."""
        session = who.bind(store)
        first, second = (
            session.remember(f"{text} of {who.tenant} {who.user}").record_id for text in TEXTS[:2]
        )
        third = session.remember(TEXTS[2], supersedes=[second], tags=["blue"]).record_id
        versions = tuple(session.state.put(KEY, f"version {n} quartz").record_id for n in (1, 2))
        return cls(who=who, records=(first, second, third), versions=versions)


def namespace(who: Who, area: Area) -> Namespace:
    """The namespace of a scope in an area."""
    if area == "memory":
        dimensions = (
            ("tenant", who.tenant),
            ("user", who.user),
            ("project", who.project),
            ("session", who.session),
        )
        return Namespace(area=area, dimensions=dimensions)
    return Namespace(
        area=area,
        dimensions=(("tenant", who.tenant), ("project", who.project), ("workspace", str(who.workspace))),
    )


class House(msgspec.Struct, frozen=True, kw_only=True):
    """A store in which four scopes of two tenants hold records; the owner's are the ones attacked."""

    world: World
    owner: Furnished
    neighbours: tuple[Furnished, ...]

    @classmethod
    def build(cls, place: Path) -> Self:
        """Make the store and furnish it."""
        world = World(place=place)
        with world.make() as store:
            owner = Furnished.by(store, OWNER)
            neighbours = tuple(Furnished.by(store, who) for who in NEIGHBOURS)
        return cls(world=world, owner=owner, neighbours=neighbours)

    def folder(self, area: Area = "memory", who: Who = OWNER) -> Path:
        """The directory of a scope's records."""
        return self.world.root / record_dir(namespace(who, area))

    def file(self, record_id: str, area: Area = "memory", who: Who = OWNER) -> Path:
        """A record's file."""
        return self.folder(area, who) / f"{record_id}.md"

    def ledger(self, area: Area = "memory", who: Who = OWNER) -> Path:
        """The chain of a scope's namespace."""
        return self.world.root / ledger_path(namespace(who, area))

    def lock(self, area: Area = "memory", who: Who = OWNER) -> Path:
        """The lock of a scope's namespace."""
        return self.world.root / lock_path(namespace(who, area))

    def audit(self, who: Who = OWNER) -> Path:
        """The directory of a tenant's audit."""
        return self.world.root / audit_dir(("tenant", who.tenant))

    @property
    def home(self) -> Path:
        """The trust home of this store."""
        (home,) = self.world.trust.iterdir()
        return home

    def anchors(self, area: Area = "memory", who: Who = OWNER) -> Path:
        """The anchor file of a scope's namespace, outside the root."""
        return self.home / anchor_path(namespace(who, area))


Read = Callable[[], object]


def reads(session: Session, found: Furnished, area: Area) -> Mapping[str, Read]:
    """Every verb that reads an area, asking for what the scope holds."""
    if area == "state":
        state = session.state
        return {
            "state.get": lambda: state.get(KEY),
            "state.list": state.list,
            "state.history": lambda: state.history(KEY),
        }
    return {
        "get": lambda: [session.get(one) for one in found.records],
        "list": session.list,
        "list all": lambda: session.list(include_superseded=True),
        "search": lambda: session.search("quartz").hits,
        "history": lambda: [session.history(one) for one in found.records],
    }


def answers(session: Session, found: Furnished) -> dict[str, object]:
    """What every verb of both areas answers."""
    both = {**reads(session, found, "memory"), **reads(session, found, "state")}
    return {verb: read() for verb, read in both.items()}


def settle() -> None:
    """Wait until what was just seen of a directory or file may be trusted unchanged."""
    time.sleep(SETTLED_NS / 1e9 * 1.2)


def warm(store: OpenStore, house: House) -> dict[Furnished, dict[str, object]]:
    """What every verb answers in every scope, to a process that read it all before."""
    everyone = (house.owner, *house.neighbours)
    for found in everyone:
        answers(found.who.bind(store), found)
    settle()
    return {found: answers(found.who.bind(store), found) for found in everyone}


def events(house: House, who: Who = OWNER) -> list[AuditLine]:
    """The verified audit of a tenant, oldest first."""
    with house.world.open() as store:
        return list(read_events(store.audit, ("tenant", who.tenant)))


def is_hidden(read: Read) -> bool:
    """Whether a read answers as if nothing were there."""
    try:
        read()
    except NotVisible:
        return True
    return False
