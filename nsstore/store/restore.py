"""Restoring a whole store from a backup: every member proven on its way in, the claim written last."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from nsstore import layout
from nsstore.errors import InvalidInput, Refused
from nsstore.incident import IncidentKind
from nsstore.root import Root, failure, lies_in_one_that_holds, real_path
from nsstore.scope import Namespace
from nsstore.store.accept import Lacking, losses
from nsstore.store.archive import NO_BACKUP, ArchiveReader, Head
from nsstore.store.audits import tenants_of, verdict_of
from nsstore.store.backup import TRUST
from nsstore.store.gone import Gone, gone
from nsstore.store.making import STORE_FILE
from nsstore.store.namespaces import survey_names
from nsstore.store.putting import Putting
from nsstore.store.remains import Remains
from nsstore.store.site import NOT_FREE, Site, require_site
from nsstore.store.store import Store
from nsstore.trust import Keys, base, open_trust, require_not_lost
from nsstore.trust.backup import MAX_FILE, unseal
from nsstore.trust.home import open_home, refuse_overlap
from nsstore.trust.keyring import require_same
from nsstore.trust.keys import load_keys
from nsstore.trust.restore import require_free, restore_elsewhere
from nsstore.trust.stock import Stock

Path = str | os.PathLike[str]
GAPS: Final = "{} events are gone"


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What was put back, and what of it is not as the trust home of this machine knows it.

    ``kept_out`` are records that were forgotten after the backup, as a later ledger says. From what is left
    came ``brought`` records and ``events`` of audits that were written after it, and whole the namespaces
    ``begun`` since; ``left`` is what could not be taken from there, each with the reason, and ``passed_by``
    names where a link, or something else that is no file of a store, stands. ``lacking`` is what stays closed
    until the owner accepts it, ``gone`` what the trust home knows and neither backup nor remains show,
    ``rights`` why no grant opens anything, ``audits`` what the audits lack.
    """

    store_id: str
    path: str
    made_at: str
    namespaces: int
    records: int
    kept_out: tuple[tuple[str, str], ...]
    brought: int
    begun: tuple[str, ...]
    events: int
    left: tuple[tuple[str, str], ...]
    passed_by: tuple[str, ...]
    lacking: Lacking
    gone: tuple[Gone, ...]
    rights: IncidentKind | None
    audits: tuple[tuple[str, str], ...]
    keys: int
    anchors: int

    @property
    def whole(self) -> bool:
        """Whether nothing is missing, closed, or was left behind."""
        lacks = self.lacking.losses or self.lacking.others or self.gone or self.audits
        return not (lacks or self.left or self.passed_by or self.rights is not None)


def restore(
    read: Callable[[int], bytes],
    path: Path,
    passphrase: Callable[[], str],
    told: Callable[[int], None],
    *,
    trust_home: Path | None = None,
    old: Path | None = None,
) -> Restored:
    """Make the store of a backup again, in an absent or empty directory; durable when this returns.

    All of its files come first, then the trust home, to which only what it lacks is added, then the
    claim: cut short anywhere, the directory is no store, and the same backup can be restored there again.
    What others put there meanwhile stays, and no store is made of it. ``old`` is what is left of the
    store: where its ledgers prove what happened after the backup, they count instead of the older ones, and
    namespaces and audits that the trust home knows to have been begun since are taken from there.
    Raises :class:`InvalidInput` for what is no backup, or a place that is not free, :class:`Refused` for
    a backup that is not as it was written or a wrong passphrase, where the store still stands, and
    (retryable) while somebody else makes a store there.
    """
    reader = ArchiveReader(read)
    store_id = bytes.fromhex(reader.head.store_id)
    _require_place(path, trust_home, store_id)
    first = reader.next()
    if first is None or first.path != TRUST:
        raise InvalidInput(NO_BACKUP)
    stock = unseal(reader.whole(MAX_FILE), passphrase(), store_id)
    try:
        keys = _keys(stock, store_id, trust_home)
        with Site(path, store_id) as site:
            _require_place(path, trust_home, store_id)  # whoever asked for the passphrase waited
            remains = None
            if old is not None:
                remains = Remains(_old_root(old, site.root), _home(store_id, trust_home), stock, keys)
            put = Putting(site, store_id, keys, remains)
            try:
                while (member := reader.next()) is not None:
                    put.take(member, reader)
                    told(put.bytes)
                put.finish()
            finally:
                put.close()
            reader.prove(Keys.from_bytes(stock.keys))
            site.require_as_put()
            site.root.sync_all()
            return _made(site, put, stock, reader.head, trust_home)
    except OSError as err:
        raise failure("restoring", err) from None


def _require_place(path: Path, trust_home: Path | None, store_id: bytes) -> None:
    """Require that the store can be restored there, as everything looks now."""
    require_site(path)
    if lies_in_one_that_holds(path, STORE_FILE):
        raise InvalidInput(NOT_FREE)
    refuse_overlap(base(trust_home), real_path(path))
    require_not_lost(path, trust_home, store_id)
    require_free(store_id, trust_home, STORE_FILE)


def _made(site: Site, put: Putting, stock: Stock, head: Head, trust_home: Path | None) -> Restored:
    """Put back the trust home, make it a store, and look at everything."""
    root, store_id = site.root, bytes.fromhex(head.store_id)
    added = restore_elsewhere(
        stock, root=root, store_id=store_id, trust_home=trust_home, claim=(STORE_FILE, site.claim)
    )
    trust = open_trust(root, store_id, trust_home)
    try:
        looking = Store(root, trust)
        lacking = losses(looking)
        rights = looking.rights.standing().damage
        shown = survey_names(root).namespaces
        nowhere, audits = gone(looking, shown), _audits(looking, shown)
    finally:
        trust.close()
    return Restored(
        store_id=store_id.hex(),
        path=root.path,
        made_at=head.at,
        namespaces=put.namespaces,
        records=put.records,
        kept_out=tuple(put.kept_out),
        brought=put.brought,
        begun=tuple(put.begun),
        events=put.audits.brought,
        left=tuple(put.left),
        passed_by=put.passed_by,
        lacking=lacking,
        gone=nowhere,
        rights=rights,
        audits=audits,
        keys=added.keys,
        anchors=added.anchors,
    )


def _audits(store: Store, shown: Sequence[Namespace]) -> tuple[tuple[str, str], ...]:
    """What is wrong with the audits of tenants that have a namespace, or that the trust home knows."""
    faults: list[tuple[str, str]] = []
    for tenant in tenants_of(store, shown):
        path, verdict = layout.audit_dir(tenant), verdict_of(store, tenant)
        faults += [(path, fault) for fault in verdict.faults]
        if verdict.gaps:
            faults.append((path, GAPS.format(verdict.gaps)))
    return tuple(faults)


def _keys(stock: Stock, store_id: bytes, trust_home: Path | None) -> Keys:
    """The keys of the backup, and those that this machine has beside them."""
    given = Keys.from_bytes(stock.keys)
    with suppress(Refused), open_home(base(trust_home), store_id) as home:
        present = load_keys(home)
        require_same(present, given)
        return Keys(given.active, given.masters | present.masters)
    return given


def _home(store_id: bytes, trust_home: Path | None) -> Root | None:
    """The trust home of this machine, if it has one for the store."""
    try:
        return open_home(base(trust_home), store_id)
    except Refused:
        return None


def _old_root(old: Path, root: Root) -> Root:
    try:
        found = Root.open(old)
    except FileNotFoundError:
        raise InvalidInput("nothing is left of the store there") from None
    if found.inode == root.inode and found.device == root.device:
        found.close()
        raise InvalidInput("what is left of the store must lie apart from where it is restored")
    return found
