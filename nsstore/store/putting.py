"""Putting the members of a backup back: each path derived anew, each file proven before it has a name."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from nsstore import layout
from nsstore.audit.ending import is_month_file
from nsstore.errors import EscapeError, InvalidInput, SystemFailure
from nsstore.ledger import BadLine, Ledger, extend
from nsstore.root import NOT_OURS, Dir, File, Root
from nsstore.scope import Area, Namespace
from nsstore.store.archive import ArchiveReader, Member, changed
from nsstore.store.backup import MAX_LIST
from nsstore.store.sealing import MAX_FILE, Unproven, prove
from nsstore.store.site import Site
from nsstore.store.survey import MAX_LEDGER, Place, read_lines
from nsstore.trust import Keys


class _First(msgspec.Struct):
    """What a first ledger line says of its namespace; proven with the ledger."""

    area: Area
    ids: tuple[tuple[str, str], ...]


class Putting:
    """Takes the members of a backup one after the other, into a directory that is no store yet.

    No path is opened that a member gives: it has to be, letter for letter, the one that is derived from
    the ids in a proven ledger, or from a tenant and a month. A record follows the ledger that names it.
    """

    def __init__(self, site: Site, store_id: bytes, keys: Keys, old: Root | None) -> None:
        self._site = site
        self._store_id = store_id
        self._keys = keys
        self._old = old
        self._seen: set[str] = set()
        self._at: _Leaf | None = None
        self.namespaces = self.records = self.brought = self.bytes = 0
        self.kept_out: list[tuple[str, str]] = []
        self.passed_by: list[str] = []

    def close(self) -> None:
        """Let go of every descriptor."""
        if self._at is not None:
            self._at.directory.close()
        if self._old is not None:
            self._old.close()

    def take(self, member: Member, reader: ArchiveReader) -> None:
        """Put one member back. Raises :class:`Refused` for what a backup of this store does not hold."""
        area = member.path.split("/", 1)[0]
        if area in ("memory", "state"):
            self._record(member.path, reader.whole(MAX_FILE))
        elif member.path in self._seen:
            raise changed()
        elif area == "ledger":
            self._ledger(member.path, reader.whole(MAX_LEDGER))
        elif area == "audit":
            self._audit(member.path, reader)
        elif member.path == layout.RIGHTS_LIST:
            self._rights(reader.whole(MAX_LIST))
        else:
            raise changed()
        self._seen.add(member.path)
        self.bytes += member.size

    def finish(self) -> None:
        """Bring what the last namespace still lacks."""
        at, self._at = self._at, None
        if at is not None:
            with at.directory:
                self._bring(at)

    def _rights(self, raw: bytes) -> None:
        file = self._left_at(layout.RIGHTS_LIST)
        if file is not None:
            with file:
                later = file.read(MAX_LIST)
            if later.startswith(raw):
                raw = later[: later.rfind(b"\n") + 1]
        self._publish(layout.RIGHTS_LIST, raw)

    def _left_at(self, path: str) -> File | None:
        """What is left of the store under a name. A link, or whatever else is no file of its own, is none.

        It stays where it is, followed by nobody, and is among ``passed_by``.
        """
        if self._old is None:
            return None
        try:
            return self._old.open_file(path)
        except EscapeError:
            pass
        except SystemFailure as err:
            if err.errno not in NOT_OURS:
                raise
        self.passed_by.append(path)
        return None

    def _audit(self, path: str, reader: ArchiveReader) -> None:
        top, middle, tenant, month, *rest = *path.split("/"), "", "", ""
        try:
            layout.decode("tenant", tenant)
        except InvalidInput:
            raise changed() from None
        if (top, middle, len(rest)) != ("audit", "tenants", 3) or not is_month_file(month):
            raise changed()
        with self._site.folder(f"audit/tenants/{tenant}") as folder:
            self._site.put(folder, path, reader.pieces())

    def _ledger(self, path: str, raw: bytes) -> None:
        self.finish()
        place = self._place(raw)
        if place is None or place.ledger != path:
            raise changed()
        told = Ledger(place.chain)
        try:
            torn = extend(self._keys, told, raw)
        except BadLine:
            raise changed() from None
        if torn or told.seq < 0:
            raise changed()
        layout.check_budget(self._site.root.path, place.ns)
        ledger, raw = self._newer(place, told) or (told, raw)
        self._publish(path, raw)
        self._at = _Leaf(place, told, ledger, self._site.folder(place.records))
        self.namespaces += 1

    def _place(self, raw: bytes) -> Place | None:
        """Where a ledger belongs by its first line, which is proven with the others."""
        try:
            first = msgspec.json.decode(raw[: raw.find(b"\n") + 1], type=_First)
            return Place.of(self._store_id, Namespace(area=first.area, dimensions=first.ids))
        except (msgspec.MsgspecError, RecursionError, InvalidInput):
            return None

    def _newer(self, place: Place, told: Ledger) -> tuple[Ledger, bytes] | None:
        """What is left of the namespace's ledger, as far as it is proven, if it goes on from the backup's."""
        file = self._left_at(place.ledger)
        if file is None:
            return None
        with file:
            raw = read_lines(file, 0, min(file.size, MAX_LEDGER))
        later = Ledger(place.chain)
        with suppress(BadLine):  # what comes before a broken line is proven
            extend(self._keys, later, raw)
        if later.seq <= told.seq or later.macs[told.seq] != told.head:
            return None
        return later, raw[: later.size]

    def _record(self, path: str, raw: bytes) -> None:
        at = self._at
        folder, _, name = path.rpartition("/")
        record_id = layout.record_id_of(name)
        if at is None or record_id is None or folder != at.place.records or not at.follows(record_id):
            raise changed()
        try:
            seal = prove(self._keys, at.place.chain, at.place.ns, name, raw).header.seal
        except Unproven:
            raise changed() from None
        if seal != at.told.members[record_id].seal:
            raise changed()
        if record_id not in at.ledger.members:
            self.kept_out.append((at.place.records, record_id))
            return
        self._site.put(at.directory, path, (raw,))
        at.there.add(record_id)
        self.records += 1

    def _bring(self, at: _Leaf) -> None:
        """Take over the members that the backup lacks, from what is left of the store, each proven."""
        for record_id, event in at.ledger.members.items():
            if record_id in at.there:
                continue
            name = f"{record_id}.md"
            path = f"{at.place.records}/{name}"
            file = self._left_at(path)
            if file is None:
                continue  # it stays missing, and is told
            with file:
                raw = file.read(MAX_FILE)
            with suppress(Unproven):
                if prove(self._keys, at.place.chain, at.place.ns, name, raw).header.seal == event.seal:
                    self._site.put(at.directory, path, (raw,))
                    self.brought += 1

    def _publish(self, path: str, raw: bytes) -> None:
        with self._site.folder(path.rpartition("/")[0]) as where:
            self._site.put(where, path, (raw,))


class _Leaf:
    """The namespace whose records come now: its ledger in the backup, and the one that counts."""

    def __init__(self, place: Place, told: Ledger, ledger: Ledger, directory: Dir) -> None:
        self.place = place
        self.told = told
        self.ledger = ledger
        self.directory = directory
        self.there: set[str] = set()
        self._left = iter(told.order)

    def follows(self, record_id: str) -> bool:
        """Whether a record is a member that comes behind the last one."""
        return record_id in self.told.members and any(one == record_id for one in self._left)
