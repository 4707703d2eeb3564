"""All views that are kept of one namespace: which there are, what they weigh, and how they go."""

from __future__ import annotations

from contextlib import suppress

from nsstore.errors import StoreError, SystemFailure
from nsstore.root import trees
from nsstore.search.home import CacheHome
from nsstore.search.manifest import Manifest, Unfit, place_of
from nsstore.search.shelf import GONE, MANIFEST, OPENING, Shelf, put_away
from nsstore.trust import Chain, Keys


def names(home: CacheHome, keys: Keys, chain: Chain) -> list[str]:
    """The views of a namespace that were used before, kept or not."""
    root = home.open(make=False)
    place = root.dir(f"views/{place_of(keys, chain)}") if root is not None else None
    if place is None:
        return []
    with place:
        return [name for name in place.folders() if not name.startswith(GONE)]


def weigh(home: CacheHome, keys: Keys, chain: Chain) -> list[tuple[float, str, Manifest]]:
    """The views that are kept of a namespace and can be used: how old, by which name, and what they are."""
    found: list[tuple[float, str, Manifest]] = []
    root = home.open(make=False)
    for name in names(home, keys, chain):
        shelf = Shelf(home, keys, chain, name)
        with suppress(StoreError, Unfit):
            manifest = shelf.manifest()
            directory = root.dir(shelf.path) if root is not None else None
            if manifest is not None and directory is not None:
                with directory:
                    found.append((trees.age(directory, MANIFEST), name, manifest))
    return found


def note_use(home: CacheHome, keys: Keys, chain: Chain, name: str) -> None:
    """Note that a view is searched; where that cannot be noted it stays in memory."""
    with suppress(StoreError):
        root = home.open(make=True)
        if root is not None:
            root.make_dir(f"views/{place_of(keys, chain)}/{name}").close()


def drop_all(home: CacheHome, keys: Keys, chain: Chain) -> None:
    """Remove all that is kept of a namespace. Raises :class:`StoreError` if it stays, or may.

    A fold that is under way keeps nothing once the ledger says that something is forgotten: it is not
    waited for.
    """
    sweep(home)
    _drop(home, place_of(keys, chain))
    for other in home.others():
        try:
            sweep(other)
            _drop(other, place_of(keys, chain))
        finally:
            other.close()


def _drop(home: CacheHome, place: str) -> None:
    root = home.open(make=False)
    if root is None and home.failed:
        raise SystemFailure("removing the views of what is forgotten", OSError(13, "a cache home is shut"))
    above = root.dir("views") if root is not None else None
    if above is not None:
        with above:
            put_away(above, place)


def sweep(home: CacheHome) -> None:
    """Remove the copies that were left by processes that died while they opened a view."""
    for root in (home.open(make=False), home.memory()):
        with suppress(StoreError):
            copies = root.dir(OPENING) if root is not None else None
            if copies is not None:
                with copies:
                    for name in copies.names():
                        with suppress(StoreError):
                            found = copies.sub(name)
                            if found is not None:
                                with found:
                                    if trees.is_held(found):
                                        continue
                            trees.remove(copies, name)
