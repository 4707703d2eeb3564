"""Backup and restore of a trust home: keys, binding and anchors in one file under a passphrase.

The file is one JSON object: format, store id, parameters of scrypt, nonce, and the ciphertext of
ChaCha20-Poly1305, which proves everything before it as well. Restoring only adds what is missing:
an old backup never takes a newer trust home back.
"""

from __future__ import annotations

import os
from typing import Annotated, Final, Literal

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from nsstore.errors import InvalidInput, Refused
from nsstore.trust.home import Trust
from nsstore.trust.stock import Stock, take_stock

SCRYPT_N: Final = 2**17
MIN_PASSPHRASE: Final = 8
MAX_FILE: Final = 256 * 1024 * 1024
WRONG: Final = "the passphrase is not this backup's, or the backup was changed"

Hex = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]+\Z", max_length=64)]


class Kdf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the key is made from the passphrase; the limits keep a foreign file from taking all memory."""

    name: Literal["scrypt"] = "scrypt"
    n: Annotated[int, msgspec.Meta(ge=2**4, le=2**20)]
    r: Annotated[int, msgspec.Meta(ge=1, le=8)]
    p: Annotated[int, msgspec.Meta(ge=1, le=4)]
    salt: Hex


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal[1] = 1
    store_id: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    kdf: Kdf
    nonce: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{24}\Z")]


class _Backup(_Head, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ciphertext: bytes


def backup(trust: Trust, passphrase: str) -> bytes:
    """Everything of a trust home that its root does not hold, sealed under a passphrase.

    Writers may go on meanwhile. Raises :class:`InvalidInput` for a passphrase of less than 8 characters.
    """
    require_long(passphrase)
    return seal(trust.store_id, take_stock(trust.home), passphrase)


def require_long(passphrase: str) -> None:
    """Refuse a passphrase of less than 8 characters. Raises :class:`InvalidInput`."""
    if len(passphrase) < MIN_PASSPHRASE:
        raise InvalidInput(f"the passphrase must have at least {MIN_PASSPHRASE} characters")


def seal(store_id: bytes, stock: Stock, passphrase: str) -> bytes:
    """What a trust home holds, sealed under a passphrase. Raises as :func:`backup`."""
    require_long(passphrase)
    kdf = Kdf(n=SCRYPT_N, r=8, p=1, salt=os.urandom(16).hex())
    head = _Head(store_id=store_id.hex(), kdf=kdf, nonce=os.urandom(12).hex())
    sealed = cipher(passphrase, kdf).encrypt(
        bytes.fromhex(head.nonce), msgspec.json.encode(stock), msgspec.json.encode(head)
    )
    whole = _Backup(store_id=head.store_id, kdf=kdf, nonce=head.nonce, ciphertext=sealed)
    return msgspec.json.encode(whole) + b"\n"


def unseal(raw: bytes, passphrase: str, store_id: bytes) -> Stock:
    """What a backup of this very store holds.

    Raises :class:`InvalidInput` for a file that is no backup or another store's, :class:`Refused`
    for a passphrase that is not its own.
    """
    try:
        found = msgspec.json.decode(raw, type=_Backup)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InvalidInput("that file is not a backup of a store's keys") from None
    if found.store_id != store_id.hex():
        raise InvalidInput("that backup is of another store")
    head = _Head(store_id=found.store_id, kdf=found.kdf, nonce=found.nonce)
    try:
        plain = cipher(passphrase, found.kdf).decrypt(
            bytes.fromhex(head.nonce), found.ciphertext, msgspec.json.encode(head)
        )
    except InvalidTag:
        raise Refused(WRONG, reason="passphrase") from None
    except (MemoryError, ValueError):
        raise InvalidInput("that file is not a backup of a store's keys") from None
    try:
        return msgspec.json.decode(plain, type=Stock)
    except msgspec.MsgspecError:
        raise InvalidInput("that backup holds what this version does not know") from None


def cipher(passphrase: str, kdf: Kdf) -> ChaCha20Poly1305:
    """The cipher under the scrypt key of a passphrase."""
    scrypt = Scrypt(salt=bytes.fromhex(kdf.salt), length=32, n=kdf.n, r=kdf.r, p=kdf.p)
    return ChaCha20Poly1305(scrypt.derive(passphrase.encode()))
