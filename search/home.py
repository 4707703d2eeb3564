"""The cache home: where derived views are kept, apart from the root and from what proves it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore.errors import InvalidInput, StoreError, SystemFailure
from nsstore.root import FileLock, Root, in_memory, is_there, overlap

if TYPE_CHECKING:
    from nsstore.store import Store

VARIABLE: Final = "NSSTORE_CACHE_HOME"
CACHES: Final = "caches.json"
MAX_NOTES: Final = 1024 * 1024


def base() -> str:
    """Where cache homes are kept: the variable, else the user's cache directory.

    Raises :class:`InvalidInput` for a path that is not absolute.
    """
    if VARIABLE in os.environ:
        chosen = os.environ[VARIABLE]
    elif os.environ.get("XDG_CACHE_HOME"):
        chosen = os.path.join(os.environ["XDG_CACHE_HOME"], "nsstore")
    else:
        chosen = os.path.join(os.path.expanduser("~"), ".cache", "nsstore")
    if not os.path.isabs(chosen) or "\0" in chosen:
        raise InvalidInput(f"the cache home must be an absolute path: set {VARIABLE}")
    return chosen


class CacheHome:
    """The directory of one store's views, opened when a view is first looked for, made when one is kept.

    Everything in it is derived: whoever removes it loses time, and whoever changes it is found out.
    """

    def __init__(self, store: Store, path: str | None = None) -> None:
        """Refuse a cache home in the root or in the trust home. Raises :class:`InvalidInput`.

        ``path`` is that of another process's, as :meth:`others` tells it.
        """
        self.path = path or os.path.join(base(), store.store_id)
        self._store = store
        for taken in (store.root.path, store.trust.home.path):
            if overlap(self.path, taken):
                raise InvalidInput(
                    f"the cache home must lie apart from the root and the trust home: set {VARIABLE}"
                )
        self._root: Root | None = None
        self._memory: Root | None = None
        self.failed = False

    def open(self, *, make: bool) -> Root | None:
        """The directory, or ``None`` if it is not there, or cannot be made or used: views stay in memory.

        ``failed`` tells the two apart. What was opened is kept, unless it was removed since.
        """
        root = self._root
        if root is not None and root.fd >= 0 and _stands(root):
            return root
        if root is not None:
            root.close()
        try:
            if make:
                self._note()
            self._root = Root.make(self.path) if make else Root.open(self.path, writes=False)
        except FileNotFoundError:
            return None
        except (StoreError, OSError):
            self.failed = True
            return None
        self.failed = False
        return self._root

    def others(self) -> list[CacheHome]:
        """The cache homes that other processes of this store used: what is forgotten goes from each of them.

        Raises :class:`StoreError` if that cannot be read.
        """
        return [CacheHome(self._store, path) for path in self._noted() if path != self.path]

    def _noted(self) -> tuple[str, ...]:
        raw = self._store.trust.home.read(CACHES, MAX_NOTES)
        try:
            return msgspec.json.decode(raw, type=tuple[str, ...]) if raw is not None else ()
        except msgspec.MsgspecError:
            raise SystemFailure("reading which cache homes there are", OSError(5, "damaged")) from None

    def _note(self) -> None:
        """Note in the trust home that this one is used, before anything is kept in it."""
        if self.path in self._noted():
            return
        home = self._store.trust.home
        with home.top() as top, FileLock(top, f"{CACHES}.lock"):
            kept = [path for path in self._noted() if is_there(path)]
            home.replace(CACHES, msgspec.json.encode([*kept, self.path]))

    def memory(self) -> Root | None:
        """A private directory in memory for what is on its way into this process; ``None`` if there is none.

        Where it is not to be had the cache home serves as well, only slower.
        """
        if self._memory is None or self._memory.fd < 0 or not _stands(self._memory):
            path, self._memory = in_memory(), None
            if path is not None:
                with suppress(StoreError, OSError):
                    found = Root.make(path, unnamed=False, what="the cache")
                    self._memory = found if found.filesystem == "tmpfs" else None
        return self._memory

    def close(self) -> None:
        """Let go of the directories."""
        for root in (self._root, self._memory):
            if root is not None:
                root.close()
        self._root = self._memory = None


def _stands(root: Root) -> bool:
    try:
        root.require_place()
    except StoreError:
        return False
    return True
