"""Anchor cells: 256 bytes of two slots, of which the newest valid one counts and nothing else does."""

from __future__ import annotations

import multiprocessing
import os
import struct
from collections.abc import Generator
from functools import partial
from hashlib import blake2b
from pathlib import Path

import pytest

from nsstore.root import Root
from nsstore.trust import Anchor, Anchors, Chain, Keys, NoValidSlot
from nsstore.trust.cells import CELL, SLOT, decode_cell, decode_slot, encode_slot

GOLDEN = Path(__file__).parents[1] / "golden" / "anchor_cell.hex"
PATH = "anchors/memory/acme/zoe/shop.anchors"
OLD = Anchor(generation=1, seq=0, head=b"\x11" * 32)
NEW = Anchor(generation=2, seq=7, head=b"\x77" * 32)

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


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


@pytest.fixture
def anchors(tmp_path: Path, keys: Keys) -> Generator[Anchors]:
    """The cells of a fresh trust home."""
    with Root.make(tmp_path / "home") as home:
        yield Anchors(home, keys)


def other(chain: Chain, number: int) -> Chain:
    """Another session of the same project: its cell lies in the same file."""
    return Chain(chain.store_id, chain.area, (*chain.dimensions[:3], ("session", f"other-{number}")))


def at(anchors: Anchors) -> Path:
    """The anchor file on the disk."""
    return Path(anchors.home.path, PATH)


def test_the_golden_cell(keys: Keys, chain: Chain) -> None:
    """The golden cell, made from the text of the format alone, is what is written and read."""
    golden = bytes.fromhex(GOLDEN.read_text())
    assert len(golden) == CELL
    assert encode_slot(keys, chain, NEW) + encode_slot(keys, chain, OLD) == golden
    assert decode_cell(keys, chain, golden) == NEW
    assert decode_slot(keys, chain, golden[SLOT:]) == OLD


def test_a_slot_is_what_the_format_says(keys: Keys, chain: Chain) -> None:
    """Every field of a slot stands where the format puts it, and the MAC is made of what it says."""

    def lp(*parts: str | bytes) -> bytes:
        raws = [part.encode() if isinstance(part, str) else part for part in parts]
        return b"".join(struct.pack(">I", len(raw)) + raw for raw in raws)

    place = lp(bytes(range(16)), "memory")
    name = blake2b(
        place + lp(*(part for pair in chain.dimensions for part in pair)),
        person=b"nss1/digest",
        digest_size=32,
    ).digest()
    body = struct.pack(">I8sQQ32s32s4x", 1, b"0123abcd", 2, 7, b"\x77" * 32, name)
    key = blake2b(lp("tenant", "acme"), key=b"\xff" * 32, person=b"nss1/tenant", digest_size=32).digest()
    mac = blake2b(place + body, key=key, person=b"nss1/anchor", digest_size=32).digest()
    assert encode_slot(keys, chain, NEW) == body + mac


def test_every_byte_of_a_slot_counts(keys: Keys, chain: Chain) -> None:
    """A slot with any one bit changed is no slot, the zero bytes of it too."""
    slot = encode_slot(keys, chain, NEW)
    for position in range(SLOT):
        changed = bytearray(slot)
        changed[position] ^= 1 << (position % 8)
        assert decode_slot(keys, chain, bytes(changed)) is None
    for size in (0, 1, SLOT - 1, SLOT + 1):
        assert decode_slot(keys, chain, (slot + b"\0")[:size]) is None


@pytest.mark.parametrize("torn", ["newer", "older"])
@pytest.mark.parametrize("size", [0, 1, 20, 60, 64, 100, 127])
def test_a_torn_slot_falls_back_to_the_other(keys: Keys, chain: Chain, torn: str, size: int) -> None:
    """A slot of which only the first bytes were replaced leaves the anchor of the other one."""
    whole = {"newer": encode_slot(keys, chain, NEW), "older": encode_slot(keys, chain, OLD)}
    whole[torn] = b"\xee" * (SLOT - size) + whole[torn][SLOT - size :]
    for cell in (whole["newer"] + whole["older"], whole["older"] + whole["newer"]):
        assert decode_cell(keys, chain, cell) == (OLD if torn == "newer" else NEW)
    assert decode_cell(keys, chain, bytes(CELL)) is None


def test_a_cell_of_another_chain_proves_nothing(keys: Keys, chain: Chain) -> None:
    """A slot of another session, user, tenant, area or store, or under another key, is none here."""
    dims = chain.dimensions
    strangers = [
        Chain(chain.store_id, "state", dims),
        Chain(bytes(16), "memory", dims),
        Chain(chain.store_id, "memory", (("group", "acme"), *dims[1:])),
        Chain(chain.store_id, "memory", (dims[0], ("user", "zoe"), *dims[2:])),
        other(chain, 1),
    ]
    for stranger in strangers:
        assert decode_slot(keys, chain, encode_slot(keys, stranger, NEW)) is None
    assert decode_slot(keys, chain, encode_slot(Keys.new(), chain, NEW)) is None
    rotated = keys.rotated()
    assert decode_slot(rotated, chain, encode_slot(keys, chain, NEW)) == NEW
    assert decode_slot(keys, chain, encode_slot(rotated, chain, NEW)) is None


def test_a_cell_is_found_moved_up_and_never_down(anchors: Anchors, chain: Chain) -> None:
    """Cells of one file are found by their chain; each goes up only, alternating its slots."""
    assert anchors.read(PATH, chain) is None
    for number in range(5):
        anchors.create(PATH, other(chain, number), partial(_head, 0, number))
    anchors.create(PATH, chain, lambda: (3, b"\x03" * 32))
    assert at(anchors).stat().st_size == 6 * CELL
    with anchors.open(PATH, chain) or pytest.fail("no cell") as cell:
        cell.advance(5, b"\x05" * 32)
        cell.advance(4, b"\x04" * 32)
        cell.advance(5, b"\x55" * 32)
        assert cell.anchor == Anchor(generation=2, seq=5, head=b"\x05" * 32)
        cell.advance(6, b"\x06" * 32)
    fresh = Anchors(anchors.home, anchors.keys)
    assert fresh.read(PATH, chain) == Anchor(generation=3, seq=6, head=b"\x06" * 32)
    raw = at(anchors).read_bytes()[5 * CELL :]
    assert [int.from_bytes(raw[start + 12 : start + 20], "big") for start in (0, SLOT)] == [2, 3]
    for number in range(5):
        found = fresh.read(PATH, other(chain, number))
        assert found == Anchor(generation=1, seq=0, head=bytes([number]) * 32)
    assert fresh.read(PATH, other(chain, 9)) is None


def test_creating_again_changes_nothing(anchors: Anchors, chain: Chain) -> None:
    """A second creation, from here or from another process, leaves the cell as it is."""
    anchors.create(PATH, chain, lambda: (4, b"\x04" * 32))
    before = at(anchors).read_bytes()
    anchors.create(PATH, chain, lambda: (0, bytes(32)))
    Anchors(anchors.home, anchors.keys).create(PATH, chain, lambda: (9, b"\x09" * 32))
    assert at(anchors).read_bytes() == before


@pytest.mark.parametrize("first", [True, False])
def test_a_valid_slot_is_enough(anchors: Anchors, chain: Chain, *, first: bool) -> None:
    """With either slot destroyed the cell is still found, by a fresh process too, and can go up."""
    anchors.create(PATH, other(chain, 1), lambda: (0, bytes(32)))
    anchors.create(PATH, chain, lambda: (1, b"\x01" * 32))
    with anchors.open(PATH, chain) or pytest.fail("no cell") as cell:
        cell.advance(2, b"\x02" * 32)
    raw = bytearray(at(anchors).read_bytes())
    start = CELL if first else CELL + SLOT
    raw[start : start + SLOT] = b"\xff" * SLOT
    at(anchors).write_bytes(raw)
    fresh = Anchors(anchors.home, anchors.keys)
    seq = 1 if first else 2
    assert fresh.read(PATH, chain) == Anchor(generation=seq, seq=seq, head=bytes([seq]) * 32)
    with fresh.open(PATH, chain) or pytest.fail("no cell") as cell:
        cell.advance(8, b"\x08" * 32)
    again = Anchors(anchors.home, anchors.keys).read(PATH, chain)
    assert again == Anchor(generation=seq + 1, seq=8, head=b"\x08" * 32)


def test_no_valid_slot_closes(anchors: Anchors, chain: Chain) -> None:
    """A cell whose MACs are both wrong proves nothing: reading and lending say so, and keep no descriptor."""
    anchors.create(PATH, chain, lambda: (1, b"\x01" * 32))
    with anchors.open(PATH, chain) or pytest.fail("no cell") as cell:
        cell.advance(2, b"\x02" * 32)
    raw = bytearray(at(anchors).read_bytes())
    raw[SLOT - 1] ^= 1
    raw[CELL - 1] ^= 1
    at(anchors).write_bytes(raw)
    for one in (anchors, Anchors(anchors.home, anchors.keys)):
        with pytest.raises(NoValidSlot):
            one.read(PATH, chain)
        before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(NoValidSlot):
            one.open(PATH, chain)
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_cell_that_is_kept_open_looks_again(anchors: Anchors, chain: Chain) -> None:
    """A cell that is kept open sees on looking again what another process left, and what was done to it."""
    anchors.create(PATH, chain, lambda: (1, b"\x01" * 32))
    elsewhere = Anchors(anchors.home, anchors.keys)
    with (
        anchors.open(PATH, chain) or pytest.fail("no cell") as kept,
        elsewhere.open(PATH, chain) or pytest.fail("no cell") as other_one,
    ):
        other_one.advance(2, b"\x02" * 32)
        kept.look()
        assert kept.anchor == Anchor(generation=2, seq=2, head=b"\x02" * 32)
        kept.advance(3, b"\x03" * 32)
        kept.look()
        assert kept.anchor == Anchor(generation=3, seq=3, head=b"\x03" * 32)
        other_one.look()
        assert other_one.anchor == kept.anchor
        at(anchors).write_bytes(bytes(CELL))
        with pytest.raises(NoValidSlot):
            kept.look()
        assert kept.file.fd < 0


def test_a_prepared_anchor_is_written_only_where_it_fits(anchors: Anchors, chain: Chain) -> None:
    """What was made ready is written where the head is that one; for any other it is made anew."""
    anchors.create(PATH, chain, lambda: (1, b"\x01" * 32))
    with anchors.open(PATH, chain) or pytest.fail("no cell") as cell:
        cell.prepare(2, b"\x02" * 32)
        assert anchors.read(PATH, chain) == cell.anchor
        cell.advance(3, b"\x33" * 32)
        assert anchors.read(PATH, chain) == Anchor(generation=2, seq=3, head=b"\x33" * 32)
        cell.prepare(4, b"\x04" * 32)
        cell.advance(4, b"\x04" * 32)
        cell.prepare(5, b"\x05" * 32)
        with anchors.open(PATH, chain) or pytest.fail("no cell") as other_one:
            other_one.advance(5, b"\x55" * 32)
        cell.look()
        cell.advance(6, b"\x05" * 32)
    assert anchors.read(PATH, chain) == Anchor(generation=5, seq=6, head=b"\x05" * 32)


@pytest.mark.parametrize("size", [1, 100, 128, 200, 255])
def test_a_torn_last_cell_is_written_over(anchors: Anchors, chain: Chain, size: int) -> None:
    """What a writer left of a cell that it never finished is written over; whole cells stay in place."""
    anchors.create(PATH, other(chain, 1), lambda: (0, bytes(32)))
    with at(anchors).open("ab") as file:
        file.write((bytes(SLOT) + encode_slot(anchors.keys, other(chain, 2), OLD))[:size])
    fresh = Anchors(anchors.home, anchors.keys)
    assert fresh.read(PATH, other(chain, 2)) is None
    fresh.create(PATH, chain, lambda: (1, b"\x01" * 32))
    assert at(anchors).stat().st_size == 2 * CELL
    found = fresh.read(PATH, chain)
    assert found == Anchor(generation=1, seq=1, head=b"\x01" * 32)
    assert fresh.read(PATH, other(chain, 1)) is not None


def test_a_cell_of_zeros_in_between(anchors: Anchors, chain: Chain) -> None:
    """A cell whose bytes a power cut left zero belongs to nobody and hides nobody behind it."""
    at(anchors).parent.mkdir(parents=True, mode=0o700)
    at(anchors).touch(mode=0o600)
    for folder in (at(anchors).parent, *at(anchors).parent.parents[:3]):
        folder.chmod(0o700)
    at(anchors).write_bytes(bytes(CELL))
    anchors.create(PATH, chain, lambda: (1, b"\x01" * 32))
    assert at(anchors).stat().st_size == 2 * CELL
    assert Anchors(anchors.home, anchors.keys).read(PATH, chain) is not None


def _head(seq: int, digit: int | None = None) -> tuple[int, bytes]:
    """A head that is told from others by one byte."""
    return seq, bytes([seq if digit is None else digit]) * 32


def _create_all(path: str, keys: Keys, chain: Chain) -> None:
    with Root.open(path) as home:
        mine = Anchors(home, keys)
        for number in range(10):
            mine.create(PATH, other(chain, number), partial(_head, number))


def test_four_processes_create_one_cell_each_chain(anchors: Anchors, chain: Chain) -> None:
    """Four processes that create the cells of the same ten chains at once leave ten valid cells."""
    fork = multiprocessing.get_context("fork")
    workers = [
        fork.Process(target=_create_all, args=(anchors.home.path, anchors.keys, chain)) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert at(anchors).stat().st_size == 10 * CELL
    for number in range(10):
        found = anchors.read(PATH, other(chain, number))
        assert found == Anchor(generation=1, seq=number, head=bytes([number]) * 32)
