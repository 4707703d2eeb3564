"""The views of one store: found in memory or on the disk, caught up with the ledger, folded when long."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from functools import partial
from typing import Final

from nsstore.errors import EscapeError, StoreError
from nsstore.incident import IncidentKind
from nsstore.policy import ReadClass
from nsstore.scope import Namespace
from nsstore.search import shelves
from nsstore.search.budget import ViewCache
from nsstore.search.fold import Fold
from nsstore.search.folder import Folder
from nsstore.search.home import CacheHome
from nsstore.search.indexed import Base, seq_of
from nsstore.search.manifest import Manifest, Unfit, name_of
from nsstore.search.matches import spell, terms_of
from nsstore.search.pair import Pair
from nsstore.search.shelf import Shelf
from nsstore.search.tantivy_door import IndexFailed
from nsstore.store import Sight, Store
from nsstore.store.leaf import Leaf

VIEW_BYTES: Final = 256 * 1024 * 1024
MOST_OPEN: Final = 16  # open indexes; each keeps a thread of tantivy's
LEAST_KEPT: Final = 64  # records from which on a view is worth its files: docs/design.md §6
LEAST_TAIL: Final = 128  # records of a tail from which on a fold is worth its time,
TAIL_SHARE: Final = 16  # and one of so many of the index
LEAST_GONE: Final = 64  # records that are gone from which on the index is worth being made anew,
GONE_SHARE: Final = 20  # and one of so many of it
MOST_SETS: Final = 32
Readable = frozenset[ReadClass]


class Views:
    """Every view of one store that this process uses; any thread may ask for one.

    Memory is bounded by ``VIEW_BYTES`` and threads by ``MOST_OPEN``, the disk by twice what the records
    of a namespace hold. What happens to the cache home costs time and no answer.
    """

    def __init__(self, store: Store) -> None:
        """Refuse a cache home in the root or the trust home. Raises :class:`InvalidInput`."""
        self.store = store
        self.home = CacheHome(store)
        self.folder = Folder()
        self._cache: ViewCache[Pair] = ViewCache(VIEW_BYTES, MOST_OPEN)
        self._sets: dict[Namespace, dict[Readable, None]] = {}
        self._lock = threading.Lock()

    def start_afresh(self) -> None:
        """Forget every view, as a forked child has to: nobody is left to release a lock of the parent's."""
        self._cache, self._sets = ViewCache(VIEW_BYTES, MOST_OPEN), {}
        self._lock = threading.Lock()

    def of(self, sight: Sight, readable: Readable) -> Pair:
        """The view of exactly these classes, caught up with the ledger.

        Raises :class:`IntegrityError` for a damaged record, :class:`WitnessError` if damage to the view
        could not be told.
        """
        ns = sight.leaf.place.ns
        pair = self._cache.get((ns, readable))
        if pair is not None and pair.is_at(sight.ledger):
            self._consider(pair, sight, readable)
            return pair
        pair = pair or self._grown(sight, readable)
        if pair is None or not (pair.whole and pair.follows(sight.ledger) and self._forgets(pair, sight)):
            pair = self._begin(sight, readable)
        with pair.lock:
            if not pair.whole:  # another thread was interrupted in it
                pair = self._begin(sight, readable)
            _catch_up(pair, sight, readable)
        self._cache.put((ns, readable), pair)
        self._note_set(ns, readable)
        self._consider(pair, sight, readable)
        return pair

    def forget(self, ns: Namespace) -> None:
        """Let go of all that is kept of a namespace, in memory and on the disk, once no fold is at it.

        Raises :class:`StoreError` if something stays.
        """
        for pair in self._cache.each(lambda key: key[0] == ns):
            pair.whole = False
        self._cache.drop(lambda key: key[0] == ns)
        with self._lock:
            self._sets.pop(ns, None)
        shelves.drop_all(self.home, self.store.trust.keys, self.store.leaf(ns).place.chain)

    def close(self) -> None:
        """Finish what is being folded, and let go of the cache home."""
        self.folder.settle()
        self.start_afresh()
        self.home.close()

    def _grown(self, sight: Sight, readable: Readable) -> Pair | None:
        """A view of fewer classes, if what it lacks has joined only behind where it has come."""
        ns = sight.leaf.place.ns
        with self._lock:
            for fewer in self._sets.get(ns, ()):
                pair = self._cache.get((ns, fewer)) if fewer < readable else None
                if pair is not None and _fits(sight, readable, fewer, pair.seq):
                    self._cache.take((ns, fewer))
                    del self._sets[ns][fewer]
                    return pair
        return None

    def _note_set(self, ns: Namespace, readable: Readable) -> None:
        with self._lock:
            sets = self._sets.setdefault(ns, {})
            if readable not in sets:
                sets[readable] = None
                while len(sets) > MOST_SETS:
                    del sets[next(iter(sets))]
                while len(self._sets) > 10_000:
                    del self._sets[next(iter(self._sets))]

    @staticmethod
    def _forgets(pair: Pair, sight: Sight) -> bool:
        """Whether a view could let go of all that was forgotten since; one that cannot is used no more."""
        with pair.lock:
            for one in pair.newly_forgotten(sight.ledger):
                if not pair.forget(one):
                    pair.whole = False
            return pair.whole

    def _begin(self, sight: Sight, readable: Readable) -> Pair:
        """A new view: what is kept of it, or an empty one."""
        pair = Pair()
        pair.forgotten = len(sight.ledger.forgotten)
        if len(sight.ledger.members) >= LEAST_KEPT:
            self._open(pair, sight, readable)
        return pair

    def _open(self, pair: Pair, sight: Sight, readable: Readable) -> None:
        keys, chain = self.store.trust.keys, sight.leaf.place.chain
        kept: dict[tuple[int, str], Manifest] = {}
        for name in self._kept(sight.leaf):
            with suppress(StoreError):
                manifest = self._read(sight.leaf, Shelf(self.home, keys, chain, name))
                if manifest is not None and _usable(sight, readable, manifest):
                    kept[manifest.seq, name] = manifest
        if kept:
            best = max(kept)
            self._take(pair, sight, readable, Shelf(self.home, keys, chain, best[1]), kept[best])

    def _kept(self, leaf: Leaf) -> list[str]:
        keys, chain = self.store.trust.keys, leaf.place.chain
        try:
            return shelves.names(self.home, keys, chain)
        except EscapeError as why:
            self.store.witness.tell(leaf.place, IncidentKind.VIEW_DAMAGED, str(why))
            with suppress(StoreError):
                shelves.drop_all(self.home, keys, chain)
        except StoreError:
            pass
        return []

    def _read(self, leaf: Leaf, shelf: Shelf) -> Manifest | None:
        try:
            return shelf.manifest()
        except (Unfit, EscapeError) as why:
            self._damaged(leaf, shelf, why)
            return None

    def _take(self, pair: Pair, sight: Sight, readable: Readable, shelf: Shelf, known: Manifest) -> None:
        """Open what is kept and go on from there. What the system refuses leaves the view in memory."""
        try:
            opened = shelf.open(known)
        except (Unfit, EscapeError) as why:
            self._damaged(sight.leaf, shelf, why)
            return
        except (StoreError, IndexFailed):
            return
        if opened is None or not _usable(sight, readable, opened.manifest):
            return
        base = Base.of(opened)
        ledger, manifest = sight.ledger, opened.manifest
        later = [one for one, seq in ledger.forgotten.items() if seq > manifest.seq]
        if any(base.reader.has(one) for one in later) or not ledger.members.keys() >= {*manifest.gone}:
            with suppress(StoreError):  # whoever forgot it removes it; here it is only not used
                shelf.drop()
            return
        for one in manifest.gone:
            base.gone.add(one, terms_of(sight.read(one)[0]))
        pair.base, pair.name, pair.ends = base, shelf.name, dict(manifest.ends)
        pair.text = manifest.text
        pair.came_to(manifest.seq, ledger)

    def _damaged(self, leaf: Leaf, shelf: Shelf, why: Exception) -> None:
        """Tell that a view is not as it was folded, and remove it: it is made anew from the records."""
        self.store.witness.tell(leaf.place, IncidentKind.VIEW_DAMAGED, f"{shelf.name} {why}")
        with suppress(StoreError):
            shelf.drop()

    def _consider(self, pair: Pair, sight: Sight, readable: Readable) -> None:
        """Fold a tail that has grown long enough, in the background."""
        pair.uses += 1
        base, tail = pair.base, pair.tail_records()
        if base is None:
            due = tail >= LEAST_KEPT
        else:
            due = tail >= max(LEAST_TAIL, base.records // TAIL_SHARE) or _worn(base)
        if not due or pair.folding or time.monotonic() < pair.rests_until:
            return
        keys, leaf = self.store.trust.keys, sight.leaf
        name = pair.name or name_of(keys, leaf.place.chain, readable)
        if base is None and pair.uses == 1 and not self._used_before(leaf, name):
            return
        shelf = Shelf(self.home, keys, leaf.place.chain, name)
        fold = Fold(
            *(pair, shelf, leaf, sight.ledger, readable),
            anew=base is not None and _worn(base),
            give_way=self.folder.give_way,
        )
        if fold.begin() and not self.folder.submit(partial(self._fold, fold)):
            fold.give_up()

    def _fold(self, fold: Fold) -> None:
        """Fold, and keep what is kept of the namespace within twice what its records hold."""
        shelves.sweep(self.home)
        fold.run(self._told)
        with suppress(StoreError, ReferenceError):
            keys, chain = self.store.trust.keys, fold.leaf.place.chain
            kept = sorted(shelves.weigh(self.home, keys, chain), reverse=True)
            room = 2 * max((manifest.weight for _, _, manifest in kept), default=0)
            size = sum(manifest.size for _, _, manifest in kept)
            for _, name, manifest in kept:  # those that were folded longest ago first
                if size > room and name != fold.shelf.name:
                    Shelf(self.home, keys, chain, name).drop()
                    size -= manifest.size

    def _used_before(self, leaf: Leaf, name: str) -> bool:
        """Whether a view was searched before, by whatever process; noted for the next time."""
        keys, chain = self.store.trust.keys, leaf.place.chain
        with suppress(StoreError):
            if name in shelves.names(self.home, keys, chain):
                return True
        shelves.note_use(self.home, keys, chain, name)
        return False

    def _told(self, leaf: Leaf, shelf: Shelf, why: Exception) -> None:
        with suppress(StoreError, ReferenceError):  # met again, and told then, by whoever opens it
            self._damaged(leaf, shelf, why)


def _worn(base: Base) -> bool:
    """Whether so much of an index is gone, or it is in so many pieces, that it is worth being made anew."""
    return len(base.gone.ids) >= max(LEAST_GONE, base.records // GONE_SHARE) or base.reader.is_scattered


def _fits(sight: Sight, readable: Readable, had: Readable, seq: int) -> bool:
    """Whether a view of the classes ``had`` up to an event is one of all the readable ones up to there."""
    return had <= readable and all(sight.leaf.first_of(one) > seq for one in readable - had)


def _usable(sight: Sight, readable: Readable, manifest: Manifest) -> bool:
    """Whether a kept view is of this very chain, and of exactly what may be read of its beginning."""
    ledger = sight.ledger
    return (
        manifest.seq <= ledger.seq
        and ledger.macs[manifest.seq].hex() == manifest.head
        and _fits(sight, readable, frozenset(manifest.classes), manifest.seq)
    )


def _catch_up(pair: Pair, sight: Sight, readable: Readable) -> None:
    """Take in what the ledger has more, each record proven; what ended weighs no longer."""
    ledger = sight.ledger
    reached = ledger.seq  # another thread may write meanwhile: what joins from here on is for the next call
    if pair.seq != reached:
        for record_id in pair.after(ledger, reached):
            if sight.tag(record_id).readable in readable:
                found = sight.prove(record_id)[0]
                spelled = spell(found)
                inside = [one for one in found.tag.supersedes if pair.holds(one)]
                superseded = {one: terms_of(sight.read(one)[0]) for one in inside}
                pair.whole = False  # what is interrupted from here on is not used again
                size = len(found.record.text)
                pair.take_in(record_id, found.tag, spelled, superseded, size=size)
            pair.came_to(seq_of(ledger, record_id), ledger)
            pair.whole = True
        pair.came_to(reached, ledger)
    if pair.ends:
        for record_id in [one for one, ends in pair.ends.items() if sight.is_over(ends)]:
            held = terms_of(sight.read(record_id)[0]) if pair.holds(record_id) else None
            pair.leave_out(record_id, held)
