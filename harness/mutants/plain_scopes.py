"""Providers that leak between scopes: by a key, a verb, an engine, a ranking, a name or a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from nsstore.harness.mutants.mutant import caught_by
from nsstore.harness.mutants.plain import moved, nobody
from nsstore.harness.mutants.strict import Ranked, Record, Records, Strict
from nsstore.harness.provider import (
    DIMENSIONS,
    Dimension,
    Engine,
    Kept,
    Refusal,
    Scope,
    ScopeProperties,
)


class Together(Strict):
    """A key that lacks dimensions."""

    kept_together: tuple[Dimension, ...] = ()

    def key_of(self, scope: Scope) -> tuple[str, ...]:
        return tuple(getattr(scope, one) for one in DIMENSIONS if one not in self.kept_together)


@caught_by("AC01")
class TooStrict(Strict):
    """Finds nothing that was remembered more than a moment ago."""

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        return [one for one in super().readable(scope, newest=newest) if one.at == self.disk.clock]


@caught_by("AC02")
class NoSession(Together):
    """Keeps the sessions of a project together."""

    kept_together = ("session",)


@caught_by("AC02", "LK17")
class RevokesLate(Strict):
    """Remembers what was open, and forgets that it was closed."""

    def revoke(self, token: object) -> None:
        del token


@caught_by("AC03", "MB01")
class NoProject(Together):
    """Keeps the projects of a user together."""

    kept_together = ("project",)


@caught_by("AC04")
class NoUser(Together):
    """Keeps the users of a project together."""

    kept_together = ("user",)


@caught_by("AC05")
class NoTenant(Together):
    """Keeps all tenants together."""

    kept_together = ("tenant",)


@caught_by("RL21")
class NoWorkspace(Together):
    """Keeps the workspaces of a session together."""

    kept_together = ("workspace",)


@caught_by("RL21")
class NoAgent(Together):
    """Keeps the agents of a session together."""

    kept_together = ("agent",)


@caught_by("AC02", "AC04", "RL21")
class SharesWidely(Strict):
    """Opens to one asker what is opened to any."""

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        opened = {owner for asker, owner in self.disk.granted.values() if asker != owner}
        beside = [one for owner in opened - {scope} for one in self.own(owner)]
        mine = super().readable(scope, newest=newest)
        return [*mine, *(one for one in beside if one not in mine)]


@caught_by("AC05")
class SharesTenants(Strict):
    """Lets an owner open another tenant."""

    def share(self, asker: Scope, dimension: Dimension, owner: Scope) -> object:
        return super().share(asker, "session" if dimension == "tenant" else dimension, owner)


@caught_by("AC06", "LK04", "RL03")
class TakesAnything(Strict):
    """Keeps what lacks an id under a default, and answers from there."""

    def admit(self, scope: Scope) -> None:
        del scope

    def key_of(self, scope: Scope) -> tuple[str, ...]:
        return tuple(getattr(scope, one) or "default" for one in DIMENSIONS)


@caught_by("AC06", "RL04", "RL17")
class ServesUntagged(Strict):
    """Takes whatever text lies where a scope's records lie."""

    def opened(self, path: str, raw: bytes) -> Record | None:
        if raw.startswith(b"{"):
            return super().opened(path, raw)
        return Record(record_id=path.rpartition("/")[2], scope=nobody(), text=raw.decode(), at=0)


@caught_by("AC07")
class NoBranch(Together):
    """Takes every branch and baseline for the current one."""

    kept_together = ("branch", "baseline")


@caught_by("AC07")
class StaleAsCurrent(Strict):
    """Ranks what is of an allowed other branch with what is current, and does not say so."""

    def search_beside(self, scope: Scope, query: str, k: int, beside: Sequence[Scope]) -> Sequence[Kept]:
        records = [one for other in (*beside, scope) for one in self.readable(other)]
        return self.answered(scope, self.ranked(scope, query, records)[:k])


@caught_by("AC08")
class DeclaresNothing(Strict):
    """Says nothing of its scopes."""

    def scope_properties(self) -> ScopeProperties | None:
        return None


@caught_by("AC08", "RL13", "RL18")
class AsksEveryEngine(Strict):
    """Takes any engine for one that keeps scopes apart."""

    def shows_scope(self, declared: ScopeProperties | None) -> bool:
        del declared
        return True


@caught_by("AC08", "RL15", "RL19")
class BelievesEngines(Strict):
    """Serves whatever ids an engine returns."""

    def through(self, scope: Scope, query: str, engine: Engine) -> Sequence[Kept]:
        if not self.shows_scope(engine.scope_properties()):
            return self.without_engine(scope, query)
        ids = engine.search(query, 10)
        return [self.kept(one, "through") for one in self.every() if one.record_id in ids]


@caught_by("AC09", "RL11")
class NoProvenance(Strict):
    """Says nothing of where a record comes from."""

    def told(self, one: Record, verb: str) -> Mapping[str, object] | None:
        del one, verb
        return None


@caught_by("AC09")
class LogsNoSearch(Strict):
    """Keeps no account of what was searched."""

    def answered(self, scope: Scope, ranked: Sequence[tuple[float, Record]]) -> Sequence[Kept]:
        del scope
        return [self.kept(one, "search", score) for score, one in ranked]


@caught_by("AC10", "RL09")
class FilterAfterRank(Strict):
    """Takes the best of everybody, and then those that may be read."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        self.admit(scope)
        best = self.ranked(scope, query, self.every())[:k]
        readable = {one.record_id for one in self.readable(scope)}
        return self.answered(scope, [one for one in best if one[1].record_id in readable])


@caught_by("AC10", "RL10", "LK11")
class SharedStatistics(Strict):
    """Weighs words by how often they are among everybody's records."""

    def ranked(self, scope: Scope, query: str, records: Iterable[Record]) -> Ranked:
        del scope
        return self.scored(query, list(records), list(self.every()))


@caught_by("LK11")
class SharedNormal(Strict):
    """Divides scores by the best one of everybody's."""

    def ranked(self, scope: Scope, query: str, records: Iterable[Record]) -> Ranked:
        best = max((score for score, _ in self.scored(query, list(self.every()))), default=1.0)
        return [(score / best, one) for score, one in super().ranked(scope, query, records)]


class Matching(Strict):
    """Finds the records of a scope by comparing ids in a way of its own."""

    def matches(self, asked: str, kept: str) -> bool:
        return asked == kept

    def own(self, scope: Scope) -> Iterator[Record]:
        for one in self.every():
            if all(self.matches(f"{getattr(scope, it)}", getattr(one.scope, it)) for it in DIMENSIONS):
                yield one


@caught_by("LK01")
class PrefixMatch(Matching):
    """Takes an id for every one that begins with it."""

    def matches(self, asked: str, kept: str) -> bool:
        return kept.startswith(asked)


@caught_by("LK02")
class Patterns(Matching):
    """Takes an id for a pattern, and refuses none."""

    def admit(self, scope: Scope) -> None:
        if not all(getattr(scope, one) for one in DIMENSIONS):
            raise Refusal("an id is missing")

    def matches(self, asked: str, kept: str) -> bool:
        return fnmatchcase(kept, asked.replace("%", "*"))


@caught_by("LK03")
class FieldQueries(Strict):
    """Reads a query as a filter where it looks like one."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        self.admit(scope)
        if "OR" in query:
            return self.answered(scope, [(1.0, one) for one in self.every()][:k])
        return super().search(scope, query, k)


@caught_by("LK05")
class NoneMeansAll(Matching):
    """Takes a dimension that is not given for no filter, when it reads."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        return self.answered(scope, self.ranked(scope, query, self.readable(scope))[:k])

    def matches(self, asked: str, kept: str) -> bool:
        return asked in (kept, "None", "")


@caught_by("LK06")
class MetadataOnWrite(Strict):
    """Takes the scope of a new record from what its caller says beside it."""

    def remember_with(self, scope: Scope, text: str, metadata: Mapping[str, object]) -> str:
        return self.write(moved(scope, metadata), text)


@caught_by("LK07")
class MetadataOnUpdate(Strict):
    """Takes the scope of a newer version from what its caller says beside it."""

    def update(self, scope: Scope, record_id: str, text: str, metadata: Mapping[str, object]) -> str:
        self.get(scope, record_id)
        return self.write(moved(scope, metadata), text, supersedes=record_id)


@caught_by("LK08")
class JoinedKey(Strict):
    """Joins ids with a sign that may be in them."""

    def key_of(self, scope: Scope) -> tuple[str, ...]:
        return (":".join(f"{getattr(scope, one)}" for one in DIMENSIONS),)


@caught_by("LK08")
class CleanedKey(Strict):
    """Makes one sign of every sign that is no letter."""

    def key_of(self, scope: Scope) -> tuple[str, ...]:
        return tuple("".join(it if it.isalnum() else "-" for it in one) for one in super().key_of(scope))


@caught_by("LK09")
class GetsById(Strict):
    """Gets any record by its id."""

    def get(self, scope: Scope, record_id: str) -> Kept:
        for one in self.every():
            if one.record_id == record_id:
                return self.kept(one, "get")
        return super().get(scope, record_id)


@caught_by("LK09")
class ForgetsById(Strict):
    """Forgets any record by its id."""

    def forget(self, scope: Scope, record_id: str) -> None:
        del scope
        self.disk.files.pop(self.disk.members.pop(record_id))
