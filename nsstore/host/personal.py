"""One person's store: its owner's key, and the one policy that lets their own agents read across sessions."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from nsstore.errors import Refused
from nsstore.policy import Asker, Every, Kind, Pair, personal
from nsstore.rights import LONGEST_DAYS, Assurance, Granted, begin, spelled_time, time_of
from nsstore.root import FileLock
from nsstore.scope import Purpose
from nsstore.trust.owner import KEY_FILE

if TYPE_CHECKING:
    from nsstore.store import Store
    from nsstore.trust.signer import Signer

PERSON: Final = "human"
"""The agent that a person at the terminal is."""
DAYS: Final = LONGEST_DAYS
WHY: Final = "one person and their agents: every own session and workspace, lineage"
MADE: Final = "the owner's key was made"
LOCK: Final = "setup.lock"
OTHER_SETUP: Final = (
    "another setup is at work, or was faster: run it again, and it goes on from what is there"
)


def wanted(store: Store | None, tenant: Pair, user: str, agents: tuple[str, ...]) -> Asker | None:
    """The policy that is to be signed so that these agents of a user read what each of them wrote.

    Agents that an earlier personal policy of this user names are named again. ``None`` if one in force
    names them all, for every project and purpose.
    """
    purposes = tuple(sorted(Purpose))
    named = set(agents)
    for grant in store.rights.standing().rights.grants if store is not None else ():
        if (grant.to.tenant, grant.to.user) != (tenant, user) or grant.opens != personal(grant.to):
            continue
        if isinstance(grant.to.projects, Every) and grant.to.purposes == purposes:
            if set(agents) <= set(grant.to.agents):
                return None
            named |= set(grant.to.agents)
    return Asker(
        tenant=tenant,
        user=user,
        projects=Every(every="project"),
        agents=tuple(sorted(named)),
        purposes=purposes,
    )


def has_owner(store: Store) -> bool:
    """Whether a store has an owner already, so that their passphrase is asked for, and no new one."""
    return store.rights.standing().owner is not None


def make_owner(store: Store, name: str, assurance: Assurance, passphrase: str) -> Signer:
    """Make the owner's key, sealed in the trust home, and begin the list that it signs.

    Raises :class:`Refused` if there is an owner already: another setup was faster, and its key stays.
    """
    from nsstore.trust.signer import Signer  # noqa: PLC0415 - only where a key is made

    signer = Signer.new(store.trust.store_id)
    sealed = signer.sealed(passphrase)
    with store.trust.home.top() as top, FileLock(top, LOCK):
        if has_owner(store):
            raise Refused(OTHER_SETUP, reason="owner", retryable=True)
        store.trust.home.replace(KEY_FILE, sealed)
        begin(store.rights.listed, signer, name, assurance, why=MADE, anew=False)
    return signer


def grant(store: Store, signer: Signer, to: Asker, assurance: Assurance, days: int = DAYS) -> Granted:
    """Sign the policy: in force, durable and audited when this returns."""
    owner = store.rights.standing().owner
    assert owner is not None

    def make(seq: int, at: str, prev: str) -> Granted:
        return Granted(
            seq=seq,
            at=at,
            by=owner.name,
            why=WHY,
            assurance=assurance,
            prev=prev,
            expires=spelled_time(time_of(at) + timedelta(days=days)),
            kinds=(Kind.PERSONAL,),
            to=to,
            opens=personal(to),
        )

    made = store.rights.state(signer, to.tenant, make)
    assert isinstance(made, Granted)
    return made
