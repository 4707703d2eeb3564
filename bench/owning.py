"""An owner at hand: makes statements about one typical asker without a terminal or a passphrase."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Final

import msgspec

from bench.world import Who
from nsstore import OpenStore
from nsstore.policy import Asker, Kind, Opens
from nsstore.rights import (
    Allowlisted,
    Assurance,
    Granted,
    Kept,
    Revoked,
    Statement,
    begin,
    spelled_time,
    time_of,
)
from nsstore.scope import Purpose
from nsstore.trust.signer import Signer

TENANT: Final = ("tenant", "acme")


def asker(who: Who | None = None, /, **changes: object) -> Asker:
    """The asker that a typical scope is, for recall inside its own project."""
    one = who or Who()
    to = Asker(
        tenant=("tenant", one.tenant),
        user=one.user,
        projects=(one.project,),
        agents=(one.agent,),
        purposes=(Purpose.RECALL,),
    )
    return msgspec.structs.replace(to, **changes)


def granted(kinds: tuple[Kind, ...], to: Asker, opens: Opens, days: float = 1) -> Callable[..., Statement]:
    """What makes a grant of its number, its time and the digest before it."""

    def make(seq: int, at: str, prev: str) -> Statement:
        return Granted(
            seq=seq,
            at=at,
            by="ada",
            why="a test",
            assurance=Assurance.CI,
            prev=prev,
            expires=spelled_time(time_of(at) + timedelta(days=days)),
            kinds=kinds,
            to=to,
            opens=opens,
        )

    return make


def allowlisted(to: Asker) -> Callable[..., Statement]:
    """What makes an entry of the search allowlist."""

    def make(seq: int, at: str, prev: str) -> Statement:
        expires = spelled_time(time_of(at) + timedelta(days=1))
        return Allowlisted(
            seq=seq,
            at=at,
            by="ada",
            why="a test",
            assurance=Assurance.CI,
            prev=prev,
            expires=expires,
            to=to,
        )

    return make


def keeping(
    days: Mapping[str, int] | None = None,
    held: Iterable[str] = (),
    released: Iterable[str] = (),
    trusted_until: str | None = None,
) -> Callable[..., Statement]:
    """What makes a statement of how long the typical tenant's records are kept."""

    def make(seq: int, at: str, prev: str) -> Statement:
        return Kept(
            seq=seq,
            at=at,
            by="ada",
            why="a test",
            assurance=Assurance.CI,
            prev=prev,
            tenant=TENANT,
            days=tuple(sorted((days or {}).items())),
            held=tuple(sorted(held)),
            released=tuple(sorted(released)),
            trusted_until=trusted_until,
        )

    return make


def revoking(number: int) -> Callable[..., Statement]:
    """What makes a revocation."""

    def make(seq: int, at: str, prev: str) -> Statement:
        return Revoked(
            seq=seq, at=at, by="ada", why="a test", assurance=Assurance.CI, prev=prev, number=number
        )

    return make


class Hand:
    """The owner's key, and the statements it makes in an open store."""

    def __init__(self, signer: Signer) -> None:
        self.signer = signer

    @classmethod
    def of(cls, store: OpenStore) -> Hand:
        """Make a key, and have it be the owner's."""
        signer = Signer.new(store.trust.store_id)
        begin(store.rights.listed, signer, "ada", Assurance.CI, why="a test", anew=False)
        return cls(signer)

    def grant(
        self,
        store: OpenStore,
        *kinds: Kind,
        opens: Opens,
        to: Asker | None = None,
        days: float = 1,
    ) -> int:
        """Make a grant, and return its number."""
        made = granted(tuple(sorted(kinds)), to or asker(), opens, days)
        return store.rights.state(self.signer, TENANT, made).seq

    def keep(
        self,
        store: OpenStore,
        days: Mapping[str, int] | None = None,
        held: Iterable[str] = (),
        released: Iterable[str] = (),
        trusted_until: str | None = None,
    ) -> int:
        """Set how long records are kept, and return the statement's number."""
        made = keeping(days, held, released, trusted_until)
        return store.rights.state(self.signer, TENANT, made).seq

    def revoke(self, store: OpenStore, number: int) -> int:
        """Revoke a statement, and return the revocation's number."""
        return store.rights.state(self.signer, TENANT, revoking(number)).seq
