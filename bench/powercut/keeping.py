"""Operations on a whole store that are cut: a backup, a restore in its place, an accepted loss."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bench.keeping import back_up, give_up, put_back
from bench.owning import Hand
from bench.powercut.operations import Keep, Kept, Operation, store_of
from bench.world import Who, World
from nsstore import InvalidInput, OpenStore, Refused, Session
from nsstore.rights import Assurance, begin
from nsstore.store.accept import losses
from nsstore.trust.signer import Signer

FILE: Final = "everything.backup"
SAID: Final = ("kept before", "kept as well")


def _hand(store: OpenStore) -> Hand:
    """The owner's hand, the same in every process."""
    return Hand(Signer(store.trust.store_id, Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)))


def _world(session: Session) -> World:
    return World(place=Path(store_of(session).root.path).parent)


def _two_records(world: World, who: Who) -> tuple[Kept, ...]:
    with world.open() as store:
        session = who.bind(store)
        return tuple(Kept(record_id=session.remember(text).record_id, text=text) for text in SAID)


def _a_backup(world: World, who: Who) -> tuple[Kept, ...]:
    kept = _two_records(world, who)
    with world.open() as store:
        back_up(store, world.place / FILE)
    os.sync()
    return kept


def _a_loss(world: World, who: Who) -> tuple[Kept, ...]:
    kept = _two_records(world, who)
    with world.open() as store:
        begin(store.rights.listed, _hand(store).signer, "ada", Assurance.CI, why="a test", anew=False)
        gone = who.bind(store).remember("lost").record_id
    next(world.root.rglob(f"{gone}.md")).unlink()
    os.sync()
    return kept


def _back_up(session: Session, keep: Keep) -> None:
    back_up(store_of(session), _world(session).place / FILE)
    first = session.list().items[-1]
    keep(Kept(record_id=first.record_id, text=first.text))


def _restore(session: Session, _: Keep) -> None:
    world = _world(session)
    world.root.rename(world.place / "gone")
    os.sync()
    put_back(world.place / FILE, world)


def _accept(session: Session, _: Keep) -> None:
    store = store_of(session)
    give_up(store, _hand(store))


def _try_the_file(world: World, kept: Sequence[Kept]) -> None:
    """An acknowledged backup is whole; before that it may be none, but nothing else."""
    other = World(place=world.place / "again")
    with suppress(*(() if kept else (FileNotFoundError, InvalidInput, Refused))):
        if kept or (world.place / FILE).exists():
            assert put_back(world.place / FILE, other).records == len(SAID)
    shutil.rmtree(other.place, ignore_errors=True)
    (world.place / FILE).unlink(missing_ok=True)


def _restore_again(world: World, _: Sequence[Kept]) -> None:
    """What is no store is removed and made again."""
    if not (world.root / "store.json").exists():
        shutil.rmtree(world.root, ignore_errors=True)
        put_back(world.place / FILE, world)


def _accept_again(world: World, _: Sequence[Kept]) -> None:
    """What was not reached is accepted by another statement."""
    with world.open() as store:
        if losses(store).losses:
            assert give_up(store, _hand(store)).changed == ()


KEEPING: Final = (
    Operation(
        name="backup",
        area="memory",
        least=10,
        tried=(),
        prepare=_two_records,
        act=_back_up,
        mend=_try_the_file,
    ),
    Operation(
        name="restore",
        area="memory",
        least=60,
        tried=(),
        prepare=_a_backup,
        act=_restore,
        mend=_restore_again,
    ),
    Operation(
        name="accept",
        area="memory",
        least=20,
        tried=(),
        prepare=_a_loss,
        act=_accept,
        mend=_accept_again,
    ),
)
