"""A new key signs, the old ones still verify, also in a process that was open before."""

from concurrent.futures import ThreadPoolExecutor

from nsstore.audit import verify
from nsstore.trust import keyring
from nsstore.trust.keys import Keys
from tests.trust.conftest import House, bind


def test_rotation_keeps_what_was_sealed(house: House) -> None:
    """After a rotation old records verify, new ones are sealed with the new key, and anchors advance."""
    with house.open() as store:
        old = bind(store).remember("old").record_id
        before = store.trust.keys.active
        key_id = keyring.rotate(store.trust.home)
    assert key_id != before
    with house.open() as store:
        assert store.trust.keys.active == key_id
        new = bind(store).remember("new").record_id
        assert [one.record_id for one in bind(store).list().items] == [new, old]
        assert verify(store.audit, ("tenant", "acme")).whole
    (file,) = (house.root / "memory").rglob(f"{new}.md")
    assert f'seal: "1:{key_id}:' in file.read_text()


def test_an_open_store_lives_through_a_rotation(house: House) -> None:
    """A process that was open before a rotation reads what others seal with the new key, and writes on."""
    with house.open() as mine:
        first = bind(mine).remember("mine").record_id
        with house.open() as theirs:
            keyring.rotate(theirs.trust.home)
        with house.open() as theirs:
            second = bind(theirs).remember("theirs").record_id
        third = bind(mine).remember("mine again").record_id
        assert [one.record_id for one in bind(mine).list().items] == [third, second, first]
        assert bind(mine).get(second).text == "theirs"
        assert verify(mine.audit, ("tenant", "acme")).whole
    with house.open() as store:
        assert bind(store).list().total == 3


def test_rotations_lose_no_key(house: House) -> None:
    """However many rotate at once, every key that was made is kept."""
    with house.open() as store:
        home = store.trust.home
        with ThreadPoolExecutor(4) as pool:
            made = set(pool.map(keyring.rotate, [home] * 8))
    kept = Keys.from_bytes((house.home / "keys.json").read_bytes())
    assert len(made) == 8
    assert made < set(kept.masters)
