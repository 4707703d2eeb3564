"""The sessions of one user's project: which there are, and which changed since they were looked at last."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nsstore import layout
from nsstore.errors import InvalidInput
from nsstore.scope import Namespace
from nsstore.store.namespaces import named
from nsstore.trust import Chain, cells_by_name
from nsstore.trust.cells import ANCHORS_LIMIT, require_room

if TYPE_CHECKING:
    from nsstore.store.store import Store


class Sessions:
    """Follows the heads of every session of a project by one read of their anchors.

    ``changes`` names each session as often as its head was found to be another one, oldest first;
    ``unknown`` are the chains that the trust home knows and of which no ledger is here: something is
    missing. What a session holds is for its own namespace to say. Whoever looks and goes on from what
    was seen holds ``lock``.
    """

    def __init__(self, store: Store, tenant: tuple[str, str], user: str, project: str) -> None:
        self._store = store
        self._ids = (tenant, ("user", user), ("project", project))
        sample = Namespace(area="memory", dimensions=(*self._ids, ("session", "any")))
        self._anchors = layout.anchor_path(sample)
        self._folder = layout.ledger_path(sample).rpartition("/")[0]
        self.lock = threading.RLock()
        self._raw: bytes = b""
        self._seen: tuple[int, ...] | None = None
        self._cells: dict[bytes, bytes] = {}
        self._named: dict[bytes, Namespace] = {}
        self._components: set[str] = set()
        self.changes: list[Namespace] = []
        self.unknown = frozenset[bytes]()

    def look(self) -> int:
        """Look once, and return how long ``changes`` is then.

        Raises :class:`Refused` for more sessions than a project holds.
        """
        home = self._store.trust.home
        with self.lock:
            seen = home.seen(self._anchors) if home.exact_times else None
            if seen is not None and seen == self._seen and not self.unknown:
                return len(self.changes)
            raw = home.read(self._anchors, ANCHORS_LIMIT) or b""
            require_room(len(raw))
            self._seen = seen  # of before it was read: what changed meanwhile is seen by the next look
            if raw != self._raw or self.unknown:
                cells = cells_by_name(raw)
                changed = [name for name, cell in cells.items() if self._cells.get(name) != cell]
                if not self._named.keys() >= cells.keys():
                    self._named.update(self._list())
                changed += [name for name in self.unknown if name in self._named and name not in changed]
                self.unknown = frozenset(cells.keys() - self._named.keys())
                self.changes += [self._named[name] for name in changed if name in self._named]
                self._cells, self._raw = cells, raw
            return len(self.changes)

    def lacks(self, session: tuple[str, str]) -> bool:
        """Whether the trust home knows a session of which no ledger was here at the last look."""
        dimensions = (*self._ids, session)
        return Chain(self._store.trust.store_id, "memory", dimensions).name in self.unknown

    def all(self) -> tuple[Namespace, ...]:
        """Every session that has a head and a ledger, in the order they were met."""
        with self.lock:
            return tuple(ns for name, ns in self._named.items() if name in self._cells)

    def _list(self) -> Iterator[tuple[bytes, Namespace]]:
        """The sessions whose ledgers came since the last listing, by the names of their chains."""
        folder = self._store.root.dir(self._folder)
        if folder is None:
            return
        with folder:
            names = folder.names()
        parents = self._folder.split("/")[2:]
        for name in sorted(set(names) - self._components):
            if not name.endswith(".log"):
                continue
            try:
                ns = named(self._store.root, "memory", (*parents, name.removesuffix(".log")))
            except InvalidInput:
                continue  # no id is spelled so: the detector's
            if ns is not None and ns.dimensions[:3] == self._ids:
                self._components.add(name)
                yield Chain(self._store.trust.store_id, "memory", ns.dimensions).name, ns
