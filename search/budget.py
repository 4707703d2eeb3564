"""Keeps what was built for as long as it fits a number of bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar


class Weighed(Protocol):
    """Something that knows how much memory it holds now."""

    def bytes_used(self) -> int: ...

    def is_open(self) -> bool: ...


Key = tuple[Hashable, ...]
Kept = TypeVar("Kept", bound=Weighed)


class ViewCache(Generic[Kept]):
    """Holds at most ``max_bytes`` of views, the ones used last; never less than the newest one.

    Of views with an open index, which costs a thread, at most ``max_open`` are held. A view above the
    whole budget stays until the next one is used: to build it for each call would cost more than the
    memory. A view may grow while it is here; its bytes are counted again
    whenever it is used. Any thread may call any method.
    """

    def __init__(self, max_bytes: int, max_open: int = 16) -> None:
        self.max_bytes = max_bytes
        self.max_open = max_open
        self._lock = threading.RLock()
        self._views: dict[Key, tuple[Kept, int]] = {}  # least recently used first
        self._open: dict[Key, None] = {}  # those with an open index, least recently used first
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._views)

    def bytes_used(self) -> int:
        """Return the bytes of all views, each as counted when it was last used."""
        return self._bytes

    def get(self, key: Key) -> Kept | None:
        """Return the view under ``key`` and make it the newest, or None."""
        with self._lock:
            found = self._take(key)
            if found is not None:
                self._keep(key, found)
            return found

    def put(self, key: Key, view: Kept) -> None:
        """Keep ``view`` under ``key``, instead of the one that was there."""
        with self._lock:
            self._take(key)
            self._keep(key, view)

    def take(self, key: Key) -> Kept | None:
        """Let go of the view under ``key``, and return it."""
        with self._lock:
            return self._take(key)

    def take_best(
        self,
        matches: Callable[[Key], bool],
        fits: Callable[[Kept], bool],
        worth: Callable[[Kept], int],
    ) -> Kept | None:
        """Let go of the view that is worth most among those that fit, and return it, or None."""
        with self._lock:
            fitting = [
                (worth(view), key) for key, (view, _) in self._views.items() if matches(key) and fits(view)
            ]
            return self._take(max(fitting, key=lambda one: one[0])[1]) if fitting else None

    def each(self, matches: Callable[[Key], bool]) -> list[Kept]:
        """Every view whose key matches; none of them counts as used."""
        with self._lock:
            return [view for key, (view, _) in self._views.items() if matches(key)]

    def drop(self, matches: Callable[[Key], bool]) -> int:
        """Let go of every view whose key matches, and return how many there were."""
        with self._lock:
            gone = [key for key in self._views if matches(key)]
            for key in gone:
                self._take(key)
            return len(gone)

    def _take(self, key: Key) -> Kept | None:
        view, weight = self._views.pop(key, (None, 0))
        self._open.pop(key, None)
        self._bytes -= weight
        return view

    def _keep(self, key: Key, view: Kept) -> None:
        weight = view.bytes_used()
        self._views[key] = (view, weight)
        self._bytes += weight
        while self._bytes > self.max_bytes and len(self._views) > 1:
            self._take(next(iter(self._views)))
        if view.is_open():
            self._open.pop(key, None)
            self._open[key] = None
            while len(self._open) > self.max_open:
                self._take(next(iter(self._open)))
