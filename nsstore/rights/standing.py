"""What is in force now: the list followed as it is on the disk and in the trust home, on every call."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Final

import msgspec

from nsstore import layout
from nsstore.clock import utc_now
from nsstore.errors import EscapeError, Refused, SystemFailure
from nsstore.incident import IncidentKind
from nsstore.policy import NO_RIGHTS, NOTHING_SET, Pair, Retention, Rights, trusted
from nsstore.rights.clock import Clock, time_of_id
from nsstore.rights.listing import (
    NOTHING,
    Listing,
    Proofs,
    Unfit,
    in_force,
    kept_of,
    read_list,
    retention_of,
    rights_of,
)
from nsstore.root import NOT_OURS, SETTLED_NS, Root
from nsstore.trust import Anchor, Chain, NoValidSlot, Trust
from nsstore.trust.owner import Owner, read_owner

MAX_LIST: Final = 64 * 1024 * 1024
NEVER: Final = "9"
EMPTY: Final = Listing(known=(), beyond=(), size=0, torn=0)
Stamp = tuple[int, ...] | None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The list as it stands, and what it opens until a time at which that ends.

    With ``damage`` nothing in it opens anything, whatever it says. ``now`` is the time it was decided
    at: never behind the newest one known. ``ownerless``: the trust home proves that no owner ever was.
    """

    owner: Owner | None = None
    ownerless: bool = False
    listing: Listing = EMPTY
    damage: IncidentKind | None = None
    rights: Rights = NO_RIGHTS
    retention: Mapping[Pair, Retention] = msgspec.field(default_factory=dict[Pair, Retention])
    now: str = ""
    until: str = NEVER


class RightsList:
    """The owner's list of one store, proven again whenever the list or its head changed.

    A look that finds nothing changed costs two ``stat``. Any thread may look; none waits.
    """

    def __init__(self, root: Root, trust: Trust) -> None:
        self.root = root
        self.trust = trust
        self.chain = Chain(trust.store_id, "rights", (("store", trust.store_id.hex()),))
        self.proofs = Proofs(trust.store_id)
        self._newest: dict[int, str] = {}
        self._seen: tuple[Stamp, Stamp, Standing] | None = None

    def standing(self, sealed_id: str = "", tenant: Pair | None = None) -> Standing:
        """What stands now, decided on a clock that never runs behind the newest time known.

        ``sealed_id`` is a record id that the caller knows to be sealed: it begins with a time, which counts
        as far as the owner trusts sealed times of this tenant. Raises :class:`SystemFailure` if the system
        would not let it look.
        """
        seen, home = self._seen, self.trust.home
        if (
            seen is not None
            and seen[:2] == (None, None)
            and home.lacks(layout.RIGHTS_HEAD)
            and self.root.lacks(layout.RIGHTS_LIST)
        ):
            return seen[2]  # as in most stores: no owner, no list
        head, written = home.seen(layout.RIGHTS_HEAD), self.root.seen(layout.RIGHTS_LIST)
        if seen is None or (seen[0], seen[1]) != (head, written):
            standing = self._decided(self._read())
            self._seen = (head, written, standing) if _settled(head) and _settled(written) else None
        else:
            standing = seen[2]
            if standing.until is not NEVER and utc_now() >= standing.until:
                standing = self._decided(standing)
                self._seen = (head, written, standing)
        if standing.until is not NEVER and time_of_id(sealed_id) >= standing.until:
            kept = standing.retention.get(tenant) if tenant is not None else None
            if (sealed := trusted(time_of_id(sealed_id), kept or NOTHING_SET)) >= standing.until:
                return _at(standing, sealed)  # what one namespace knows is not noted for the others
        return standing

    def _read(self) -> Standing:
        standing = self.look()
        if standing.damage is not None:  # a writer may have been at work: what is seen alone counts
            with ExitStack() as held:
                with suppress(NoValidSlot):
                    held.enter_context(self.trust.anchors.watched(layout.RIGHTS_HEAD, self.chain))
                standing = self.look()
        return standing

    def look(self) -> Standing:
        """Read head and list once, nothing decided: the head first, so that the list is never behind it."""
        owner, ownerless = None, False
        try:
            owner = read_owner(self.trust.home, self.trust.store_id)
            anchor = self.trust.anchors.read(layout.RIGHTS_HEAD, self.chain)
            ownerless = owner is None and anchor is None
            return Standing(owner=owner, ownerless=ownerless, listing=self._list(owner, anchor))
        except Unfit as why:
            damage = why.kind
        except (NoValidSlot, Refused):
            damage = IncidentKind.ANCHOR_BROKEN
        except EscapeError:
            damage = IncidentKind.LINKED
        except SystemFailure as err:
            if err.errno not in NOT_OURS:
                raise
            damage = IncidentKind.LINKED
        return Standing(owner=owner, ownerless=ownerless, damage=damage)

    def _list(self, owner: Owner | None, anchor: Anchor | None) -> Listing:
        """The list that the owner's key and the head prove. Raises :class:`Unfit`."""
        if owner is None and anchor is not None:
            raise Unfit(IncidentKind.ANCHOR_BROKEN)
        raw = self.root.read(layout.RIGHTS_LIST, MAX_LIST)
        if raw is not None and (owner is None or len(raw) > MAX_LIST):
            raise Unfit(IncidentKind.FORGED)
        if owner is None:
            return EMPTY
        listing = read_list(self.proofs, owner.public, anchor or NOTHING, raw or b"")
        if anchor is None and len(listing.beyond) > 1:
            raise Unfit(IncidentKind.ANCHOR_BROKEN)  # only the first line comes before its head
        return listing

    def _decided(self, read: Standing) -> Standing:
        """What a list opens now, and the first time after it at which that ends."""
        listing, now = read.listing, utc_now()
        if read.damage is not None or not listing.known:
            return msgspec.structs.replace(read, now=now)
        era, clock = listing.known[0].statement.seq, Clock(self.trust, listing)
        try:
            noted = max(clock.read(), self._newest.get(era, ""))
        except NoValidSlot:
            return Standing(owner=read.owner, damage=IncidentKind.ANCHOR_BROKEN, now=now)
        decided = _at(read, max(now, noted, *(one.at for one in listing.statements)))
        if len(in_force(listing, decided.now)) < len(in_force(listing, noted)):  # one ended since
            self._newest[era] = decided.now
            clock.note(decided.now)
        return decided


def _at(read: Standing, now: str) -> Standing:
    """What a list opens at a time."""
    live = in_force(read.listing, now)
    until = min((one.expires for one in live), default=NEVER)
    retention = {tenant: retention_of(one) for tenant, one in kept_of(read.listing).items()}
    return msgspec.structs.replace(read, rights=rights_of(live), retention=retention, now=now, until=until)


def _settled(stamp: Stamp) -> bool:
    """Whether a stamp was seen long enough after the last change for an equal one to mean no change."""
    return stamp is None or time.time_ns() - stamp[-1] >= SETTLED_NS
