"""The cache home: where derived views are kept, apart from the root and from what proves it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from nsstore.errors import InvalidInput, StoreError
from nsstore.root import Root, overlap

if TYPE_CHECKING:
    from nsstore.store import Store

VARIABLE: Final = "NSSTORE_CACHE_HOME"


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

    def __init__(self, store: Store) -> None:
        """Refuse a cache home in the root or in the trust home. Raises :class:`InvalidInput`."""
        self.path = os.path.join(base(), store.store_id)
        for taken in (store.root.path, store.trust.home.path):
            if overlap(self.path, taken):
                raise InvalidInput(
                    f"the cache home must lie apart from the root and the trust home: set {VARIABLE}"
                )
        self._root: Root | None = None
        self.failed = False

    def open(self, *, make: bool) -> Root | None:
        """The directory, or ``None`` if it is not there, or cannot be made or used: views stay in memory.

        ``failed`` tells the two apart. What was opened is kept, unless it was removed since.
        """
        root = self._root
        if root is not None and root.fd >= 0 and _stands(root):
            return root
        self.close()
        try:
            self._root = Root.make(self.path) if make else Root.open(self.path)
        except FileNotFoundError:
            return None
        except (StoreError, OSError):
            self.failed = True
            return None
        self.failed = False
        return self._root

    def close(self) -> None:
        """Let go of the directory."""
        root, self._root = self._root, None
        if root is not None:
            root.close()


def _stands(root: Root) -> bool:
    try:
        root.require_place()
    except StoreError:
        return False
    return True
