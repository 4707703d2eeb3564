"""Plain stores that leak by what an answer is made of, or by what an owner's word opens."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nsstore.harness.mutants.mutant import caught_by
from nsstore.harness.mutants.strict import Record, Records, Strict
from nsstore.harness.provider import DIMENSIONS, Kept, Scope

SNIPPET = 40


@caught_by("LK10")
class SnippetOfANeighbour(Strict):
    """Cuts a hit's snippet out of all texts in their order, so that it begins with the one before."""

    def answered(self, scope: Scope, ranked: Sequence[tuple[float, Record]]) -> Sequence[Kept]:
        before = {one.at + 1: one.text for one in self.every()}
        shown = super().answered(scope, ranked)
        return [
            msgspec.structs.replace(kept, text=f"{before.get(one.at, '')[-SNIPPET:]} {kept.text}")
            for kept, (_, one) in zip(shown, ranked, strict=True)
        ]


@caught_by("LK11", "RL10")
class LimitBeforeFilter(Strict):
    """Lists of the newest ten of everybody those that may be read."""

    def list(self, scope: Scope) -> Sequence[Kept]:
        newest = sorted(self.every(), key=lambda one: -one.at)[:10]
        return [kept for kept in super().list(scope) if kept.record_id in {one.record_id for one in newest}]


@caught_by("LK11")
class TellsHowManyMore(Strict):
    """Says at the end of a text how many records of everybody hold the words."""

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        found = super().search(scope, query, k)
        more = len(self.ranked(scope, query, self.every()))
        return [msgspec.structs.replace(one, score=(one.score or 0.0) + more) for one in found]


@caught_by("LK08")
class TenantsWithoutCase(Strict):
    """Takes a tenant for another one that is spelled with other capitals."""

    def key_of(self, scope: Scope) -> tuple[str, ...]:
        return (f"{scope.tenant}".casefold(), *super().key_of(scope)[1:])


@caught_by("LK23")
class OldVersions(Strict):
    """Ranks the older versions of a record with the newest."""

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        del newest
        return super().readable(scope, newest=False)


@caught_by("LK22")
class GrantsByUser(Strict):
    """Gives what an asker was granted to every session, agent and branch of the same user."""

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        own = super().readable(scope, newest=newest)
        opened = [
            one
            for asker, owner in self.disk.granted.values()
            if asker != owner and (asker.tenant, asker.user) == (scope.tenant, scope.user)
            for one in self.own(owner)
        ]
        return [*own, *(one for one in opened if one not in own)]


@caught_by("LK22")
class GrantOpensMore(Strict):
    """Opens by a grant of one dimension whatever is next to it in another one."""

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        own = super().readable(scope, newest=newest)
        for asker, owner in self.disk.granted.values():
            if asker == scope != owner:
                own += [
                    one
                    for one in self.every()
                    if sum(getattr(one.scope, it) != getattr(owner, it) for it in DIMENSIONS) == 1
                    and one.scope.tenant == scope.tenant
                    and one not in own
                ]
        return own


@caught_by("LK22")
class GrantsBothWays(Strict):
    """Opens to the owner what the asker has, too."""

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        own = super().readable(scope, newest=newest)
        back = [asker for asker, owner in self.disk.granted.values() if owner == scope != asker]
        return [*own, *(one for asker in back for one in self.own(asker))]


@caught_by("LK22")
class ForgetsByAGrant(Strict):
    """Lets whoever may read a record by a grant forget it."""

    def may_forget(self, scope: Scope, record: Record) -> bool:
        del scope, record
        return True


@caught_by("LK15")
class RevokesHere(Strict):
    """Hears only in the opening that revoked it that something was taken back."""

    def readable(self, scope: Scope, *, newest: bool = True) -> Records:
        if "granted" not in vars(self):
            self.granted: dict[int, tuple[Scope, Scope]] = {}
        self.granted = {**self.disk.granted, **self.granted}
        mine, self.disk.granted = self.disk.granted, self.granted
        try:
            return super().readable(scope, newest=newest)
        finally:
            self.disk.granted = mine

    def revoke(self, token: object) -> None:
        super().revoke(token)
        self.granted = {}


@caught_by("LK14", "RL01")
class KeepsAnswers(Strict):
    """Keeps every answer in one file."""

    def answered(self, scope: Scope, ranked: Sequence[tuple[float, Record]]) -> Sequence[Kept]:
        found = super().answered(scope, ranked)
        texts = "\n".join(one.text for one in found)
        self.disk.files["cache/answers"] = self.disk.files.get("cache/answers", b"") + texts.encode()
        return found


@caught_by("LK19")
class TellsByKind(Strict):
    """Answers for what is denied with an error of another kind than for what never was."""

    def get(self, scope: Scope, record_id: str) -> Kept:
        if not any(one.record_id == record_id for one in self.every()):
            raise KeyError(record_id)
        return super().get(scope, record_id)
