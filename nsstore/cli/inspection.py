"""Looking at a whole store: every namespace read record by record, every audit chain, every anchor.

Whatever the disk or the trust home knows of is looked at, so that what was deleted shows as well.
What a writer that died left behind is repaired on the way, as the next writer would.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from nsstore import layout
from nsstore.audit import AuditVerdict, digest_of, read_events
from nsstore.cli.named_keys import keys_named
from nsstore.cli.printing import one_line
from nsstore.errors import IntegrityError, StoreError, WitnessError
from nsstore.incident import IncidentKind
from nsstore.rights import time_of
from nsstore.root.named import may_write
from nsstore.scope import Namespace
from nsstore.store import Leaf, Store, Vanished, read_member
from nsstore.store.accept import loss_of
from nsstore.store.audits import verdict_of
from nsstore.store.entry import recover
from nsstore.store.gone import gone
from nsstore.store.judge import Verdict
from nsstore.store.namespaces import Known, survey_names
from nsstore.trust.stock import anchor_files

NO_KEY: Final = "it names the key {}, which is not here: `nsstore keys restore` from a later backup"
READ_ONLY: Final = "this user cannot write here, so no verb answers: none goes unwitnessed"
CLOSED: Final = "it takes no event from this user now, so no verb of this tenant answers"
NO_GRANT: Final = "the owner's list is not the one that was written: no grant opens anything, all is held"
NO_OWNER: Final = "this store never had an owner: what stands there counts for nothing, and can be removed"
GONE: Final = "the trust home knows {} more below this path than the disk has"
KEPT_OUT: Final = "kept out, never read"
MOVED: Final = "it has no valid seal, as a power cut leaves a file, or a hand: moved to {}"
_LOOK: Final = "look at it there: it is evidence, which nothing reads; remove it once you know how it came"
TRUST_HOME: Final = "trust home"
_FILE: Final = "put it back from the newest copy, byte for byte, with mode 0600"
_ANCHORS: Final = (
    "put the trust home's {} back from its newest copy; what is missing there comes back with"
    " `nsstore keys restore`"
)
_BELOW: Final = (
    "put what lies below it back from the newest copy, ledgers and records, files with mode 0600; without a"
    " copy, `nsstore owner accept --gone NAMESPACE` for each, as {}: the trust home keeps no names, so the"
    " ids are for you to know"
)
_ANEW: Final = f"{_FILE}; without a copy, `nsstore owner init --anew` gives every statement up, holds too"
WAY_OUT: Final = "nsstore owner accept"
_NO_COPY: Final = f"; without a copy, `{WAY_OUT}`"
_OUT: Final = "nothing reads it: move it away, out of the store, once you know how it came there"
_MOVE_AWAY: Final = f"; without a copy, move it away, then `{WAY_OUT}`"
LEDGERS: Final = (IncidentKind.CHAIN_BROKEN, IncidentKind.ROLLED_BACK)
_REMEDIES: Final = {
    **dict.fromkeys(("rolled_back", "missing"), _FILE + _NO_COPY),
    **dict.fromkeys(("altered", "misplaced", "forged", "untagged", "replayed"), _FILE + _MOVE_AWAY),
    "chain_broken": _FILE,
    **dict.fromkeys(
        ("linked", "escape"),
        "files must be this user's own with mode 0600, directories with 0700, and no links: make it so, or "
        + _FILE,
    ),
    "audit": (
        "put the month's file back from the newest copy, byte for byte, with mode 0600; what never was a file"
        f" of the audit, move away{_NO_COPY} has the owner give up what is gone"
    ),
}
_ORDER: Final = (
    *("read_only", "key", "anchor_broken", "chain_broken", "rolled_back", "escape", "linked", "missing"),
    *("replayed", "altered", "misplaced", "forged", "untagged", "audit", "witness", "unknown", "stray"),
)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong: where it is, relative to the root, what kind it is, and the incident it became.

    ``remedy`` is what mends it, where something does. Bytes of a name that are no text, or that a terminal
    would obey, are escapes in ``path``.
    """

    path: str
    kind: str
    what: str
    incident: str | None = None
    remedy: str | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "path", one_line(self.path))
        if self.remedy is None:
            remedy = _OUT if self.what == KEPT_OUT else _REMEDIES.get(self.kind)
            msgspec.structs.force_setattr(self, "remedy", remedy)

    @property
    def rank(self) -> tuple[bool, int]:
        """Where it stands among others: a cause before what comes of it, what is only kept out last."""
        return self.what == KEPT_OUT, _ORDER.index(self.kind) if self.kind in _ORDER else len(_ORDER)


class Inspected(msgspec.Struct, kw_only=True):
    """One namespace: how many of its records were read and proven, and whether it may be served.

    ``way_out`` is the command that opens a closed one without a newer copy: the owner accepts the loss.
    """

    path: str
    ids: tuple[tuple[str, str], ...]
    records: int = 0
    closed: bool = False
    repaired: bool = False
    way_out: str | None = None


class InspectedAudit(msgspec.Struct, frozen=True, kw_only=True):
    """One tenant's audit chain."""

    tenant: tuple[str, str]
    verdict: AuditVerdict


class Inspection:
    """The findings about one open store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.findings: list[Finding] = []
        self.namespaces: list[Inspected] = []
        self.audits: list[InspectedAudit] = []
        self._told: dict[tuple[str, str], dict[tuple[str, str], tuple[str, str]]] = {}

    def run(self) -> None:
        """Look at everything; what is wrong is a finding, and nothing is raised for it."""
        known = survey_names(self._store.root)
        for path, what in known.strays:
            self.findings.append(Finding(path=path, kind="stray", what=what))
        for ns in known.namespaces:
            self._namespace(ns)
            seen = self.namespaces[-1]
            if seen.closed:
                self._missing_keys(layout.ledger_path(ns))
                with suppress(StoreError):
                    seen.way_out = WAY_OUT if loss_of(self._store.leaf(ns)) else None
        self._anchors(known)
        self._rights(known)
        self._writable()
        for tenant in sorted(self._tenants(known)):
            self._audit(tenant)
        self.findings.sort(key=lambda one: one.rank)

    def _namespace(self, ns: Namespace) -> None:
        leaf = self._store.leaf(ns)
        seen = Inspected(path=leaf.place.records, ids=ns.dimensions)
        self.namespaces.append(seen)
        try:
            seen.repaired = self._repair(leaf)
            ledger = leaf.read()
        except StoreError as err:
            seen.closed = True
            self._closed_by(leaf, err)
            return
        for record_id in ledger.order:
            path = layout.record_path(ns, record_id)
            try:
                read_member(leaf, ledger, record_id)
                seen.records += 1
            except Vanished:
                continue  # forgotten while this looks
            except StoreError as err:
                seen.closed = True
                self._found(path, err)

    def _missing_keys(self, path: str) -> None:
        """Tell of a key that a closed ledger names and the trust home lacks: what it sealed looks altered."""
        named = keys_named(self._store.root, path)
        for key_id in sorted(named - self._store.trust.keys.masters.keys()):
            self.findings.append(Finding(path=path, kind="key", what=NO_KEY.format(key_id)))

    def _repair(self, leaf: Leaf) -> bool:
        """Do what the next writer would do first, and tell of every name that is kept out."""
        survey, verdict = leaf.look(None)
        if verdict.plain and not survey.torn:
            return False
        self._recall(leaf, verdict)
        survey, verdict = leaf.look_locked()  # a writer may have been at work
        left = verdict.recovered or verdict.leftovers or survey.torn or survey.ledger.unfinished
        repaired = bool(left) and not verdict.closed
        if survey.ledger.seq >= 0:
            before = verdict
            recover(leaf)
            survey, verdict = leaf.look_locked()
            repaired |= self._moved(leaf, before, survey.names or frozenset())
        for name, kind in sorted(verdict.strays.items()):
            incident = self._store.witness.tell(leaf.place, kind, name)
            path = f"{leaf.place.records}/{name}"
            self.findings.append(Finding(path=path, kind=kind, what=KEPT_OUT, incident=incident))
        return repaired

    def _recall(self, leaf: Leaf, verdict: Verdict) -> None:
        """Let a name that nobody touched since the audit told of it keep its incident."""
        store, tenant, chain = self._store, leaf.place.ns.tenant, leaf.place.chain
        if verdict.strays and tenant not in self._told:
            self._told[tenant] = {
                (one.reason or "", one.digest): (one.at, one.incident)
                for one in read_events(store.audit, tenant)
                if one.digest is not None and one.incident is not None
            }
        key = store.trust.keys.tenant(store.trust.keys.active, tenant)
        for name, kind in verdict.strays.items():
            seen = store.root.seen(f"{leaf.place.records}/{name}")
            digest = digest_of(key, chain, os.fsencode(name)) if key is not None else ""
            at, incident = self._told[tenant].get((kind.value, digest), ("", ""))
            if seen is not None and at and seen[-1] < time_of(at).timestamp() * 1e9:
                store.witness.recall(leaf.place, kind, name, incident)

    def _moved(self, leaf: Leaf, before: Verdict, names: frozenset[str]) -> bool:
        """Tell what was moved to the quarantine: names without a valid seal, of a power cut or of a hand."""
        moved = {name: kind for name, kind in before.strays.items() if name not in names}
        for name, kind in sorted(moved.items()):
            incident = self._store.witness.tell(leaf.place, IncidentKind.TORN, name)
            what = MOVED.format(f"quarantine/{incident}")
            path = f"{leaf.place.records}/{name}"
            self.findings.append(Finding(path=path, kind=kind, what=what, incident=incident, remedy=_LOOK))
        return bool(moved)

    def _closed_by(self, leaf: Leaf, err: StoreError) -> None:
        """Tell what closes a namespace: its ledger, what the trust home knows of it, or what lies in it."""
        kind = err.incident_kind if isinstance(err, IntegrityError) else err.kind
        anchors = _ANCHORS.format(leaf.place.anchors) if kind == IncidentKind.ANCHOR_BROKEN else None
        self._found(leaf.place.ledger if kind in LEDGERS else leaf.place.records, err, anchors)

    def _found(self, path: str, err: StoreError, remedy: str | None = None) -> None:
        incident = err.incident_id if isinstance(err, IntegrityError) else None
        kind = err.incident_kind if isinstance(err, IntegrityError) else err.kind
        self.findings.append(Finding(path=path, kind=kind, what=str(err), incident=incident, remedy=remedy))

    def _anchors(self, known: Known) -> None:
        """Find the namespaces that the trust home knows and the disk does not show at all."""
        for one in gone(self._store, known.namespaces):
            what, remedy = GONE.format(one.namespaces), _BELOW.format(f"{one.below}/{one.leaf.upper()}")
            self.findings.append(
                Finding(path=f"ledger/{one.below}", kind="rolled_back", what=what, remedy=remedy)
            )

    def _rights(self, known: Known) -> None:
        """Find that the owner's list opens nothing, and tell each tenant's audit."""
        standing = self._store.rights.standing()
        damage = standing.damage
        if damage is None:
            return
        incidents = [
            self._store.rights.tell(one, damage) for one in sorted({ns.tenant for ns in known.namespaces})
        ]
        incident = incidents[0] if incidents else None
        self.findings.append(
            Finding(
                path=layout.RIGHTS_LIST,
                kind=damage.value,
                what=NO_OWNER if standing.ownerless else NO_GRANT,
                incident=incident,
                remedy="" if standing.ownerless else _ANEW,
            )
        )

    def _writable(self) -> None:
        """Find what this user cannot write: then no verb answers, since none goes unwitnessed."""
        for path, home in ((".", self._store.root), (TRUST_HOME, self._store.trust.home)):
            if not may_write(home.path):
                self.findings.append(Finding(path=path, kind="read_only", what=READ_ONLY))

    def _tenants(self, known: Known) -> Iterator[tuple[str, str]]:
        """Every tenant that a namespace, an audit or a head in the trust home belongs to."""
        tenants = {ns.tenant for ns in known.namespaces}
        spelled = {layout.encode(*tenant) for tenant in tenants}
        heads = {file.path for file in anchor_files(self._store.trust.home)}
        audited = {path[14:-8] for path in heads if path.startswith("anchors/audit/")}
        for component in sorted((known.audits | audited) - spelled):
            tenant = layout.decode("tenant", component)
            if tenant is None:
                what = "an audit whose tenant nothing names: its id is too long for a path"
                self.findings.append(Finding(path=f"audit/tenants/{component}", kind="unknown", what=what))
            else:
                tenants.add(tenant)
        yield from tenants

    def _audit(self, tenant: tuple[str, str]) -> None:
        path = layout.audit_dir(tenant)
        try:
            verdict = verdict_of(self._store, tenant)
        except StoreError as err:
            self._found(path, err)
            return
        self.audits.append(InspectedAudit(tenant=tenant, verdict=verdict))
        for fault in verdict.faults:
            self.findings.append(Finding(path=path, kind="audit", what=fault))
        if verdict.gaps:
            self.findings.append(Finding(path=path, kind="audit", what=f"{verdict.gaps} events are gone"))
        if verdict.whole and verdict.events:
            try:
                self._store.audit.require_ready(tenant)
            except WitnessError as err:
                self.findings.append(Finding(path=path, kind=err.kind, what=CLOSED))
