"""Backup and restore: everything comes back, on this machine and on another, and nobody is disturbed."""

import os
import shutil
from pathlib import Path

import pytest

from bench.child import Child, Report
from bench.keeping import back_up, everything, give_up, put_back, talk
from bench.owned import OPENS
from bench.owning import Hand
from bench.world import Who, World
from nsstore import IntegrityError, InvalidInput, OpenStore, Refused
from nsstore.audit import read_events, verify
from nsstore.clock import utc_now
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger
from nsstore.policy import Kind
from nsstore.record import Record
from nsstore.store import Leaf, read_member
from nsstore.store.accept import losses

TENANT = ("tenant", "acme")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a backup is written."""
    return tmp_path / "everything.backup"


def elsewhere(tmp_path: Path) -> World:
    """Another machine: neither root nor trust home of the store are there."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    return World(place=place)


def lose(world: World) -> Path:
    """The root is gone from its place; what is left of it."""
    return world.root.rename(world.place / "damaged")


def test_another_machine(world: World, store: OpenStore, file: Path, tmp_path: Path) -> None:
    """Without any trust home, one file and its passphrase are the whole store, and it opens at once."""
    said = talk(store)
    hand = Hand.of(store)
    hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
    made = back_up(store, file)
    assert (made.namespaces, made.records, made.audits, made.left_out) == (14, len(said), 2, ())
    assert file.stat().st_mode & 0o7777 == 0o600
    assert [one.verb for one in read_events(store.audit, TENANT) if one.event == "read"] == ["backup"]
    other = elsewhere(tmp_path)
    done = put_back(file, other)
    assert (done.records, done.namespaces, done.store_id) == (made.records, 14, store.store_id)
    assert (done.lacking.losses, done.lacking.others, done.rights, done.audits) == ((), (), None, ())
    with other.open() as restored:
        assert everything(restored) == said
        assert len(restored.rights.current().grants) == 1
        assert len(Who().bind(restored).search("zebra fjord").hits) == 2
        assert verify(restored.audit, TENANT).whole
        talk(restored, 1, word="later")
        assert losses(restored).losses == ()
    for at in other.root.rglob("*"):
        assert at.lstat().st_mode & 0o7777 == (0o700 if at.is_dir() else 0o600), at
    with world.open() as untouched:
        assert everything(untouched) == said


def test_what_is_copied_is_a_prefix(world: World, store: OpenStore, file: Path, tmp_path: Path) -> None:
    """Writers go on in other processes: each chain is copied as it was at one moment, to the last byte."""
    talk(store)

    def write(report: Report) -> None:
        with world.open() as mine:
            sessions = [Who(session=f"s-{one}").bind(mine) for one in range(1, 6)]
            for turn in range(200):
                receipt = sessions[turn % 5].remember(f"written meanwhile {turn}")
                report(receipt.record_id.encode())

    writers = [Child(write), Child(write)]
    made = [back_up(store, file.with_name(f"b{at}")) for at in range(4)]
    ends = [one.end() for one in writers]
    assert [one.status for one in ends] == [0, 0], ends
    assert all(one.left_out == () for one in made)
    for at, one in enumerate(made):
        other = World(place=tmp_path / f"e{at}")
        done = put_back(file.with_name(f"b{at}"), other)
        assert (done.records, done.lacking.losses, done.lacking.others) == (one.records, (), ())
        for ledger in (other.root / "ledger").rglob("*.log"):
            whole = world.root / ledger.relative_to(other.root)
            assert whole.read_bytes().startswith(ledger.read_bytes())
        with other.open() as restored:
            for number in range(1, 6):
                Who(session=f"s-{number}").bind(restored).list()


def test_forgotten_while_it_is_copied(
    world: World, store: OpenStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that is forgotten between its ledger and its turn is not in the file, nor anything of it."""
    me = Who().bind(store)
    first, second = me.remember("stays for good").record_id, me.remember("secret of the canary").record_id
    went = list[str]()

    def forget_first(leaf: Leaf, ledger: Ledger, record_id: str) -> Record:
        if record_id == second and not went:
            went.append(second)
            with world.open() as other:
                Who().bind(other).forget(second)
        return read_member(leaf, ledger, record_id)

    monkeypatch.setattr("nsstore.store.backup.read_member", forget_first)
    made = back_up(store, file)
    assert (made.records, made.left_out, went) == (1, (), [second])
    raw = file.read_bytes()
    assert b"canary" not in raw
    assert raw.count(b"stays for good") == 1
    assert first.encode() in raw


def test_damage_is_left_out(store: OpenStore, world: World, file: Path, tmp_path: Path) -> None:
    """A damaged record is left out and told, and the rest is there; so is a closed namespace."""
    hand, said = Hand.of(store), talk(store)
    me = Who().bind(store)
    altered, kept = (one.record_id for one in me.list().items)
    (path,) = world.root.rglob(f"{altered}.md")
    path.write_bytes(path.read_bytes().replace(b"zebra", b"Zebra"))
    (ledger,) = (world.root / "ledger").rglob("acme/bob/shop/s-2.log")
    ledger.write_bytes(ledger.read_bytes().splitlines(keepends=True)[0])
    shutil.rmtree(world.root / "memory/acme/bob/shop/s-2")
    made = back_up(store, file)
    assert dict(made.left_out) == {
        str(path.relative_to(world.root)): "altered",
        "memory/acme/bob/shop/s-2": "rolled_back",
    }
    other = elsewhere(tmp_path)
    done = put_back(file, other)
    assert [one.records for one in done.lacking.losses] == [(altered,)]
    with other.open() as restored:
        me = Who().bind(restored)
        with pytest.raises(IntegrityError, match="gone"):
            me.list()
        give_up(restored, hand)
        assert [one.record_id for one in me.list().items] == [kept]
        assert me.get(kept).text == said[kept]
        assert [one.record_id for one in me.search("zebra").hits] == [kept]


def test_an_older_state_is_accepted(world: World, store: OpenStore, file: Path) -> None:
    """Where the trust home knows more, what lacks it stays closed until the owner says so, then goes on."""
    hand = Hand.of(store)
    said = talk(store)
    me = Who().bind(store)
    gone = me.list().items[0].record_id
    back_up(store, file)
    me.forget(gone)
    later = me.remember("after the backup").record_id
    with pytest.raises(Refused, match="still stands"):
        put_back(file, world, to=world.place / "copy")
    store.close()
    lose(world)
    done = put_back(file, world)
    (loss,) = done.lacking.losses
    assert (loss.path, loss.events, loss.records) == ("memory/acme/alice/shop/s-1", 3, ())
    with world.open() as restored:
        mine, bobs = Who().bind(restored), Who(user="bob").bind(restored)
        with pytest.raises(IntegrityError, match="older"):
            mine.list()
        with pytest.raises(IntegrityError, match="older"):
            mine.remember("no")
        assert len(bobs.list().items) == 2
        assert [one.path for one in give_up(restored, hand).resumed] == [loss.path]
        assert everything(restored) == said
        assert mine.get(gone).text == said[gone]
        fresh = mine.remember("it goes on").record_id
    with world.open() as again:
        ids = {one.record_id for one in Who().bind(again).list().items}
        assert fresh in ids
        assert later not in ids
        assert losses(again).losses == ()
        assert verify(again.audit, TENANT).events


def test_what_is_left_counts(world: World, store: OpenStore, file: Path) -> None:
    """With what is left of the store, what was forgotten stays forgotten and later records come along."""
    hand = Hand.of(store)
    said = talk(store)
    me = Who().bind(store)
    gone = me.list().items[0].record_id
    number = hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
    back_up(store, file)
    me.forget(gone)
    later, lost = me.remember("after the backup").record_id, me.remember("lost for good").record_id
    hand.revoke(store, number)
    store.close()
    old = lose(world)
    next(old.rglob(f"{lost}.md")).unlink()
    done = put_back(file, world, old=old)
    assert done.kept_out == (("memory/acme/alice/shop/s-1", gone),)
    assert (done.brought, done.rights) == (1, None)
    (loss,) = done.lacking.losses
    assert (loss.events, loss.records) == (0, (lost,))
    with world.open() as restored:
        assert restored.rights.current().grants == ()
        give_up(restored, hand)
        mine = Who().bind(restored)
        assert mine.get(later).text == "after the backup"
        found = everything(restored)
        assert gone not in found
        assert {one for one in said if one != gone} <= found.keys()


def test_revocations_are_not_undone(world: World, store: OpenStore, file: Path) -> None:
    """A list from before a revocation opens nothing, and nothing is accepted by it, until it begins anew."""
    hand = Hand.of(store)
    talk(store)
    number = hand.grant(store, Kind.CROSS_AGENT, opens=OPENS)
    back_up(store, file)
    hand.revoke(store, number)
    Who().bind(store).remember("after the backup")
    store.close()
    lose(world)
    done = put_back(file, world)
    assert done.rights is IncidentKind.ROLLED_BACK
    with world.open() as restored:
        assert restored.rights.current().grants == ()
        with pytest.raises(Refused, match="--anew"):
            give_up(restored, hand)


def test_only_into_nothing(world: World, store: OpenStore, file: Path, tmp_path: Path) -> None:
    """A restore takes no directory that holds anything, lies in a store, or overlaps a trust home."""
    talk(store, 1)
    back_up(store, file)
    other = elsewhere(tmp_path)
    other.root.mkdir()
    (other.root / "mine").write_text("precious")
    with pytest.raises(InvalidInput, match="absent or empty"):
        put_back(file, other)
    assert os.listdir(other.root) == ["mine"]
    inside = World(place=world.root / "memory")
    with pytest.raises(InvalidInput):
        put_back(file, inside)
    shutil.rmtree(other.root)
    with pytest.raises(Refused, match="passphrase"):
        put_back(file, other, passphrase="wrong horse battery")
    assert not other.root.exists()
    assert not other.trust.exists()


def test_an_audit_under_a_further_name(world: World, store: OpenStore, file: Path, tmp_path: Path) -> None:
    """A month whose name was taken is in the backup under its further name; what took its own is told."""
    audit = world.root / "audit" / "tenants" / "acme"
    store.root.make_dir("audit/tenants/acme").close()
    month = utc_now()[:7]
    (audit / f"{month}.jsonl").mkdir(mode=0o700)
    talk(store, 1)
    made = back_up(store, file)
    assert made.left_out == ((f"audit/tenants/acme/{month}.jsonl", "escape"),)
    other = elsewhere(tmp_path)
    assert put_back(file, other).audits == ()
    with other.open() as restored:
        talk(restored, 1, word="later")
        assert verify(restored.audit, TENANT).whole
    assert (other.root / "audit" / "tenants" / "acme" / f"{month}.2.jsonl").stat().st_size > 0
