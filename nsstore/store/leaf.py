"""One namespace as this process last verified it, and how a reader comes to trust it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from nsstore.errors import EscapeError, IntegrityError, StoreError, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger, Line
from nsstore.policy import Decision, ReadClass, Rights
from nsstore.record import Header
from nsstore.root import NOT_OURS, SETTLED_NS, Dir, File, FileLock
from nsstore.scope import ScopeEnvelope
from nsstore.store.judge import Verdict, judge
from nsstore.store.recalled import RecalledTags, Recollection
from nsstore.store.sealing import MAX_FILE, Draft, Tag, Unproven, line_of, prove
from nsstore.store.survey import Place, Stamp, Survey, catch_up, fetch, look
from nsstore.trust import Cell, NoValidSlot

if TYPE_CHECKING:
    from nsstore.store.entry import Entry
    from nsstore.store.store import Store


MANY: Final = 16  # members from which on it is worth asking whether something remembers them
_FORGOTTEN: Final = b'"event":"forgotten"'
_SHORTEST: Final = 300  # bytes of a ledger's line, about


class Decided:
    """Decisions for one asker under one state of the rights; each follows from these two and its class."""

    __slots__ = ("envelope", "known", "readable", "rights")

    def __init__(self, envelope: ScopeEnvelope, rights: Rights) -> None:
        self.envelope = envelope
        self.rights = rights
        self.known: dict[ReadClass, Decision] = {}
        self.readable: dict[bool, tuple[frozenset[ReadClass], frozenset[ReadClass]]] = {}
        """Of which classes, stale or not, the readable ones were asked for last, and which they are."""


class Leaf:
    """A namespace: its ledger is read once and then followed, its directory compared when it changed."""

    def __init__(self, store: Store, place: Place) -> None:
        self.store = store
        self.place = place
        self.files = ((store.root, place.ledger), (store.trust.home, place.anchors))
        self.lock = threading.RLock()
        self.tags: dict[str, Tag] = {}
        self._ledger: Ledger | None = None
        self._ledger_stamp: Stamp | None = None
        self._dir_stamp: Stamp | None = None
        self._settled: tuple[tuple[int, ...], ...] | None = None
        self._missing: frozenset[str] = frozenset()
        self._own_link: tuple[int, ...] | None = None
        self._untouched = False
        self._forgotten = 0
        self.entered = False
        self.clock_told = False
        self.entry: Entry | None = None
        self._classes: dict[ReadClass, int] = {}
        self._class_set: frozenset[ReadClass] | None = None
        self._classified = 0
        self._last_classified: str | None = None
        self._decided: Decided | None = None
        self._recalled: RecalledTags | None = None
        self._asked = False
        self._spotless = False

    def read(self) -> Ledger:
        """The ledger that anchor, disk and chain agree on now; an unwritten namespace has an empty one.

        Raises :class:`IntegrityError` for a loss or a rollback, after looking again under the lock.
        """
        with self.lock:
            try:
                if self._ledger is None and not self._asked:
                    self._ask()
                if not self.unchanged():
                    survey, verdict = self.look(self._ledger)
                    if not verdict.plain:
                        survey, verdict = self.look_locked()
                    self.take(survey, verdict)
            except EscapeError as err:
                self.store.witness.tell(self.place, IncidentKind.LINKED, str(err))
                raise
            ledger = self._ledger
            assert ledger is not None
            if len(ledger.forgotten) != self._forgotten:  # another process may have: nothing of it stays here
                self.store.proven.forget(islice(ledger.forgotten, self._forgotten, None))
                self._forgotten = len(ledger.forgotten)
            return ledger

    def require_whole(self) -> None:
        """Refuse a namespace that lost a record. Raises :class:`IntegrityError`."""
        if self._missing:
            raise self.store.witness.fail(self.place, IncidentKind.MISSING, min(self._missing))

    @property
    def missing(self) -> frozenset[str]:
        return self._missing

    def directory(self) -> Dir | None:
        """The directory of the records, opened through no link; ``None`` if there is none."""
        with self.store.witness.escapes(self.place):
            return self.store.root.dir(self.place.records)

    def forgets_nothing_behind(self, size: int) -> bool:
        """Whether the ledger on the disk forgets nothing in what stands behind its first ``size`` bytes."""
        file = self.store.root.open_file(self.place.ledger)
        if file is None:
            return False
        with file:
            return file.size >= size and _FORGOTTEN not in file.read_at(size, file.size - size)

    def forget(self) -> None:
        """Trust nothing that was seen before: the next call looks at everything again."""
        with self.lock:
            self._settled = None
            self._ledger = self._ledger_stamp = self._dir_stamp = None
            self.entered = self._spotless = False
            self._missing, self._recalled = frozenset(), None

    def _ask(self) -> None:
        """Ask once what an earlier process knew, where that spares more than it costs."""
        self._asked, recall = True, self.store.recall
        written = self.store.root.seen(self.place.ledger) if recall is not None else None
        if recall is not None and written is not None and written[-2] >= MANY * _SHORTEST:
            recall(self)

    def go_on_from(self, kept: Recollection) -> None:
        """Take over what an earlier process knew: what it saw counts as seen, what it read as read."""
        self._ledger, self._recalled = Ledger.of(self.place.chain, kept.ledger), RecalledTags(kept)
        if kept.stamps is not None:
            self._ledger_stamp, self._dir_stamp = kept.stamps
            self._spotless = True

    def stamps(self) -> tuple[Stamp, Stamp] | None:
        """Those of ledger and directory as they are, if anchor, ledger and directory agree in every point."""
        with self.lock:
            if not (self._spotless and self.unchanged()) or self._settled is None:
                return None
            _, ledger, directory = self._settled
            return Stamp.seen(ledger), Stamp.seen(directory)

    def known_tag(self, record_id: str) -> Tag | None:
        """What is known of a member from before, or ``None``."""
        known, recalled, ledger = self.tags.get(record_id), self._recalled, self._ledger
        if known is None and recalled is not None and ledger is not None:
            member = ledger.members.get(record_id)
            known = recalled.of(record_id, member.seq) if member is not None else None
            if known is not None:
                self.tags[record_id] = known
        return known

    def count(self) -> int:
        """How many members are remembered here."""
        return len(self.tags) + (self._recalled.count if self._recalled is not None else 0)

    def unchanged(self) -> bool:
        """Whether anchor, ledger and directory are as they were when they last agreed."""
        seen = self._seen_now()
        if seen is not None and seen == self._settled:
            return True
        self._settled = None
        self.store.root.require_place()
        if not self._agree_still():
            return False
        self._settled = seen
        return True

    def _seen_now(self) -> tuple[tuple[int, ...], ...] | None:
        """What the system says of the three now; ``None`` if one is absent, or may have just changed."""
        if self._ledger is None:
            return None
        root, place = self.store.root, self.place
        seen = (
            self.store.trust.home.seen(place.anchors),
            root.seen_in_place(place.ledger),
            root.seen(place.records),
        )
        exact = root.exact_times and self.store.trust.home.exact_times
        settled = time.time_ns() - (0 if exact else SETTLED_NS)
        found = tuple([one for one in seen if one is not None and (exact or one[-1] <= settled)])
        return found if len(found) == len(seen) else None

    def before_link(self, directory: Dir) -> None:
        """Note, right before a writer's own link, whether the directory is as it was when all agreed."""
        self._own_link = None
        self._untouched = self._settled is not None and directory.seen() == self._settled[-1]

    def after_link(self, directory: Dir) -> None:
        """Note, right after a writer's own link, how the directory looks with it."""
        self._own_link = directory.seen() if self._untouched else None

    def after_write(self) -> None:
        """Go on from what agreed before, if the writer's own link is all that changed in the directory.

        Ledger and anchor are the writer's own under the lock. Whatever else was done to the directory in
        the microseconds of the link itself is found by the next comparison of names.
        """
        own, self._own_link = self._own_link, None
        seen = self._seen_now() if own is not None else None
        self._settled = seen if seen is not None and seen[-1] == own else None

    def _agree_still(self) -> bool:
        """Look at anchor, ledger and directory themselves."""
        ledger, chain, names = self._ledger, self._ledger_stamp, self._dir_stamp
        if ledger is None or chain is None or names is None or not (chain.settled and names.settled):
            return False
        root, trust = self.store.root, self.store.trust
        try:
            anchor = trust.anchors.read(self.place.anchors, self.place.chain)
        except NoValidSlot:
            return False
        if anchor is None or (anchor.seq, anchor.head) != (ledger.seq, ledger.head):
            return False
        file, directory = root.open_file(self.place.ledger), root.dir(self.place.records)
        if file is None or directory is None:
            return False
        with file, directory:
            return chain.proves(Stamp.of(file)) and names.proves(Stamp.of(directory))

    def keep(self, entry: Entry, written: Iterable[Draft] = ()) -> None:
        """Pause a writer's hold and keep its descriptors for the next one, and the tags of what it wrote."""
        entry.pause()
        self.entry = entry
        for one in written:
            self.tags[one.record_id] = one.tag
        if self.store.last_written is not self:
            self.store.lately_written(self)

    def let_go(self, *, wait: bool) -> None:
        """Close the descriptors kept from the last hold, unless a writer is at work."""
        if self.lock.acquire(blocking=wait):
            try:
                entry, self.entry = self.entry, None
                if entry is not None:
                    entry.close()
            finally:
                self.lock.release()

    def adopt(self, ledger: Ledger) -> None:
        """Take over the ledger as a writer recovered it under the lock."""
        self._follow(ledger)
        self.entered, self._settled = True, None

    def _follow(self, ledger: Ledger) -> None:
        self._ledger = ledger
        if self._recalled is not None and not self._recalled.are_of(ledger):
            self._recalled = None

    def drop(self, forgotten: Iterable[str]) -> None:
        """Know nothing more of records that are forgotten."""
        for record_id in forgotten:
            self.tags.pop(record_id, None)
        self.store.proven.forget(forgotten)
        self._missing = self._missing.difference(forgotten)

    def classes(self, ledger: Ledger, tag: Callable[[str], Tag]) -> frozenset[ReadClass]:
        """The readability classes that exist in this namespace; members are classified once."""
        known, order = self._class_set, ledger.order
        if known is not None and order[self._classified - 1 :] == [self._last_classified]:
            return known  # as at most calls: each member was classified, and the last one is the last one
        with self.lock:
            if not ledger.begins_with(self._classified, self._last_classified):
                self._classes, self._classified, self._class_set = {}, 0, None
            recalled = self._recalled
            if (
                not self._classified
                and recalled is not None
                and recalled.count
                and recalled.are_all_of(ledger)
            ):
                self._classes, self._classified = dict(recalled.firsts()), recalled.count
                self._last_classified = ledger.order[recalled.count - 1]
            damaged: StoreError | None = None
            for record_id in ledger.order[self._classified :]:
                try:
                    readable = tag(record_id).readable
                except (EscapeError, IntegrityError) as err:
                    damaged = damaged or err  # whatever is wrong with one, the others are classified
                    continue
                if readable not in self._classes:
                    self._classes[readable], self._class_set = ledger.members[record_id].seq, None
                if damaged is None:
                    self._classified, self._last_classified = self._classified + 1, record_id
            if damaged is not None:
                raise damaged
            if self._class_set is None:
                self._class_set = frozenset(self._classes)
            return self._class_set

    def decided(self, envelope: ScopeEnvelope, rights: Rights) -> Decided:
        """What was decided about this namespace's classes for the last request, if this one is the same."""
        known = self._decided
        if known is None or known.envelope is not envelope or known.rights is not rights:
            known = self._decided = Decided(envelope, rights)
        return known

    def first_of(self, readable: ReadClass) -> int:
        """Where in the ledger the first member of a class joined that was classified; 0 for none."""
        return self._classes.get(readable, 0)

    def follow(self, file: File | None, cell: Cell | None) -> Ledger | None:
        """The ledger as it is now under the lock, or ``None`` if it does not go on from the known one."""
        known = self._ledger
        if known is None or file is None or cell is None:
            return None
        if file.size != known.size and not catch_up(self.store.trust, known, file):
            return None
        anchor = cell.anchor
        return known if anchor.seq == known.seq and anchor.head == known.head else None

    def look(self, known: Ledger | None) -> tuple[Survey, Verdict]:
        """Look at the disk once and judge it; nothing is kept."""
        store = self.store
        survey = look(store.root, store.trust, self.place, known)
        return survey, judge(survey, self._prove, self._line_of)

    def look_locked(self) -> tuple[Survey, Verdict]:
        """Look again while no writer is at work: only this verdict counts. Makes nothing."""
        folder, _, name = self.place.lock.rpartition("/")
        with ExitStack() as held:
            directory = self.store.root.dir(folder)
            if directory is not None:
                held.enter_context(directory)
                with suppress(FileNotFoundError):
                    held.enter_context(FileLock(directory, name, shared=True))
            with suppress(NoValidSlot):  # what it does not prove is for the look to tell
                held.enter_context(self.store.trust.anchors.watched(self.place.anchors, self.place.chain))
            return self.look(None)

    def _prove(self, name: str) -> Header:
        """The header of an unlisted name. What is no file is kept out as any other stray, not followed."""
        try:
            raw = fetch(self.store.root, self.place, name, MAX_FILE)
        except EscapeError:
            raise Unproven(IncidentKind.LINKED) from None
        except SystemFailure as err:
            if err.errno in NOT_OURS:
                raise Unproven(IncidentKind.LINKED) from None
            raise
        if raw is None:
            raise Unproven(IncidentKind.MISSING)
        return prove(self.store.trust.keys, self.place.chain, self.place.ns, name, raw).header

    def _line_of(self, header: Header) -> Line:
        return line_of(self.store.trust.keys, self.place.chain, header)

    def take(self, survey: Survey, verdict: Verdict) -> None:
        """Audit what the verdict found, then keep it; raises for a closed namespace."""
        witness = self.store.witness
        witness.tell_all(self.place, verdict.strays)
        if verdict.closed is not None:
            self.forget()
            raise witness.fail(self.place, verdict.closed, str(verdict.ledger.seq))
        whole = not (verdict.recovered or survey.torn or verdict.behind or verdict.ledger.unfinished)
        self._follow(verdict.ledger)
        self._settled = None
        self._spotless = whole and not verdict.strays and not verdict.missing
        self._ledger_stamp = survey.ledger_stamp if whole else None
        self._dir_stamp = survey.dir_stamp
        self._missing = verdict.missing
