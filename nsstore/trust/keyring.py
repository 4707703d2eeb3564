"""Changing the key file: one change at a time, and no key is ever taken away."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from nsstore.errors import Refused
from nsstore.root import FileLock, Root
from nsstore.trust.keys import KEYS_FILE, Keys, load_keys, save_keys

_LOCK: Final = "keys.lock"
_LIMIT: Final = 64 * 1024


def rotate(home: Root) -> str:
    """Add a new key and make it the one that signs; return its id. Everything sealed before still verifies.

    Another process goes on signing with the key it opened the store with, and verifies both.
    """
    with _alone(home):
        keys = load_keys(home).rotated()
        save_keys(home, keys)
        return keys.active


def add_missing(home: Root, given: Keys) -> int:
    """Add the keys that are not there yet, and say how many; the one that signs stays, where there is one.

    A damaged key file is kept beside the new one. Raises :class:`Refused` if two keys have one id.
    """
    with _alone(home):
        present = _present(home)
        if present is None:
            save_keys(home, given)
            return len(given.masters)
        require_same(present, given)
        missing = given.masters.keys() - present.masters.keys()
        if missing:
            save_keys(home, Keys(present.active, given.masters | present.masters))
        return len(missing)


def require_same(present: Keys, given: Keys) -> None:
    """Require that no key id stands for two keys. Raises :class:`Refused`."""
    if any(present.masters.get(key_id, master) != master for key_id, master in given.masters.items()):
        raise Refused("the trust home holds another key under the same id", reason="keys")


def _present(home: Root) -> Keys | None:
    raw = home.read(KEYS_FILE, _LIMIT)
    if raw is None:
        return None
    try:
        return Keys.from_bytes(raw)
    except Refused:
        home.replace(f"{KEYS_FILE}.damaged-{os.urandom(4).hex()}", raw)
        return None


@contextmanager
def _alone(home: Root) -> Generator[None]:
    with home.top() as top, FileLock(top, _LOCK):
        yield
