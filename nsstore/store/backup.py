"""Backing up a whole store: one file, every namespace as a prefix of its chain, the keys sealed in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from nsstore import layout, record
from nsstore.audit import AuditEvent, EventKind
from nsstore.audit.ending import month_file, months_in, open_month
from nsstore.clock import utc_now
from nsstore.errors import EscapeError, IntegrityError, Refused, StoreError, WitnessError
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger
from nsstore.root import File
from nsstore.root.named import NewNamed
from nsstore.scope import Namespace
from nsstore.store.archive import CHUNK, ArchiveWriter
from nsstore.store.entry import recover
from nsstore.store.leaf import Leaf
from nsstore.store.namespaces import Known, survey_names
from nsstore.store.reading import Vanished, read_member
from nsstore.store.store import Store
from nsstore.store.survey import read_lines
from nsstore.trust import Keys
from nsstore.trust.backup import seal
from nsstore.trust.keys import load_keys
from nsstore.trust.stock import Stock, take_stock

TRUST: Final = "trust.json"
MAX_LIST: Final = 64 * 1024 * 1024
LAST_LOOK: Final = 8 * 1024 * 1024  # longer than any line of an audit
ROTATED: Final = "a key was added while the backup was made: make it again"


class BackedUp(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup holds; ``left_out`` is what is damaged and so not in it: each path, and why."""

    store_id: str
    bytes: int
    namespaces: int
    records: int
    audits: int
    left_out: tuple[tuple[str, str], ...]


def backup(store: Store, out: NewNamed, passphrase: str, told: Callable[[int], None]) -> BackedUp:
    """Copy a store into a new file, durable when this returns, while others read and write it.

    The trust home is looked at first, so that no chain in the copy is behind its anchor; then each
    namespace: its ledger, and the records that it names. What was begun meanwhile is not in it. ``told``
    hears how many bytes are written. Raises :class:`Refused` (retryable) if a key was added meanwhile.
    """
    return _Backup(store, out, told).run(passphrase)


class _Backup:
    def __init__(self, store: Store, out: NewNamed, told: Callable[[int], None]) -> None:
        self._store = store
        self._out = out
        self._told = told
        self._writer = ArchiveWriter(out.write, store.trust.store_id, utc_now())
        self._left_out: list[tuple[str, str]] = []
        self._namespaces = self._records = self._audits = 0

    def run(self, passphrase: str) -> BackedUp:
        store, writer = self._store, self._writer
        stock = take_stock(store.trust.home)
        keys = Keys.from_bytes(stock.keys)
        sealed = seal(store.trust.store_id, stock, passphrase)
        writer.member(TRUST, len(sealed), (sealed,))
        self._copy_rights(stock)
        known = survey_names(store.root)
        self._tell(known)
        for component in sorted(known.audits):
            head = f"anchors/audit/{component}.anchors"
            if any(one.path == head for one in stock.anchors):
                self._copy_audit(component)
            elif store.trust.home.seen(head) is None:
                self._left_out.append((f"audit/tenants/{component}", IncidentKind.ANCHOR_BROKEN.value))
        begun = {name for one in stock.anchors for name, _ in one.by_name()}
        for ns in known.namespaces:
            self._copy_namespace(ns, begun)
        if load_keys(store.trust.home).masters != keys.masters:
            raise Refused(ROTATED, reason="keys", retryable=True)
        writer.end(keys)
        self._out.finish()
        return BackedUp(
            store_id=store.store_id,
            bytes=writer.size,
            namespaces=self._namespaces,
            records=self._records,
            audits=self._audits,
            left_out=tuple(self._left_out),
        )

    def _tell(self, known: Known) -> None:
        """Audit to each tenant that all of it is copied; one that takes no event is copied, and told here."""
        for tenant in sorted({ns.tenant for ns in known.namespaces}):
            try:
                self._store.audit.append(tenant, AuditEvent(event=EventKind.READ, verb="backup"))
            except WitnessError as err:
                self._left_out.append((layout.audit_dir(tenant), err.kind))

    def _copy_rights(self, stock: Stock) -> None:
        """The owner's list, if the stock has its head; what is behind the head is proven with it."""
        if not any(one.path == layout.RIGHTS_HEAD for one in stock.anchors):
            return
        damage = self._store.rights.standing().damage
        raw = self._store.root.read(layout.RIGHTS_LIST, MAX_LIST) if damage is None else None
        if raw is None:
            self._left_out.append((layout.RIGHTS_LIST, damage.value if damage else "missing"))
            return
        whole = raw[: raw.rfind(b"\n") + 1]
        self._writer.member(layout.RIGHTS_LIST, len(whole), (whole,))

    def _copy_audit(self, component: str) -> None:
        """The months of one tenant's audit, each up to its last whole line."""
        path = f"audit/tenants/{component}"
        try:
            directory = self._store.root.dir(path)
            if directory is None:
                return
            with directory:
                for month in months_in(directory):
                    file = open_month(directory, month)
                    if isinstance(file, str):
                        self._left_out.append((f"{path}/{month_file(month)}", EscapeError.kind))
                    elif file is not None:
                        with file:
                            size = _whole_lines(file)
                            self._writer.member(f"{path}/{month_file(month)}", size, _pieces(file, size))
                            self._told(self._writer.size)
        except EscapeError as err:
            self._left_out.append((path, err.kind))
            return
        self._audits += 1

    def _copy_namespace(self, ns: Namespace, begun: set[bytes]) -> None:
        """One namespace; if one of its records is forgotten meanwhile, it is copied again without it."""
        leaf = self._store.leaf(ns)
        while True:
            size, back = self._writer.mark()
            left_out, records = len(self._left_out), self._records
            try:
                ledger, raw = _proven(leaf)
                if ledger.seq < 0 or leaf.place.chain.name not in begun:
                    return
                self._copy_members(leaf, ledger, raw)
            except Vanished:
                self._out.cut(size)
                back()
                self._records = records
                del self._left_out[left_out:]
                continue
            except (IntegrityError, EscapeError) as err:
                self._left_out.append((leaf.place.records, _kind(err)))
                return
            self._namespaces += 1
            return

    def _copy_members(self, leaf: Leaf, ledger: Ledger, raw: bytes) -> None:
        self._writer.member(leaf.place.ledger, len(raw), (raw,))
        for record_id in ledger.order:
            path = f"{leaf.place.records}/{record_id}.md"
            try:
                found = read_member(leaf, ledger, record_id)
            except (IntegrityError, EscapeError) as err:
                self._left_out.append((path, _kind(err)))
                continue
            spelled = record.encode(found.header, found.text)
            self._writer.member(path, len(spelled), (spelled,))
            self._records += 1
            self._told(self._writer.size)


def _proven(leaf: Leaf) -> tuple[Ledger, bytes]:
    """The ledger of a namespace as it is proven now, and its lines; what a dead writer left is done first."""
    for _ in range(3):
        ledger = leaf.read().copy()  # which others carry on meanwhile
        file = leaf.store.root.open_file(leaf.place.ledger)
        if file is None:
            return ledger, b""
        with file:
            raw = read_lines(file, 0, ledger.size)
        if ledger.is_spelled(raw) and not ledger.unfinished:
            return ledger, raw
        recover(leaf)
    raise Refused("a namespace is written in a way that cannot be followed: try again", reason="locked")


def _whole_lines(file: File) -> int:
    """Where the last whole line of a file ends."""
    start = max(0, file.size - LAST_LOOK)
    return start + file.read_at(start, file.size - start).rfind(b"\n") + 1


def _pieces(file: File, size: int) -> Iterator[bytes]:
    for start in range(0, size, CHUNK):
        yield file.read_at(start, min(CHUNK, size - start))


def _kind(err: StoreError) -> str:
    return err.incident_kind if isinstance(err, IntegrityError) else err.kind
