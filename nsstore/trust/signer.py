"""The owner's private key, sealed under a passphrase, and what is signed and proven with it."""

from __future__ import annotations

import os
from typing import Annotated, Final, Literal

import msgspec
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from nsstore.errors import InvalidInput, Refused
from nsstore.trust import backup
from nsstore.trust.owner import Hex64, StoreId, signed

WRONG: Final = "the passphrase is not the owner key's, or the key file was changed"
NO_KEY: Final = "that file is not an owner's key"


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal[1] = 1
    store_id: StoreId
    public: Hex64
    kdf: backup.Kdf
    nonce: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{24}\Z")]


class _KeyFile(_Head, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ciphertext: bytes


class Signer:
    """An unlocked owner's key; it lives as long as the command that asked for its passphrase."""

    def __init__(self, store_id: bytes, private: Ed25519PrivateKey) -> None:
        self._store_id = store_id
        self._private = private
        self.public = private.public_key().public_bytes_raw().hex()

    @classmethod
    def new(cls, store_id: bytes) -> Signer:
        """A key that nobody had before."""
        return cls(store_id, Ed25519PrivateKey.generate())

    def sign(self, body: bytes) -> bytes:
        """The signature, 64 bytes, over a statement of this store and of no other."""
        return self._private.sign(signed(self._store_id, body))

    def sealed(self, passphrase: str) -> bytes:
        """The key file under a passphrase.

        Raises :class:`InvalidInput` for one of less than 8 characters.
        """
        if len(passphrase) < backup.MIN_PASSPHRASE:
            raise InvalidInput(f"the passphrase must have at least {backup.MIN_PASSPHRASE} characters")
        kdf = backup.Kdf(n=backup.SCRYPT_N, r=8, p=1, salt=os.urandom(16).hex())
        head = _Head(store_id=self._store_id.hex(), public=self.public, kdf=kdf, nonce=os.urandom(12).hex())
        ciphertext = backup.cipher(passphrase, kdf).encrypt(
            bytes.fromhex(head.nonce), self._private.private_bytes_raw(), msgspec.json.encode(head)
        )
        whole = _KeyFile(
            store_id=head.store_id, public=head.public, kdf=kdf, nonce=head.nonce, ciphertext=ciphertext
        )
        return msgspec.json.encode(whole) + b"\n"


def unlock(raw: bytes, passphrase: str, store_id: bytes) -> Signer:
    """The owner's key in a key file of this very store.

    Raises :class:`InvalidInput` for a file that is none or another store's, :class:`Refused` for a
    passphrase that is not its own.
    """
    try:
        found = msgspec.json.decode(raw, type=_KeyFile)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InvalidInput(NO_KEY) from None
    if found.store_id != store_id.hex():
        raise InvalidInput("that is the owner's key of another store")
    head = _Head(store_id=found.store_id, public=found.public, kdf=found.kdf, nonce=found.nonce)
    try:
        plain = backup.cipher(passphrase, found.kdf).decrypt(
            bytes.fromhex(head.nonce), found.ciphertext, msgspec.json.encode(head)
        )
        return Signer(store_id, Ed25519PrivateKey.from_private_bytes(plain))
    except InvalidTag:
        raise Refused(WRONG, reason="passphrase") from None
    except (MemoryError, ValueError):
        raise InvalidInput(NO_KEY) from None


def is_signed(public: str, store_id: bytes, body: bytes, signature: bytes) -> bool:
    """Whether a statement of this store was signed by the key whose public half this is."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signature, signed(store_id, body))
    except (InvalidSignature, ValueError):
        return False
    return True
