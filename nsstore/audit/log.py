"""The audit of a tenant: one keyed chain across months, one write per event, its head in the trust home."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Final

from nsstore import layout
from nsstore.audit.ending import End, find_end, month_file
from nsstore.audit.events import ZERO, AuditEvent, Spelled, spelled, write_line
from nsstore.clock import utc_now
from nsstore.errors import Refused, StoreError, WitnessError
from nsstore.root import LIMIT_SECONDS, RANGES, File, FileLock, Root, flusher
from nsstore.trust import BadLine, Cell, Chain, NoValidSlot, Trust

MAX_BOOKS: Final = 8
REFUSED: Final = "the audit could not take the event, so the operation was not answered"
BUSY: Final = "the audit of this tenant is being written by somebody else: try again"


class _Book:
    """One tenant's chain in this process: where it is, and where it ended when it was left last."""

    def __init__(self, store_id: bytes, tenant: tuple[str, str]) -> None:
        self.chain = Chain(store_id, "audit", (tenant,))
        self.folder = layout.audit_dir(tenant)
        self.lock_path = layout.audit_lock_path(tenant)
        self.heads = layout.audit_head_path(tenant)
        self.thread = threading.Lock()
        self.holder = 0
        self.lock: FileLock | None = None
        self.file: File | None = None
        self.cell: Cell | None = None
        self.end: End | None = None
        self._path = ("", "")

    def path(self, month: str) -> str:
        """The path of a month's file."""
        if self._path[0] != month:
            self._path = (month, f"{self.folder}/{month_file(month)}")
        return self._path[1]

    def require_thread(self) -> None:
        """Keep other threads out. Raises :class:`Refused` after ten seconds.

        At once for the thread that is in already: it was interrupted, and what interrupted it is here.
        """
        mine = threading.get_ident()
        if not self.thread.acquire(blocking=False) and (
            self.holder == mine or not self.thread.acquire(timeout=LIMIT_SECONDS)
        ):
            raise Refused(BUSY, reason="locked", retryable=True)
        self.holder = mine

    def let_thread_in(self) -> None:
        """Let the next thread in."""
        self.holder = 0
        self.thread.release()

    def pause(self) -> None:
        """Let the next process in, and keep the descriptors."""
        if self.cell is not None:
            self.cell.free()
        if self.lock is not None:
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
        if self._book(tenant).end is None:
            self._enter(tenant, None)

    def append(self, tenant: tuple[str, str], event: AuditEvent | Spelled) -> None:
        """Add one event; a security event is durable when this returns, a routine one within a second.

        Raises :class:`WitnessError` if it could not be kept.
        """
        self._enter(tenant, event if isinstance(event, Spelled) else spelled(event))

    def close(self) -> None:
        """Let go of every descriptor that is kept."""
        for book in list(self._books.values()):
            book.require_thread()
            book.close()
            book.let_thread_in()

    def after_fork(self) -> None:
        """Start afresh in a forked child, where no thread is left to release a lock of the parent's."""
        books, self._books = self._books, {}
        for book in books.values():
            book.close()

    def _book(self, tenant: tuple[str, str]) -> _Book:
        book = self._books.get(tenant)
        if book is None:
            book = self._books.setdefault(tenant, _Book(self.trust.store_id, tenant))
            self._let_go()
        return book

    def _let_go(self) -> None:
        for tenant in list(self._books)[:-MAX_BOOKS]:
            book = self._books.get(tenant)
            if book is not None and book.thread.acquire(blocking=False):
                book.close()
                self._books.pop(tenant, None)
                book.let_thread_in()

    def _enter(self, tenant: tuple[str, str], event: Spelled | None) -> None:
        """Hold the chain alone and append ``event``, or see at least that one could be."""
        try:
            while not self._entered(tenant, self._book(tenant), event):
                pass  # another thread let go of the book before this one held it
        except (StoreError, NoValidSlot, BadLine, OSError) as err:
            raise WitnessError(REFUSED, retryable=isinstance(err, StoreError) and err.retryable) from err

    def _entered(self, tenant: tuple[str, str], book: _Book, event: Spelled | None) -> bool:
        book.require_thread()
        try:
            if self._books.get(tenant) is not book:
                return False
            if not self._holds_again(book):
                self._hold(book)
            if event is not None:
                self._append(book, event)
            else:
                self._month(book, utc_now()[:7])
                book.end = self._find_end(book)
            book.pause()
        except BaseException:
            book.close()
            raise
        finally:
            book.let_thread_in()
        return True

    def _holds_again(self, book: _Book) -> bool:
        """Whether the chain is held through the descriptors that were kept."""
        cell, lock = book.cell, book.lock
        if cell is None or lock is None or not cell.hold_again():
            return False
        return RANGES or lock.resume(book.lock_path)

    def _hold(self, book: _Book) -> None:
        """Hold the chain as disk and trust home have it by now; where it ended is still to be compared."""
        end = book.end
        book.close()
        book.end = end
        book.lock = FileLock.at(self.root, book.lock_path)
        book.cell = self.trust.anchors.open(book.heads, book.chain)
        if book.cell is not None:
            book.cell.hold()

    def _append(self, book: _Book, event: Spelled) -> None:
        """Append an event wherever the chain is: found again, repaired, begun, or in a new month."""
        at, end, durable = utc_now(), book.end, event.security
        month = max(at[:7], end.month) if end else at[:7]
        path = book.path(month)
        flusher.require_healthy((self.root, path), (self.trust.home, book.heads))
        file, cell = self._month(book, month), book.cell
        if end is None or cell is None or not end.is_at(month, file.inode, file.size, cell.anchor.head):
            end, durable = self._find_end(book), True
            month = max(at[:7], end.month)  # never before the last event's, wherever the clock stands
            path = book.path(month)
            file = self._month(book, month)
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
            flusher.note(self.root, path)
            flusher.note(self.trust.home, book.heads)

    def _begin(self, book: _Book, event: Spelled, end: End, at: str, month: str) -> None:
        """Append the first event that the trust home has a head for; another's may have come first."""

        def begin() -> tuple[int, bytes]:
            file = self._month(book, month)
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
        repairs = [self._line(book.chain, end, spelled(one), at) for one in end.repairs]
        file.append(b"".join((*repairs, self._line(book.chain, end, event, at))))
        end.left_at(month, file.inode, file.size)
        book.end = end
        return fresh

    def _make_durable(self, book: _Book, file: File, *, fresh: bool) -> None:
        with self.root.make_dir(book.folder, flush=fresh) as where:
            where.flush_name(file)

    def _month(self, book: _Book, month: str) -> File:
        """The month's file, kept open as long as its path names it."""
        if book.file is not None and not self.root.still_in_place(book.file, book.path(month)):
            book.file.close()
            book.file = None
        if book.file is None:
            with self.root.make_dir(book.folder) as where:
                book.file = where.open_or_make(month_file(month))
        return book.file

    def _line(self, chain: Chain, end: End, said: Spelled, at: str) -> bytes:
        prev = end.head.hex() if end.seq >= 0 else ZERO
        raw, mac = write_line(self.trust.keys, chain, said, seq=end.seq + 1, at=at, prev=prev)
        end.seq, end.head = end.seq + 1, mac
        return raw


_logs: weakref.WeakSet[AuditLog] = weakref.WeakSet()


def _after_fork() -> None:
    for log in list(_logs):
        log.after_fork()


os.register_at_fork(after_in_child=_after_fork)
