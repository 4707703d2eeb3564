"""Records that were proven lately: what was decoded holds for the same bytes, and for no others.

A record is taken from here only when its file was read again and the MAC of these bytes is the one it
was decoded under: what is spared is the decoding and its checks, never the reading or the proof.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from typing import Final, NamedTuple

import msgspec

from nsstore import digests, record
from nsstore.store.answers import scope_fields
from nsstore.store.sealing import Sealed, Tag, tag_of
from nsstore.trust import Chain, Keys

MAX_BYTES: Final = 64 * 1024 * 1024
JUST_SEALED: Final = 32
_BYTES_OF_ONE: Final = 4_500  # a decoded header and what stands around it
_SPELLED: Final = 11  # times the size of a record: its text, and a set of the terms in it


class Spelled(NamedTuple):
    """What a search makes of a record's fields: how often each term occurs, and the step of its length.

    ``fields`` are the terms of each field, for a record that has more than its text.
    """

    counts: Mapping[str, int]
    step: int
    fields: tuple[frozenset[str], ...] | None


class Proven(msgspec.Struct):
    """A decoded record, what a decision looks at of it, and where in its bytes the digits of its seal end.

    ``spelled`` is for whoever searches: what it made of the text, which goes when the record goes.
    """

    record: record.Record
    tag: Tag
    scope: dict[str, str | None]
    chain: Chain
    begun: blake2b
    mac: bytes
    digits: bytes
    end: int
    size: int
    spelled: Spelled | None = None


class ProvenRecords:
    """Holds at most ``max_bytes`` of decoded records, the ones used last; any thread may call any method."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Proven] = OrderedDict()
        self._sealed: dict[str, tuple[Chain, Sealed]] = {}
        self._bytes = 0

    def of(self, chain: Chain, record_id: str, raw: bytes) -> Proven | None:
        """What was decoded of exactly these bytes in this chain, or ``None`` if it is not here."""
        known = self._known.get(record_id) or self._was_sealed(chain, record_id, raw)
        if known is None or len(raw) != known.size or known.chain.name != chain.name:
            return None
        end = known.end
        start = end - 64
        if raw[start:end] != known.digits:
            return None
        running = known.begun.copy()
        running.update(raw[:start])
        running.update(record.ZEROS + raw[end:])
        if not compare_digest(running.digest(), known.mac):
            return None
        with self._lock:
            if record_id in self._known:  # unless another thread let go of it
                self._known.move_to_end(record_id)
        return known

    def sealed(self, chain: Chain, one: Sealed) -> None:
        """Note a record that this process sealed itself: its very bytes need no decoding."""
        held = self._sealed
        held[one.draft.record_id] = (chain, one)
        if len(held) > JUST_SEALED:
            with suppress(StopIteration, KeyError, RuntimeError):  # another thread was at it
                del held[next(iter(held))]

    def _was_sealed(self, chain: Chain, record_id: str, raw: bytes) -> Proven | None:
        """Keep a record whose file is, byte for byte, what this process sealed in this chain."""
        was, one = self._sealed.pop(record_id, (None, None))
        if was is None or one is None or was.name != chain.name or one.raw != raw:
            return None
        return self._keep(chain, one.begun, one.record(), one.draft.tag, raw)

    def keep(self, keys: Keys, chain: Chain, found: record.Record, raw: bytes) -> Proven:
        """Keep a record that was just proven by its bytes."""
        key = keys.tenant(record.seal_parts(found.header.seal)[0], chain.tenant)
        assert key is not None  # it was proven under it
        begun = digests.shared(key, digests.RECORD, chain.sealing)
        return self._keep(chain, begun, found, tag_of(found.header), raw)

    def _keep(self, chain: Chain, begun: blake2b, found: record.Record, tag: Tag, raw: bytes) -> Proven:
        header = found.header
        digits = header.seal[-64:].encode()
        end = raw.index(digits + b'"\n---\n') + len(digits)
        mac = bytes.fromhex(header.seal[-64:])
        proven = Proven(found, tag, scope_fields(header), chain, begun, mac, digits, end, len(raw))
        with self._lock:
            self._drop(header.record_id)
            self._known[header.record_id] = proven
            self._bytes += _weight(proven)
            while self._bytes > self.max_bytes and len(self._known) > 1:
                self._drop(next(iter(self._known)))
        return proven

    def forget(self, record_ids: Iterable[str]) -> None:
        """Let go of these records."""
        with self._lock:
            for record_id in record_ids:
                self._sealed.pop(record_id, None)
                self._drop(record_id)

    def start_afresh(self) -> None:
        """Let go of everything, with a lock that no other thread can hold: for a forked child."""
        self._lock, self._known, self._bytes = threading.Lock(), OrderedDict(), 0
        self._sealed = {}

    def _drop(self, record_id: str) -> None:
        known = self._known.pop(record_id, None)
        if known is not None:
            self._bytes -= _weight(known)


def _weight(proven: Proven) -> int:
    return _BYTES_OF_ONE + _SPELLED * proven.size
