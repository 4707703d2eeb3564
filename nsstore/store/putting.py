"""Putting the members of a backup back: each path derived anew, each file proven before it has a name."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import msgspec

from nsstore import layout
from nsstore.errors import InvalidInput
from nsstore.ledger import BadLine, Ledger, extend
from nsstore.record import Header
from nsstore.root import Dir, File
from nsstore.scope import Area, Namespace
from nsstore.store.archive import ArchiveReader, Member, changed
from nsstore.store.backup import MAX_LIST
from nsstore.store.putting_audit import PuttingAudits
from nsstore.store.remains import Remains
from nsstore.store.sealing import MAX_FILE, Unproven, line_of, prove
from nsstore.store.site import Site
from nsstore.store.survey import MAX_LEDGER, Place, read_lines
from nsstore.trust import Keys, NoValidSlot

NOT_KNOWN: Final = "the trust home does not know it, so nothing says how far it went"
NO_LEDGER: Final = "its ledger is gone, or no file of a store"
NOT_PROVEN: Final = "its ledger is not the one that was written"
NO_ANCHOR: Final = "the trust home does not prove it"


class _First(msgspec.Struct):
    """What a first ledger line says of its namespace; proven with the ledger."""

    area: Area
    ids: tuple[tuple[str, str], ...]


class Putting:
    """Takes the members of a backup one after the other, into a directory that is no store yet.

    No path is opened that a member gives: it has to be, letter for letter, the one that is derived from
    the ids in a proven ledger, or from a tenant and a month. A record follows the ledger that names it.
    """

    def __init__(self, site: Site, store_id: bytes, keys: Keys, remains: Remains | None) -> None:
        self._site = site
        self._store_id = store_id
        self._keys = keys
        self._remains = remains
        self._seen: set[str] = set()
        self._at: _Leaf | None = None
        self.audits = PuttingAudits(site, store_id, keys, remains)
        self.namespaces = self.records = self.brought = self.bytes = 0
        self.kept_out: list[tuple[str, str]] = []
        self.begun: list[str] = []
        self.left: list[tuple[str, str]] = []

    def close(self) -> None:
        """Let go of every descriptor."""
        if self._at is not None:
            self._at.directory.close()
        if self._remains is not None:
            self._remains.close()

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
            self.audits.take(member.path, reader.pieces())
        elif member.path == layout.RIGHTS_LIST:
            self._rights(reader.whole(MAX_LIST))
        else:
            raise changed()
        self._seen.add(member.path)
        self.bytes += member.size

    @property
    def passed_by(self) -> tuple[str, ...]:
        """The names in what is left of the store that are no files of its own, and were left alone."""
        return tuple(self._remains.passed_by) if self._remains is not None else ()

    def finish(self) -> None:
        """Bring what the last namespace still lacks, and what is left of those that came after the backup.

        ``begun`` names these, and ``left`` what of them could not be taken, and why.
        """
        self._end_leaf()
        self.audits.finish()
        if self._remains is None:
            return
        for ns in self._remains.known.namespaces:
            place = Place.of(self._store_id, ns)
            if place.ledger not in self._seen and (why := self._take_over(place, self._remains)):
                self.left.append((place.records, why))
        self.left += [one for one in self._remains.known.strays if one[0].partition("/")[0] == "ledger"]

    def _end_leaf(self) -> None:
        at, self._at = self._at, None
        if at is not None:
            with at.directory:
                self._bring(at)

    def _take_over(self, place: Place, remains: Remains) -> str | None:
        """Take over a namespace that the backup lacks, or say why not; nothing for one that never began.

        Its ledger counts as far as it is proven; one that is not as far as its anchor stays closed.
        """
        try:
            anchor = remains.head_of(place)
            layout.check_budget(self._site.root.path, place.ns)
        except NoValidSlot:
            return NO_ANCHOR
        except InvalidInput as err:
            return str(err)
        later, raw = self._left_of(place)
        if anchor is None:
            return NOT_KNOWN if later.seq > 0 else None
        if later.seq < 0:
            return NOT_PROVEN if raw else NO_LEDGER
        if anchor.seq <= later.seq and anchor.head not in (
            later.macs[anchor.seq],
            later.given_up.get(anchor.seq),
        ):
            return NOT_PROVEN
        self._publish(place.ledger, raw[: later.size])
        with self._site.folder(place.records) as directory:
            self._bring(_Leaf(place, Ledger(place.chain), later, directory, left=True))
        self.begun.append(place.records)
        return None

    def _rights(self, raw: bytes) -> None:
        file = self._left_at(layout.RIGHTS_LIST)
        if file is not None:
            with file:
                later = file.read(MAX_LIST)
            if later.startswith(raw):
                raw = later[: later.rfind(b"\n") + 1]
        self._publish(layout.RIGHTS_LIST, raw)

    def _left_at(self, path: str) -> File | None:
        """What is left of the store under a name: a file of its own, or nothing."""
        return None if self._remains is None else self._remains.file(path)

    def _ledger(self, path: str, raw: bytes) -> None:
        self._end_leaf()
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
        newer = self._newer(place, told)
        ledger, raw = newer or (told, raw)
        self._publish(path, raw)
        self._at = _Leaf(place, told, ledger, self._site.folder(place.records), left=newer is not None)
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
        later, raw = self._left_of(place)
        if later.seq < told.seq or later.macs[told.seq] != told.head:
            return None
        return later, raw[: later.size]

    def _left_of(self, place: Place) -> tuple[Ledger, bytes]:
        """What is left of a namespace's ledger: as far as it is proven, and all of its bytes."""
        later, file = Ledger(place.chain), self._left_at(place.ledger)
        if file is None:
            return later, b""
        with file:
            raw = read_lines(file, 0, min(file.size, MAX_LEDGER))
        with suppress(BadLine):  # what comes before a broken line is proven
            extend(self._keys, later, raw)
        return later, raw

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
        """Take over the records that the backup lacks, from what is left of the store, each proven.

        First the members, then those that go on from the ledger, whose lines a power cut can take away.
        """
        for record_id, event in at.ledger.members.items():
            if record_id not in at.there:  # one that is not here either stays missing, and is told
                found = self._proven(at, f"{record_id}.md")
                if found is not None and found[0].seal == event.seal:
                    self._put_record(at, *found)
        if not at.left or self._remains is None:
            return
        folder = self._remains.folder(at.place.records)
        if folder is None:
            return
        with folder:
            names = folder.names()
        known = {*at.ledger.members, *at.ledger.forgotten, *at.ledger.void}
        waiting = dict[tuple[int, str], tuple[Header, bytes]]()
        for name in names:
            one = layout.record_id_of(name)
            unlisted = self._proven(at, name) if one is not None and one not in known else None
            if unlisted is not None:
                waiting[unlisted[0].seq, unlisted[0].prev] = unlisted
        while (found := waiting.get((at.ledger.seq + 1, at.ledger.head.hex()))) is not None:
            at.ledger.apply(line_of(self._keys, at.place.chain, found[0]))
            self._put_record(at, *found)

    def _proven(self, at: _Leaf, name: str) -> tuple[Header, bytes] | None:
        """A record as it is left, if it is proven to be one of the namespace."""
        file = self._left_at(f"{at.place.records}/{name}")
        if file is None:
            return None
        with file:
            raw = file.read(MAX_FILE)
        try:
            return prove(self._keys, at.place.chain, at.place.ns, name, raw).header, raw
        except Unproven:
            return None

    def _put_record(self, at: _Leaf, header: Header, raw: bytes) -> None:
        self._site.put(at.directory, f"{at.place.records}/{header.record_id}.md", (raw,))
        self.brought += 1

    def _publish(self, path: str, raw: bytes) -> None:
        with self._site.folder(path.rpartition("/")[0]) as where:
            self._site.put(where, path, (raw,))


class _Leaf:
    """The namespace whose records come now: its ledger in the backup, and the one that counts.

    ``left``: that one is what is left of the store.
    """

    def __init__(self, place: Place, told: Ledger, ledger: Ledger, directory: Dir, *, left: bool) -> None:
        self.place = place
        self.left = left
        self.told = told
        self.ledger = ledger
        self.directory = directory
        self.there: set[str] = set()
        self._left = iter(told.order)

    def follows(self, record_id: str) -> bool:
        """Whether a record is a member that comes behind the last one."""
        return record_id in self.told.members and any(one == record_id for one in self._left)
