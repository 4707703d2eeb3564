"""Accepting a loss: the owner gives up what namespaces lack, by one statement, and they go on from there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore import digests, layout
from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import EscapeError, IntegrityError, Refused
from nsstore.incident import IncidentKind
from nsstore.ledger import MAX_TOGETHER, Event, Forgotten, Genesis, Line, Resumed
from nsstore.rights import Accepted, Assurance
from nsstore.scope import Area, Namespace
from nsstore.store.entry import ZERO, Entry
from nsstore.store.erase import erase, finish
from nsstore.store.judge import Verdict
from nsstore.store.leaf import Leaf
from nsstore.store.namespaces import survey_names
from nsstore.store.store import Store
from nsstore.store.survey import Survey

if TYPE_CHECKING:
    from nsstore.trust.signer import Signer

OTHERS: Final = "that statement accepts something else than what is lost"


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """What one namespace lacks, and where it would go on.

    ``gives_up`` and ``head`` are the newest event that is known to have been, ``kept`` and ``tip`` the
    newest that is there (-1 and zeros for none); ``records`` are members whose files are gone.
    """

    area: Area
    ids: tuple[tuple[str, str], ...]
    gives_up: int
    head: str
    kept: int
    tip: str
    records: tuple[str, ...]

    @property
    def space(self) -> Namespace:
        return Namespace(area=self.area, dimensions=self.ids)

    @property
    def path(self) -> str:
        """Where its records are, below the root."""
        return layout.record_dir(self.space)

    @property
    def events(self) -> int:
        """How many events are given up: writes and forgets alike, and which of them nobody can tell."""
        return self.gives_up - self.kept

    def spelled(self) -> bytes:
        """What a statement's digest says of it."""
        places = (part for pair in self.ids for part in pair)
        heads = (str(self.gives_up), self.head, str(self.kept), self.tip)
        return digests.lp(digests.lp(self.area, *places), *heads, *self.records)


class Lacking(msgspec.Struct, frozen=True, kw_only=True):
    """What can be accepted, and the namespaces that are closed for another reason, each with its kind."""

    losses: tuple[Loss, ...]
    others: tuple[tuple[str, str], ...]


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The number of the statement, the namespaces that go on, and those that changed meanwhile."""

    statement: int
    resumed: tuple[Loss, ...]
    changed: tuple[Loss, ...]


def losses(store: Store, gone: Iterable[Namespace] = ()) -> Lacking:
    """Look at every namespace that the disk shows, and at those that somebody names as gone."""
    found: list[Loss] = []
    others: list[tuple[str, str]] = []
    for ns in dict.fromkeys((*survey_names(store.root).namespaces, *gone)):
        leaf = store.leaf(ns)
        try:
            with store.witness.escapes(leaf.place):
                survey, verdict = leaf.look_locked()
        except EscapeError as err:
            others.append((leaf.place.records, err.kind))
            continue
        if verdict.closed not in (None, IncidentKind.ROLLED_BACK):
            others.append((leaf.place.records, verdict.closed.value))
        elif (loss := _loss(leaf, survey, verdict)) is not None:
            found.append(loss)
    return Lacking(losses=tuple(found), others=tuple(others))


def loss_of(leaf: Leaf) -> Loss | None:
    """What a namespace lacks, if that is all that closes it; looked at while no writer is at work.

    Raises :class:`EscapeError` as any look at it.
    """
    return _loss(leaf, *leaf.look_locked())


def accept(
    store: Store, signer: Signer, found: Sequence[Loss], *, by: str, why: str, assurance: Assurance
) -> Done:
    """State that the owner gives up what was found lost, and have each namespace go on.

    A namespace that is not as it was found any more is left as it is, and returned. Cut short, what
    was not reached is still closed, and is accepted by another statement. Raises as
    :func:`~nsstore.rights.append`.
    """
    number = store.rights.accept(
        signer,
        sorted({one.space.tenant for one in found}),
        by=by,
        why=why,
        assurance=assurance,
        namespaces=len(found),
        events=sum(one.events for one in found),
        records=sum(len(one.records) for one in found),
        digest=digest_of(store.trust.store_id, found),
    )
    return go_on(store, number, found)


def go_on(store: Store, number: int, found: Sequence[Loss]) -> Done:
    """Have namespaces go on behind exactly what statement ``number`` gives up.

    Raises :class:`Refused` unless the owner's list has that statement, and it is about these losses.
    """
    standing = store.rights.standing()
    statement = next((one for one in standing.listing.statements if one.seq == number), None)
    wanted = digest_of(store.trust.store_id, found)
    if standing.damage or not isinstance(statement, Accepted) or statement.digest != wanted:
        raise Refused(OTHERS, reason="rights")
    went_on = [_resume(store.leaf(one.space), one, number) for one in found]
    return Done(
        statement=number,
        resumed=tuple(one for one, went in zip(found, went_on, strict=True) if went),
        changed=tuple(one for one, went in zip(found, went_on, strict=True) if not went),
    )


def digest_of(store_id: bytes, found: Iterable[Loss]) -> str:
    """The digest by which a statement names losses, in whatever order they were found."""
    spelled = sorted(one.spelled() for one in found)
    return digests.digest(digests.RIGHTS, digests.lp("accepted", store_id, *spelled)).hex()


def _loss(leaf: Leaf, survey: Survey, verdict: Verdict) -> Loss | None:
    """What a namespace lacks by one look; nothing for one that is whole, or closed for another reason."""
    ledger, anchor, ns = verdict.ledger, survey.anchor, leaf.place.ns
    if verdict.closed not in (None, IncidentKind.ROLLED_BACK) or not (verdict.closed or verdict.missing):
        return None
    newest = (ledger.seq, ledger.head)
    if anchor is not None and anchor.seq > ledger.seq:
        newest = (anchor.seq, anchor.head)
    return Loss(
        area=ns.area,
        ids=ns.dimensions,
        gives_up=newest[0],
        head=newest[1].hex(),
        kept=ledger.seq,
        tip=ledger.head.hex(),
        records=tuple(one for one in ledger.order if one in verdict.missing),
    )


def _resume(leaf: Leaf, loss: Loss, number: int) -> bool:
    """Go on behind a loss, unless the namespace is not as it was found; alone in it."""
    store = leaf.store
    store.audit.require_ready(leaf.place.ns.tenant)
    with leaf.lock, store.witness.escapes(leaf.place):
        leaf.let_go(wait=True)
        try:
            entry = Entry(leaf)
        except IntegrityError:
            return False
        try:
            survey, verdict = leaf.look(None)
            if entry.cell is None or _loss(leaf, survey, verdict) != loss:
                return False
            _write(entry, survey, verdict, loss, number)
        finally:
            leaf.forget()
            entry.close()
    return True


def _write(entry: Entry, survey: Survey, verdict: Verdict, loss: Loss, number: int) -> None:
    """The lines, durable before the anchor moves over what is given up; then what is lost leaves the views.

    Cut short behind the lines, the namespace opens with them: they name the head that the anchor has.
    """
    leaf, place = entry.leaf, entry.leaf.place
    entry.ledger = survey.ledger
    if survey.torn and entry.file is not None:
        entry.file.cut(survey.ledger.size)
    entry.append(*_lines(entry, verdict, loss, number), flush=True)
    if survey.ledger.seq < 0:  # its file, and all on the way to it, may be new
        leaf.store.root.make_dir(place.ledger_folder, flush=True).close()
        leaf.store.root.make_dir(place.records, flush=True).close()
        with leaf.store.root.make_dir(place.ledger_folder) as folder:
            folder.flush()
    entry.advance(flush=True)
    if entry.ledger.unfinished:
        erase(entry)
        finish(entry)
    told = AuditEvent(
        event=EventKind.RECOVERED,
        verb="accept",
        reason=f"statement {number}",
        records=loss.records[:MAX_TOGETHER] or None,
        count=loss.events + len(loss.records),
    )
    leaf.store.audit.append(place.ns.tenant, told)


def _lines(entry: Entry, verdict: Verdict, loss: Loss, number: int) -> list[Line]:
    """What goes into the ledger: a genesis if it has none, what its records still prove, the resumption."""
    made: list[Line] = []
    ledger = entry.ledger.copy()

    def add(event: Event) -> None:
        line = entry.line(event)
        ledger.apply(line)
        made.append(line)

    if ledger.seq < 0:
        nonce = os.urandom(16).hex()
        add(Genesis(seq=0, area=loss.area, ids=loss.ids, nonce=nonce, prev=ZERO))
    for line in verdict.recovered:
        ledger.apply(line)
        made.append(line)
    add(
        Resumed(
            seq=loss.gives_up + 1,
            statement=number,
            gives_up=loss.gives_up,
            head=loss.head,
            nonce=os.urandom(16).hex(),
            prev=ledger.head.hex(),
        )
    )
    for start in range(0, len(loss.records), MAX_TOGETHER):
        some = loss.records[start : start + MAX_TOGETHER]
        add(Forgotten(seq=ledger.seq + 1, records=some, spent=(), prev=ledger.head.hex()))
    return made
