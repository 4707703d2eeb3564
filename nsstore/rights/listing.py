"""The whole list: every line proven, chained, and held against the head in the trust home."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import msgspec

from nsstore.incident import IncidentKind
from nsstore.policy import LEGAL_HOLD, Allowed, Grant, Pair, Retention, Rights
from nsstore.rights.statements import (
    Allowlisted,
    Granted,
    Kept,
    OwnerNamed,
    Revoked,
    Signed,
    Statement,
    read_signed,
)
from nsstore.trust import Anchor, BadLine

NOTHING: Final = Anchor(generation=0, seq=-1, head=bytes(32))
"""The head of a list that has no statement yet."""


class Unfit(ValueError):
    """The list is not the one that was written, so nothing in it opens anything."""

    def __init__(self, kind: IncidentKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """The statements that the trust home knows, and those behind its head that nobody was told of yet.

    ``size`` counts the bytes of whole lines, ``torn`` those of a last one that was never finished.
    """

    known: tuple[Signed, ...]
    beyond: tuple[Signed, ...]
    size: int
    torn: int

    @property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(one.statement for one in self.known)

    @property
    def last(self) -> Signed | None:
        """The newest statement, known to the trust home or not."""
        return (*self.known, *self.beyond)[-1] if self.known or self.beyond else None


class Proofs:
    """Lines whose signature was verified: a list that only grew is verified from there on."""

    def __init__(self, store_id: bytes) -> None:
        self.store_id = store_id
        self._public = ""
        self._known: dict[bytes, Signed] = {}

    def read(self, public: str, raw: bytes) -> Signed:
        """One proven line. Raises :class:`BadLine`."""
        if public != self._public:
            self._public, self._known = public, {}
        known = self._known.get(raw)
        if known is None:
            known = self._known[raw] = read_signed(self.store_id, public, raw)
        return known


def read_list(proofs: Proofs, public: str, anchor: Anchor, raw: bytes) -> Listing:
    """The list that these bytes are. Raises :class:`Unfit`.

    It begins with a statement that names its key, which is the one in the trust home; each line is the
    next number, chained to the one before, and signed; and the line that has the anchor's number is the
    one that the anchor knows. A list can begin anew behind the anchor's head, not before it.
    """
    whole, newline, rest = raw.rpartition(b"\n")
    lines = [line + newline for line in whole.split(b"\n")] if newline else []
    signed = _chained(proofs, public, anchor, lines)
    known = tuple(one for one in signed if one.statement.seq <= anchor.seq)
    if known:
        if known[-1].statement.seq != anchor.seq:
            raise Unfit(IncidentKind.ROLLED_BACK)
        if known[-1].digest != anchor.head:
            raise Unfit(IncidentKind.CHAIN_BROKEN)
    elif anchor.seq >= 0 and not signed:
        raise Unfit(IncidentKind.ROLLED_BACK)
    return Listing(known=known, beyond=tuple(signed[len(known) :]), size=len(raw) - len(rest), torn=len(rest))


def _chained(proofs: Proofs, public: str, anchor: Anchor, lines: list[bytes]) -> list[Signed]:
    found: list[Signed] = []
    try:
        for line in lines:
            one = proofs.read(public, line)
            if not found:
                _require_beginning(one.statement, public, anchor)
            elif (
                isinstance(one.statement, OwnerNamed)
                or one.statement.seq != found[-1].statement.seq + 1
                or one.statement.prev != found[-1].digest.hex()
            ):
                raise BadLine("a statement out of its place")
            found.append(one)
    except BadLine:
        raise Unfit(IncidentKind.CHAIN_BROKEN) from None
    return found


def _require_beginning(first: Statement, public: str, anchor: Anchor) -> None:
    if not isinstance(first, OwnerNamed) or first.public != public:
        raise BadLine("a list that does not begin with the owner's key")
    if first.seq > anchor.seq and (first.seq, first.prev) != (anchor.seq + 1, anchor.head.hex()):
        raise BadLine("a list that begins nowhere")


def revoked(listing: Listing) -> frozenset[int]:
    """The numbers that are revoked. A revocation counts from the moment it is written down."""
    return frozenset(
        one.statement.number
        for one in (*listing.known, *listing.beyond)
        if isinstance(one.statement, Revoked)
    )


def in_force(listing: Listing, now: str) -> tuple[Granted | Allowlisted, ...]:
    """What opens something at this time: known to the trust home, not revoked, not expired."""
    gone = revoked(listing)
    return tuple(
        one
        for one in listing.statements
        if isinstance(one, Granted | Allowlisted) and one.seq not in gone and now < one.expires
    )


def kept_of(listing: Listing) -> dict[Pair, Kept]:
    """What is set for each tenant: its newest statement that the trust home knows and nobody revoked."""
    gone = revoked(listing)
    return {one.tenant: one for one in listing.statements if isinstance(one, Kept) and one.seq not in gone}


def retention_of(kept: Kept) -> Retention:
    """What a statement sets, as decisions take it."""
    return Retention(
        durations={name: timedelta(days=days) for name, days in kept.days},
        held=frozenset({LEGAL_HOLD, *kept.held}),
        released=frozenset(kept.released),
        trusted_until=kept.trusted_until,
    )


def rights_of(live: tuple[Granted | Allowlisted, ...]) -> Rights:
    """What statements in force open, as decisions take it."""
    return Rights(
        grants=tuple(
            Grant(number=one.seq, to=one.to, opens=one.opens) for one in live if isinstance(one, Granted)
        ),
        allowlist=tuple(Allowed(number=one.seq, to=one.to) for one in live if isinstance(one, Allowlisted)),
    )
