"""Records that were proven lately: what was decoded holds for the same bytes, and for no others.

A record is taken from here only when its file was read again and the MAC of these bytes is the one it
was decoded under: what is spared is the decoding and its checks, never the reading or the proof.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from hmac import compare_digest
from typing import Final

import msgspec

from nsstore import digests, record
from nsstore.store.sealing import Tag, tag_of
from nsstore.trust import Chain, Keys

MAX_BYTES: Final = 64 * 1024 * 1024
_BYTES_OF_ONE: Final = 4_500  # a decoded header and what stands around it
_SPELLED: Final = 11  # times the size of a record: its text, and a set of the terms in it


class Proven(msgspec.Struct):
    """A decoded record, what a decision looks at of it, and where in its bytes the digits of its seal end.

    ``spelled`` is for whoever searches: what it made of the text, which goes when the record goes.
    """

    record: record.Record
    tag: Tag
    scope: dict[str, str | None]
    key_id: str
    mac: bytes
    digits: bytes
    end: int
    size: int
    spelled: tuple[frozenset[str], ...] | None = None


class ProvenRecords:
    """Holds at most ``max_bytes`` of decoded records, the ones used last; any thread may call any method."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Proven] = OrderedDict()
        self._bytes = 0

    def of(self, keys: Keys, chain: Chain, record_id: str, raw: bytes) -> Proven | None:
        """What was decoded of exactly these bytes under this chain's key, or ``None`` if it is not here."""
        known = self._known.get(record_id)
        if known is None or len(raw) != known.size:
            return None
        end = known.end
        start = end - 64
        key = keys.tenant(known.key_id, chain.tenant)
        if key is None or raw[start:end] != known.digits:
            return None
        running = digests.keyed(key, digests.RECORD)
        running.update(chain.sealing + raw[:start])
        running.update(record.ZEROS + raw[end:])
        if not compare_digest(running.digest(), known.mac):
            return None
        with suppress(KeyError):  # another thread let go of it
            self._known.move_to_end(record_id)
        return known

    def keep(self, found: record.Record, scope: dict[str, str | None], raw: bytes) -> Proven:
        """Keep a record that was just proven by its bytes."""
        header = found.header
        digits = header.seal[-64:].encode()
        end = raw.index(digits + b'"\n---\n') + len(digits)
        mac = bytes.fromhex(header.seal[-64:])
        proven = Proven(found, tag_of(header), scope, header.seal[2:10], mac, digits, end, len(raw))
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
                self._drop(record_id)

    def start_afresh(self) -> None:
        """Let go of everything, with a lock that no other thread can hold: for a forked child."""
        self._lock, self._known, self._bytes = threading.Lock(), OrderedDict(), 0

    def _drop(self, record_id: str) -> None:
        known = self._known.pop(record_id, None)
        if known is not None:
            self._bytes -= _weight(known)


def _weight(proven: Proven) -> int:
    return _BYTES_OF_ONE + _SPELLED * proven.size
