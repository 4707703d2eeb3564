"""nsstore with a fault in what it decides: a row that is not looked at, or looked at in another way."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import cast

import msgspec

from nsstore.harness.mutants.mutant import fault_at, faults_at
from nsstore.policy import Decision, ReadClass, Rights
from nsstore.scope import NOT_APPLICABLE, ScopeEnvelope, text_of
from nsstore.session import Session
from nsstore.store.sight import CURRENT, Sight

DECIDES = "nsstore.store.sight:decide_class"
BINDS = "nsstore.session.opened:envelope_of"
Decide = Callable[[ScopeEnvelope, ReadClass, Rights], Decision]
Bind = Callable[..., ScopeEnvelope]


def _read_as(change: Callable[[ScopeEnvelope, ReadClass], ReadClass]) -> Callable[[Decide], Decide]:
    """What makes decisions about another class than the one that is asked for."""

    def wrong(real: Decide) -> Decide:
        return lambda envelope, cls, rights: real(envelope, change(envelope, cls), rights)

    return wrong


@fault_at(DECIDES, "LK01", "LK09")
def skips_the_agent(real: Decide) -> Decide:
    """Takes every agent for the asker."""
    return _read_as(lambda asker, cls: msgspec.structs.replace(cls, agent_id=asker.scope.agent_id))(real)


@fault_at(DECIDES, "LK01", "LK09")
def skips_the_workspace(real: Decide) -> Decide:
    """Takes every workspace for the own one."""

    def change(asker: ScopeEnvelope, cls: ReadClass) -> ReadClass:
        return msgspec.structs.replace(cls, workspace_id=text_of(asker.scope.workspace_id))

    return _read_as(change)(real)


@fault_at(DECIDES, "AC07", "AC10")
def skips_the_branch(real: Decide) -> Decide:
    """Takes every branch for the current one."""
    return _read_as(lambda asker, cls: msgspec.structs.replace(cls, branch=text_of(asker.scope.branch)))(real)


@fault_at(DECIDES, "AC07")
def skips_the_baseline(real: Decide) -> Decide:
    """Takes every baseline for the current one."""

    def change(asker: ScopeEnvelope, cls: ReadClass) -> ReadClass:
        return msgspec.structs.replace(cls, baseline=text_of(asker.scope.baseline))

    return _read_as(change)(real)


@fault_at(DECIDES, "AC07")
def stale_is_current(real: Decide) -> Decide:
    """Ranks what is of an allowed other branch as if it were of this one."""

    def decide(envelope: ScopeEnvelope, cls: ReadClass, rights: Rights) -> Decision:
        decision = real(envelope, cls, rights)
        return CURRENT if decision.stale else decision

    return decide


@fault_at(DECIDES, "LK01")
def agents_by_their_beginning(real: Decide) -> Decide:
    """Takes an agent for every one whose id goes on where the own one ends."""

    def change(asker: ScopeEnvelope, cls: ReadClass) -> ReadClass:
        own = asker.scope.agent_id
        return msgspec.structs.replace(cls, agent_id=own) if cls.agent_id.startswith(own) else cls

    return _read_as(change)(real)


def _matching(asker: ScopeEnvelope, cls: ReadClass) -> ReadClass:
    own = text_of(asker.scope.branch)
    return msgspec.structs.replace(cls, branch=own) if fnmatchcase(cls.branch, own) else cls


def _no_pattern(real: object) -> object:
    del real
    return re.compile(r"(?!)")


@faults_at({DECIDES: _read_as(_matching), "nsstore.scope.ids:_WILDCARD": _no_pattern}, "LK02")
def patterns_as_branches() -> None:
    """Takes a branch for a pattern, and refuses none."""


def _lacking(**instead: object) -> Callable[[Bind], Bind]:
    """What makes envelopes in which something stands for what is ``None`` or empty."""

    def wrong(real: Bind) -> Bind:
        def bind(**given: object) -> ScopeEnvelope:
            lacks = {name: value for name, value in instead.items() if given.get(name, "") in (None, "")}
            return real(**{**given, **lacks})

        return bind

    return wrong


@fault_at(BINDS, "AC06", "LK04", "RL03")
def default_session(real: Bind) -> Bind:
    """Puts a default in the place of a session that is left out."""
    return _lacking(session_id="default")(real)


@fault_at(BINDS, "AC06", "LK04", "RL03")
def default_user(real: Bind) -> Bind:
    """Puts a default in the place of a user that is left out."""
    return _lacking(user_id="default")(real)


def _open_branch(asker: ScopeEnvelope, cls: ReadClass) -> ReadClass:
    anything = asker.scope.branch is NOT_APPLICABLE
    return msgspec.structs.replace(cls, branch=text_of(NOT_APPLICABLE)) if anything else cls


@faults_at({DECIDES: _read_as(_open_branch), BINDS: _lacking(branch=NOT_APPLICABLE)}, "LK05")
def none_means_every_branch() -> None:
    """Takes a branch that is not given for no filter."""


@fault_at("nsstore.session.session:Session.remember", "LK06")
def metadata_moves_a_record(real: Callable[..., object]) -> Callable[..., object]:
    """Takes the user and the project of a new record from what its caller says beside it."""

    def remember(self: Session, text: str, **said: object) -> object:
        named = cast("dict[str, object]", said.pop("ext", None) or {})
        moved = {name: named[name] for name in ("user_id", "project_id") if name in named}
        scope = msgspec.structs.replace(self.envelope.scope, **moved)
        envelope = msgspec.structs.replace(self.envelope, scope=scope)
        return real(Session(self._store, self._searcher, envelope), text, **said)

    return remember


@fault_at("nsstore.store.sight:Sight.decision", "LK09", "MB02")
def every_member_may_be_listed(real: Callable[[Sight, str], Decision]) -> Callable[[Sight, str], Decision]:
    """Decides about a record by its namespace alone, and by what it says only where it is read."""

    def decision(self: Sight, record_id: str) -> Decision:
        return CURRENT if record_id in self.ledger.members else real(self, record_id)

    return decision


@fault_at("nsstore.store.sight:Sight.newest_first", "LK09", "MB02")
def lists_every_member(real: Callable[[Sight], Iterable[str]]) -> Callable[[Sight], Iterable[str]]:
    """Lists what lies in the session's directory, and asks nobody."""
    del real
    return lambda self: reversed(self.ledger.order)


@fault_at("nsstore.session.session:Session.get", "LK01", "LK09", "LK19")
def gets_without_deciding(real: Callable[..., object]) -> Callable[..., object]:
    """Gets whatever record of the session's directory has the id."""

    def get(self: Session, record_id: str) -> object:
        def look(own: Sight) -> object:
            return self._found(own, record_id, "get") if record_id in own.ledger.members else None

        return self._answered(look) or real(self, record_id)

    return get


@fault_at("nsstore.writers.memory:decide_write", "LK09")
def supersedes_the_unreadable(real: Callable[..., Decision]) -> Callable[..., Decision]:
    """Lets a record take the place of one that its writer may not read."""

    def decide(envelope: ScopeEnvelope, meta: object, superseded: object, rights: object) -> Decision:
        decision = real(envelope, meta, superseded, rights)
        return CURRENT if decision.reason.value == "supersedes_not_visible" else decision

    return decide
