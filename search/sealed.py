"""What this store keeps about a namespace in the cache home, in its own word: under the tenant's key.

A key id of eight characters, a MAC over the chain's name, what it is and the body, then the body.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import Final, TypeVar

import msgspec

from nsstore import digests
from nsstore.errors import EscapeError, StoreError
from nsstore.incident import IncidentKind
from nsstore.search.home import CacheHome
from nsstore.store.leaf import Leaf
from nsstore.trust import Chain, Keys

MAX_BYTES: Final = 512 * 1024 * 1024

_KEY_ID: Final = 8
_BODY: Final = _KEY_ID + digests.SIZE
Kept = TypeVar("Kept")


def kept(home: CacheHome, leaf: Leaf, path: str, what: str, kind: type[Kept]) -> Kept | None:
    """What a file of the cache home says of a namespace; ``None`` if there is none that can be read.

    One that is not this store's own word is told. Raises :class:`WitnessError` if that cannot be.
    """
    try:
        root = home.open(make=False)
        raw = root.read(path, MAX_BYTES) if root is not None else None
        if raw is None:
            return None
        return msgspec.msgpack.decode(unseal(leaf.store.trust.keys, leaf.place.chain, what, raw), type=kind)
    except (msgspec.MsgspecError, EscapeError, ValueError):
        leaf.store.witness.tell(leaf.place, IncidentKind.VIEW_DAMAGED, what)
    except StoreError:
        pass
    return None


def seal(keys: Keys, chain: Chain, what: str, body: bytes) -> bytes:
    """The bytes of a file that says ``body`` of a namespace."""
    mac = _mac(keys, chain, keys.active, what, body)
    assert mac is not None  # the active key is here
    return keys.active.encode() + mac + body


def unseal(keys: Keys, chain: Chain, what: str, raw: bytes) -> bytes:
    """What this store said of this very namespace. Raises ``ValueError`` for anything else."""
    key_id, body = raw[:_KEY_ID].decode("ascii"), raw[_BODY:]
    mac = _mac(keys, chain, key_id, what, body)
    if mac is None or not compare_digest(mac, raw[_KEY_ID:_BODY]):
        raise ValueError("not of this store, or not of this namespace")
    return body


def _mac(keys: Keys, chain: Chain, key_id: str, what: str, body: bytes) -> bytes | None:
    key = keys.tenant(key_id, chain.tenant)
    if key is None:
        return None
    begun = digests.begun(key, digests.MANIFEST, chain.prefix, digests.lp(what, b"1"))
    begun.update(body)
    return begun.digest()
