"""One namespace as this process last verified it, and how a reader comes to trust it."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final

from nsstore.errors import EscapeError, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger, Line
from nsstore.policy import ReadClass
from nsstore.record import Header
from nsstore.root import File, FileLock
from nsstore.store.judge import Verdict, judge
from nsstore.store.sealing import MAX_FILE, Draft, Tag, Unproven, line_of, prove
from nsstore.store.survey import Place, Stamp, Survey, catch_up, fetch, look
from nsstore.trust import Cell, NoValidSlot

if TYPE_CHECKING:
    from nsstore.store.entry import Entry
    from nsstore.store.store import Store


# What an unlisted file answers that somebody made unreadable, or leased, so that reading would stop.
NOT_OURS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EAGAIN, errno.EBUSY, errno.ETXTBSY})


class Leaf:
    """A namespace: its ledger is read once and then followed, its directory compared when it changed."""

    def __init__(self, store: Store, place: Place) -> None:
        self.store = store
        self.place = place
        self.lock = threading.RLock()
        self.tags: dict[str, Tag] = {}
        self._ledger: Ledger | None = None
        self._ledger_stamp: Stamp | None = None
        self._dir_stamp: Stamp | None = None
        self._missing: frozenset[str] = frozenset()
        self.entered = False
        self.clock_told = False
        self.entry: Entry | None = None
        self._classes: set[ReadClass] = set()
        self._classified = 0
        self._last_classified: str | None = None

    def read(self) -> Ledger:
        """The ledger that anchor, disk and chain agree on now; an unwritten namespace has an empty one.

        Raises :class:`IntegrityError` for a loss or a rollback, after looking again under the lock.
        """
        with self.lock, self.store.witness.escapes(self.place):
            self.store.root.require_place()
            if not self.unchanged():
                survey, verdict = self.look(self._ledger)
                if not verdict.plain:
                    survey, verdict = self.look_locked()
                self.take(survey, verdict)
            assert self._ledger is not None
            return self._ledger

    def require_whole(self) -> None:
        """Refuse a namespace that lost a record. Raises :class:`IntegrityError`."""
        if self._missing:
            raise self.store.witness.fail(self.place, IncidentKind.MISSING, min(self._missing))

    @property
    def missing(self) -> frozenset[str]:
        return self._missing

    def forget(self) -> None:
        """Trust nothing that was seen before: the next call looks at everything again."""
        with self.lock:
            self._ledger = self._ledger_stamp = self._dir_stamp = None
            self.entered = False
            self._missing = frozenset()

    def unchanged(self) -> bool:
        """Whether anchor, ledger and directory are as they were when they last agreed."""
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

    def keep(self, entry: Entry) -> None:
        """Pause a writer's hold and keep its descriptors for the next one."""
        entry.pause()
        self.entry = entry
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
        self._ledger, self.entered = ledger, True

    def remember(self, written: Iterable[Draft]) -> None:
        """Keep the tags of records this process just wrote."""
        for one in written:
            self.tags[one.record_id] = one.tag

    def classes(self, ledger: Ledger, tag: Callable[[str], Tag]) -> frozenset[ReadClass]:
        """The readability classes that exist in this namespace; members are classified once."""
        with self.lock:
            if not ledger.begins_with(self._classified, self._last_classified):
                self._classes, self._classified = set(), 0
            for record_id in ledger.order[self._classified :]:
                self._classes.add(tag(record_id).readable)
                self._classified, self._last_classified = self._classified + 1, record_id
            return frozenset(self._classes)

    def follow(self, file: File | None, cell: Cell | None) -> Ledger | None:
        """The ledger as it is now under the lock, or ``None`` if it does not go on from the known one."""
        known = self._ledger
        if known is None or file is None or cell is None:
            return None
        anchor = cell.anchor
        if not catch_up(self.store.trust, known, file) or (anchor.seq, anchor.head) != (
            known.seq,
            known.head,
        ):
            return None
        return known

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
        whole = not verdict.recovered and not survey.torn and not verdict.behind
        self._ledger = verdict.ledger
        self._ledger_stamp = survey.ledger_stamp if whole else None
        self._dir_stamp = survey.dir_stamp
        self._missing = verdict.missing
