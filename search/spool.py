"""What a namespace's members were classified as, kept so that a fresh process need not read them all.

A class decides who may read, so it is believed only under the tenant's key, and only of the very chain
it was told of: the ledger's event at ``seq`` has the MAC that is remembered, and with it every seal
before it is the one that was classified. The record itself is read and decided again before it is served.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Annotated, Final, Literal

import msgspec

from nsstore import digests
from nsstore.errors import EscapeError, StoreError
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger
from nsstore.policy import ReadClass
from nsstore.search.folder import Folder
from nsstore.search.home import CacheHome
from nsstore.search.manifest import Hex64, place_of
from nsstore.store import Store
from nsstore.store.leaf import Leaf
from nsstore.store.sealing import Tag
from nsstore.trust import BadLine, frame, unframe

TAGS: Final = "tags"
LEAST_TAGS: Final = 256
MAX_BYTES: Final = 64 * 1024 * 1024
Seq = Annotated[int, msgspec.Meta(ge=1)]


class Apart(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a member's tag has beyond its class."""

    supersedes: tuple[str, ...]
    key: str | None
    expires_at: str | None


class Tags(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tags of every member up to an event: runs of one class, and what is not a class.

    A run is [first seq, last seq, number of its class]: every member that joined in it is of the class.
    """

    format: Literal[1] = 1
    kind: Literal["tags"] = "tags"
    seq: Seq
    head: Hex64
    classes: tuple[ReadClass, ...]
    runs: tuple[tuple[int, int, int], ...]
    apart: dict[str, Apart]


def remember(leaf: Leaf, ledger: Ledger) -> Tags | None:
    """The tags of every member a leaf has, or ``None`` if it lacks one."""
    numbers: dict[ReadClass, int] = {}
    runs: list[tuple[int, int, int]] = []
    apart: dict[str, Apart] = {}
    for record_id in ledger.order:
        tag, seq = leaf.tags.get(record_id), ledger.members[record_id].seq
        if tag is None:
            return None
        number = numbers.setdefault(tag.readable, len(numbers))
        if runs and runs[-1][2] == number:
            runs[-1] = (runs[-1][0], seq, number)
        else:
            runs.append((seq, seq, number))
        if tag.supersedes or tag.key is not None or tag.expires_at is not None:
            apart[record_id] = Apart(tag.supersedes, tag.key, tag.expires_at)
    return Tags(
        seq=ledger.seq,
        head=ledger.head.hex(),
        classes=tuple(numbers),
        runs=tuple(runs),
        apart=apart,
    )


def recall(leaf: Leaf, ledger: Ledger, tags: Tags) -> int:
    """Give a leaf the tags of the members that were classified; how many there were."""
    if tags.seq > ledger.seq or ledger.macs[tags.seq].hex() != tags.head:
        return 0
    plain = [Tag(one, (), None, None) for one in tags.classes]
    known, apart, members = leaf.tags, tags.apart, ledger.members
    runs = iter(tags.runs)
    first, last, number = next(runs, (0, 0, 0))
    count = 0
    for record_id in ledger.order:
        seq = members[record_id].seq
        while seq > last:
            following = next(runs, None)
            if following is None:
                return count
            first, last, number = following
        if seq < first:
            continue
        more = apart.get(record_id)
        tag = plain[number]
        known.setdefault(
            record_id,
            tag if more is None else Tag(tag.readable, more.supersedes, more.key, more.expires_at),
        )
        count += 1
    return count


class Spool:
    """Keeps the tags of namespaces in the cache home, and gives them back where they are the proven ones."""

    def __init__(self, store: Store, home: CacheHome, folder: Folder) -> None:
        self.store = store
        self.home = home
        self.folder = folder
        self._kept: dict[bytes, int] = {}

    def recall(self, leaf: Leaf, ledger: Ledger) -> None:
        """Add to a leaf the tags that are remembered of its members."""
        chain = leaf.place.chain
        if len(leaf.tags) * 2 > len(ledger.order) or chain.name in self._kept:
            return
        self._kept[chain.name] = 0
        try:
            tags = self._read(leaf)
        except (BadLine, msgspec.MsgspecError, EscapeError, ValueError):
            self.store.witness.tell(leaf.place, IncidentKind.VIEW_DAMAGED, TAGS)
            return
        except StoreError:
            return
        if tags is not None:
            self._kept[chain.name] = recall(leaf, ledger, tags)

    def consider(self, leaf: Leaf, ledger: Ledger) -> None:
        """Keep a namespace's tags if many of them are not kept yet, in the background."""
        members, name = len(ledger.order), leaf.place.chain.name
        if members < LEAST_TAGS or members < self._kept.get(name, 0) * 5 // 4 + LEAST_TAGS // 2:
            return
        self._kept[name] = members
        with leaf.lock:
            tags = remember(leaf, ledger)
        if tags is not None:
            self.folder.submit(partial(self._write, leaf, tags))

    def forget(self, leaf: Leaf) -> None:
        """Note that nothing of a namespace is kept any more."""
        self._kept.pop(leaf.place.chain.name, None)

    def start_afresh(self) -> None:
        """Forget what is kept: it is asked for again."""
        self._kept = {}

    def _read(self, leaf: Leaf) -> Tags | None:
        keys, chain = self.store.trust.keys, leaf.place.chain
        root = self.home.open(make=False)
        raw = root.read(f"tags/{place_of(keys, chain)}", MAX_BYTES) if root is not None else None
        if raw is None:
            return None
        body, _, _ = unframe(keys, chain, digests.MANIFEST, raw)
        return msgspec.json.decode(body, type=Tags)

    def _write(self, leaf: Leaf, tags: Tags) -> None:
        with suppress(StoreError, OSError, BadLine, ReferenceError):
            keys, chain = self.store.trust.keys, leaf.place.chain
            root = self.home.open(make=True)
            if root is not None:
                raw = frame(keys, chain, digests.MANIFEST, msgspec.json.encode(tags), keys.active)[0]
                with root.make_dir("tags") as directory:
                    directory.replace(place_of(keys, chain), raw)
