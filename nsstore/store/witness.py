"""Turning what should not be there into an audited incident, once per object and process."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

from nsstore import digests
from nsstore.audit import AuditEvent, AuditLog, EventKind, digest_of
from nsstore.errors import EscapeError, IntegrityError
from nsstore.incident import IncidentKind, new_incident_id
from nsstore.scope import Namespace
from nsstore.store.survey import Place
from nsstore.trust import Keys

WORDS: Final[dict[IncidentKind, str]] = {
    IncidentKind.ALTERED: "a record of this namespace is not as it was sealed",
    IncidentKind.MISSING: "a record of this namespace is gone",
    IncidentKind.REPLAYED: "a record of this namespace was replaced by an older one",
    IncidentKind.MISPLACED: "a record of this namespace was replaced by another one's",
    IncidentKind.FORGED: "a record of this namespace was not sealed with this store's keys",
    IncidentKind.UNTAGGED: "a record of this namespace lost its header",
    IncidentKind.LINKED: "a record of this namespace was made unreadable",
    IncidentKind.ROLLED_BACK: "this namespace is older on the disk than the trust home knows it",
    IncidentKind.CHAIN_BROKEN: "the ledger of this namespace is not the one that was written",
    IncidentKind.ANCHOR_BROKEN: "the trust home does not prove this namespace",
}
_MAX_KNOWN: Final = 100_000
_MAX_APART: Final = 16


class Witness:
    """Audits each incident before anybody hears of it; the same one is not told twice by a process."""

    def __init__(self, audit: AuditLog, keys: Keys) -> None:
        self.audit = audit
        self.keys = keys
        self._known: dict[tuple[Namespace, IncidentKind, str], str] = {}

    def tell(self, place: Place, kind: IncidentKind, what: str) -> str:
        """Audit an incident durably and return its id. Raises :class:`WitnessError` if it cannot be.

        One that this process told before keeps its id and is not told twice.
        """
        return self.tell_all(place, {what: kind})[what]

    def tell_all(
        self, place: Place, found: Mapping[str, IncidentKind], *, again: bool = False
    ) -> dict[str, str]:
        """Audit incidents durably and return the id of each; many of one kind are told as one event.

        So that whoever can add names cannot buy a flush with each of them. ``again`` says that they
        happened once more, whatever was told before.
        """
        ids: dict[str, str] = {}
        for what, kind in found.items():
            known = None if again else self._known.get((place.ns, kind, what))
            if known is not None:
                ids[what] = known
        for kind in sorted(set(found.values())):
            untold = sorted(what for what, one in found.items() if one is kind and what not in ids)
            for group in [untold] if len(untold) > _MAX_APART else [[what] for what in untold]:
                if group:
                    ids |= dict.fromkeys(group, self._tell(place, kind, group))
        return ids

    def _tell(self, place: Place, kind: IncidentKind, group: list[str]) -> str:
        incident_id = new_incident_id()
        key = self.keys.tenant(self.keys.active, place.ns.tenant)
        assert key is not None
        self.audit.append(
            place.ns.tenant,
            AuditEvent(
                event=EventKind.UNTAGGED if kind is IncidentKind.UNTAGGED else EventKind.CONTAMINATION,
                reason=kind.value,
                incident=incident_id,
                count=len(group) if len(group) > 1 else None,
                digest=digest_of(key, place.chain, *map(os.fsencode, group)),
            ),
        )
        self._known.update(((place.ns, kind, what), incident_id) for what in group)
        while len(self._known) > _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return incident_id

    def tell_rights(self, tenant: tuple[str, str], kind: IncidentKind) -> str:
        """Audit durably, to a tenant whose request met it, that the owner's list opens nothing.

        Returns the incident's id. Raises :class:`WitnessError` if it cannot be audited.
        """
        incident_id = new_incident_id()
        event = AuditEvent(
            event=EventKind.CONTAMINATION, verb="rights", reason=kind.value, incident=incident_id
        )
        self.audit.append(tenant, event)
        return incident_id

    def tell_statement(self, tenant: tuple[str, str], event: EventKind, number: int, raw: bytes) -> None:
        """Audit durably that the owner made a statement: its number, and the keyed digest of its line."""
        key = self.keys.tenant(self.keys.active, tenant)
        assert key is not None
        told = digests.mac(key, digests.DIGEST, raw).hex()
        self.audit.append(
            tenant, AuditEvent(event=event, verb="owner", reason=f"statement {number}", digest=told)
        )

    def recall(self, place: Place, kind: IncidentKind, what: str, incident_id: str) -> None:
        """Take over the id of an incident that the audit tells of, so that it is not told again."""
        self._known.setdefault((place.ns, kind, what), incident_id)

    def fail(self, place: Place, kind: IncidentKind, what: str) -> IntegrityError:
        """Audit that something genuine is damaged, and return the error to raise."""
        incident_id = self.tell(place, kind, what)
        return IntegrityError(WORDS[kind], incident_id=incident_id, incident_kind=kind.value)

    @contextmanager
    def escapes(self, place: Place) -> Generator[None]:
        """Audit a link, device or swapped directory met on the way; the refusal stays what it is."""
        try:
            yield
        except EscapeError as err:
            self.tell(place, IncidentKind.LINKED, str(err))
            raise
