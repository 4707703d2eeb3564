"""Search over the sessions that rights open: one ranking over all of the asker's own, others' apart.

A view in memory follows every session of a project whose records the request may read; which of them
changed is told by one read of their anchors. Each hit is proven in its own namespace on every call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Final, Literal

import msgspec

from nsstore.errors import EscapeError, IntegrityError
from nsstore.policy import Every, Rights, Source, decide_class
from nsstore.scope import Namespace, ScopeEnvelope
from nsstore.search.budget import ViewCache
from nsstore.search.joint import Classes, Joint, Key, Ranked
from nsstore.search.spool import Spool
from nsstore.search.words import Words
from nsstore.store import Sessions, Sight, Store

WIDE_BYTES: Final = 256 * 1024 * 1024
MOST_ASKERS: Final = 512
Part = Literal["current", "stale"]
Place = tuple[str, str]
"""A user and a project, within the asker's tenant."""
Opened = tuple[tuple[str, str], ...] | Every


class WideHit(msgspec.Struct, frozen=True):
    """A record that ranked, its score, which of the words it holds, and its namespace as of this call."""

    sight: Sight
    record_id: str
    score: float
    holds: tuple[str, ...]


class _Asking:
    """What one asker may read of a project under one state of the rights, as far as it was looked at.

    ``sights`` are the namespaces that this call looked at.
    """

    def __init__(self, part: Part) -> None:
        self.part: Part = part
        self.seen = 0
        self.classes: Classes = {}
        self.broken: set[Namespace] = set()
        self.sights: dict[Namespace, Sight] = {}
        self.key: Key | None = None

    def lost(self, ns: Namespace) -> None:
        """Note that a session is damaged: nothing of it ranks."""
        self.broken.add(ns)
        self.sights.pop(ns, None)
        if self.classes.pop(ns, None) is not None:
            self.key = None


class Wide:
    """Ranks over several sessions for the requests of one store; any thread may call any method."""

    def __init__(self, store: Store, words: Words, spool: Spool) -> None:
        self._store = store
        self._words = words
        self._spool = spool
        self._sessions: dict[tuple[tuple[str, str], Place], Sessions] = {}
        self._asking: dict[tuple[ScopeEnvelope, Rights, Place, str], _Asking] = {}
        self._views: ViewCache[Joint] = ViewCache(WIDE_BYTES)

    def afresh(self) -> Wide:
        """One that knows nothing yet, as a forked child needs it."""
        return Wide(self._store, self._words, self._spool)

    def forget(self, ns: Namespace) -> None:
        """Let go of every view that can hold a record of a namespace."""
        place = (ns.dimensions[1][1], ns.dimensions[2][1])
        self._views.drop(lambda key: key[:2] == (ns.tenant, place))

    def holder(self, own: Sight, record_id: str) -> Sight:
        """The namespace that a record is a member of, among those that are open; ``own`` if there is none.

        Raises :class:`IntegrityError` of the one that holds it.
        """
        if record_id in own.ledger.members:
            return own
        holding, damage = own, None
        for ns, sight in self.others(own):  # every one is looked at: none is told by the time it takes
            if not isinstance(sight, Sight):
                tagged = self._store.leaf(ns).known_tag(record_id)  # whether it would be visible, if known
                if tagged is not None and decide_class(own.envelope, tagged.readable, own.rights).allowed:
                    damage = sight
            elif record_id in sight.ledger.members:
                holding = sight
        if holding is own and damage is not None:
            raise damage
        return holding

    def others(self, own: Sight) -> Iterator[tuple[Namespace, Sight | IntegrityError | EscapeError]]:
        """Every other namespace that rights open to a request, or what is wrong with it."""
        met = {own.leaf.place.ns}
        for source in own.rights.sessions_of(own.envelope):
            sessions = self._followed(own.leaf.place.ns.tenant, (source.user_id, source.project_id))
            with sessions.lock:
                sessions.look()
                open_ones = [ns for ns in sessions.all() if _is_open(ns, (source.sessions,))]
            for ns in open_ones:
                if ns in met:
                    continue
                met.add(ns)
                try:
                    yield ns, Sight.of(self._store.leaf(ns), own.envelope, own.rights)
                except (IntegrityError, EscapeError) as err:
                    yield ns, err

    def search(
        self, own: Sight, sources: Sequence[Source], words: tuple[str, ...], k: int, part: Part
    ) -> tuple[list[WideHit], bool]:
        """The ``k`` best of the own sessions and of others', interleaved by rank; whether some are missing.

        ``own`` is the asker's own session, whose damage is raised: that of another one leaves it out.
        """
        mine = own.envelope.scope.user_id
        places = dict.fromkeys([(mine, own.envelope.scope.project_id)])
        places.update(dict.fromkeys((one.user_id, one.project_id) for one in sources))
        ranked: list[list[WideHit]] = []
        incomplete = False
        for place in places:
            opened = [one.sessions for one in sources if (one.user_id, one.project_id) == place]
            sessions = self._followed(own.leaf.place.ns.tenant, place)
            with sessions.lock:
                asking = self._looked(own, place, sessions, opened, part)
                view = self._view(place, asking, own, sessions)
                found = view.search(words, k)
                ranked.append([one for one in self._met(asking, view, own, found) if one is not None])
            incomplete = incomplete or bool(asking.broken) or _lacks(sessions, opened)
        merged = chain.from_iterable(zip_longest(*ranked))
        return [one for one in merged if one is not None][:k], incomplete

    def _looked(
        self, own: Sight, place: Place, sessions: Sessions, opened: Sequence[Opened], part: Part
    ) -> _Asking:
        """What the asker may read of a project by now: only sessions that changed are looked at."""
        length = sessions.look()
        asking = self._asked(own, place, part)
        asking.sights = {}
        mine = own.leaf.place.ns
        at_home = place == (own.envelope.scope.user_id, own.envelope.scope.project_id)
        if at_home:  # it was looked at before its head: what came between is seen by the next look
            self._look(own, mine, asking)
        for ns in dict.fromkeys((*sessions.changes[asking.seen : length], *asking.broken)):
            if ns != mine and _is_open(ns, opened):
                self._look(own, ns, asking)
        asking.seen = length
        return asking

    def _met(
        self, asking: _Asking, view: Joint, own: Sight, ranked: Sequence[Ranked]
    ) -> Iterator[WideHit | None]:
        """Each hit with its own namespace as it is now; ``None`` where that is damaged."""
        for record_id, score, holds in ranked:
            ns = view.where[record_id]
            sight = asking.sights.get(ns) or self._look(own, ns, asking)
            if sight is None or record_id not in sight.ledger.members:
                yield None
            else:
                yield WideHit(sight, record_id, score, holds)

    def _followed(self, tenant: tuple[str, str], place: Place) -> Sessions:
        found = self._sessions.get((tenant, place))
        if found is None:
            found = self._sessions.setdefault((tenant, place), Sessions(self._store, tenant, *place))
        return found

    def _asked(self, own: Sight, place: Place, part: Part) -> _Asking:
        key = (own.envelope, own.rights, place, part)
        found = self._asking.pop(key, None) or _Asking(part=part)
        self._asking[key] = found
        while len(self._asking) > MOST_ASKERS:
            del self._asking[next(iter(self._asking))]
        return found

    def _look(self, own: Sight, ns: Namespace, asking: _Asking) -> Sight | None:
        """A namespace now, and what of it is readable; ``None`` for one that is damaged, which is told."""
        mine = ns == own.leaf.place.ns
        try:
            sight = own if mine else Sight.of(self._store.leaf(ns), own.envelope, own.rights)
            readable = sight.readable(stale=asking.part == "stale")
        except (IntegrityError, EscapeError):
            if mine:
                raise
            asking.lost(ns)
            return None
        asking.broken.discard(ns)
        asking.sights[ns] = sight
        if asking.classes.get(ns, frozenset()) != readable:
            asking.classes.pop(ns, None)
            asking.key = None
            if readable:
                asking.classes[ns] = readable
        return sight

    def _view(self, place: Place, asking: _Asking, own: Sight, sessions: Sessions) -> Joint:
        """The view of exactly what is readable, caught up with what was looked at just now."""
        while True:
            if asking.key is None:
                asking.key = frozenset(asking.classes.items())
            cached = (own.leaf.place.ns.tenant, place, asking.key)
            view = self._views.get(cached) or self._grown(cached[:2], asking) or Joint()
            holds_more = view.key is not asking.key and view.classes.keys() - asking.classes.keys()
            if holds_more or not view.pair.whole:
                view = Joint()
            if self._catch_up(view, asking, own, sessions) and view.pair.whole:
                self._views.put(cached, view)
                return view

    def _catch_up(self, view: Joint, asking: _Asking, own: Sight, sessions: Sessions) -> bool:
        """Whether all that is readable is in the view now; ``False`` if some of it turned out damaged."""
        behind = [ns for ns in asking.sights if ns in asking.classes]
        behind += [ns for ns in sessions.changes[view.upto : asking.seen] if ns in asking.classes]
        if view.key is not asking.key:
            behind += [ns for ns, one in asking.classes.items() if view.classes.get(ns) != one]
        for ns in dict.fromkeys(behind):
            try:
                sight = asking.sights.get(ns) or Sight.of(self._store.leaf(ns), own.envelope, own.rights)
                view.take_in(sight, asking.classes[ns], self._words)
                self._spool.consider(sight.leaf, sight.ledger)
            except (IntegrityError, EscapeError):
                if ns == own.leaf.place.ns:
                    raise
                asking.lost(ns)
                return False
        view.key = asking.key
        view.upto = asking.seen
        view.settle(own)
        return True

    def _grown(self, of: tuple[tuple[str, str], Place], asking: _Asking) -> Joint | None:
        """A view of less than what is readable now, taken from whom it served: it only has to grow."""

        def is_less(view: Joint) -> bool:
            return all(held <= asking.classes.get(ns, frozenset()) for ns, held in view.classes.items())

        return self._views.take_best(lambda key: key[:2] == of, is_less, lambda view: len(view.where))


def _lacks(sessions: Sessions, opened: Sequence[Opened]) -> bool:
    """Whether a session that is open is gone: every one of the project's, or one of those named."""
    return any(
        bool(sessions.unknown) if isinstance(one, Every) else any(map(sessions.lacks, one)) for one in opened
    )


def _is_open(ns: Namespace, opened: Sequence[Opened]) -> bool:
    return any(isinstance(one, Every) or ns.dimensions[3] in one for one in opened)
