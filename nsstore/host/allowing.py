"""The owner's word about a checkout, as the audit hears it: nothing is bound or let go of before it was told.

A checkout is of no tenant, so it is the tenant of whoever says it whose audit is told.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore.audit import AuditEvent, EventKind, digest_of
from nsstore.errors import InvalidInput
from nsstore.host.checkouts import Checkout, Checkouts
from nsstore.host.git import Facts, facts_at, proposal, remote_of
from nsstore.policy import Pair
from nsstore.root import overlap
from nsstore.root.owned import has_name
from nsstore.scope import check_id
from nsstore.trust.home import base

if TYPE_CHECKING:
    from nsstore.store import Store

VERB: Final = "allow"
TERMINAL: Final = "terminal"
UNATTENDED: Final = "unattended"


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """Whose word it is, as far as that is known, and whether somebody at a terminal could be asked."""

    tenant: Pair
    user: str | None
    asked: bool


class Allowing:
    """Binds checkouts to projects in an open store, and lets go of them, each told to the audit first."""

    def __init__(self, opened: Store, word: Word) -> None:
        self.checkouts = Checkouts(opened.trust.home, opened.root.path)
        self._opened = opened
        self._word = word

    def bind(self, top: str, project_id: str, *, same_as: Checkout | None = None) -> Checkout:
        """Bind a directory, with what git says of it; a second time changes and tells nothing.

        Raises as :meth:`~nsstore.host.checkouts.Checkouts.bind`, and :class:`nsstore.WitnessError` before
        anything is bound.
        """
        facts = facts_at(top)
        return self.checkouts.bind(
            top,
            project_id,
            remote=None if facts is None else remote_of(facts),
            versioned=facts is not None or has_name(top, ".git"),  # also where there is no commit yet
            same_as=same_as,
            told=functools.partial(self._tell, EventKind.GRANTED),
        )

    def end(self, checkout: Checkout) -> None:
        """Let go of a checkout. Raises :class:`nsstore.WitnessError` before it is."""
        self.checkouts.end(checkout, told=functools.partial(self._tell, EventKind.REVOKED))

    def _tell(self, event: EventKind, checkout: Checkout) -> None:
        """Audit it durably: whose word, which project and workspace, and a keyed digest of the path."""
        keys, audit, word = self._opened.trust.keys, self._opened.audit, self._word
        key = keys.tenant(keys.active, word.tenant)
        assert key is not None
        kind, tenant = word.tenant
        audit.append(
            word.tenant,
            AuditEvent(
                event=event,
                verb=VERB,
                reason=TERMINAL if word.asked else UNATTENDED,
                scope={
                    f"{kind}_id": tenant,
                    "user_id": word.user,
                    "project_id": checkout.project_id,
                    "workspace_id": checkout.workspace_id,
                },
                digest=digest_of(key, audit.chain(word.tenant), os.fsencode(checkout.path)),
            ),
        )


def can_bind(top: str, store: str) -> bool:
    """Whether a directory lies apart from where the store and the trust homes are."""
    return not any(overlap(kept, top) for kept in (store, base(None)))


def proposed_project(known: Sequence[Checkout], top: str, facts: Facts | None) -> str:
    """The project that a directory proposes: that of a checkout of the same repository, if one is bound.

    The same is what has the same main work tree or the same remote; else as
    :func:`~nsstore.host.git.proposal`. A proposal only, whatever the directory says of itself; empty where
    that is no id.
    """
    if facts is not None:
        remote = remote_of(facts)
        same = (one for one in known if one.path == facts.main or (one.remote and one.remote == remote))
        if (first := next(same, None)) is not None:
            return first.project_id
    return id_or_nothing(proposal(top, facts))


def id_or_nothing(text: str) -> str:
    """A text that may be proposed as an id; empty for one that is none."""
    try:
        return check_id("proposal", text)
    except InvalidInput:
        return ""
