"""A provider that keeps apart what it should: a dict in the place of a disk, keyed by the whole scope.

Each step that can be got wrong is a method of its own, for the leaky ones to get wrong.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

import msgspec

from nsstore.harness.provider import (
    DIMENSIONS,
    Audited,
    Dimension,
    Engine,
    Kept,
    Planted,
    Provider,
    Refusal,
    Scope,
    ScopeProperties,
)

SHARED = ("session", "user", "workspace", "agent")
NEEDED = frozenset(DIMENSIONS)
SCOPE_NAMES = re.compile(
    r".*_id|scope|namespace|branch|baseline|created_at|schema_version|" + "|".join(DIMENSIONS)
)
UNFIT = re.compile(r"[*%?\[\]\x00-\x1f]")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A record as its file has it."""

    record_id: str
    scope: Scope
    text: str
    at: int
    supersedes: str | None = None


Records = list[Record]
Ranked = list[tuple[float, Record]]


class Disk:
    """What outlives a provider: files, who is a member, what was granted, what was audited."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.members: dict[str, str] = {}
        self.granted: dict[int, tuple[Scope, Scope]] = {}
        self.events: list[Mapping[str, object]] = []
        self.stolen: dict[str, tuple[str, bytes]] = {}
        self.key = secrets.token_bytes(16)
        self.suspended: list[Engine] = []
        self.clock = 0


class Strict:
    """Every ability of a provider, and every rule kept."""

    def __init__(self, disk: Disk | None = None) -> None:
        self.disk = disk or Disk()

    def scope_properties(self) -> ScopeProperties | None:
        return ScopeProperties(separates=NEEDED, filters_before_ranking=True)

    def remember(self, scope: Scope, text: str) -> str:
        self.admit(scope)
        return self.write(scope, text)

    def remember_with(self, scope: Scope, text: str, metadata: Mapping[str, object]) -> str:
        self.admit(scope)
        self.check_metadata(metadata)
        return self.write(scope, text)

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        self.admit(scope)
        ranked = self.ranked(scope, query, self.readable(scope))
        return self.answered(scope, ranked[:k])

    def search_beside(self, scope: Scope, query: str, k: int, beside: Sequence[Scope]) -> Sequence[Kept]:
        current = self.search(scope, query, k)
        older = [one for other in beside for one in self.ranked(other, query, self.readable(other))]
        return [*current, *(self.kept(one, "search", score, stale=True) for score, one in older[:k])]

    def get(self, scope: Scope, record_id: str) -> Kept:
        self.admit(scope)
        for one in self.readable(scope, newest=False):
            if one.record_id == record_id:
                return self.kept(one, "get")
        raise self.denied(record_id)

    def list(self, scope: Scope) -> Sequence[Kept]:
        self.admit(scope)
        newest = sorted(self.readable(scope), key=lambda one: -one.at)
        return [self.kept(one, "list") for one in newest]

    def update(self, scope: Scope, record_id: str, text: str, metadata: Mapping[str, object]) -> str:
        self.check_metadata(metadata)
        self.get(scope, record_id)
        return self.write(scope, text, supersedes=record_id)

    def forget(self, scope: Scope, record_id: str) -> None:
        self.admit(scope)
        for one in self.readable(scope, newest=False):
            if one.record_id == record_id and self.may_forget(scope, one):
                path = self.disk.members.pop(record_id)
                self.disk.stolen[one.text] = path, self.disk.files.pop(path)
                return
        raise self.denied(record_id)

    def may_forget(self, scope: Scope, record: Record) -> bool:
        """Whether a record is the asker's own: an owner's word opens reading alone."""
        return self.folder(record.scope) == self.folder(scope)

    def share(self, asker: Scope, dimension: Dimension, owner: Scope) -> object:
        if dimension not in SHARED:
            raise Refusal(f"nothing opens another {dimension}")
        token = len(self.disk.granted)
        self.disk.granted[token] = asker, owner
        return token

    def revoke(self, token: object) -> None:
        assert isinstance(token, int)
        self.disk.granted[token] = self.disk.granted[token][0], self.disk.granted[token][0]

    def evidence(self, scope: Scope, topic: str, now: str) -> Sequence[str | Kept]:
        return [now, *self.search(scope, topic, 5)]

    def audited(self) -> Sequence[Mapping[str, object]]:
        return tuple(self.disk.events)

    def plant(self, scope: Scope, text: str, kind: Planted) -> None:
        path, raw = f"{self.folder(scope)}/planted-{len(self.disk.files)}", text.encode()
        if kind is Planted.FORGED:
            path, raw = self.disguised(scope, text)
        elif kind is Planted.REPLAYED:
            path, raw = self.disk.stolen[text]
        elif kind in (Planted.FOREIGN, Planted.ALTERED):
            found = next(name for name, kept in self.disk.files.items() if text.encode() in kept)
            raw = self.disk.files[found]
            path = f"{self.folder(scope)}/{found.rpartition('/')[2]}"
            raw = raw.replace(text.encode(), text[:-1].encode() + b"!") if kind is Planted.ALTERED else raw
        self.disk.files[path] = raw

    def disguised(self, scope: Scope, text: str) -> tuple[str, bytes]:
        """What somebody without the key would write."""
        claimed = Record(record_id=secrets.token_hex(8), scope=scope, text=text, at=0)
        return f"{self.folder(scope)}/{claimed.record_id}", self.sealed(claimed, b"another key")

    def files(self) -> Mapping[str, bytes]:
        return dict(self.disk.files)

    def second(self) -> Provider:
        return type(self)(self.disk)

    def through(self, scope: Scope, query: str, engine: Engine) -> Sequence[Kept]:
        self.admit(scope)
        declared = engine.scope_properties()
        if not self.shows_scope(declared) or engine in self.disk.suspended:
            return self.without_engine(scope, query)
        try:
            ids = engine.search(query, 10)
        except OSError:
            return self.without_engine(scope, query)
        readable = {one.record_id: one for one in self.readable(scope)}
        if not readable.keys() >= set(ids):
            self.disk.suspended.append(engine)
            self.tell(Audited.OUT_OF_SCOPE_PROVIDER, "not_in_scope")
            return self.without_engine(scope, query)
        return [self.kept(readable[one], "through") for one in ids]

    def without_engine(self, scope: Scope, query: str) -> Sequence[Kept]:
        self.tell(Audited.FALLBACK_DISABLED, "scope_not_proven")
        return self.search(scope, query, 10)

    def shows_scope(self, declared: ScopeProperties | None) -> bool:
        return declared is not None and declared.filters_before_ranking and declared.separates >= NEEDED

    def close(self) -> None:
        """Let go of nothing: there is nothing."""

    def admit(self, scope: Scope) -> None:
        """Refuse what is no id, in any dimension."""
        for dimension in DIMENSIONS:
            value: object = getattr(scope, dimension)
            if type(value) is not str or not value or value != value.strip() or UNFIT.search(value):
                raise Refusal(f"{dimension} is no id")

    def check_metadata(self, metadata: Mapping[str, object]) -> None:
        """Refuse what names a scope or a record."""
        if any(SCOPE_NAMES.fullmatch(name) for name in metadata):
            raise Refusal("metadata names no scope")

    def key_of(self, scope: Scope) -> tuple[str, ...]:
        """What a scope is told from others by."""
        return tuple(getattr(scope, dimension) for dimension in DIMENSIONS)

    def folder(self, scope: Scope) -> str:
        """Where a scope's records lie."""
        return "/".join(quote(f"{one}", safe="") for one in ("memory", *self.key_of(scope)))

    def new_id(self, scope: Scope, text: str) -> str:
        del scope, text
        return secrets.token_hex(8)

    def write(self, scope: Scope, text: str, supersedes: str | None = None) -> str:
        self.disk.clock += 1
        record = Record(
            record_id=self.new_id(scope, text),
            scope=scope,
            text=text,
            at=self.disk.clock,
            supersedes=supersedes,
        )
        path = f"{self.folder(scope)}/{record.record_id}"
        self.disk.files[path] = self.sealed(record, self.disk.key)
        self.disk.members[record.record_id] = path
        return record.record_id

    def sealed(self, record: Record, key: bytes) -> bytes:
        raw = msgspec.json.encode(record)
        return raw + b"\n" + hmac.digest(key, raw, hashlib.sha256).hex().encode()

    def opened(self, path: str, raw: bytes) -> Record | None:
        """The record of a file, if it is one, is proven, and lies where it belongs."""
        body, _, seal = raw.rpartition(b"\n")
        try:
            record = msgspec.json.decode(body, type=Record)
        except msgspec.MsgspecError:
            self.tell(Audited.UNTAGGED, "untagged")
            return None
        if not hmac.compare_digest(seal.decode(), hmac.digest(self.disk.key, body, hashlib.sha256).hex()):
            self.tell(Audited.CONTAMINATION, "forged")
            return None
        if f"{self.folder(record.scope)}/{record.record_id}" != path:
            self.tell(Audited.CONTAMINATION, "misplaced")
            return None
        if self.disk.members.get(record.record_id) != path:
            self.tell(Audited.CONTAMINATION, "replayed")
            return None
        return record

    def every(self) -> Iterator[Record]:
        """Every proven record there is, of whatever scope."""
        for path, raw in list(self.disk.files.items()):
            if (record := self.opened(path, raw)) is not None:
                yield record

    def own(self, scope: Scope) -> Iterator[Record]:
        """Every proven record of a scope."""
        folder = self.folder(scope)
        for path, raw in list(self.disk.files.items()):
            if path.rpartition("/")[0] == folder and (record := self.opened(path, raw)) is not None:
                yield record

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        """What a scope may read: its own, and what is granted to it."""
        owners = [scope, *(owner for asker, owner in self.disk.granted.values() if asker == scope != owner)]
        found = [one for owner in owners for one in self.own(owner)]
        gone = {one.supersedes for one in found} if newest else set[str | None]()
        return [one for one in found if one.record_id not in gone]

    def ranked(self, scope: Scope, query: str, records: Iterable[Record]) -> Ranked:
        """The records that hold a word of the query, best first."""
        del scope
        return self.scored(query, list(records))

    def scored(self, query: str, records: Sequence[Record], among: Sequence[Record] | None = None) -> Ranked:
        """Records by their scores; what a word weighs is told by how often it is ``among`` records."""
        whole = [words(one.text) for one in (records if among is None else among)]
        wanted = sorted(set(words(query)))
        weight = {one: math.log(1 + len(whole) / (1 + sum(one in it for it in whole))) for one in wanted}
        found: Ranked = []
        for record in records:
            held = words(record.text)
            score = sum(weight[one] * held.count(one) / (held.count(one) + 1.2) for one in wanted)
            if score > 0:
                found.append((score, record))
        return sorted(found, key=lambda one: (-one[0], one[1].at))

    def answered(self, scope: Scope, ranked: Sequence[tuple[float, Record]]) -> Sequence[Kept]:
        """What a search returns, and the audit hears."""
        del scope
        self.tell(Audited.SEARCHED, None, [one.record_id for _, one in ranked])
        return [self.kept(one, "search", score) for score, one in ranked]

    def kept(self, one: Record, verb: str, score: float | None = None, *, stale: bool = False) -> Kept:
        return Kept(
            record_id=one.record_id, text=one.text, score=score, stale=stale, provenance=self.told(one, verb)
        )

    def told(self, one: Record, verb: str) -> Mapping[str, object] | None:
        """Where a record comes from."""
        return {
            "record_id": one.record_id,
            "scope": {dimension: getattr(one.scope, dimension) for dimension in DIMENSIONS},
            "source": f"{self.folder(one.scope)}/{one.record_id}",
            "match_reason": verb,
            "created_at": f"tick {one.at}",
        }

    def denied(self, record_id: str) -> Refusal:
        """The one answer for what is denied and for what never was."""
        self.tell(Audited.DENIED, "not_in_scope")
        return Refusal(f"{record_id} is not visible")

    def tell(self, event: Audited, reason: str | None, records: Sequence[str] = ()) -> None:
        self.disk.events.append({"event": event.value, "reason": reason, "records": tuple(records)})


def words(text: str) -> Sequence[str]:
    """The words of a text."""
    return re.findall(r"\w+", text.lower())
