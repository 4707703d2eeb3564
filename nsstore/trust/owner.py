"""Who the owner is: the public half of an Ed25519 pair, named in the trust home.

What the trust home says is the owner's public key is the owner's public key: the root holds none, and
none that a line brings along counts.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from nsstore import digests
from nsstore.errors import Refused
from nsstore.root import Root

OWNER_FILE: Final = "owner.json"
KEY_FILE: Final = "owner.key"
OWNER_LIMIT: Final = 16 * 1024
DAMAGED: Final = "the owner's public key in the trust home is damaged: `nsstore keys restore`"

Hex64 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
StoreId = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]


class Owner(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who the owner is: a name for people, and the public key that every statement is proven by."""

    format: Literal[1] = 1
    store_id: StoreId
    name: str
    public: Hex64


def signed(store_id: bytes, body: bytes) -> bytes:
    """What is signed of a statement: the purpose, the store, and the line's bytes before its signature."""
    return digests.lp(digests.RIGHTS, store_id) + body


def read_owner(home: Root, store_id: bytes) -> Owner | None:
    """The owner that a trust home names, or ``None``. Raises :class:`Refused` for a damaged file."""
    raw = home.read(OWNER_FILE, OWNER_LIMIT)
    if raw is None:
        return None
    try:
        owner = msgspec.json.decode(raw, type=Owner)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise Refused(DAMAGED, reason="owner") from None
    if owner.store_id != store_id.hex():
        raise Refused(DAMAGED, reason="owner")
    return owner


def save_owner(home: Root, owner: Owner) -> None:
    """Name the owner in a trust home, complete and durable."""
    home.replace(OWNER_FILE, msgspec.json.encode(owner) + b"\n")
