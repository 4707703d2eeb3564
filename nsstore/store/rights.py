"""The owner's rights as every request of a store meets them: in force now, or none at all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from nsstore.audit import EventKind
from nsstore.incident import IncidentKind
from nsstore.policy import HOLDS_UNKNOWN, NOTHING_SET, Retention, Rights
from nsstore.rights import Accepted, Assurance, Kept, Make, Revoked, RightsList, Standing, Statement, append
from nsstore.store.witness import Witness

if TYPE_CHECKING:
    from nsstore.trust.signer import Signer

Tenant = tuple[str, str]
NOT_KNOWN: Final = (
    "what the owner holds is not known, since the owner's list is not the one that was written: nothing is"
    " forgotten until it is put back (`nsstore check`)"
)
_EVENTS: Final[dict[type[object], EventKind]] = {Revoked: EventKind.REVOKED, Kept: EventKind.RETENTION_SET}


class RightsInForce:
    """What opens something for the requests of one store; looked at again on every call.

    A list that is not the one that was written opens nothing: whoever meets it gets their own scope,
    as without an owner, and their tenant's audit an incident.
    """

    def __init__(self, listed: RightsList, witness: Witness) -> None:
        self.listed = listed
        self._witness = witness
        self._told: dict[tuple[Tenant, IncidentKind], str] = {}

    def current(self, tenant: Tenant | None = None, sealed_id: str = "") -> Rights:
        """What is open now; a revocation in another process counts from its line on.

        ``tenant`` is whose audit hears of a list that opens nothing, durably and once in a process;
        ``sealed_id`` a record id known to be sealed, which begins with a time that expiry is not
        decided behind, as far as the owner trusts that tenant's sealed times. Raises
        :class:`WitnessError`, :class:`SystemFailure`.
        """
        standing = self.listed.standing(sealed_id, tenant)
        if standing.damage is not None and tenant is not None:
            self.tell(tenant, standing.damage)
        return standing.rights

    def retention(self, tenant: Tenant) -> Retention:
        """How long a tenant's records are kept, and which are held, by the owner's newest word.

        Of a list that is not the one that was written nobody knows what it holds: then everything is
        held, since what was erased does not come back, and no class ends a record. Raises as
        :meth:`current`.
        """
        standing = self.listed.standing()
        if standing.damage is None:
            return standing.retention.get(tenant, NOTHING_SET)
        self.tell(tenant, standing.damage)
        return NOTHING_SET if standing.ownerless else HOLDS_UNKNOWN

    def durations(self, tenant: Tenant, retention_class: str) -> frozenset[timedelta]:
        """Every length of time that the owner's list ever set for a class, revoked or not."""
        stated = (one for one in self.listed.standing().listing.statements if isinstance(one, Kept))
        days = (dict(one.days).get(retention_class) for one in stated if one.tenant == tenant)
        return frozenset(timedelta(days=number) for number in days if number is not None)

    def standing(self) -> Standing:
        """The list as it stands now, statement by statement; for the owner's own commands."""
        return self.listed.standing()

    def state(self, signer: Signer, tenant: Tenant, make: Make) -> Statement:
        """Make a statement about a tenant: durable, in force and audited when this returns.

        Raises :class:`Refused` as :func:`~nsstore.rights.append`, :class:`WitnessError` before anything
        is written where the tenant's audit takes no event.
        """
        self._witness.audit.require_ready(tenant)
        made = append(self.listed, signer, make)
        event = _EVENTS.get(type(made.statement), EventKind.GRANTED)
        self._witness.tell_statement(tenant, event, made.statement.seq, made.raw)
        return made.statement

    def accept(
        self,
        signer: Signer,
        tenants: Sequence[Tenant],
        *,
        by: str,
        why: str,
        assurance: Assurance,
        namespaces: int,
        events: int,
        records: int,
        digest: str,
    ) -> int:
        """State that the owner gives up what several tenants lost; each of their audits is told.

        ``digest`` says exactly which losses. The statement's number. Raises as :meth:`state`.
        """
        for tenant in tenants:
            self._witness.audit.require_ready(tenant)

        def make(seq: int, at: str, prev: str) -> Accepted:
            return Accepted(
                seq=seq,
                at=at,
                by=by,
                why=why,
                assurance=assurance,
                prev=prev,
                namespaces=namespaces,
                events=events,
                records=records,
                digest=digest,
            )

        made = append(self.listed, signer, make)
        for tenant in tenants:
            self._witness.tell_statement(tenant, EventKind.RECOVERED, made.statement.seq, made.raw)
        return made.statement.seq

    def tell(self, tenant: Tenant, damage: IncidentKind) -> str:
        """Audit a damage to a tenant, once in a process, and return the incident's id."""
        known = self._told.get((tenant, damage))
        if known is None:
            known = self._told[tenant, damage] = self._witness.tell_rights(tenant, damage)
        return known
