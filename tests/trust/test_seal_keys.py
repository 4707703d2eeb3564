"""Keys: one per tenant or group, old ones verify, the active one signs; a damaged file is no key file."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

import msgspec
import pytest

from nsstore import digests
from nsstore.errors import EscapeError, Refused
from nsstore.root import Root
from nsstore.trust import BadLine, Chain, Keys, frame, unframe
from nsstore.trust.keys import load_keys, save_keys

TENANTS = [("tenant", "acme"), ("group", "acme"), ("tenant", "acme2"), ("tenant", "Acme"), ("group", "")]


@pytest.fixture
def keys() -> Keys:
    """The golden store's one key."""
    return Keys("0123abcd", {"0123abcd": b"\xff" * 32})


@pytest.fixture
def chain() -> Chain:
    """A memory namespace of the golden store."""
    dims = (
        ("tenant", "acme"),
        ("user", "Zoë Müller"),
        ("project", "github.com/acme/shop"),
        ("session", "s-1"),
    )
    return Chain(bytes(range(16)), "memory", dims)


def test_a_tenant_key_is_what_the_format_says(keys: Keys) -> None:
    """The tenant key is blake2b-256 of LP(dimension) LP(id) under the master, for the purpose `tenant`."""
    said = b"\0\0\0\x05group" + b"\0\0\0\x07" + "Zoë é".encode()
    want = blake2b(said, key=b"\xff" * 32, person=b"nss1/tenant", digest_size=32).digest()
    assert keys.tenant("0123abcd", ("group", "Zoë é")) == want


def test_no_two_tenants_share_a_key(keys: Keys) -> None:
    """Tenant and group of one name, and names that differ in case or by one letter, have other keys."""
    other = keys.rotated()
    made = {keys.tenant(keys.active, tenant) for tenant in TENANTS}
    made |= {other.tenant(other.active, tenant) for tenant in TENANTS}
    assert len(made) == 2 * len(TENANTS)
    assert None not in made


def test_a_split_of_the_same_letters_is_another_tenant(keys: Keys) -> None:
    """Where a name ends is part of what is keyed."""
    assert keys.tenant(keys.active, ("tenant", "ab")) != keys.tenant(keys.active, ("tenanta", "b"))


def test_rotation(keys: Keys, chain: Chain) -> None:
    """After a rotation the new key signs, the old one still verifies, and without the old one it does not."""
    old, _ = frame(keys, chain, digests.LEDGER, b'{"a":1}', keys.active)
    rotated = keys.rotated()
    new, _ = frame(rotated, chain, digests.LEDGER, b'{"a":1}', rotated.active)
    assert rotated.active != keys.active
    assert unframe(rotated, chain, digests.LEDGER, old)[1] == keys.active
    assert unframe(rotated, chain, digests.LEDGER, new)[1] == rotated.active
    with pytest.raises(BadLine, match="key"):
        unframe(keys, chain, digests.LEDGER, new)
    with pytest.raises(BadLine):
        unframe(Keys.new(), chain, digests.LEDGER, old)


def test_the_key_file_round_trip(tmp_path: Path, keys: Keys) -> None:
    """Keys come back from their file as they went in, active one and all; the file is private and alone."""
    rotated = keys.rotated().rotated()
    with Root.make(tmp_path / "home") as home:
        save_keys(home, keys)
        save_keys(home, rotated)
        found = load_keys(home)
        assert (found.active, found.masters) == (rotated.active, rotated.masters)
    assert {"keys.json"} <= set(os.listdir(tmp_path / "home")) <= {"keys.json", "tmp"}
    assert (tmp_path / "home" / "keys.json").stat().st_mode & 0o777 == 0o600


def damaged(keys: Keys) -> list[bytes]:
    """Key files that are none: each with one thing wrong."""
    whole = msgspec.json.decode(keys.to_bytes())
    key = whole["keys"][0]
    changed: list[object] = [
        whole | {"format": 2},
        whole | {"format": "1"},
        whole | {"extra": None},
        whole | {"active": "00000000"},
        whole | {"active": None},
        whole | {"keys": []},
        {name: value for name, value in whole.items() if name != "active"},
        whole | {"keys": [key | {"master": key["master"][:-2]}]},
        whole | {"keys": [key | {"master": key["master"] + "00"}]},
        whole | {"keys": [key | {"master": " " + key["master"][:-1]}]},
        whole | {"keys": [key | {"master": "x" * 64}]},
        whole | {"keys": [key | {"master": key["master"].upper()}]},
        whole | {"keys": [key, key | {"master": "00" * 32}]},
        whole | {"keys": [key | {"id": "short"}], "active": "short"},
        whole | {"keys": [key | {"id": "0123ABCD"}], "active": "0123ABCD"},
        whole | {"keys": [key | {"id": "0123abcd\n"}], "active": "0123abcd\n"},
        [],
        None,
    ]
    raw = keys.to_bytes()
    return [
        *map(msgspec.json.encode, changed),
        b"",
        b"\xff" + raw,
        raw[:-3],
        raw[: len(raw) // 2],
        raw + b"{}",
        b"[" * 60_000,
    ]


def test_a_damaged_key_file_is_refused(tmp_path: Path, keys: Keys) -> None:
    """Whatever is wrong with a key file, it is refused, naming the way back; none of it is half believed."""
    with Root.make(tmp_path / "home") as home:
        for raw in damaged(keys):
            home.replace("keys.json", raw)
            with pytest.raises(Refused, match=r"damaged: `nsstore keys restore`") as told:
                load_keys(home)
            assert told.value.reason == "keys"
            assert "master" not in str(told.value)
        home.replace("keys.json", keys.to_bytes())
        assert load_keys(home).masters == keys.masters


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path, keys: Keys) -> None:
    """A key file that is open to others, has a second name, or is a link, is no key file."""
    with Root.make(tmp_path / "home") as home:
        at = tmp_path / "home" / "keys.json"
        save_keys(home, keys)
        at.chmod(0o644)
        with pytest.raises(EscapeError):
            load_keys(home)
        at.chmod(0o600)
        os.link(at, tmp_path / "copy")
        with pytest.raises(EscapeError):
            load_keys(home)
        at.unlink()
        at.symlink_to(tmp_path / "copy")
        with pytest.raises(EscapeError):
            load_keys(home)


def test_a_key_added_by_another_process_is_found(tmp_path: Path, keys: Keys) -> None:
    """A process from before a rotation verifies what is sealed after it, and signs as before."""
    with Root.make(tmp_path / "home") as home:
        save_keys(home, keys)
        early = load_keys(home)
        later = keys.rotated()
        save_keys(home, later)
        assert early.tenant(later.active, ("tenant", "acme")) == later.tenant(
            later.active, ("tenant", "acme")
        )
        assert early.active == keys.active
        assert early.tenant("ffffffff", ("tenant", "acme")) is None
        os.unlink(tmp_path / "home" / "keys.json")
        assert early.tenant("fffffffe", ("tenant", "acme")) is None
        assert early.tenant(keys.active, ("tenant", "acme")) is not None
