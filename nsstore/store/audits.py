"""The audits of a store as the owner's list judges them: which of their gaps are accepted, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore import digests, layout
from nsstore.audit import AuditVerdict, verify
from nsstore.rights import Accepted, Assurance
from nsstore.scope import Namespace
from nsstore.trust.stock import SUFFIX, anchor_files

if TYPE_CHECKING:
    from nsstore.store.store import Store
    from nsstore.trust.signer import Signer

Tenant = tuple[str, str]
_HEADS: Final = "anchors/audit/"


class AuditGap(msgspec.Struct, frozen=True, kw_only=True):
    """Events of a tenant's audit that are gone: from the first to the last one, by their numbers."""

    tenant: Tenant
    first: int
    last: int

    @property
    def events(self) -> int:
        return self.last - self.first + 1

    @property
    def path(self) -> str:
        """Where the audit is, below the root."""
        return layout.audit_dir(self.tenant)

    def digest(self, store_id: bytes) -> str:
        """By what a statement names it (``docs/format.md``, "Rights")."""
        named = digests.lp("accepted audit", store_id, *self.tenant, str(self.first), str(self.last))
        return digests.digest(digests.RIGHTS, named).hex()


def verdict_of(store: Store, tenant: Tenant) -> AuditVerdict:
    """Whether a tenant's audit is whole; a gap that the owner accepted is told, and is none."""
    standing = store.rights.standing()
    stated = standing.listing.statements if standing.damage is None else ()
    accepted = frozenset(one.digest for one in stated if isinstance(one, Accepted) and not one.namespaces)

    def is_accepted(first: int, last: int) -> bool:
        return AuditGap(tenant=tenant, first=first, last=last).digest(store.trust.store_id) in accepted

    return verify(store.audit, tenant, is_accepted if accepted else None)


def tenants_of(store: Store, shown: Sequence[Namespace]) -> tuple[Tenant, ...]:
    """Every tenant of these namespaces, and those whose audit the trust home knows by a whole name."""
    found = {ns.tenant for ns in shown}
    for file in anchor_files(store.trust.home):
        if file.path.startswith(_HEADS):
            tenant = layout.decode("tenant", file.path.removeprefix(_HEADS).removesuffix(SUFFIX))
            found |= {tenant} if tenant is not None else set()
    return tuple(sorted(found))


def audit_gaps(store: Store, shown: Sequence[Namespace]) -> tuple[AuditGap, ...]:
    """The gaps that nobody accepted, told by the chain or still to be told by its next event."""
    return tuple(_gaps(store, shown))


def _gaps(store: Store, shown: Sequence[Namespace]) -> Iterator[AuditGap]:
    for tenant in tenants_of(store, shown):
        for first, last in verdict_of(store, tenant).lost:
            yield AuditGap(tenant=tenant, first=first, last=last)


def accept_gaps(
    store: Store, signer: Signer, found: Sequence[AuditGap], *, by: str, why: str, assurance: Assurance
) -> tuple[int, ...]:
    """State that the owner gives up what audits have lost: one statement for each gap, by its digest.

    Each chain is told, which says how many events it lacks before that. The numbers of the statements.
    Raises as :func:`~nsstore.rights.append`.
    """
    return tuple(
        [
            store.rights.accept(
                signer,
                [gap.tenant],
                by=by,
                why=why,
                assurance=assurance,
                namespaces=0,
                events=gap.events,
                records=0,
                digest=gap.digest(store.trust.store_id),
            )
            for gap in found
        ]
    )
