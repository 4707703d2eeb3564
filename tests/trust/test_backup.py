"""A backup of the keys brings a lost trust home back, and never takes a present one back."""

import json
import secrets
import shutil
from pathlib import Path

import pytest

from bench.keeping import PASS
from nsstore import IntegrityError, InvalidInput, NotVisible, Refused
from nsstore.audit import verify
from nsstore.root import Root
from nsstore.trust import backup as sealing
from nsstore.trust import keyring
from nsstore.trust.backup import backup
from nsstore.trust.keys import Keys
from nsstore.trust.restore import Restored, restore
from tests.trust.conftest import House, bind, lose


def counts(done: Restored) -> tuple[int, int, bool]:
    """What a restore added."""
    return done.keys, done.anchors, done.binding


def test_a_restore_tells_which_keys_there_are(house: House) -> None:
    """It names every key that is there now: the backup's, and those it found."""
    old = house.backup()
    with house.open() as store:
        first = store.trust.keys.active
        second = keyring.rotate(store.trust.home)
    assert house.restore(old).held == tuple(sorted((first, second)))
    lose(house)
    assert house.restore(old).held == (first,)


def test_a_lost_trust_home_comes_back(house: House) -> None:
    """What was written before the backup, and after it in the same namespaces, is readable again."""
    with house.open() as store:
        before = bind(store).remember("before").record_id
        document = bind(store).state.put("plan", "one").record_id
        raw = backup(store.trust, PASS)
        after = bind(store).remember("after").record_id
        bind(store).state.put("plan", "two")
    lose(house)
    with pytest.raises(Refused, match="keys restore"):
        house.open()
    assert counts(house.restore(raw)) == (1, 3, True)
    with house.open() as store:
        me = bind(store)
        assert [me.get(one).text for one in (before, after)] == ["before", "after"]
        assert [one.text for one in me.state.history("plan")] == ["two", "one"]
        assert me.state.history("plan")[1].record_id == document
        third = me.remember("and on").record_id
        assert [hit.record_id for hit in me.search("on").hits if hit.record_id == third]
        assert verify(store.audit, ("tenant", "acme")).whole


def test_what_began_after_the_backup_stays_closed(house: House) -> None:
    """A namespace that no anchor proves is closed with a clear message, read and written, and no other is."""
    with house.open() as store:
        bind(store).remember("known")
        raw = backup(store.trust, PASS)
        born = bind(store, "tuesday").remember("born later").record_id
    lose(house)
    house.restore(raw)
    with house.open() as store:
        assert bind(store).list().total == 1
        for call in (
            lambda: bind(store, "tuesday").get(born),
            lambda: bind(store, "tuesday").list(),
            lambda: bind(store, "tuesday").remember("more"),
        ):
            with pytest.raises(IntegrityError, match="the trust home does not prove this namespace"):
                call()
        with pytest.raises(NotVisible):
            bind(store).get(born)
        bind(store, "wednesday").remember("a new one begins as ever")


def test_an_old_backup_takes_nothing_back(house: House) -> None:
    """Over a trust home that went on, an older backup changes not one byte."""
    with house.open() as store:
        bind(store).remember("one")
    old = house.backup()
    with house.open() as store:
        bind(store).remember("two")
        bind(store, "tuesday").remember("three")
        keyring.rotate(store.trust.home)
    before = house.files()
    assert counts(house.restore(old)) == (0, 0, False)
    assert house.files() == before
    next((house.root / "memory").rglob("*/monday/*.md")).unlink()
    with house.open() as store, pytest.raises(IntegrityError):
        bind(store).list()


def test_a_root_rolled_back_stays_refused(house: House, tmp_path: Path) -> None:
    """An old copy of the root and the backup of that day do not open together over a newer trust home."""
    with house.open() as store:
        bind(store).remember("one")
    old = house.backup()
    shutil.copytree(house.root / "memory", tmp_path / "memory")
    shutil.copytree(house.root / "ledger", tmp_path / "ledger")
    with house.open() as store:
        bind(store).remember("two")
    for name in ("memory", "ledger"):
        shutil.rmtree(house.root / name)
        shutil.copytree(tmp_path / name, house.root / name)
    house.restore(old)
    with house.open() as store, pytest.raises(IntegrityError, match="older on the disk"):
        bind(store).list()


def test_only_missing_cells_are_added(house: House) -> None:
    """Anchor files that lost some cells get those back, behind what is there, half cells written over."""
    with house.open() as store:
        bind(store).remember("one")
        bind(store, "tuesday").remember("two")
    raw = house.backup()
    file = house.home / "anchors/memory/acme/ada/atlas.anchors"
    first, second = file.read_bytes()[:256], file.read_bytes()[256:]
    for broken in (first, second, first + second[:100], b""):
        file.write_bytes(broken)
        house.restore(raw)
        whole = file.read_bytes()
        assert whole.startswith(broken[: len(broken) // 256 * 256])
        assert {whole[:256], whole[256:]} == {first, second}
        with house.open() as store:
            assert bind(store).list().total == bind(store, "tuesday").list().total == 1


def test_keys_merge(house: House) -> None:
    """Keys of a backup join those that are there; the one that signs stays; a clash is refused."""
    with house.open() as store:
        bind(store).remember("one")
    raw = house.backup()
    keys = house.home / "keys.json"
    first = Keys.from_bytes(keys.read_bytes())
    other = Keys("0" * 8, {"0" * 8: secrets.token_bytes(32)})
    keys.write_bytes(other.to_bytes())
    assert house.restore(raw).keys == 1
    merged = Keys.from_bytes(keys.read_bytes())
    assert merged.active == other.active
    assert merged.masters == first.masters | other.masters
    with house.open() as store:
        bind(store).remember("two")
        assert bind(store).list().total == 2
    keys.write_bytes(Keys(first.active, {first.active: secrets.token_bytes(32)}).to_bytes())
    with pytest.raises(Refused, match="another key under the same id"):
        house.restore(raw)


def test_a_damaged_key_file_is_replaced_and_kept(house: House) -> None:
    """A key file that cannot be read counts as missing, and its bytes are kept beside the new one."""
    with house.open() as store:
        bind(store).remember("one")
    raw = house.backup()
    (house.home / "keys.json").write_bytes(b"{broken")
    with pytest.raises(Refused, match="keys restore"):
        house.open()
    assert house.restore(raw).keys == 1
    (kept,) = house.home.glob("keys.json.damaged-*")
    assert kept.read_bytes() == b"{broken"
    with house.open() as store:
        assert bind(store).list().total == 1


def test_it_is_bound_to_its_root(house: House, tmp_path: Path) -> None:
    """A backup is restored only for the very directory it was made of: no copy, no other store."""
    with house.open() as store:
        bind(store).remember("one")
    raw = house.backup()
    lose(house)
    copy = tmp_path / "copy"
    shutil.copytree(house.root, copy)
    with Root.open(copy) as root, pytest.raises(Refused, match="bound to another directory"):
        restore(raw, PASS, root=root, store_id=house.store_id, trust_home=house.trust)
    house.root.rename(tmp_path / "away")
    copy.rename(house.root)
    with pytest.raises(Refused, match="bound to another directory"):
        house.restore(raw)
    assert not house.trust.exists()
    other = House(tmp_path / "other")
    with pytest.raises(InvalidInput, match="another store"):
        other.restore(raw)


def test_a_trust_home_bound_elsewhere_is_left_alone(house: House, tmp_path: Path) -> None:
    """A trust home whose binding names another directory gets nothing."""
    raw = house.backup()
    bound = json.loads((house.home / "binding.json").read_bytes())
    bound["path"] = str(tmp_path / "elsewhere")
    (house.home / "binding.json").write_bytes(json.dumps(bound).encode())
    (house.home / "keys.json").unlink()
    with pytest.raises(Refused, match="bound to another directory"):
        house.restore(raw)
    assert not (house.home / "keys.json").exists()


def test_a_restore_cut_short_can_be_repeated(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the binding is written the store stays closed, and a second restore completes it."""
    with house.open() as store:
        bind(store).remember("one")
    raw = house.backup()
    lose(house)

    def fail(*_: object) -> int:
        raise OSError(28, "full")

    monkeypatch.setattr("nsstore.trust.restore._add_cells", fail)
    with pytest.raises(OSError, match="full"):
        house.restore(raw)
    monkeypatch.undo()
    monkeypatch.setattr(sealing, "SCRYPT_N", 2**10)
    with pytest.raises(Refused):
        house.open()
    assert counts(house.restore(raw)) == (0, 2, True)
    with house.open() as store:
        assert bind(store).list().total == 1


def test_a_file_of_somebodys_own_is_left_out(house: House) -> None:
    """What is no anchor file is no part of a backup, and stops none."""
    with house.open() as store:
        bind(store).remember("one")
    for name in ("anchors/audit/notes.txt", "anchors/memory/acme/ada/A.anchors", "anchors/state"):
        (house.home / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        (house.home / name).write_text("mine")
        (house.home / name).chmod(0o600)
    (house.home / "anchors/state").unlink()
    raw = house.backup()
    lose(house)
    assert house.restore(raw).anchors == 2
    assert not (house.home / "anchors/audit/notes.txt").exists()
