"""The terms of a namespace's records, kept for views over several sessions.

Such a view is made anew in each process. What its records spell was read and proven before; kept under the
tenant's key, beside the views of the namespace, it need not be worked out again. A record that is found is
still read, proven and decided on each call.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec

from nsstore.errors import StoreError
from nsstore.ledger import Ledger
from nsstore.search.analyser import VERSION
from nsstore.search.folder import Folder
from nsstore.search.home import CacheHome
from nsstore.search.manifest import place_of
from nsstore.search.sealed import kept, seal
from nsstore.store import Store
from nsstore.store.leaf import Leaf

TERMS: Final = "terms"
LEAST_TERMS: Final = 16  # records whose terms are worth a file, and worth writing it again
NONE: Final[Mapping[str, str]] = {}


class Terms(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The terms of records that joined up to an event of the chain, by their ids, by one analyser."""

    analyser: str
    seq: int
    head: bytes
    terms: dict[str, str]


class Words:
    """Keeps in the cache home what the records of namespaces spell, and gives it to the next process."""

    def __init__(self, store: Store, home: CacheHome, folder: Folder) -> None:
        self.store = store
        self.home = home
        self.folder = folder

    def of(self, leaf: Leaf, ledger: Ledger) -> Mapping[str, str]:
        """What is kept of a namespace's records, as far as it was told of this very chain."""
        path = f"views/{place_of(self.store.trust.keys, leaf.place.chain)}/{TERMS}"
        known = kept(self.home, leaf, path, TERMS, Terms)
        if known is None or known.analyser != VERSION or known.seq > ledger.seq:
            return NONE
        return known.terms if ledger.macs[known.seq] == known.head else NONE

    def consider(
        self, leaf: Leaf, ledger: Ledger, known: Mapping[str, str], fresh: Mapping[str, str]
    ) -> None:
        """Keep the terms of records that were not kept yet, if there are many, in the background."""
        if len(fresh) >= max(LEAST_TERMS, len(known) // 8):
            every = {**known, **fresh}
            terms = {one: every[one] for one in ledger.order if one in every}
            told = Terms(VERSION, ledger.seq, ledger.head, terms)
            self.folder.submit(partial(self._write, leaf, told, ledger.size, len(ledger.forgotten)))

    def _write(self, leaf: Leaf, told: Terms, size: int, forgotten: int) -> None:
        with suppress(StoreError, OSError, ReferenceError):
            keys, chain = self.store.trust.keys, leaf.place.chain
            root = self.home.open(make=True)
            if root is None:
                return
            raw = seal(keys, chain, TERMS, msgspec.msgpack.encode(told))
            # Opened first: what is forgotten from here on takes this very directory away.
            with root.make_dir(f"views/{place_of(keys, chain)}") as directory:
                if len(leaf.read().forgotten) == forgotten and leaf.forgets_nothing_behind(size):
                    directory.replace(TERMS, raw)
