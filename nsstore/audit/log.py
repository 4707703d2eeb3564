"""The audit of a tenant: one keyed chain across months, one write per event, its head in the trust home."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Final

import msgspec

from nsstore import layout
from nsstore.audit.ending import End, find_end, further, is_taken, month_file
from nsstore.audit.events import ZERO, AuditEvent, Spelled, framer_of, spelled, write_line
from nsstore.clock import utc_now
from nsstore.errors import EscapeError, Refused, StoreError, SystemFailure, WitnessError
from nsstore.root import RANGES, File, FileLock, Root, flusher
from nsstore.trust import BadLine, Cell, Chain, NoValidSlot, Trust

MAX_BOOKS: Final = 8
REFUSED: Final = "the audit could not take the event, so the operation was not answered"
TAKEN: Final = "what stands at {} is no file of the audit: put the one that was there back, or move it away"
BUSY: Final = "the audit of this tenant is being written by what this call interrupted: try again"


class _Ready(msgspec.Struct, frozen=True):
    """A line that was made ready for an event, the end it would follow, and the line's own MAC."""

    event: Spelled
    seq: int
    head: bytes
    month: str
    raw: bytes
    mac: bytes


class _Book:
    """One tenant's chain in this process: where it is, and where it ended when it was left last."""

    def __init__(self, root: Root, trust: Trust, tenant: tuple[str, str]) -> None:
        self.chain = Chain(trust.store_id, "audit", (tenant,))
        self.framer = framer_of(trust.keys, self.chain)
        self._root, self._home = root, trust.home
        self.folder = layout.audit_dir(tenant)
        self.lock_path = layout.audit_lock_path(tenant)
        self.heads = layout.audit_head_path(tenant)
        self.thread = threading.RLock()
        self.entered = False
        self.lock: FileLock | None = None
        self.file: File | None = None
        self.cell: Cell | None = None
        self.end: End | None = None
        self.ready: _Ready | None = None
        self._month = ""
        self._files: tuple[tuple[Root, str], ...] = ()

    def files(self, month: str) -> tuple[tuple[Root, str], ...]:
        """What an event changes: the month's file beneath the root, then the heads in the trust home."""
        if self._month != month:
            path = f"{self.folder}/{month_file(month)}"
            self._month, self._files = month, ((self._root, path), (self._home, self.heads))
        return self._files

    def pause(self) -> None:
        """Let the next process in, and keep the descriptors."""
        if self.cell is not None:
            self.cell.free()
        if self.lock is not None and self.lock.held:
            self.lock.pause()

    def close(self) -> None:
        """Forget the end and let go of every descriptor."""
        for handle in (self.file, self.cell.file if self.cell else None):
            if handle is not None:
                handle.close()
        if self.lock is not None:
            self.lock.release()
        self.lock = self.file = self.cell = self.end = None


class AuditLog:
    """Appends events to the chain of their tenant; an event that cannot be kept fails the operation."""

    def __init__(self, root: Root, trust: Trust) -> None:
        self.root = root
        self.trust = trust
        self._books: dict[tuple[str, str], _Book] = {}
        _logs.add(self)

    def chain(self, tenant: tuple[str, str]) -> Chain:
        """The chain that a tenant's lines and head are MACed in."""
        return self._book(tenant).chain

    def require_ready(self, tenant: tuple[str, str]) -> None:
        """Refuse before anything is written if the tenant's chain cannot be carried on now.

        Raises :class:`WitnessError`. A chain this process has appended to was entered already.
        """
        book = self._books.get(tenant)
        if book is None or book.end is None:
            self._enter(tenant, None)

    def prepare(self, tenant: tuple[str, str], event: Spelled) -> None:
        """Make ready what :meth:`append` of this event will write if the chain still ends where it did.

        Holds and promises nothing: whoever goes on with the chain meanwhile makes it void.
        """
        book = self._books.get(tenant)
        if book is None or (end := book.end) is None or (cell := book.cell) is None or end.repairs:
            return
        seq, head, at = end.seq, end.head, utc_now()
        try:
            raw, mac = write_line(book.framer, event, seq=seq + 1, at=at, prev=head.hex())
        except BadLine:
            return  # which append will tell
        book.ready = _Ready(event, seq, head, max(at[:7], end.month), raw, mac)
        cell.prepare(seq + 1, mac)

    def append(self, tenant: tuple[str, str], event: AuditEvent | Spelled) -> None:
        """Add one event; a security event is durable when this returns, a routine one within a second.

        Raises :class:`WitnessError` if it could not be kept.
        """
        self._enter(tenant, event if isinstance(event, Spelled) else spelled(event))

    def close(self) -> None:
        """Let go of every descriptor that is kept."""
        for book in list(self._books.values()):
            with book.thread:
                book.close()

    def after_fork(self) -> None:
        """Start afresh in a forked child, where no thread is left to release a lock of the parent's."""
        books, self._books = self._books, {}
        for book in books.values():
            book.close()

    def _book(self, tenant: tuple[str, str]) -> _Book:
        book = self._books.get(tenant)
        if book is None:
            book = self._books.setdefault(tenant, _Book(self.root, self.trust, tenant))
            self._let_go()
        return book

    def _let_go(self) -> None:
        for tenant in list(self._books)[:-MAX_BOOKS]:
            book = self._books.get(tenant)
            if book is not None and book.thread.acquire(blocking=False):
                try:
                    if not book.entered:
                        book.close()
                        self._books.pop(tenant, None)
                finally:
                    book.thread.release()

    def _enter(self, tenant: tuple[str, str], event: Spelled | None) -> None:
        """Hold the chain alone and append ``event``, or see at least that one could be."""
        try:
            while not self._entered(tenant, self._books.get(tenant) or self._book(tenant), event):
                pass  # another thread let go of the book before this one held it
        except (StoreError, NoValidSlot, BadLine, OSError) as err:
            words = f"{REFUSED}: {err}" if isinstance(err, EscapeError) else REFUSED
            raise WitnessError(words, retryable=isinstance(err, StoreError) and err.retryable) from err

    def _entered(self, tenant: tuple[str, str], book: _Book, event: Spelled | None) -> bool:
        """Whether the event is in this book, or the book ready; ``False`` if it is no longer the tenant's.

        Raises :class:`Refused` for a thread that is in already: it was interrupted, and what interrupted
        it is here.
        """
        with book.thread:
            if self._books.get(tenant) is not book:
                return False
            if book.entered:
                raise Refused(BUSY, reason="locked", retryable=True)
            try:
                book.entered = True
                cell, lock = book.cell, book.lock
                if (
                    cell is None
                    or lock is None
                    or not cell.hold_again()
                    or not (RANGES or lock.resume(book.lock_path))
                ):
                    self._hold(book)
                if event is not None:
                    if not self._append_ready(book, event):
                        self._append(book, event)
                else:
                    self._month(book, utc_now()[:7])
                    book.end = self._find_end(book)
                book.pause()
            except BaseException:
                book.close()
                raise
            finally:
                book.entered = False
            return True

    def _hold(self, book: _Book) -> None:
        """Hold the chain as disk and trust home have it by now; where it ended is still to be compared."""
        end = book.end
        book.close()
        book.end = end
        book.lock = FileLock.at(self.root, book.lock_path)
        book.cell = self.trust.anchors.open(book.heads, book.chain)
        if book.cell is not None:
            book.cell.hold()

    def _append_ready(self, book: _Book, event: Spelled) -> bool:
        """Append the line that was made ready if the chain still ends where it would follow; else nothing."""
        ready, end, file, cell = book.ready, book.end, book.file, book.cell
        if ready is None or ready.event is not event or end is None or file is None or cell is None:
            return False
        book.ready = None
        files = book.files(ready.month)
        if not (
            self.root.still_in_place(file, files[0][1])
            and end.is_at(ready.month, file.inode, file.size, ready.head)
            and end.seq == ready.seq
            and cell.anchor.head == ready.head
            and not (end.repairs or event.security or flusher.any_failed)
        ):
            return False
        file.append(ready.raw)
        end.goes_on(ready.mac, file.size)
        cell.advance(end.seq, end.head)
        flusher.note_all(files)
        return True

    def _append(self, book: _Book, event: Spelled) -> None:
        """Append an event wherever the chain is: found again, repaired, begun, or in a new month."""
        at, end, durable = utc_now(), book.end, event.security
        month, file = self._month(book, max(at[:7], end.month) if end else at[:7])
        files, cell = book.files(month), book.cell
        flusher.require_healthy(*files)
        if end is None or cell is None or not end.is_at(month, file.inode, file.size, cell.anchor.head):
            end = self._find_end(book)
            # Never before the last event's, wherever the clock stands.
            month, file = self._month(book, max(month, end.month))
            files = book.files(month)
            durable = durable or bool(end.repairs or end.torn) or end.month != month
        if cell is None:
            self._begin(book, event, end, at, month)
            return
        fresh = self._write(book, end, event, at=at, month=month)
        if durable:
            self._make_durable(book, file, fresh=fresh)
        cell.advance(end.seq, end.head)
        if durable:
            cell.file.flush()
        else:
            flusher.note_all(files)

    def _begin(self, book: _Book, event: Spelled, end: End, at: str, month: str) -> None:
        """Append the first event that the trust home has a head for; another's may have come first."""

        def begin() -> tuple[int, bytes]:
            file = self._file(book, month)
            self._make_durable(book, file, fresh=self._write(book, end, event, at=at, month=month))
            return end.seq, end.head

        self.trust.anchors.create(book.heads, book.chain, begin)
        if book.end is not end:
            self._hold(book)
            self._append(book, event)

    def _find_end(self, book: _Book) -> End:
        return find_end(self.root, self.trust, book.chain, book.folder, book.cell, before=book.end)

    def _write(self, book: _Book, end: End, event: Spelled, *, at: str, month: str) -> bool:
        """Write an event, and the repairs before it, in one write; whether it is the file's first."""
        file = book.file
        assert file is not None
        fresh = not file.size
        repairs = [self._line(book, end, spelled(one), at) for one in end.repairs]
        if month in end.torn:
            repairs.insert(0, b"\n")
        file.append(b"".join((*repairs, self._line(book, end, event, at))))
        end.left_at(month, file.inode, file.size)
        book.end = end
        return fresh

    def _make_durable(self, book: _Book, file: File, *, fresh: bool) -> None:
        with self.root.make_dir(book.folder, flush=fresh) as where:
            where.flush_name(file)

    def _month(self, book: _Book, month: str) -> tuple[str, File]:
        """The month's file, under a further name where something else stands under its own.

        Only a month that holds no event yet goes on under a further name: without the file of one that
        does the chain would lack what is in it. Raises :class:`EscapeError`, which says what is in the way.
        """
        try:
            return month, self._file(book, month)
        except (EscapeError, SystemFailure) as err:
            if not is_taken(err):
                raise
            other = further(month)
            if other is None or self._find_end(book).lacks_events:
                raise EscapeError(TAKEN.format(f"{book.folder}/{month_file(month)}")) from err
        return self._month(book, other)

    def _file(self, book: _Book, month: str) -> File:
        """The month's file, kept open as long as its path names it."""
        if book.file is not None and not self.root.still_in_place(book.file, book.files(month)[0][1]):
            book.file.close()
            book.file = None
        if book.file is None:
            with self.root.make_dir(book.folder) as where:
                book.file = where.open_or_make(month_file(month))
        return book.file

    def _line(self, book: _Book, end: End, said: Spelled, at: str) -> bytes:
        prev = end.head.hex() if end.seq >= 0 else ZERO
        raw, mac = write_line(book.framer, said, seq=end.seq + 1, at=at, prev=prev)
        end.seq, end.head = end.seq + 1, mac
        return raw


_logs: weakref.WeakSet[AuditLog] = weakref.WeakSet()


def _after_fork() -> None:
    for log in list(_logs):
        log.after_fork()


os.register_at_fork(after_in_child=_after_fork)
