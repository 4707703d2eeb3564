"""A store: one root, its trust home, its audit, and the namespaces this process has looked at."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from nsstore.audit import AuditLog
from nsstore.errors import InvalidInput
from nsstore.policy import Retention
from nsstore.rights import RightsList
from nsstore.root import (
    Root,
    flusher,
)
from nsstore.scope import Namespace
from nsstore.store.leaf import Leaf
from nsstore.store.proven import ProvenRecords
from nsstore.store.rights import RightsInForce, Tenant
from nsstore.store.survey import Place
from nsstore.store.witness import Witness
from nsstore.trust import Trust

MAX_MEMBERS: Final = 200_000
MAX_LEAVES: Final = 2_000
MAX_WRITTEN: Final = 8


class Store:
    """An open store. Close it, or use it as a context manager: closing makes everything durable.

    One that is dropped gives its descriptors back as well, and its routine appends are durable within
    a second: nothing that belongs to a store refers back to it but weakly.

    Each of ``on_forget`` lets go of all it holds of forgotten records before they count as erased; it
    is called again where it did not come to that. ``recall`` adds to a leaf the tags of members that are
    remembered, proven, from an earlier look.
    """

    def __init__(self, root: Root, trust: Trust) -> None:
        self.root = root
        self.trust = trust
        self.audit = AuditLog(root, trust)
        self.witness = Witness(self.audit, trust.keys)
        self.rights = RightsInForce(RightsList(root, trust), self.witness)
        self.proven = ProvenRecords()
        self.on_forget: list[Callable[[Namespace, tuple[str, ...]], None]] = []
        self.recall: Callable[[Leaf], None] | None = None
        self._leaves: OrderedDict[Namespace, Leaf] = OrderedDict()
        self._written: OrderedDict[Namespace, Leaf] = OrderedDict()
        self._lock = threading.RLock()
        self.last_written: Leaf | None = None
        self._last: Leaf | None = None
        self._pid = os.getpid()

    @property
    def store_id(self) -> str:
        return self.trust.store_id.hex()

    def kept(self, tenant: Tenant) -> Retention:
        """How long a tenant's records are kept, and which are held, by what the owner set."""
        self._require_open()
        return self.rights.retention(tenant)

    def leaf(self, ns: Namespace) -> Leaf:
        """The one state this process has of a namespace; the least recently used ones are let go."""
        if self._pid != os.getpid():
            self._start_afresh()
        self._require_open()
        last = self._last
        if last is not None and last.place.ns == ns:
            return last
        with self._lock:
            leaf = self._leaves.get(ns)
            if leaf is None:
                leaf = self._leaves[ns] = Leaf(weakref.proxy(self), Place.of(self.trust.store_id, ns))
                self._let_go()
            self._leaves.move_to_end(ns)
            self._last = leaf
            return leaf

    def _require_open(self) -> None:
        if self.root.fd < 0:
            raise InvalidInput("this store is closed: open it again")

    def _let_go(self) -> None:
        members = sum(leaf.count() for leaf in self._leaves.values())
        while len(self._leaves) > 1 and (len(self._leaves) > MAX_LEAVES or members > MAX_MEMBERS):
            _, oldest = self._leaves.popitem(last=False)
            members -= oldest.count()
            oldest.let_go(wait=False)

    def lately_written(self, leaf: Leaf) -> None:
        """Note that a namespace keeps descriptors; only the last few written to do."""
        self.last_written = leaf
        with self._lock:
            self._written[leaf.place.ns] = leaf
            self._written.move_to_end(leaf.place.ns)
            oldest = self._written.popitem(last=False)[1] if len(self._written) > MAX_WRITTEN else None
        if oldest is not None:
            oldest.let_go(wait=False)

    def _start_afresh(self) -> None:
        """A forked child has no thread that could release a lock of the parent's."""
        inherited = [leaf.entry for leaf in self._written.values() if leaf.entry is not None]
        self._pid, self._lock = os.getpid(), threading.RLock()
        self._leaves, self._written = OrderedDict(), OrderedDict()
        self.proven.start_afresh()
        self._last = self.last_written = None
        for entry in inherited:
            entry.close()

    def close(self) -> None:
        """Make every acknowledged byte durable and let go of the descriptors."""
        if self.root.fd < 0:
            return
        try:
            for leaf in list(self._written.values()):
                leaf.let_go(wait=True)
            self.audit.close()
            flusher.flush(self.root, self.trust.home)
        finally:
            self.trust.close()
            self.root.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
