"""A store with an owner and one grant, for whoever attacks the list."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Self

import msgspec

from bench.owning import TENANT, Hand
from bench.world import Who, World
from nsstore import OpenStore
from nsstore.audit import EventKind, read_events
from nsstore.layout import RIGHTS_LIST
from nsstore.policy import Kind, Opens

ME: Final = Who()
CODEX: Final = Who(agent="codex")
OPENS: Final = Opens(agents=("codex",))


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A store with an owner, a record of the asker's and one of another agent's, and one live grant."""

    world: World
    hand: Hand
    mine: str
    theirs: str
    number: int

    @property
    def list_file(self) -> Path:
        """The owner's list on the disk."""
        return self.world.root / RIGHTS_LIST

    @property
    def home(self) -> Path:
        """The trust home of the store."""
        (home,) = self.world.trust.iterdir()
        return home

    def lines(self) -> list[bytes]:
        """The lines of the list."""
        return self.list_file.read_bytes().splitlines(keepends=True)

    def write(self, *lines: bytes) -> None:
        """Put lines in the place of the list."""
        self.list_file.write_bytes(b"".join(lines))

    @classmethod
    def build(cls, place: Path) -> Self:
        """Make the store, its owner and the grant."""
        world = World(place=place)
        with world.make() as store:
            mine = ME.bind(store).remember("mine").record_id
            theirs = CODEX.bind(store).remember("theirs").record_id
            hand = Hand.of(store)
            number = hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
        return cls(world=world, hand=hand, mine=mine, theirs=theirs, number=number)


def read(store: OpenStore, who: Who = ME) -> set[str]:
    """The ids of the records that a scope reads."""
    return {one.record_id for one in who.bind(store).list().items}


def incidents(store: OpenStore) -> list[str | None]:
    """What the tenant's audit says of the owner's list."""
    events = read_events(store.audit, TENANT)
    return [one.reason for one in events if one.event is EventKind.CONTAMINATION and one.verb == "rights"]
