"""The audit of a tenant: one keyed chain across months, one write per event, its head in the trust home."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Final

from nsstore import layout
from nsstore.audit.ending import End, find_end, month_file
from nsstore.audit.events import ROUTINE, ZERO, AuditEvent, AuditLine, write_line
from nsstore.clock import utc_now
from nsstore.errors import StoreError, WitnessError
from nsstore.root import File, FileLock, Root, flusher
from nsstore.trust import BadLine, Cell, Chain, NoValidSlot, Trust

MAX_BOOKS: Final = 8
REFUSED: Final = "the audit could not take the event, so the operation was not answered"


class _Book:
    """One tenant's chain in this process: where it is, and where it ended when it was left last."""

    def __init__(self, store_id: bytes, tenant: tuple[str, str]) -> None:
        self.chain = Chain(store_id, "audit", (tenant,))
        self.folder = layout.audit_dir(tenant)
        self.lock_path = layout.audit_lock_path(tenant)
        self.heads = layout.audit_head_path(tenant)
        self.thread = threading.Lock()
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
        """Refuse before anything is written if the tenant's chain cannot be entered now.

        Raises :class:`WitnessError`. A chain this process has appended to was entered already.
        """
        if self._book(tenant).end is None:
            self._enter(tenant, None)

    def append(self, tenant: tuple[str, str], event: AuditEvent) -> None:
        """Add one event; a security event is durable when this returns, a routine one within a second.

        Raises :class:`WitnessError` if it could not be kept.
        """
        self._enter(tenant, event)

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
            book = self._books.setdefault(tenant, _Book(self.trust.store_id, tenant))
            self._let_go()
        return book

    def _let_go(self) -> None:
        for tenant in list(self._books)[:-MAX_BOOKS]:
            book = self._books.get(tenant)
            if book is not None and book.thread.acquire(blocking=False):
                book.close()
                self._books.pop(tenant, None)
                book.thread.release()

    def _enter(self, tenant: tuple[str, str], event: AuditEvent | None) -> None:
        """Hold the chain alone and append ``event``, or see at least that one could be."""
        try:
            while not self._entered(tenant, self._book(tenant), event):
                pass  # another thread let go of the book before this one held it
        except (StoreError, NoValidSlot, BadLine, OSError) as err:
            raise WitnessError(REFUSED, retryable=isinstance(err, StoreError) and err.retryable) from err

    def _entered(self, tenant: tuple[str, str], book: _Book, event: AuditEvent | None) -> bool:
        with book.thread:
            if self._books.get(tenant) is not book:
                return False
            try:
                if book.lock is None or not book.lock.resume(book.lock_path):
                    book.lock = FileLock.at(self.root, book.lock_path)
                if event is None:
                    self._cell(book)
                    self._month(book, utc_now()[:7])
                elif not self._goes_on(book, event):
                    self._append(book, event)
                book.lock.pause()
            except BaseException:
                book.close()
                raise
            return True

    def _goes_on(self, book: _Book, event: AuditEvent) -> bool:
        """Append a routine event where the chain simply goes on from here; ``False`` where it does not.

        What :meth:`_append` does, in one straight line: here a call costs more than its work.
        """
        end, file, cell, at = book.end, book.file, book.cell, utc_now()
        if end is None or file is None or cell is None or end.month != at[:7] or event.event not in ROUTINE:
            return False
        path = book.path(end.month)
        flusher.require_healthy((self.root, path), (self.trust.home, book.heads))
        if not self.root.still(file, path) or not self.trust.home.still(cell.file, book.heads):
            return False
        cell.look()
        if file.size != end.size or cell.anchor.head != end.head:
            return False
        file.append(self._line(book.chain, end, event, at))
        end.size = file.size
        cell.advance(end.seq, end.head)
        flusher.note(self.root, path)
        flusher.note(self.trust.home, book.heads)
        return True

    def _append(self, book: _Book, event: AuditEvent) -> None:
        """Append an event wherever the chain is: found again, repaired, begun, or in a new month."""
        at, end, durable = utc_now(), book.end, event.event.security
        month = max(at[:7], end.month if end else "")
        flusher.require_healthy((self.root, book.path(month)), (self.trust.home, book.heads))
        file = self._month(book, month)
        cell = self._cell(book)
        if end is None or cell is None or not end.is_at(month, file.inode, file.size, cell.anchor.head):
            end, durable = find_end(self.root, self.trust, book.chain, book.folder, cell), True
            month = max(at[:7], end.month)  # never before the last event's, wherever the clock stands
            file = self._month(book, month)
        fresh = not file.size
        repairs = [self._line(book.chain, end, one, at) for one in end.repairs]
        file.append(b"".join((*repairs, self._line(book.chain, end, event, at))))
        end.left_at(month, file.inode, file.size)
        book.end = end
        if durable:
            with self.root.make_dir(book.folder, flush=fresh) as where:
                where.flush_name(file)
        if cell is None:
            self.trust.anchors.create(book.heads, book.chain, end.seq, end.head)
            return
        cell.advance(end.seq, end.head)
        if durable:
            cell.file.flush()
        else:
            flusher.note(self.root, book.path(month))
            flusher.note(self.trust.home, book.heads)

    def _month(self, book: _Book, month: str) -> File:
        """The month's file, kept open as long as its path names it."""
        if book.file is not None and not self.root.still(book.file, book.path(month)):
            book.file.close()
            book.file = None
        if book.file is None:
            with self.root.make_dir(book.folder) as where:
                book.file = where.open_or_make(month_file(month))
        return book.file

    def _cell(self, book: _Book) -> Cell | None:
        if book.cell is not None and not self.trust.home.still(book.cell.file, book.heads):
            book.cell.file.close()
            book.cell = None
        if book.cell is None:
            book.cell = self.trust.anchors.open(book.heads, book.chain)
        else:
            book.cell.look()
        return book.cell

    def _line(self, chain: Chain, end: End, event: AuditEvent, at: str) -> bytes:
        line = AuditLine(
            seq=end.seq + 1,
            at=at,
            event=event.event,
            verb=event.verb,
            reason=event.reason,
            scope=event.scope,
            records=event.records,
            count=event.count,
            incident=event.incident,
            digest=event.digest,
            bytes=event.bytes,
            prev=end.head.hex() if end.seq >= 0 else ZERO,
        )
        raw, mac = write_line(self.trust.keys, chain, line)
        end.seq, end.head = line.seq, mac
        return raw


_logs: weakref.WeakSet[AuditLog] = weakref.WeakSet()


def _after_fork() -> None:
    for log in list(_logs):
        log.after_fork()


os.register_at_fork(after_in_child=_after_fork)
