"""A fold: the tail of one view goes into its index, while searches go on over both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from nsstore.errors import EscapeError, StoreError
from nsstore.ledger import Ledger
from nsstore.policy import ReadClass
from nsstore.search.analyser import VERSION
from nsstore.search.indexed import Base, seq_of
from nsstore.search.manifest import Manifest, Unfit, spell
from nsstore.search.matches import terms_of
from nsstore.search.pair import Pair
from nsstore.search.shelf import Shelf
from nsstore.search.tantivy_door import IndexFailed, Row
from nsstore.search.view import View
from nsstore.store.leaf import Leaf
from nsstore.store.reading import Vanished, read_member

REST_SECONDS: Final = 30.0
_AT_ONCE: Final = 4
Tell = Callable[[Leaf, Shelf, Exception], None]


class Fold:
    """One fold of one view; it changes nothing that a search sees until it is done, and then all at once.

    It needs the lock of the view only to begin and to end. ``anew`` makes the index again from the
    records instead of adding to it, without those that weigh no longer.
    """

    def __init__(
        self,
        pair: Pair,
        shelf: Shelf,
        leaf: Leaf,
        ledger: Ledger,
        readable: frozenset[ReadClass],
        *,
        anew: bool,
        give_way: Callable[[], None],
    ) -> None:
        self.pair = pair
        self.shelf = shelf
        self.leaf = leaf
        self.ledger = ledger
        self.readable = readable
        self.anew = anew
        self.give_way = give_way
        self.frozen: list[View] = []
        self.places: dict[str, int] = {}
        self.left: list[str] = []
        self.rows: list[Row] = []

    def begin(self) -> bool:
        """Set aside what is to be folded; ``False`` if another fold of the view is under way."""
        pair, size = self.pair, self.ledger.size  # first: what is forgotten from here on is behind it
        with pair.lock:
            if pair.folding or not pair.whole or len(self.ledger.forgotten) != pair.forgotten:
                return False
            self.frozen = pair.tails
            self.places = {one: seq_of(self.ledger, one) for tail in self.frozen for one in tail.ids()}
            pair.folding = True
            pair.let_go = set()
            pair.tails = [*self.frozen, View()]
            base = pair.base
            if self.anew and base is not None:
                gone = base.gone.ids
                self.left = [one for one in self.ledger.order if one not in gone and base.reader.has(one)]
            self.base = None if self.anew else base
            self.size = size
            self.after = base.manifest.generation if base is not None and base.manifest is not None else None
            self.seq, self.head = pair.seq, pair.head
            self.gone = tuple(sorted(base.gone.ids)) if self.base is not None and base is not None else ()
            self.ends = dict(pair.ends)
            self.text = pair.text
        return True

    def run(self, tell: Tell) -> None:
        """Fold, and let the view go on from what was folded; whatever fails leaves it as it was."""
        try:
            self._run()
        except (Unfit, EscapeError) as why:
            self.pair.whole = False  # the files that its index was opened from are damaged
            tell(self.leaf, self.shelf, why)
            self.give_up()
        except (StoreError, IndexFailed, Vanished, OSError, ReferenceError):
            self.give_up()
        except BaseException:
            self.give_up()
            raise

    def give_up(self) -> None:
        """Leave the view as it is, and rest before the next try."""
        self.pair.rests_until = time.monotonic() + REST_SECONDS
        self.pair.folding = False

    def _run(self) -> None:
        self.rows = list(self._rows())
        before = self.base.manifest if self.base is not None else None
        tokens = sum(row.length for row in self.rows)
        facts = Manifest(
            analyser=VERSION,
            seq=self.seq,
            head=self.head.hex(),
            classes=spell(self.readable),
            generation="g-" + "0" * 16,
            files=(),
            records=len(self.rows) + (before.records if before is not None else 0),
            tokens=tokens + (before.tokens if before is not None else 0),
            gone=self.gone,
            ends=self.ends,
            text=self.text,
        )
        kept = self.shelf.fold(
            *(before, facts, iter(self.rows)), after=self.after, count=len(self.rows), still=self._still
        )
        if kept is None:
            self.pair.whole = False
            self.give_up()
            return
        manifest, ours = kept
        opened = self.shelf.open() if ours else None
        with self.pair.lock:
            if opened is None or opened.manifest.generation != manifest.generation:
                self.pair.whole = False  # another process folded: go on from what it kept
            else:
                self._go_on(Base.of(opened))
            self.pair.folding = False

    def _rows(self) -> Iterator[Row]:
        for one in self.left:
            self.give_way()
            found = read_member(self.leaf, self.ledger, one)
            yield Row(one, found.header.seq, " ".join(terms_of(found)))
        for tail in self.frozen:
            for number, (one, spelled) in enumerate(tail.rows()):
                if not number % _AT_ONCE:
                    self.give_way()
                yield Row(one, self.places[one], spelled)

    def _still(self) -> bool:
        """Whether nothing was forgotten since: what the fold holds could be that."""
        return self.leaf.forgets_nothing_behind(self.size)

    def _go_on(self, base: Base) -> None:
        """Put the new index in the place of the old one and of the folded tails."""
        pair, old = self.pair, self.pair.base
        if not pair.let_go.isdisjoint(row.record_id for row in self.rows):
            pair.whole = False  # it was forgotten meanwhile, and this index holds it: used by nobody
            return
        if old is not None and not self.anew:
            base.gone = old.gone
        elif old is not None:
            taken = {row.record_id: row.terms.split() for row in self.rows}
            for one in old.gone.ids & taken.keys():
                base.gone.add(one, taken[one])
        for row in self.rows:
            if row.record_id in self.places and not any(row.record_id in tail for tail in self.frozen):
                base.gone.add(row.record_id, row.terms.split())  # superseded or ended meanwhile
        pair.tails = pair.tails[len(self.frozen) :]
        pair.base, pair.name = base, self.shelf.name
