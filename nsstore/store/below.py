"""What the owner forgets at once: a session, a project, a user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from nsstore.clock import utc_now
from nsstore.errors import EscapeError, IntegrityError, InvalidInput, Refused
from nsstore.ledger import Ledger
from nsstore.policy import is_held
from nsstore.record import Header
from nsstore.scope import Area, Namespace, check_dimension
from nsstore.store.entry import recover
from nsstore.store.erase import claimed, erase_leftovers
from nsstore.store.forget import Chosen, forget
from nsstore.store.leaf import Leaf
from nsstore.store.namespaces import survey_names
from nsstore.store.reading import Vanished, read_member
from nsstore.store.rights import NOT_KNOWN
from nsstore.store.store import Store

HELD: Final = (
    "{} retention class: only the owner lets them go (`nsstore owner retention`), and"
    " `--leave-held` forgets the others"
)


class Below(msgspec.Struct, frozen=True, kw_only=True):
    """Which records: all of one tenant or group, or of one user, project or session in it.

    Each is named by (dimension, id); nothing crosses a tenant. Raises :class:`InvalidInput`.
    """

    tenant: tuple[str, str]
    user: str | None = None
    project: str | None = None
    session: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.tenant[0] not in ("tenant", "group"):
            raise InvalidInput("records are forgotten below one tenant or group")
        if self.session is not None and self.session[0] not in ("session", "conversation"):
            raise InvalidInput("a session is one or a conversation")
        if self.session is not None and (self.user is None or self.project is None):
            raise InvalidInput("a session is one of a user and a project: name them too")
        for dimension, value in self.pairs():
            check_dimension(dimension, value)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The (dimension, id) pairs that are named."""
        yield self.tenant
        if self.user is not None:
            yield "user", self.user
        if self.project is not None:
            yield "project", self.project
        if self.session is not None:
            yield self.session

    def reaches(self, ns: Namespace) -> bool:
        """Whether a namespace can hold such records; that of documents can hold other users' as well."""
        levels = {"tenant": "tenant", "group": "tenant", "session": "session", "conversation": "session"}
        own = {levels.get(dimension, dimension): (dimension, value) for dimension, value in ns.dimensions}
        named = ((levels.get(dimension, dimension), (dimension, value)) for dimension, value in self.pairs())
        return all(own.get(level, pair) == pair for level, pair in named)

    def holds(self, header: Header) -> bool:
        """Whether a record is one of them, by what is sealed in it."""
        scope = header.scope()
        sealed = {("user", scope.user_id), ("project", scope.project_id), scope.tenant, scope.session}
        return sealed.issuperset(self.pairs())

    def claims(self, said: Mapping[str, object]) -> bool:
        """Whether what was left of a record says that it is one of them."""
        return all(said.get(f"{dimension}_id") == value for dimension, value in self.pairs())


class Erasure(msgspec.Struct, frozen=True, kw_only=True):
    """What one namespace forgot, or would forget: record ids, oldest first, and the line that says so.

    ``held`` counts records that their retention class kept, ``left`` expired ones that stay because
    something they took the place of stays: no verb serves either. ``damaged`` counts those that could
    not be proven and went with the others. ``closed`` is the incident (or ``escape``) for which it was
    passed over: its records are still there. ``at``, ``seq`` and ``mac`` are ``None`` where nothing was
    written.
    """

    area: Area
    ids: tuple[tuple[str, str], ...]
    records: tuple[str, ...]
    held: int = 0
    left: int = 0
    damaged: int = 0
    closed: str | None = None
    at: str | None = None
    seq: int | None = None
    mac: str | None = None


class Look(msgspec.Struct, kw_only=True):
    """What was seen of one namespace: the members that are to go, and how many stay, and why."""

    chosen: Chosen
    held: int = 0
    left: int = 0
    damaged: int = 0


Select = Callable[[Leaf, Ledger], Look]


def forget_below(
    store: Store, below: Below, *, dry_run: bool = False, leave_held: bool = False, even_damaged: bool = False
) -> tuple[Erasure, ...]:
    """Forget every record of a session, project, user or tenant; what others hold beside it stays.

    For whoever holds store and trust home: no session can. Everything is looked at before the first
    record is forgotten, and a second time under the lock of its namespace. ``dry_run`` forgets nothing, and
    is refused what the run itself would be. Raises :class:`Refused` for
    held records unless ``leave_held``; :class:`IntegrityError` for damaged ones, and closed namespaces,
    unless ``even_damaged``: then what cannot be proven is forgotten as well (but for documents, whose
    owner is not known then), and closed namespaces are passed over and told. What dead writers left of
    such records goes as well, if it says whose it is.
    """

    def select(leaf: Leaf, ledger: Ledger) -> Look:
        return _all_of(leaf, ledger, below, even_damaged=even_damaged)

    done = run(store, below, select, "forget", dry_run=dry_run, leave_held=leave_held, skip=even_damaged)
    if not dry_run:
        held = store.kept(below.tenant).held

        def goes(raw: bytes) -> bool:
            said = claimed(raw)
            return below.claims(said) and said.get("retention_class") not in held

        erase_leftovers(store.root, goes)
    return done


def run(
    store: Store, below: Below, select: Select, verb: str, *, dry_run: bool, leave_held: bool, skip: bool
) -> tuple[Erasure, ...]:
    """Forget what ``select`` says of each namespace below: looked at first, and again under its lock.

    ``skip`` passes over closed namespaces. Raises :class:`Refused` for what is held unless ``leave_held``.
    """
    if store.kept(below.tenant).unknown:
        raise Refused(NOT_KNOWN, reason="holds_unknown")
    spaces = [ns for ns in survey_names(store.root, below.tenant).namespaces if below.reaches(ns)]
    if not dry_run:
        for ns in spaces:
            _finish(store.leaf(ns))
    seen = [_dry(store.leaf(ns), select, skip=skip) for ns in spaces]
    held = sum(one.held for one in seen)
    if held and not leave_held:
        words = f"{held} records are held by their" if held > 1 else "1 record is held by its"
        raise Refused(HELD.format(words), reason="legal_hold")
    told = [one for one in seen if one.records or one.held or one.left or one.closed]
    if dry_run:
        return tuple(told)
    return tuple(_wet(store.leaf(_space(one)), select, verb, one) for one in told)


def _finish(leaf: Leaf) -> None:
    """Erase first what was forgotten before and not erased. What is closed is for the look to tell."""
    with suppress(IntegrityError, EscapeError):
        if leaf.read().unfinished:
            recover(leaf)


def _dry(leaf: Leaf, select: Select, *, skip: bool) -> Erasure:
    """What would be forgotten of a namespace as it is now."""
    ns = leaf.place.ns
    while True:
        try:
            look = select(leaf, ledger := leaf.read())
        except Vanished:
            continue
        except (IntegrityError, EscapeError) as err:
            if not skip:
                raise
            why = err.incident_id if isinstance(err, IntegrityError) else err.kind
            return Erasure(area=ns.area, ids=ns.dimensions, records=(), closed=why)
        records = tuple(one for one in ledger.order if one in look.chosen.records)
        told = Erasure(area=ns.area, ids=ns.dimensions, records=records, held=look.held, left=look.left)
        return msgspec.structs.replace(told, damaged=look.damaged)


def _wet(leaf: Leaf, select: Select, verb: str, seen: Erasure) -> Erasure:
    """Forget it, as it is under the lock."""
    if not seen.records:
        return seen
    looks: list[Look] = []

    def choose(ledger: Ledger) -> Chosen:
        looks.append(select(leaf, ledger))
        return looks[-1].chosen

    done = forget(leaf, choose, verb=verb, scope=None)
    look = looks[-1]
    if done is None:
        return msgspec.structs.replace(seen, records=(), held=look.held, left=look.left, damaged=0)
    return msgspec.structs.replace(
        seen,
        records=done.records,
        held=look.held,
        left=look.left,
        damaged=look.damaged,
        at=utc_now(),
        seq=done.line.event.seq,
        mac=done.line.mac.hex(),
    )


def _space(one: Erasure) -> Namespace:
    return Namespace(area=one.area, dimensions=one.ids)


def _all_of(leaf: Leaf, ledger: Ledger, below: Below, *, even_damaged: bool) -> Look:
    """Every member of these; one that cannot be proven only where its namespace says whose it is."""
    kept = leaf.store.kept(leaf.place.ns.tenant)
    records, headers, held, damaged = set[str](), list[Header](), 0, 0
    for record_id in ledger.order:
        try:
            header = read_member(leaf, ledger, record_id).header
        except (IntegrityError, EscapeError):
            if not even_damaged:
                raise
            if leaf.place.ns.area == "memory":
                records.add(record_id)
                damaged += 1
            continue
        if not below.holds(header):
            continue
        if is_held(header, kept):
            held += 1
            continue
        records.add(record_id)
        if header.idempotency is not None:
            headers.append(header)
    chosen = Chosen(records=frozenset(records), headers=tuple(headers))
    return Look(chosen=chosen, held=held, damaged=damaged)
