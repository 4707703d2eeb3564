"""nsstore with a fault in what ranks, what an answer says, and what the audit hears of it."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

import msgspec

from nsstore.audit import AuditEvent, EventKind
from nsstore.errors import InvalidInput, NotVisible
from nsstore.harness.mutants.mutant import fault_at
from nsstore.policy import ReadClass
from nsstore.scope import Namespace, ScopeEnvelope, envelope_fields
from nsstore.search.engine import Answer, Hit, Searcher
from nsstore.search.pair import Pair
from nsstore.search.views import Views
from nsstore.session import Session
from nsstore.session.guarded import Engine, Guard, Guarded
from nsstore.store import Found, Provenance, Sight, Tag

ViewOf = Callable[[Views, Sight, frozenset[ReadClass]], Pair]
Provides = Callable[..., Provenance]


@fault_at("nsstore.search.views:Views.of", "AC10", "LK11", "RL10")
def filters_after_ranking(real: ViewOf) -> ViewOf:
    """Ranks all that lies in a session, and leaves out then what may not be read."""
    return lambda self, sight, readable: real(self, sight, readable | sight.classes())


_first: WeakKeyDictionary[Views, dict[Namespace, frozenset[ReadClass]]] = WeakKeyDictionary()


@fault_at("nsstore.search.views:Views.of", "LK17")
def one_view_for_all_askers(real: ViewOf) -> ViewOf:
    """Uses the view of whoever asked first for everybody."""

    def of(self: Views, sight: Sight, readable: frozenset[ReadClass]) -> Pair:
        known = _first.setdefault(self, {}).setdefault(sight.leaf.place.ns, readable)
        return real(self, sight, known)

    return of


@fault_at("nsstore.search.engine:Searcher.search", "LK17")
def answers_by_the_question(real: Callable[..., Answer]) -> Callable[..., Answer]:
    """Gives the next asker of a tenant the answer that the first one got."""
    kept: WeakKeyDictionary[Searcher, dict[object, Answer]] = WeakKeyDictionary()

    def search(self: Searcher, envelope: ScopeEnvelope, text: str, **given: object) -> Answer:
        answer = real(self, envelope, text, **given)
        return kept.setdefault(self, {}).setdefault((envelope.scope.tenant, text), answer)

    return search


def _supersedes_nothing(real: Callable[..., None]) -> Callable[..., None]:
    def take_in(self: Pair, record_id: str, tag: Tag, *given: object, **more: object) -> None:
        real(self, record_id, msgspec.structs.replace(tag, supersedes=()), *given, **more)

    return take_in


@fault_at("nsstore.search.pair:Pair.take_in", "LK23")
def finds_what_was_superseded(real: Callable[..., None]) -> Callable[..., None]:
    """Finds a record that another one took the place of."""
    return _supersedes_nothing(real)


@fault_at("nsstore.store.sight:Sight.superseded", "LK23")
def lists_what_was_superseded(real: object) -> object:
    """Lists a record that another one took the place of."""
    del real

    def superseded(self: Sight) -> frozenset[str]:
        del self
        return frozenset()

    return superseded


@fault_at("nsstore.search.engine:_hit", "LK10")
def brings_the_neighbour(real: Callable[..., Hit]) -> Callable[..., Hit]:
    """Shows with a hit how the record goes on that was written next."""

    def hit(sight: Sight, proven: object, score: float, found: object) -> Hit:
        shown = real(sight, proven, score, found)
        order = sight.ledger.order
        following = order[order.index(shown.record_id) + 1 :][:1]
        texts = [sight.read(one)[0].text for one in following]
        return msgspec.structs.replace(shown, text=" ".join((shown.text, *texts)))

    return hit


@fault_at("nsstore.search.engine:provenance_of", "AC09", "RL11")
def says_less_of_a_hit(real: Provides) -> Provides:
    """Leaves out of a hit's provenance on which branch it was written."""

    def provenance_of(header: object, *, scope: dict[str, str | None], **more: object) -> Provenance:
        return real(header, scope={**scope, "branch": None}, **more)

    return provenance_of


@fault_at("nsstore.store.answers:provenance_of", "RL11")
def says_less_of_a_record(real: Provides) -> Provides:
    """Leaves out where a record lies that is shown by its id, or listed."""

    def provenance_of(header: object, **more: object) -> Provenance:
        return real(header, **{**more, "path": ""})

    return provenance_of


@fault_at("nsstore.search.engine:_event", "AC09")
def logs_no_hits(real: Callable[..., object]) -> Callable[..., object]:
    """Logs that was searched, and not what was found."""

    def event(envelope: ScopeEnvelope, looked: object) -> object:
        del looked
        return AuditEvent(event=EventKind.SEARCHED, verb="search", scope=envelope_fields(envelope))

    del real
    return event


@fault_at("nsstore.search.engine:Searcher.search", "LK14")
def logs_the_question(real: Callable[..., Answer]) -> Callable[..., Answer]:
    """Keeps the words of every question in the audit."""

    def search(self: Searcher, envelope: ScopeEnvelope, text: str, **given: object) -> Answer:
        answer = real(self, envelope, text, **given)
        asked = AuditEvent(event=EventKind.LISTED, verb="search", reason=text[:500])
        self.store.audit.append(envelope.scope.tenant, asked)
        return answer

    return search


@fault_at("nsstore.session.session:Session._audit", "RL16")
def logs_no_denial(real: Callable[..., None]) -> Callable[..., None]:
    """Logs what was read, and not what was denied."""

    def audit(self: Session, event: EventKind, *given: object) -> None:
        if event is not EventKind.DENIED:
            real(self, event, *given)

    return audit


@fault_at("nsstore.session.session:Session._not_visible", "LK19")
def tells_what_is_denied(real: Callable[..., NotVisible]) -> Callable[..., NotVisible]:
    """Says of a record that is there and may not be read that it is there."""

    def not_visible(self: Session, verb: str, record_id: str) -> NotVisible:
        there = record_id in self._store.leaf(self._ns).read().members
        denied = real(self, verb, record_id)
        return NotVisible(f"{record_id}, which is another agent's or branch's,") if there else denied

    return not_visible


@fault_at("nsstore.session.session:Session.get", "LK20", full=True)
def reads_before_it_denies(real: Callable[..., Found]) -> Callable[..., Found]:
    """Reads a record of the session's directory before it decides that it may not be read."""

    def get(self: Session, record_id: str) -> Found:
        leaf = self._store.leaf(self._ns)
        if record_id in leaf.read().members:
            Sight.of(leaf, self.envelope).read(record_id)
        return real(self, record_id)

    return get


@fault_at("nsstore.session.session:gather", "RL12")
def leaves_out_what_is_so_now(real: Callable[..., object]) -> Callable[..., object]:
    """Asks memory alone what is so now."""

    def gather(search: object, topic: object, sources: Sequence[object], k: int) -> object:
        return real(search, topic, sources[:0], k)

    return gather


@fault_at("nsstore.session.guarded:_shows_scope", "AC08", "RL13")
def believes_what_is_declared(real: object) -> object:
    """Takes an engine that declares anything for one that keeps scopes apart."""
    del real

    def shows_scope(declared: object) -> bool:
        return declared is not None

    return shows_scope


@fault_at("nsstore.session.guarded:Guard.search", "AC08", "RL15", "RL19")
def passes_over_what_is_foreign(real: Callable[..., Guarded]) -> Callable[..., Guarded]:
    """Leaves out what an engine may not return, says nothing of it, and asks it again."""

    def search(self: Guard, session: Session, engine: Engine, text: str, *, k: int = 10) -> Guarded:
        return real(self, session, _Sifted(session, engine), text, k=k)

    return search


class _Sifted:
    """An engine of whose answer only that is passed on which a session may read."""

    def __init__(self, session: Session, engine: Engine) -> None:
        self._session = session
        self._engine = engine
        self.scope_properties = engine.scope_properties

    def search(self, query: str, k: int) -> list[str]:
        return [one for one in self._engine.search(query, k) if self._may_read(one)]

    def _may_read(self, record_id: str) -> bool:
        try:
            self._session.get(record_id)
        except (NotVisible, InvalidInput):
            return False
        return True


@fault_at("nsstore.session.guarded:Guard._tell", "RL18", "AC08")
def falls_back_in_silence(real: Callable[..., None]) -> Callable[..., None]:
    """Does not say that a search was made without its engine."""

    def tell(self: Guard, session: Session, event: EventKind, *given: object, **more: object) -> None:
        if event is not EventKind.FALLBACK_DISABLED:
            real(self, session, event, *given, **more)

    return tell
