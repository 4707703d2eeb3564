"""The anchor cell: the newest head of one chain, in two MACed slots of a fixed-size cell."""

from __future__ import annotations

import struct
from hmac import compare_digest
from typing import Final

import msgspec

from nsstore import digests
from nsstore.errors import Refused
from nsstore.trust.keys import Keys

CELL: Final = 256
SLOT: Final = 128
ANCHORS_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of an anchor file: what looks at all of its cells at once, as a backup does, reads so many."""
FULL: Final = (
    f"one user's project holds at most {ANCHORS_LIMIT // CELL:,} sessions, and a project as many workspaces:"
    " begin another project"
)
_FORMAT: Final = 1
_BODY: Final = struct.Struct(">I8sQQ32s32s4x")
assert _BODY.size == SLOT - digests.SIZE


class Chain:
    """Which chain a cell or line belongs to: store, area (or ``audit``), and (dimension, id) pairs.

    ``prefix`` is what every MAC of the chain begins with, LP(store id) LP(area) LP(each dimension,
    id); ``sealing`` what the seal of a record of it begins with; ``name`` the digest its cell is found by.
    """

    __slots__ = ("area", "dimensions", "name", "place", "prefix", "sealing", "store_id", "tenant")

    def __init__(self, store_id: bytes, area: str, dimensions: tuple[tuple[str, str], ...]) -> None:
        self.store_id = store_id
        self.area = area
        self.dimensions = dimensions
        self.tenant = dimensions[0]
        self.place = digests.lp(store_id, area)
        self.sealing = digests.lp("1") + self.place
        self.prefix = self.place + digests.lp(*(part for pair in dimensions for part in pair))
        self.name = digests.digest(digests.DIGEST, self.prefix)


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """The newest head that was seen of a chain: its seq, and the MAC of that event."""

    generation: int
    seq: int
    head: bytes


def require_room(size: int) -> None:
    """Require that an anchor file of this size is read whole by whoever reads all of it.

    Raises :class:`Refused`: what is left out would be a chain that never was.
    """
    if size > ANCHORS_LIMIT:
        raise Refused(FULL, reason="too_many_sessions")


def encode_slot(keys: Keys, chain: Chain, anchor: Anchor) -> bytes:
    """One slot of 128 bytes, MACed under the active key of the chain's tenant."""
    return SlotWriter(keys, chain).slot(anchor.generation, anchor.seq, anchor.head)


class SlotWriter:
    """Encodes slots of one chain as :func:`encode_slot` does; what every MAC begins with is hashed once."""

    __slots__ = ("_begun", "_key_id", "_name")

    def __init__(self, keys: Keys, chain: Chain) -> None:
        key = keys.tenant(keys.active, chain.tenant)
        assert key is not None
        self._begun = digests.begun(key, digests.ANCHOR, chain.place)
        self._key_id = keys.active.encode()
        self._name = chain.name

    def slot(self, generation: int, seq: int, head: bytes) -> bytes:
        """One slot of 128 bytes for these values of an :class:`Anchor`."""
        body = _BODY.pack(_FORMAT, self._key_id, generation, seq, head, self._name)
        mac = self._begun.copy()
        mac.update(body)
        return body + mac.digest()


def decode_slot(keys: Keys, chain: Chain, raw: bytes) -> Anchor | None:
    """The anchor a slot holds, or ``None`` if the slot is empty, torn, foreign or forged."""
    if len(raw) != SLOT:
        return None
    body = raw[: _BODY.size]
    version, key_id, generation, seq, head, name = _BODY.unpack(body)
    key = keys.tenant(key_id.decode("ascii", "replace"), chain.tenant)
    if version != _FORMAT or key is None or name != chain.name:
        return None
    if not compare_digest(raw[_BODY.size :], digests.mac(key, digests.ANCHOR, chain.place, body)):
        return None
    return Anchor(generation=generation, seq=seq, head=head)


def decode_cell(keys: Keys, chain: Chain, raw: bytes) -> Anchor | None:
    """The newest anchor of a cell: the highest valid generation wins; ``None`` if no slot is valid."""
    slots = sorted((raw[:SLOT], raw[SLOT:]), key=_claimed_generation, reverse=True)
    return decode_slot(keys, chain, slots[0]) or decode_slot(keys, chain, slots[1])


def _claimed_generation(raw: bytes) -> bytes:
    return raw[12:20] if len(raw) == SLOT else b""


def name_in_slot(raw: bytes) -> bytes:
    """The chain digest a slot claims, by which its cell is found."""
    return raw[60:92] if len(raw) == SLOT else b""
