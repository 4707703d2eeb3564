"""The owner of a scratch store: opens one dimension to one asker, and closes it again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from nsstore.harness.provider import Dimension, Refusal, Scope
from nsstore.policy import Asker, Kind, Opens
from nsstore.rights import Assurance, Granted, Revoked, begin, spelled_time
from nsstore.scope import Purpose
from nsstore.session import OpenStore
from nsstore.trust.signer import Signer

NAME: Final = "acceptance"
KINDS: Final[Mapping[Dimension, Kind]] = {
    "user": Kind.GROUP_SHARE,
    "session": Kind.CROSS_SESSION,
    "workspace": Kind.CROSS_WORKSPACE,
    "agent": Kind.CROSS_AGENT,
}


class Owner:
    """Whoever holds the key of a store that nobody keeps."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._signer = Signer.new(store.trust.store_id)
        begin(store.rights.listed, self._signer, NAME, Assurance.CI, why=NAME, anew=False)

    def grant(self, asker: Scope, dimension: Dimension, owner: Scope) -> int:
        """Grant what this dimension needs, and return the number of the statement.

        Raises :class:`Refusal` for one that nothing opens.
        """
        kind = KINDS.get(dimension)
        if kind is None:
            raise Refusal(f"no grant opens another {dimension}")
        to = Asker(
            tenant=("tenant", asker.tenant),
            user=asker.user,
            projects=(asker.project,),
            agents=(asker.agent,),
            purposes=(Purpose.RECALL,),
        )
        opens = {
            "user": lambda: Opens(users=(owner.user,)),
            "session": lambda: Opens(sessions=(("session", owner.session),)),
            "workspace": lambda: Opens(workspaces=(owner.workspace,)),
            "agent": lambda: Opens(agents=(owner.agent,)),
        }[dimension]()

        def make(seq: int, at: str, prev: str) -> Granted:
            return Granted(
                seq=seq,
                at=at,
                by=NAME,
                why=NAME,
                assurance=Assurance.CI,
                prev=prev,
                expires=spelled_time(datetime.now(UTC) + timedelta(hours=1)),
                kinds=(kind,),
                to=to,
                opens=opens,
            )

        return self._store.rights.state(self._signer, to.tenant, make).seq

    def revoke(self, number: int, tenant: str) -> None:
        """Take a grant back."""

        def make(seq: int, at: str, prev: str) -> Revoked:
            return Revoked(
                seq=seq, at=at, by=NAME, why=NAME, assurance=Assurance.CI, prev=prev, number=number
            )

        self._store.rights.state(self._signer, ("tenant", tenant), make)
