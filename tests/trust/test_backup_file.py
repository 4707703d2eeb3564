"""The file of a backup: sealed whole, bounded, and never a way to another file."""

import json
from pathlib import Path
from unittest.mock import Mock

import msgspec
import pytest

from bench.keeping import PASS
from nsstore import InvalidInput, Refused
from nsstore.trust import backup as sealing
from nsstore.trust.backup import MIN_PASSPHRASE, backup, unseal
from nsstore.trust.keys import Keys
from nsstore.trust.stock import AnchorFile, Stock, take_stock
from tests.trust.conftest import REAL_N, House, bind, lose


def test_a_wrong_passphrase_is_one_clear_refusal(house: House) -> None:
    """A wrong passphrase and a changed ciphertext are refused alike, and nothing is written."""
    raw = house.backup()
    lose(house)
    changed = json.loads(raw)
    sealed = changed["ciphertext"]
    changed["ciphertext"] = sealed[:20] + ("A" if sealed[20] != "A" else "B") + sealed[21:]
    for attempt, passphrase in (
        (raw, "correct horse batterz"),
        (raw, ""),
        (json.dumps(changed).encode(), PASS),
    ):
        with pytest.raises(Refused, match="passphrase"):
            house.restore(attempt, passphrase)
    assert not house.trust.exists()


@pytest.mark.parametrize("field", ["kdf", "nonce", "format", "store_id"])
def test_the_head_is_proven_too(house: House, field: str) -> None:
    """No part of the header can be changed: it is associated data of the seal."""
    found = json.loads(house.backup())
    if field == "kdf":
        found["kdf"]["p"] = 2
    else:
        found[field] = {"nonce": "0" * 24, "format": 2, "store_id": "0" * 32}[field]
    with pytest.raises((Refused, InvalidInput)):
        house.restore(json.dumps(found).encode())
    head = json.loads(house.backup())
    head["more"] = 1
    with pytest.raises(InvalidInput, match="not a backup"):
        house.restore(json.dumps(head).encode())


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\xff", b"null", b'{"format":1}'])
def test_what_is_no_backup_is_refused(house: House, raw: bytes) -> None:
    """Any other file is refused before a passphrase is tried."""
    with pytest.raises(InvalidInput, match="not a backup"):
        house.restore(raw)


@pytest.mark.parametrize("change", [{"n": 2**30}, {"r": 1000}, {"p": 10**6}, {"n": 1000}, {"salt": "x"}])
def test_a_foreign_file_cannot_take_all_memory(house: House, change: dict[str, object]) -> None:
    """Parameters of the key derivation have limits, and must be such at all."""
    found = json.loads(house.backup())
    found["kdf"].update(change)
    with pytest.raises(InvalidInput, match="not a backup"):
        house.restore(json.dumps(found).encode())


def test_a_short_passphrase_is_refused(house: House) -> None:
    """A passphrase of fewer than eight characters seals nothing."""
    with house.open() as store, pytest.raises(InvalidInput, match=str(MIN_PASSPHRASE)):
        backup(store.trust, "x" * (MIN_PASSPHRASE - 1))


def test_the_real_cost_is_high(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside this file a passphrase costs 128 MiB and 2^17 rounds to try, and the file says so."""
    monkeypatch.setattr(sealing, "SCRYPT_N", REAL_N)
    kdf = json.loads(house.backup())["kdf"]
    assert (kdf["name"], kdf["n"], kdf["r"], kdf["p"]) == ("scrypt", 2**17, 8, 1)
    assert len(bytes.fromhex(kdf["salt"])) == 16


def test_a_backup_holds_no_secret_in_the_open(house: House) -> None:
    """Neither a key, nor a path, nor an id stands in the file but the store's id."""
    with house.open() as store:
        bind(store).remember("one")
        masters = [master.hex() for master in store.trust.keys.masters.values()]
    raw = house.backup().decode()
    for secret in (*masters, "acme", "atlas", str(house.root), "anchors"):
        assert secret not in raw
    assert house.store_id.hex() in raw


BAD_PATHS = [
    "", "anchors", "keys.json", "/etc/passwd", "../x.anchors", "anchors/memory/a/b/../c.anchors",
    "anchors/memory/a/b/c.anchors/d.anchors", "anchors/memory/a/b.anchors", "anchors/memory/a/b/c/d.anchors",
    "anchors/state/a.anchors", "anchors/state/a/b/c.anchors", "anchors/audit/a/b.anchors",
    "anchors/else/a.anchors",
    "anchors/audit/..anchors", "anchors/audit/A.anchors", "anchors/audit/a", "anchors/audit/a.anchorsx",
    "anchors//audit/a.anchors", "anchors/audit/.anchors", "anchors/audit/a%2fb.anchors/",
    "anchors/memory/a//c.anchors",
    "anchors/audit/\x00.anchors", "ANCHORS/audit/a.anchors",
]  # fmt: skip


@pytest.mark.parametrize("path", BAD_PATHS)
def test_no_path_leads_out_of_the_anchors(house: House, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """A backup that names any file but an anchor file is refused whole, whoever sealed it."""
    with pytest.raises(ValueError, match="a path that no anchor file has"):
        AnchorFile(path=path, cells=b"")
    stock = json.loads(msgspec.json.encode(take_stock_of(house)))
    stock["anchors"].append({"path": path, "cells": ""})
    monkeypatch.setattr(sealing, "take_stock", Mock(return_value=stock))
    sealed = house.backup()
    lose(house)
    with pytest.raises(InvalidInput, match="does not know"):
        house.restore(sealed)
    assert not house.trust.exists()


def take_stock_of(house: House) -> Stock:
    """What the trust home of a house holds."""
    with house.open() as store:
        return take_stock(store.trust.home)


@pytest.mark.parametrize(
    "path",
    [
        "anchors/memory/acme/ada/atlas.anchors",
        "anchors/state/%g.acme/%n..anchors",
        "anchors/audit/%g.a.anchors",
    ],
)
def test_anchor_paths_are_known_by_their_layout(path: str) -> None:
    """Paths that the layout makes are taken, groups included; a marker at a wrong level is not."""
    if "%n." in path:
        with pytest.raises(ValueError, match="path"):
            AnchorFile(path=path, cells=b"")
    else:
        assert AnchorFile(path=path, cells=bytes(256)).path == path


def test_half_a_cell_is_refused() -> None:
    """Anchor files come in whole cells."""
    with pytest.raises(ValueError, match="half a cell"):
        AnchorFile(path="anchors/audit/a.anchors", cells=bytes(255))


def test_a_backup_while_others_write(house: House) -> None:
    """A backup is of whole cells, whatever stands half written at the end of an anchor file."""
    with house.open() as store:
        bind(store).remember("one")
        (file,) = house.home.glob("anchors/memory/acme/ada/*.anchors")
        with file.open("ab") as opened:
            opened.write(b"x" * 100)
        stock = unseal(backup(store.trust, PASS), PASS, house.store_id)
    assert isinstance(stock, Stock)
    assert all(len(one.cells) % 256 == 0 for one in stock.anchors)


GOLDEN = Path(__file__).parents[1] / "golden" / "backup.json"


def test_the_format_of_a_backup_stands() -> None:
    """A backup made by the first version opens, field for field, and its members keep their order."""
    raw = GOLDEN.read_bytes()
    store_id = "0123456789abcdef" * 2
    stock = unseal(raw, PASS, bytes.fromhex(store_id))
    assert Keys.from_bytes(stock.keys).masters == {"00000001": bytes(range(32))}
    assert json.loads(stock.binding) == {"format": 1, "store_id": store_id, "path": "/srv/notes", "inode": 42}
    assert stock.anchors == (
        AnchorFile(path="anchors/memory/acme/ada/atlas.anchors", cells=bytes(range(256))),
        AnchorFile(path="anchors/audit/acme.anchors", cells=b""),
    )
    assert list(json.loads(raw)) == ["format", "store_id", "kdf", "nonce", "ciphertext"]
    assert list(json.loads(raw)["kdf"]) == ["name", "n", "r", "p", "salt"]
    assert raw.endswith(b"}\n")


def test_a_backup_is_made_in_that_format(house: House) -> None:
    """What is written today has the members of the golden file, in the same order."""
    raw = house.backup()
    assert list(json.loads(raw)) == list(json.loads(GOLDEN.read_bytes()))
    assert raw.endswith(b"}\n")
