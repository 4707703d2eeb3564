"""Random populations: who writes, replaces, ends and forgets what; with or without what I may not read."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, cast
from unittest.mock import patch

import msgspec

from bench.binding import TYPICAL
from bench.owning import Hand
from bench.world import World
from nsstore import OpenStore, Session, StoreError
from nsstore import record as records
from nsstore.layout import anchor_path, audit_dir, audit_head_path, ledger_path, lock_path, record_dir
from nsstore.policy import Asker, Every, Kind, Opens, decide
from nsstore.record import Header
from nsstore.scope import Purpose, memory_namespace, state_namespace
from nsstore.search import spool, views
from nsstore.search.home import CacheHome
from nsstore.search.manifest import place_of
from nsstore.store import leaf
from nsstore.writers import forget, note, template

Action = Literal["say", "key", "replace", "take over", "forget", "ends", "put", "drop", "ask"]
ACTIONS: Final[tuple[Action, ...]] = (
    "say", "key", "replace", "take over", "forget", "ends", "put", "drop", "ask",
)  # fmt: skip
WORDS: Final = ("quartz", "train", "blue", "harbour", "granite")
KEYS: Final = ("plan", "todo")
ME: Final[Mapping[str, object]] = {**TYPICAL, "workspace_id": "w-1"}
OTHERS: Final[tuple[Mapping[str, object], ...]] = (
    {"tenant_id": "acme-corp"},
    {"tenant_id": msgspec.UNSET, "group_id": "acme"},
    {"user_id": "alice2"},
    {"project_id": "shop-api"},
    {"session_id": "s-10"},
    {"session_id": msgspec.UNSET, "conversation_id": "s-1"},
    {"workspace_id": "w-11"},
    {"branch": "main-2"},
    {"baseline": "v1.1"},
    {"agent_id": "claude-code"},
    {"task_id": "t-1"},
    {"tool_context": "shell"},
    {"clearance": "restricted"},
)
"""Everybody else: each differs from :data:`ME` in one thing alone, the last in what it may read."""
COMMON_WORLD: Final = ("tenant_id", "group_id", "user_id", "project_id")
HOUR: Final = 3_600


class Op(msgspec.Struct, frozen=True):
    """What one of them does: ``who`` 0 is me, ``nth`` which of the things that are there it is about."""

    who: int
    action: Action
    words: tuple[str, ...]
    nth: int


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How I ask, and what the owner opened to me."""

    name: str
    changes: Mapping[str, object] = {}
    grants: tuple[tuple[tuple[Kind, ...], Opens], ...] = ()
    opened: tuple[int, ...] = ()
    """Who of the others has a namespace that a grant opens to me."""

    def bind(self, store: OpenStore) -> Session:
        """My session."""
        return bound(store, {**ME, **self.changes})


EVERY_SESSION: Final = Opens(sessions=Every(every="session"))
PLAIN: Final = Asking(name="plain")
ASKINGS: Final = (
    PLAIN,
    Asking(
        name="with older branches",
        changes={"allowed_branches": ["main", "main-2"], "allowed_baselines": ["v1", "v1.1"]},
    ),
    Asking(name="for a report", changes={"purpose": "report"}),
    Asking(
        name="one other session",
        grants=(((Kind.CROSS_SESSION,), Opens(sessions=(("session", "s-10"),))),),
        opened=(5,),
    ),
    Asking(
        name="every session and another agent",
        grants=(
            ((Kind.CROSS_SESSION,), EVERY_SESSION),
            ((Kind.CROSS_AGENT,), Opens(agents=("claude-code",))),
        ),
        opened=(5, 6),
    ),
    Asking(
        name="another user",
        grants=(((Kind.GROUP_SHARE,), Opens(users=("alice2",))),),
        opened=(3,),
    ),
    Asking(
        name="documents across sessions",
        grants=(((Kind.STATE_ACROSS_SESSIONS,), Opens(state_across_sessions=True)),),
    ),
)


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """A population: where it is, what came of each thing I did, and which ops show in what I may read.

    These are my own, those that made what I may read, and those that took it away, with what they needed.
    """

    world: World
    mine: tuple[str, ...]
    shown: frozenset[int]


def bound(store: OpenStore, scope: Mapping[str, object]) -> Session:
    """A session of this scope."""
    return store.bind(**cast("dict[str, Any]", dict(scope)))


def scope_of(who: int) -> Mapping[str, object]:
    """Somebody's scope; 0 is mine."""
    return ME if who == 0 else {**ME, **OTHERS[who - 1]}


def id_of(op: int, nth: int = 0) -> str:
    """The id of the ``nth`` record that is made while an op is under way; it tells a time an hour ago."""
    stamp = BEGAN + op * 1_000 + nth
    spelled = f"{stamp:012x}"
    return f"{spelled[:8]}-{spelled[8:]}-7000-8000-{op:06x}{nth:06x}"


BEGAN: Final = (int(time.time()) - HOUR) * 1_000


@contextmanager
def at(op: int) -> Generator[None]:
    """Ids and times are those of an op, whatever was made before it."""
    numbers = count()

    def now() -> str:
        seconds = (BEGAN + op * 1_000) // 1_000
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{op % 1_000_000:06d}Z"

    template.template.cache_clear()  # it takes an id of its own for each scope that it does not know
    with (
        patch.object(records, "new_record_id", lambda: id_of(op, next(numbers))),
        patch.object(template, "utc_now", now),
        patch.object(note, "utc_now", now),
        patch.object(forget, "utc_now", now),
    ):
        yield


@contextmanager
def soon_kept() -> Generator[None]:
    """Views, and what is known of a namespace, are kept on the disk from the first records on."""
    with (
        patch.object(views, "LEAST_KEPT", 2),
        patch.object(views, "LEAST_TAIL", 2),
        patch.object(views, "LEAST_GONE", 1),
        patch.object(spool, "LEAST_KNOWN", 1),
        patch.object(leaf, "MANY", 0),
    ):
        yield


def build(
    place: Path, asking: Asking, ops: Sequence[Op], only: Collection[int] | None = None, *, settle: bool
) -> Built:
    """Make a store and do these things in it, or ``only`` some of them, as if the others had never been.

    Ids and times follow from the number of an op alone. ``settle`` waits for what is folded, each time.
    """
    place.mkdir()
    world = World(place=place)
    with world.make() as store:
        _grant(store, asking)
        doing = _Doing(store, place, ops)
        for number, op in enumerate(ops):
            if only is None or number in only:
                with at(number):
                    doing.do(number, op)
                if settle:
                    store.settle()
        me = asking.bind(store)
        rights = store.rights.current(me.envelope.scope.tenant)
        readable = {
            number for number, header in doing.headers.items() if decide(me.envelope, header, rights).allowed
        }
    mine = {number for number, op in enumerate(ops) if op.who == 0}
    took = {number for number, gone in doing.took.items() if gone & (readable | mine)}
    shown = readable | mine | took
    while more := {doing.targets[number] for number in shown if number in doing.targets} - shown:
        shown |= more
    return Built(world=world, mine=tuple(doing.told), shown=frozenset(shown))


class _Doing:
    """A population on its way; what an op is about follows from the ops before it, and from nothing else."""

    def __init__(self, store: OpenStore, place: Path, ops: Sequence[Op]) -> None:
        self.store = store
        self.place = place
        self.ops = ops
        self.told: list[str] = []
        self.headers: dict[int, Header] = {}
        self.targets: dict[int, int] = {}
        self.took: dict[int, frozenset[int]] = {}

    def do(self, number: int, op: Op) -> None:
        """Do one thing. What cannot be done is told, and changes nothing."""
        session = bound(self.store, scope_of(op.who))
        target = self._target(number, op.nth, 0 if op.action == "take over" else op.who)
        text = " ".join((*op.words, f"zq7f{op.who:02}"))
        label: dict[str, Any] = {"sensitivity": "restricted"} if "clearance" in scope_of(op.who) else {}
        old = [] if target is None else [id_of(target, 1)]
        doings: dict[Action, Callable[[], object]] = {
            "say": lambda: session.remember(text, tags=[f"zq7f{op.who:02}"], **label),
            "key": lambda: session.remember(text, idempotency_key="k", **label),
            "replace": lambda: session.remember(text, supersedes=old, **label),
            "take over": lambda: session.remember(text, supersedes=old, **label),
            "forget": lambda: session.forget(old[0]) if old else None,
            "ends": lambda: session.remember(text, ttl=1, **label),
            "put": lambda: session.state.put(KEYS[op.nth % len(KEYS)], text, **label),
            "drop": lambda: session.state.forget(KEYS[op.nth % len(KEYS)]),
            "ask": lambda: (session.search(op.words[0]), session.list(), session.state.list())[1:1],
        }
        try:
            done = doings[op.action]()
        except StoreError as err:
            done = f"{type(err).__name__}: {err}"
        if op.who == 0:
            self.told.append(encoded(done))
        self._note(number, op, target)

    def _target(self, number: int, nth: int, whose: int) -> int | None:
        """Which earlier op's record this one is about: of its own, or for a take-over of mine."""
        made = ("say", "replace", "ends", "take over")
        earlier = [
            one for one in range(number) if self.ops[one].who == whose and self.ops[one].action in made
        ]
        return earlier[nth % len(earlier)] if earlier else None

    def _note(self, number: int, op: Op, target: int | None) -> None:
        """Keep what was made, what was taken away, and what it was about."""
        there = {path.stem: path for path in self.place.rglob("*.md")}
        made = next((there[one] for nth in (0, 1) if (one := id_of(number, nth)) in there), None)
        if made is not None:
            self.headers[number] = records.decode(made.read_bytes()).header
        known = {one for gone in self.took.values() for one in gone}
        gone = {at for at, one in self.headers.items() if one.record_id not in there and at not in known}
        self.took[number] = frozenset(gone)
        if target is not None and op.action in ("replace", "take over", "forget"):
            self.targets[number] = target


def _grant(store: OpenStore, asking: Asking) -> None:
    """What the owner opens to me; and to the other agent what I wrote, which it may then take over."""
    hand = Hand.of(store)
    purposes = tuple(sorted({Purpose.RECALL, Purpose.REPORT}))
    to = Asker(
        tenant=("tenant", "acme"),
        user="alice",
        projects=("shop",),
        agents=("claude",),
        purposes=purposes,
    )
    for kinds, opens in asking.grants:
        hand.grant(store, *kinds, opens=opens, to=to)
    other = msgspec.structs.replace(to, agents=("claude-code",))
    hand.grant(store, Kind.CROSS_AGENT, opens=Opens(agents=("claude",)), to=other)


def encoded(answer: object) -> str:
    """An answer in bytes, but for a receipt's proof: a MAC over everybody's events, under a key."""
    if isinstance(answer, forget.ForgetReceipt) and answer.proof is not None:
        answer = msgspec.structs.replace(answer, proof="a proof")
    return answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()


def everything(session: Session, ids: Sequence[str], *, write: int) -> Iterator[tuple[str, str]]:
    """What every verb says to a session, in bytes: about each of these ids, and every word and key.

    Last it writes, forgets and is asked again; ``write`` is the number of its first write.
    """
    numbers = count(write)
    for part in (_reads, _writes, _reads):
        for verb, call in part(session, ids):
            with at(next(numbers)):
                yield verb, said(call)


def said(call: Callable[[], object]) -> str:
    """What comes of a call: its answer, or its error."""
    try:
        return encoded(call())
    except StoreError as err:
        return f"{type(err).__name__} {err.retryable} {vars(err)}: {err}"


Named = Iterator[tuple[str, Callable[[], object]]]


def _reads(session: Session, ids: Sequence[str]) -> Named:
    return iter((*_lists(session), *_looks(session, ids)))


def _lists(session: Session) -> Named:
    for limit in (1, 3, 1_000):
        for every in (False, True):
            for old in (False, True):
                yield (
                    "list",
                    partial(session.list, limit=limit, every_session=every, include_superseded=old),
                )
    yield "state.list", session.state.list
    for word in (*WORDS, "zq7f", "quartz train blue", "tenant_id:acme-corp", ""):
        for k in (1, 2, 1_000):
            yield "search", partial(session.search, word, k=k)
    yield "evidence", partial(session.evidence, "quartz train")
    yield "require_search", session.require_search
    for key in (*KEYS, "never"):
        yield "state.get", partial(session.state.get, key)
        yield "state.history", partial(session.state.history, key)
        yield "state.forget", partial(session.state.forget, key, dry_run=True)


def _looks(session: Session, ids: Sequence[str]) -> Named:
    for one in ids:
        yield "get", partial(session.get, one)
        yield "history", partial(session.history, one)
        yield "list", partial(session.list, before=one)
        yield "list", partial(session.list, before=one, every_session=True, limit=2)
        for only in (False, True):
            yield "forget", partial(session.forget, one, only_this=only, dry_run=True)
        for key in KEYS:
            yield "state.get", partial(session.state.get, key, version=one)
        yield "rehearse", partial(session.rehearse, [note.Note(text="x", supersedes=(one,))])
    yield "rehearse", partial(session.rehearse, [note.Note(text="x", idempotency_key="k")])


def _writes(session: Session, ids: Sequence[str]) -> Named:
    yield "remember", partial(session.remember, "quartz of mine", idempotency_key="k")
    yield "remember_many", partial(session.remember_many, ["train one", "train two"])
    for one in ids:
        yield "remember", partial(session.remember, "harbour of mine", supersedes=[one])
    for key in KEYS:
        for expect in (None, *ids[:3]):
            yield "state.put", partial(session.state.put, key, "blue", expect=expect)
    yield "state.put", partial(session.state.put, "plan", "blue")
    for one in ids[::2]:
        yield "forget", partial(session.forget, one)
    yield "state.forget", partial(session.state.forget, "todo")


VERBS: Final = frozenset(
    {
        "remember", "remember_many", "rehearse", "get", "list", "search", "require_search", "evidence",
        "history", "forget", "state.get", "state.history", "state.put", "state.list", "state.forget",
    }
)  # fmt: skip
"""Every verb of a session and of its documents."""


def places(world: World, scope: Mapping[str, object]) -> set[Path]:
    """Where a scope's records, ledgers, anchors, audit and kept views lie, there or not."""
    with world.open() as store:
        session = bound(store, scope)
        found: set[Path] = set()
        (trust,) = world.trust.iterdir()
        cache = Path(CacheHome(store).path)
        for ns in (memory_namespace(session.envelope.scope), state_namespace(session.envelope.scope)):
            found |= {world.root / path(ns) for path in (record_dir, ledger_path, lock_path)}
            found.add(trust / anchor_path(ns))
            place = place_of(store.trust.keys, store.leaf(ns).place.chain)
            found |= {cache / kind / place for kind in ("views", "known")}
        tenant = session.envelope.scope.tenant
        return found | {world.root / audit_dir(tenant), trust / audit_head_path(tenant)}
