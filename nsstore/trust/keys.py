"""The seal keys of one store: old ones verify, the active one signs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from typing import Annotated, Final, Literal

import msgspec

from nsstore import digests
from nsstore.errors import Refused, StoreError
from nsstore.root import Root

KEYS_FILE: Final = "keys.json"
_LIMIT: Final = 64 * 1024
DAMAGED: Final = "the key file of this store is damaged: `nsstore keys restore`"
MISSING: Final = "keys of this store are not here: mount NSSTORE_TRUST_HOME or `nsstore keys restore`"


class _Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{8}\Z")]
    master: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class _KeyFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: Literal[1]
    active: str
    keys: tuple[_Key, ...]


class Keys:
    """Master keys by key id (8 hex), and the tenant keys made from them.

    A key of one tenant verifies nothing of another: tenant key = blake2b(master, person tenant,
    LP("tenant"|"group") LP(id)) (``docs/format.md``, "Store").
    """

    def __init__(self, active: str, masters: dict[str, bytes]) -> None:
        self.active = active
        self.masters = masters
        self._tenants: dict[tuple[str, tuple[str, str]], bytes] = {}
        self.read_again: Callable[[], Keys] | None = None

    @classmethod
    def new(cls) -> Keys:
        key_id = os.urandom(4).hex()
        return cls(key_id, {key_id: os.urandom(32)})

    def rotated(self) -> Keys:
        """The same keys and a new active one: everything sealed before still verifies."""
        fresh = Keys.new()
        return Keys(fresh.active, self.masters | fresh.masters)

    def tenant(self, key_id: str, tenant: tuple[str, str]) -> bytes | None:
        """The key of one tenant under ``key_id``, or ``None`` if that key is not here.

        A key that another process added since is found; the one that signs stays the same.
        """
        known = self._tenants.get((key_id, tenant))
        if known is None and key_id not in self.masters and self.read_again is not None:
            with contextlib.suppress(StoreError):
                self.masters = self.read_again().masters | self.masters
        if known is None and (master := self.masters.get(key_id)) is not None:
            known = digests.mac(master, digests.TENANT, digests.lp(*tenant))
            self._tenants[key_id, tenant] = known
        return known

    def to_bytes(self) -> bytes:
        keys = tuple(_Key(id=key_id, master=master.hex()) for key_id, master in self.masters.items())
        return msgspec.json.encode(_KeyFile(format=1, active=self.active, keys=keys)) + b"\n"

    @classmethod
    def from_bytes(cls, raw: bytes) -> Keys:
        """Read a key file. Raises :class:`Refused` if it is not one."""
        try:
            found = msgspec.json.decode(raw, type=_KeyFile)
        except msgspec.MsgspecError:
            raise Refused(DAMAGED, reason="keys") from None
        masters = {key.id: bytes.fromhex(key.master) for key in found.keys}
        if found.active not in masters or len(masters) != len(found.keys):
            raise Refused(DAMAGED, reason="keys")
        return cls(found.active, masters)


def load_keys(home: Root) -> Keys:
    """The keys kept in a trust home. Raises :class:`Refused` if they are not there."""
    keys = _read(home)
    keys.read_again = partial(_read, home)
    return keys


def _read(home: Root) -> Keys:
    raw = home.read(KEYS_FILE, _LIMIT)
    if raw is None:
        raise Refused(MISSING, reason="keys")
    return Keys.from_bytes(raw)


def save_keys(home: Root, keys: Keys) -> None:
    """Put keys into a trust home, complete and durable, in place of the ones before."""
    home.replace(KEYS_FILE, keys.to_bytes())
