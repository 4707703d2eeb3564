"""The one table of MAC and digest purposes: blake2b-256, told apart by ``person``.

A digest made for one purpose never equals one made for another, whatever the bytes
(``docs/format.md``, first paragraph).
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Final

SIZE: Final = 32
TENANT: Final = b"nss1/tenant"
RECORD: Final = b"nss1/record"
LEDGER: Final = b"nss1/ledger"
ANCHOR: Final = b"nss1/anchor"
AUDIT: Final = b"nss1/audit"
IDEM: Final = b"nss1/idem"
DIGEST: Final = b"nss1/digest"
MANIFEST: Final = b"nss1/manifest"
PATH: Final = b"nss1/path"
RIGHTS: Final = b"nss1/rights"
SELFTEST: Final = b"nss1/selftest"


def lp(*parts: bytes | str) -> bytes:
    """Join parts so that no other split of the same bytes is equal: 4-byte length, then bytes."""
    out: list[bytes] = []
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        out.append(len(raw).to_bytes(4, "big"))
        out.append(raw)
    return b"".join(out)


def mac(key: bytes, person: bytes, *chunks: bytes) -> bytes:
    """MAC of the chunks, one after the other, under ``key`` for one purpose: 32 bytes."""
    return blake2b(b"".join(chunks), key=key, person=person, digest_size=SIZE).digest()


def begun(key: bytes, person: bytes, *chunks: bytes) -> blake2b:
    """A MAC that begins with these chunks: a copy fed with the rest ends as :func:`mac` of all of them."""
    return blake2b(b"".join(chunks), key=key, person=person, digest_size=SIZE)


def running(person: bytes) -> blake2b:
    """An unkeyed digest that is fed as the bytes come; equal to :func:`digest` of all of them."""
    return blake2b(person=person, digest_size=SIZE)


@lru_cache(maxsize=64)
def shared(key: bytes, person: bytes, prefix: bytes) -> blake2b:
    """As :func:`begun`, the same object for the same beginning: it is copied, and never fed itself."""
    return begun(key, person, prefix)


def digest(person: bytes, *chunks: bytes) -> bytes:
    """Unkeyed digest of the chunks for one purpose: 32 bytes."""
    return mac(b"", person, *chunks)
