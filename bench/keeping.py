"""Backup, restore and acceptance of a small world, without a terminal or a slow passphrase."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from unittest.mock import patch

from bench.owning import Hand
from bench.world import Who, World
from nsstore import OpenStore
from nsstore.rights import Assurance
from nsstore.root.named import NamedFile, NewNamed
from nsstore.store.accept import Done, accept, losses
from nsstore.store.backup import BackedUp, backup
from nsstore.store.restore import Restored, restore
from nsstore.trust import backup as sealing

PASS: Final = "correct horse battery"
PEOPLE: Final = ("alice", "bob")
SESSIONS: Final = ("s-1", "s-2", "s-3")
FEW: Final = 2


@contextmanager
def quick_keys() -> Generator[None]:
    """Keys are made from passphrases at a small part of the real cost."""
    with patch.object(sealing, "SCRYPT_N", 2**4):
        yield


def talk(store: OpenStore, turns: int = FEW, *, word: str = "turn") -> dict[str, str]:
    """Dialogues of two people over three sessions in two tenants, and a document; texts by record id."""
    said: dict[str, str] = {}
    for tenant in ("acme", "umbrella"):
        for user in PEOPLE:
            for session in SESSIONS:
                me = Who(tenant=tenant, user=user, session=session).bind(store)
                for turn in range(turns):
                    text = f"{user}: {word} {turn} of {session} at {tenant}, about the zebra and the fjord"
                    said[me.remember(text).record_id] = text
        put = Who(tenant=tenant).bind(store).state.put("plan", f"{word} one of {tenant}")
        said[put.record_id] = f"{word} one of {tenant}"
    return said


def everything(store: OpenStore) -> dict[str, str]:
    """What all of these people find: texts by record id."""
    found: dict[str, str] = {}
    for tenant in ("acme", "umbrella"):
        for user in PEOPLE:
            for session in SESSIONS:
                me = Who(tenant=tenant, user=user, session=session).bind(store)
                found |= {one.record_id: me.get(one.record_id).text for one in me.list(limit=1000).items}
        one = Who(tenant=tenant).bind(store).state.get("plan")
        found[one.record_id] = one.text
    return found


def back_up(store: OpenStore, file: Path) -> BackedUp:
    """The store in one file."""
    with quick_keys(), NewNamed(str(file), "the backup") as out:
        return backup(store, out, PASS, unseen)


def put_back(
    file: Path, world: World, *, to: Path | None = None, old: Path | None = None, passphrase: str = PASS
) -> Restored:
    """The store of a backup, made again where a world has its root, or somewhere else."""
    with NamedFile(str(file), "the backup") as opened:
        return restore(
            opened.read, to or world.root, lambda: passphrase, unseen, trust_home=world.trust, old=old
        )


def unseen(_: int) -> None:
    """Nobody waits."""


def give_up(store: OpenStore, hand: Hand) -> Done:
    """Have the owner accept all that is lost."""
    found = losses(store).losses
    return accept(store, hand.signer, found, by="ada", why="a test", assurance=Assurance.CI)
