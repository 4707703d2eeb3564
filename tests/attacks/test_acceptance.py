"""What the owner accepted once accepts nothing else: no other store, no other loss, no later one."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from bench.keeping import give_up, talk
from bench.owning import Hand
from bench.world import Who, World
from nsstore import IntegrityError, Refused
from nsstore.ledger import BadLine, Ledger, Resumed, extend, make_line
from nsstore.rights import Accepted, Assurance
from nsstore.rights.signing import append
from nsstore.store.accept import Loss, accept, digest_of, go_on, losses

ME = Who()
PLACE = "acme/alice/shop/s-1"


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """A store of which one namespace was rolled back by two events, and its ledger as it was before."""

    world: World
    hand: Hand
    ledger: Path
    newer: bytes
    older: bytes


@pytest.fixture
def broken(tmp_path: Path) -> Broken:
    """That store."""
    world = World(place=tmp_path)
    with world.make() as store:
        hand = Hand.of(store)
        talk(store)
        (ledger,) = (world.root / "ledger").rglob(f"{PLACE}.log")
        older = ledger.read_bytes()
        last = [ME.bind(store).remember(f"given up {at}").record_id for at in range(2)]
    newer = ledger.read_bytes()
    ledger.write_bytes(older)
    for record_id in last:
        next(world.root.rglob(f"{record_id}.md")).rename(world.place / f"{record_id}.md")
    return Broken(world=world, hand=hand, ledger=ledger, newer=newer, older=older)


def closed(world: World) -> str:
    """Why the namespace is closed, in a process that never saw it."""
    with world.open() as store, pytest.raises(IntegrityError) as caught:
        ME.bind(store).list()
    return caught.value.incident_kind


def lost(world: World) -> tuple[Loss, ...]:
    """What is lost now."""
    with world.open() as store:
        return losses(store).losses


def test_what_is_given_up_stays_given_up(broken: Broken) -> None:
    """Older and newer ledgers that are put back, and the records of what was given up, are kept out."""
    world = broken.world
    with world.open() as store:
        give_up(store, broken.hand)
        ME.bind(store).remember("goes on")
    accepted = broken.ledger.read_bytes()
    for raw in (broken.older, broken.newer, accepted.splitlines(keepends=True)[0]):
        broken.ledger.write_bytes(raw)
        assert closed(world) == "rolled_back"
    broken.ledger.write_bytes(accepted)
    with world.open() as store:
        assert "goes on" in {one.text for one in ME.bind(store).list().items}


def test_records_given_up_are_strays(broken: Broken) -> None:
    """A record that was given up and turns up again is kept out and told, and never joins."""
    world = broken.world
    with world.open() as store:
        give_up(store, broken.hand)
    for one in world.place.glob("*.md"):
        one.rename(world.root / "memory" / PLACE / one.name)
    with world.open() as store:
        me = ME.bind(store)
        texts = {one.text for one in me.list().items}
        assert not any("given up" in text for text in texts)
        me.remember("goes on")
        assert not any("given up" in one.text for one in me.list().items)


def test_an_acceptance_is_used_once(broken: Broken) -> None:
    """The same statement over the same loss, after new writes, changes nothing; nor over a later loss."""
    world = broken.world
    found = lost(world)
    with world.open() as store:
        number = accept(store, broken.hand.signer, found, by="ada", why="x", assurance=Assurance.CI).statement
        kept = ME.bind(store).remember("after the acceptance").record_id
        again = go_on(store, number, found)
        assert (again.resumed, again.changed) == ((), found)
        assert kept in {one.record_id for one in ME.bind(store).list().items}
    broken.ledger.write_bytes(broken.older)
    next(world.root.rglob(f"{kept}.md")).unlink()
    with world.open() as store:
        assert go_on(store, number, found).resumed == ()
        later = losses(store).losses
        assert later != found
        with pytest.raises(Refused, match="something else"):
            go_on(store, number, later)
    assert closed(world) == "rolled_back"


def test_a_statement_of_another_store(broken: Broken, tmp_path: Path) -> None:
    """Another store's statement proves nothing here, in the list or as a number; nor does another's key."""
    world = broken.world
    found = lost(world)
    (tmp_path / "other").mkdir()
    with World(place=tmp_path / "other").make() as other:
        foreign = Hand.of(other)
        with world.open() as store:
            digest = digest_of(store.trust.store_id, found)
        signed = append(
            other.rights.listed,
            foreign.signer,
            lambda seq, at, prev: Accepted(
                seq=seq,
                at=at,
                by="eve",
                why="x",
                assurance=Assurance.CI,
                prev=prev,
                namespaces=1,
                events=2,
                records=0,
                digest=digest,
            ),
        )
    with world.open() as store:
        with pytest.raises(Refused, match="not the one"):
            accept(store, foreign.signer, found, by="eve", why="x", assurance=Assurance.CI)
        for number in (0, signed.statement.seq, 99):
            with pytest.raises(Refused, match="something else"):
                go_on(store, number, found)
    listed = world.root / "rights/statements.log"
    listed.write_bytes(listed.read_bytes() + signed.raw)
    with world.open() as store, pytest.raises(Refused, match="something else"):
        go_on(store, signed.statement.seq, found)
    assert closed(world) == "rolled_back"


def test_a_grant_is_no_acceptance(broken: Broken) -> None:
    """A statement that says something else, or less, opens nothing."""
    world = broken.world
    found = lost(world)
    with world.open() as store:
        number = accept(
            store, broken.hand.signer, [msgspec.structs.replace(found[0], gives_up=found[0].gives_up + 1)],
            by="ada", why="x", assurance=Assurance.CI,
        )  # fmt: skip
        assert number.resumed == ()
        with pytest.raises(Refused):
            go_on(store, number.statement, found)
        with pytest.raises(Refused):
            go_on(store, 0, found)
    assert closed(world) == "rolled_back"


def test_what_is_not_accepted(broken: Broken) -> None:
    """A chain that is not the one that was written is no loss: it stays closed whatever the owner says."""
    world = broken.world
    lines = broken.newer.splitlines(keepends=True)
    broken.ledger.write_bytes(b"".join([*lines[:-2], lines[-2].replace(b"written", b"wr1tten"), lines[-1]]))
    with world.open() as store:
        found = losses(store)
    assert found.losses == ()
    assert found.others == ((f"memory/{PLACE}", "chain_broken"),)


def test_a_resumption_names_what_it_gives_up(broken: Broken) -> None:
    """Even with a right MAC a resumption continues only its own chain, right behind what it gives up."""
    world = broken.world
    with world.open() as store:
        leaf = store.leaf(losses(store).losses[0].space)
        keys, chain = store.trust.keys, leaf.place.chain
        ledger = Ledger(chain)
        extend(keys, ledger, broken.older)
        head, seq = ledger.head.hex(), ledger.seq

        def line(**changes: object) -> Resumed:
            right = Resumed(
                seq=seq + 3, statement=1, gives_up=seq + 2, head="1a" * 32, nonce="2b" * 16, prev=head
            )
            return msgspec.structs.replace(right, **changes)

        ledger.copy().apply(make_line(keys, chain, line(), keys.active))
        for changes in (
            {"seq": seq + 2}, {"seq": seq + 4}, {"gives_up": seq + 1}, {"prev": "00" * 32},
            {"seq": seq, "gives_up": seq - 1}, {"seq": 1, "gives_up": 0},
        ):  # fmt: skip
            with pytest.raises(BadLine):
                ledger.copy().apply(make_line(keys, chain, line(**changes), keys.active))
        with pytest.raises(BadLine):
            Ledger(chain).apply(make_line(keys, chain, line(seq=0, prev="0" * 64), keys.active))


def test_nothing_of_it_is_left(broken: Broken) -> None:
    """A namespace that is gone whole is accepted when it is named, and begins again behind its anchor."""
    world = broken.world
    space = lost(world)[0].space
    broken.ledger.unlink()
    broken.ledger.with_suffix(".lock").unlink()
    shutil.rmtree(world.root / "memory" / PLACE)
    assert closed(world) == "rolled_back"
    with world.open() as store:
        assert losses(store).losses == ()
        found = losses(store, [space]).losses
        assert [(one.kept, one.records) for one in found] == [(-1, ())]
        done = accept(store, broken.hand.signer, found, by="ada", why="x", assurance=Assurance.CI)
        assert done.resumed == found
        assert ME.bind(store).list().items == ()
        ME.bind(store).remember("from the beginning")
    with world.open() as store:
        assert [one.text for one in ME.bind(store).list().items] == ["from the beginning"]
    broken.ledger.write_bytes(broken.newer)
    assert closed(world) == "rolled_back"
