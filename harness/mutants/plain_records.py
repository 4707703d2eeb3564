"""Providers that leak by what outlives a record or a call, by a file, a list, an order or a silence."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from nsstore.harness.mutants.mutant import caught_by
from nsstore.harness.mutants.plain import nobody
from nsstore.harness.mutants.strict import Disk, Ranked, Record, Records, Strict, words
from nsstore.harness.provider import (
    Audited,
    Engine,
    Kept,
    Refusal,
    Scope,
)


@caught_by("LK10")
class Companions(Strict):
    """Returns beside each hit what was written next."""

    def answered(self, scope: Scope, ranked: Sequence[tuple[float, Record]]) -> Sequence[Kept]:
        found = list(super().answered(scope, ranked))
        beside = {one.at + 1 for _, one in ranked}
        return [*found, *(self.kept(one, "beside") for one in self.every() if one.at in beside)]


@caught_by("LK12")
class AdoptsStrays(Strict):
    """Takes over what it finds when it is opened."""

    def __init__(self, disk: Disk | None = None) -> None:
        super().__init__(disk)
        for path, raw in list(self.disk.files.items()):
            if not raw.startswith(b"{"):
                text = raw.decode(errors="replace")
                found = Record(record_id=path.rpartition("/")[2], scope=nobody(), text=text, at=0)
                self.disk.files[path] = self.sealed(found, self.disk.key)
                self.disk.members[found.record_id] = path

    def opened(self, path: str, raw: bytes) -> Record | None:
        body, _, _ = raw.rpartition(b"\n")
        if b'"nobody"' in body:
            return msgspec.json.decode(body, type=Record)
        return super().opened(path, raw)


@caught_by("LK13")
class TakesBack(Strict):
    """Does not remember what was forgotten."""

    def opened(self, path: str, raw: bytes) -> Record | None:
        if path not in self.disk.members.values() and b'"record_id"' in raw:
            self.disk.members.setdefault(path.rpartition("/")[2], path)
        return super().opened(path, raw)


@caught_by("LK14")
class KeepsATrash(Strict):
    """Puts what is forgotten aside."""

    def forget(self, scope: Scope, record_id: str) -> None:
        text = self.get(scope, record_id).text
        super().forget(scope, record_id)
        self.disk.files[f"trash/{record_id}"] = text.encode()


@caught_by("LK14")
class GhostsWeigh(Strict):
    """Counts what was forgotten when it weighs words."""

    def ranked(self, scope: Scope, query: str, records: Iterable[Record]) -> Ranked:
        ghosts = [Record(record_id="", scope=scope, text=text, at=0) for text in self.disk.stolen]
        kept = list(records)
        return self.scored(query, kept, [*kept, *ghosts])


@caught_by("LK15")
class OldOpening(Strict):
    """Looks once at what a scope may read, and never again."""

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        if "seen" not in vars(self):
            self.seen: dict[Scope, Records] = {}
        mine = super().readable(scope, newest=newest)
        before = self.seen.setdefault(scope, mine)
        return [*before, *(one for one in mine if one not in before)]


@caught_by("LK16", "MB01")
class FallbackWidens(Strict):
    """Searches everywhere when it finds nothing."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        found = super().search(scope, query, k)
        return found or self.answered(scope, self.ranked(scope, query, self.every())[:k])


@caught_by("LK17")
class CachedByQuestion(Strict):
    """Gives the next asker of a question the answer of the first."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        if "cached" not in vars(self):
            self.cached: dict[str, Sequence[Kept]] = {}
        return self.cached.setdefault(query, super().search(scope, query, k))


@caught_by("LK18")
class LeavesAnAnswer(Strict):
    """Reads an answer from a line on which that of a call that was cut short still lies."""

    line: list[Sequence[Kept]]

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        self.line = [*vars(self).get("line", []), super().search(scope, query, k)]
        for _ in range(5):
            self.wait()
        return self.line.pop(0)

    def wait(self) -> None:
        """Wait for the answer."""


@caught_by("LK18")
class WritesInHalves(Strict):
    """Writes the beginning of a record before the rest of it."""

    def write(self, scope: Scope, text: str, supersedes: str | None = None) -> str:
        begun = super().write(scope, text[:-6], supersedes)
        for _ in range(9):
            self.wait()
        self.disk.files.pop(self.disk.members.pop(begun))
        return super().write(scope, text, supersedes)

    def wait(self) -> None:
        """Wait for the rest."""


@caught_by("LK19")
class TellsDenied(Strict):
    """Says of what is denied that it is, and of what never was that it is not."""

    def denied(self, record_id: str) -> Refusal:
        there = any(one.record_id == record_id for one in self.every())
        super().denied(record_id)
        return Refusal("you may not read this" if there else "there is no such record")


@caught_by("LK20")
class ReadsBeforeDenying(Strict):
    """Reads a record before it decides that it may not be read."""

    def denied(self, record_id: str) -> Refusal:
        if record_id in self.disk.members:
            time.sleep(0.0005)
        return super().denied(record_id)


@caught_by("LK21")
class MergesOwners(Strict):
    """Names a record by its text, so that equal ones are one."""

    def new_id(self, scope: Scope, text: str) -> str:
        del scope
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@caught_by("MB02")
class LatestOfAll(Strict):
    """Lists the newest of everybody where a scope has nothing."""

    def list(self, scope: Scope) -> Sequence[Kept]:
        return super().list(scope) or [self.kept(one, "list") for one in self.every()][-1:]


@caught_by("RL01")
class OneFolder(Strict):
    """Keeps every scope's records in one directory."""

    def folder(self, scope: Scope) -> str:
        del scope
        return "memory"

    def own(self, scope: Scope) -> Iterator[Record]:
        return (one for one in super().own(scope) if one.scope == scope)


@caught_by("RL01", "RL02")
class OneLog(Strict):
    """Writes everything into one log beside the records."""

    def write(self, scope: Scope, text: str, supersedes: str | None = None) -> str:
        self.disk.files["log/all"] = self.disk.files.get("log/all", b"") + text.encode()
        return super().write(scope, text, supersedes)


@caught_by("RL05")
class WeighsStrays(Strict):
    """Counts the words of every file where a scope's records lie."""

    def ranked(self, scope: Scope, query: str, records: Iterable[Record]) -> Ranked:
        folder = self.folder(scope)
        texts = [raw.decode() for path, raw in self.disk.files.items() if path.startswith(folder)]
        among = [Record(record_id="", scope=scope, text=" ".join(words(one)), at=0) for one in texts]
        return self.scored(query, list(records), among)


@caught_by("RL06", "RL07")
class NoSeal(Strict):
    """Believes what a file says."""

    def opened(self, path: str, raw: bytes) -> Record | None:
        try:
            return msgspec.json.decode(raw.rpartition(b"\n")[0], type=Record)
        except msgspec.MsgspecError:
            return super().opened(path, raw)


@caught_by("RL08", "RL20")
class TrustsThePlace(Strict):
    """Takes whatever sealed record lies in a directory for one of its scope."""

    def opened(self, path: str, raw: bytes) -> Record | None:
        genuine = {kept for name, kept in self.disk.files.items() if name in self.disk.members.values()}
        if raw in genuine:
            return msgspec.json.decode(raw.rpartition(b"\n")[0], type=Record)
        return super().opened(path, raw)


@caught_by("RL12")
class MemoryFirst(Strict):
    """Sets what is remembered before what is so now."""

    def evidence(self, scope: Scope, topic: str, now: str) -> Sequence[str | Kept]:
        return [*self.search(scope, topic, 5), now]


@caught_by("RL14")
class WidensOnFailure(Strict):
    """Searches everywhere when an engine fails."""

    def through(self, scope: Scope, query: str, engine: Engine) -> Sequence[Kept]:
        if self.shows_scope(engine.scope_properties()) and getattr(engine, "fails", False):
            return self.answered(scope, self.ranked(scope, query, self.every()))
        return super().through(scope, query, engine)


class Silent(Strict):
    """Keeps an event to itself."""

    silent: Audited

    def tell(self, event: Audited, reason: str | None, records: Sequence[str] = ()) -> None:
        if event is not self.silent:
            super().tell(event, reason, records)


for _id, _event in (
    ("RL16", Audited.DENIED),
    ("RL17", Audited.UNTAGGED),
    ("RL18", Audited.FALLBACK_DISABLED),
    ("RL19", Audited.OUT_OF_SCOPE_PROVIDER),
    ("RL20", Audited.CONTAMINATION),
):
    caught_by(_id)(type(f"Silent_{_event.value}", (Silent,), {"silent": _event, "__doc__": Silent.__doc__}))
