"""What was learned of a namespace, kept so that a fresh process need not read and verify all of it again.

It is kept under the tenant's key in the cache home, and is believed as :mod:`nsstore.store.recalled` says.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

import msgspec

from nsstore.errors import StoreError
from nsstore.ledger import Ledger
from nsstore.search.folder import Folder
from nsstore.search.home import CacheHome
from nsstore.search.manifest import place_of
from nsstore.search.sealed import kept, seal
from nsstore.store import Store
from nsstore.store.leaf import Leaf
from nsstore.store.recalled import Recollection, recollect

KNOWN: Final = "known"
LEAST_KNOWN: Final = 16  # members from which on it is worth a file


class Spool:
    """Keeps what this process knows of namespaces in the cache home, and gives it to the next one."""

    def __init__(self, store: Store, home: CacheHome, folder: Folder) -> None:
        self.store = store
        self.home = home
        self.folder = folder
        self._kept: dict[bytes, int] = {}

    def recall(self, leaf: Leaf) -> None:
        """Let a leaf that knows nothing yet go on from what was known of its namespace, if that is kept."""
        path = f"{KNOWN}/{place_of(self.store.trust.keys, leaf.place.chain)}"
        known = kept(self.home, leaf, path, KNOWN, Recollection)
        if known is not None:
            self._kept[leaf.place.chain.name] = len(known.ledger.members)
            leaf.go_on_from(known)

    def consider(self, leaf: Leaf, ledger: Ledger) -> None:
        """Keep what is known of a namespace if much of it is not kept yet, in the background."""
        members, name = len(ledger.order), leaf.place.chain.name
        if members < LEAST_KNOWN or members < self._kept.get(name, 0) * 5 // 4 + LEAST_KNOWN // 2:
            return
        self._kept[name] = members
        self.folder.submit(partial(self._write, leaf, ledger))

    def start_afresh(self) -> None:
        """Forget what is kept: it is asked for again."""
        self._kept = {}

    def _write(self, leaf: Leaf, ledger: Ledger) -> None:
        with suppress(StoreError, OSError, ReferenceError):
            keys, chain = self.store.trust.keys, leaf.place.chain
            known = recollect(leaf, ledger, self.folder.give_way)
            root = self.home.open(make=True) if known is not None else None
            if root is not None:
                raw = seal(keys, chain, KNOWN, msgspec.msgpack.encode(known))
                with root.make_dir(KNOWN) as directory:
                    directory.replace(place_of(keys, chain), raw)
