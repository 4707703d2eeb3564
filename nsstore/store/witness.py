"""Turning what should not be there into an audited incident, once per object and process."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from nsstore import digests
from nsstore.audit import AuditEvent, AuditLog, EventKind
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
    IncidentKind.ROLLED_BACK: "this namespace is older on the disk than the trust home knows it",
    IncidentKind.CHAIN_BROKEN: "the ledger of this namespace is not the one that was written",
    IncidentKind.ANCHOR_BROKEN: "the trust home does not prove this namespace",
}
_MAX_KNOWN: Final = 100_000


class Witness:
    """Audits each incident before anybody hears of it; the same one is not told twice by a process."""

    def __init__(self, audit: AuditLog, keys: Keys) -> None:
        self.audit = audit
        self.keys = keys
        self._known: dict[tuple[Namespace, IncidentKind, str], str] = {}

    def tell(self, place: Place, kind: IncidentKind, what: str, *, again: bool = False) -> str:
        """Audit an incident durably and return its id. Raises :class:`WitnessError` if it cannot be.

        One that this process told before keeps its id and is not told twice, unless ``again`` says
        that it happened once more.
        """
        known = (place.ns, kind, what)
        incident_id = self._known.get(known)
        if incident_id is not None and not again:
            return incident_id
        incident_id = new_incident_id()
        key = self.keys.tenant(self.keys.active, place.ns.tenant)
        assert key is not None
        self.audit.append(
            place.ns.tenant,
            AuditEvent(
                event=EventKind.UNTAGGED if kind is IncidentKind.UNTAGGED else EventKind.CONTAMINATION,
                reason=kind.value,
                incident=incident_id,
                digest=digests.mac(key, digests.DIGEST, place.chain.prefix, os.fsencode(what)).hex(),
            ),
        )
        if len(self._known) < _MAX_KNOWN:
            self._known[known] = incident_id
        return incident_id

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
