"""Making statements: the owner's key signs, the list takes the line, the trust home takes its head."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from nsstore import layout
from nsstore.clock import utc_now
from nsstore.errors import Refused, SystemFailure
from nsstore.rights.listing import NOTHING
from nsstore.rights.standing import RightsList, Standing
from nsstore.rights.statements import ZERO, Assurance, OwnerNamed, Signed, Statement, sign
from nsstore.root import WRITE, FileLock
from nsstore.trust import Cell, NoValidSlot
from nsstore.trust.owner import Owner, save_owner

if TYPE_CHECKING:
    from nsstore.trust.signer import Signer

Make = Callable[[int, str, str], Statement]
"""Makes a statement of its number, its time and the digest of the one before."""

NO_OWNER: Final = "this store has no owner yet: `nsstore owner init`"
OTHER_KEY: Final = "that key is not the one of this store's owner"
UNFIT: Final = (
    "the owner's list is not the one that was written, so nothing is added to it: put it back from a copy,"
    " or give all of it up with `nsstore owner init --anew`"
)
HEADLESS: Final = (
    "the trust home does not prove the head of the owner's list: put anchors/rights there back from a copy,"
    " or remove it there and give the list up with `nsstore owner init --anew`"
)
THERE: Final = "this store has an owner: `--anew` gives up the key and every statement that stands"
UNKNOWN: Final = "the outcome is unknown: `nsstore owner list` shows whether the statement stands"


def begin(
    rights: RightsList, signer: Signer, name: str, assurance: Assurance, *, why: str, anew: bool
) -> Signed:
    """Make a key the owner's: name it in the trust home, and begin a list with it.

    ``anew`` gives up a list that stands; it is set aside whole, and nothing of it opens anything any
    more. Cut short, nothing is open and it can be done again. Raises :class:`Refused` if there is an
    owner already, or the trust home proves nothing.
    """
    root, trust = rights.root, rights.trust
    folder, _, file_name = layout.RIGHTS_LIST.rpartition("/")
    root.make_dir(folder, flush=True).close()
    with _alone(rights) as cell:
        anchor = NOTHING if cell is None else cell.anchor
        standing = rights.look()
        if not anew and standing.owner is not None and (standing.listing.known or standing.damage):
            raise Refused(THERE, reason="owner")
        with root.make_dir(folder) as where:
            if file_name in where.names():
                with root.make_dir(f"quarantine/{os.urandom(8).hex()}", flush=True) as aside:
                    where.move(file_name, aside, file_name)
            owner = Owner(store_id=trust.store_id.hex(), name=name, public=signer.public)
            save_owner(trust.home, owner)
            first = sign(
                trust.store_id,
                signer,
                OwnerNamed(
                    seq=anchor.seq + 1,
                    at=utc_now(),
                    by=name,
                    why=why,
                    assurance=assurance,
                    prev=ZERO if anchor is NOTHING else anchor.head.hex(),
                    public=signer.public,
                ),
            )
            with where.publish(file_name, first.raw) as file:
                file.flush()
            where.flush()
        _advance(rights, cell, first)
    return first


def append(rights: RightsList, signer: Signer, make: Make) -> Signed:
    """Add one statement: durable in the list, then in the trust home; in force when this returns.

    A revocation counts from its line on, in every process; a grant once the trust home knows it.
    Statements that a killed owner did not come to make known are made known first, and what was torn
    is cut off. Raises :class:`Refused` for a list that is not the one that was written, or a key that
    is not its owner's; :class:`SystemFailure` with an unknown outcome behind the line.
    """
    with _alone(rights) as cell:
        standing = rights.look()
        _require_fit(standing, signer)
        file = rights.root.open_file(layout.RIGHTS_LIST, WRITE)
        last = standing.listing.last
        if file is None or last is None:
            raise Refused(UNFIT, reason="rights")
        with file:
            made = sign(
                rights.trust.store_id,
                signer,
                make(last.statement.seq + 1, utc_now(), last.digest.hex()),
            )
            if standing.listing.torn:
                file.cut(standing.listing.size)
            if standing.listing.beyond:
                file.flush()
                _advance(rights, cell, last)
            file.append(made.raw)
            try:
                file.flush()
                _advance(rights, cell, made)
            except SystemFailure as err:
                raise SystemFailure(UNKNOWN, OSError(err.errno, ""), retryable=True) from err
    return made


def _require_fit(standing: Standing, signer: Signer) -> None:
    if standing.damage is not None:
        raise Refused(UNFIT, reason="rights")
    if standing.owner is None:
        raise Refused(NO_OWNER, reason="owner")
    if standing.owner.public != signer.public:
        raise Refused(OTHER_KEY, reason="owner")


@contextmanager
def _alone(rights: RightsList) -> Generator[Cell | None]:
    """Hold the list alone: its lock file, and its cell, which whoever writes the root cannot take away."""
    with FileLock.at(rights.root, layout.RIGHTS_LOCK):
        try:
            cell = rights.trust.anchors.open(layout.RIGHTS_HEAD, rights.chain)
            if cell is not None:
                cell.hold()
        except NoValidSlot:
            raise Refused(HEADLESS, reason="rights") from None
        try:
            yield cell
        finally:
            if cell is not None:
                cell.file.close()


def _advance(rights: RightsList, cell: Cell | None, to: Signed) -> None:
    """Make a statement the head that the trust home knows, durably."""
    anchors, head = rights.trust.anchors, (to.statement.seq, to.digest)
    if cell is None:
        anchors.create(layout.RIGHTS_HEAD, rights.chain, lambda: head)
        made = anchors.open(layout.RIGHTS_HEAD, rights.chain)
        assert made is not None
        with made:
            made.advance(*head)
            made.file.flush()
        return
    cell.advance(*head)
    cell.file.flush()
