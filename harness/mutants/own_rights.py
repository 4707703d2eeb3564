"""nsstore with a fault in what the owner's word opens, to whom, and until when."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary, WeakSet

import msgspec

from nsstore.harness.mutants.mutant import fault_at, faults_at
from nsstore.policy import Asker, Decision, Every, Grant, Opens, ReadClass, Retention, Rights, decide
from nsstore.policy.decide import denied
from nsstore.record import Header
from nsstore.scope import Purpose, ScopeEnvelope
from nsstore.store.rights import RightsInForce
from nsstore.store.sight import CURRENT

IS_OF = "nsstore.policy.rights:Asker.is_of"
CURRENT_RIGHTS = "nsstore.store.rights:RightsInForce.current"
STATES = "nsstore.store.rights:RightsInForce.state"
MAKES = "nsstore.rights.standing:rights_of"
Current = Callable[..., Rights]
Made = Callable[..., Rights]
IsOf = Callable[[Asker, ScopeEnvelope], bool]
Decide = Callable[[ScopeEnvelope, ReadClass, Rights], Decision]


@fault_at("nsstore.rights.listing:revoked", "AC02", "AC04", "LK17")
def takes_nothing_back(real: object) -> object:
    """Counts what was granted, and not what was taken back."""
    del real

    def revoked(listing: object) -> frozenset[int]:
        del listing
        return frozenset()

    return revoked


class _Own:
    """Which lists this process itself added to, and what each of them opened."""

    def __init__(self) -> None:
        self.stated: WeakSet[RightsInForce] = WeakSet()
        self.most: WeakKeyDictionary[RightsInForce, Rights] = WeakKeyDictionary()

    def current(self, real: Current) -> Current:
        def current(rights: RightsInForce, *given: object) -> Rights:
            now = real(rights, *given)
            known = self.most.get(rights, now)
            if rights not in self.stated and len(known.grants) > len(now.grants):
                return known
            self.most[rights] = now
            return now

        return current

    def state(self, real: Callable[..., object]) -> Callable[..., object]:
        def state(rights: RightsInForce, *given: object) -> object:
            self.stated.add(rights)
            return real(rights, *given)

        return state


_own = _Own()


@faults_at({CURRENT_RIGHTS: _own.current, STATES: _own.state}, "LK15")
def open_elsewhere() -> None:
    """Hears only in the owner's own process that something was taken back."""


@fault_at(IS_OF, "LK22")
def grants_to_every_agent(real: IsOf) -> IsOf:
    """Lets every agent of a user have what one of them was granted."""
    del real
    return lambda self, envelope: (
        self.tenant == envelope.scope.tenant
        and self.user == envelope.scope.user_id
        and isinstance(self.projects, tuple)
        and envelope.scope.project_id in self.projects
    )


@fault_at(IS_OF, "LK22")
def grants_to_every_user(real: IsOf) -> IsOf:
    """Lets every user of a tenant have what one of them was granted."""

    def is_of(self: Asker, envelope: ScopeEnvelope) -> bool:
        scope = msgspec.structs.replace(envelope.scope, user_id=self.user)
        return real(self, msgspec.structs.replace(envelope, scope=scope))

    return is_of


def _opening(change: Callable[[Opens], Opens]) -> Callable[[Made], Made]:
    """What makes rights that open something else than their statements say."""

    def wrong(real: Made) -> Made:
        def rights_of(live: object) -> Rights:
            made = real(live)
            grants = tuple(msgspec.structs.replace(one, opens=change(one.opens)) for one in made.grants)
            return msgspec.structs.replace(made, grants=grants)

        return rights_of

    return wrong


@fault_at(MAKES, "LK22")
def one_session_opens_all(real: Made) -> Made:
    """Takes a session that an owner names for every session."""

    def change(opens: Opens) -> Opens:
        every = Every(every="session")
        return msgspec.structs.replace(opens, sessions=every) if opens.sessions else opens

    return _opening(change)(real)


@fault_at(MAKES, "AC02", "LK22")
def a_session_opens_its_agents(real: Made) -> Made:
    """Lets a grant of one dimension open another one as well: with a session, the agents in it."""

    def change(opens: Opens) -> Opens:
        return msgspec.structs.replace(opens, agents=("claude-code",)) if opens.sessions else opens

    return _opening(change)(real)


@fault_at("nsstore.policy.rights:Opens.workspace", "LK22")
def any_grant_opens_workspaces(
    real: Callable[[Opens, ReadClass], bool],
) -> Callable[[Opens, ReadClass], bool]:
    """Lets every grant open the workspaces too."""
    return lambda self, cls: bool(self.sessions or self.agents) or real(self, cls)


@fault_at("nsstore.store.sight:decide_class", "AC04", "LK22")
def a_share_opens_everything(real: Decide) -> Decide:
    """Opens all of another user's records where some are shared."""

    def decided(envelope: ScopeEnvelope, cls: ReadClass, rights: Rights) -> Decision:
        decision = real(envelope, cls, rights)
        shared = cls.user_id != envelope.scope.user_id and rights.shares(envelope, cls.user_id)
        return CURRENT if shared and not decision.allowed else decision

    return decided


ANYBODY = Grant(
    number=0,
    to=Asker(
        tenant=("tenant", "anybody"), user="anybody", projects=("any",), agents=("any",),
        purposes=(Purpose.RECALL,),
    ),
    opens=Opens(sessions=Every(every="session")),
)  # fmt: skip


def _granted_by_default(real: Current) -> Current:

    def current(self: RightsInForce, *given: object) -> Rights:
        rights = real(self, *given)
        return msgspec.structs.replace(rights, grants=(ANYBODY, *rights.grants))

    return current


def _of_anybody(real: IsOf) -> IsOf:
    return lambda self, envelope: self == ANYBODY.to or real(self, envelope)


@faults_at({CURRENT_RIGHTS: _granted_by_default, IS_OF: _of_anybody}, "AC02", "LK16")
def cross_session_by_default() -> None:
    """Searches the other sessions of a project without an owner's word."""


@fault_at("nsstore.writers.forget:decide_forget", "LK22")
def forgets_by_a_grant(real: object) -> object:
    """Lets whoever may read a record by a grant forget it."""
    del real

    def decided(asker: ScopeEnvelope, meta: Header, retention: Retention, rights: Rights) -> Decision:
        own = decide(asker, meta, rights)
        return own if own.allowed and not retention.unknown else denied(own.reason)

    return decided
