"""Acting for an agent: its session, bound anew on each call from what the host knows at that moment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from threading import RLock
from typing import TYPE_CHECKING, Final

from msgspec import UNSET, UnsetType

from nsstore.errors import InvalidInput, Refused
from nsstore.host.carried import DEFAULTS, ignored, require_apart, require_same, uncarried
from nsstore.host.handover import read_session
from nsstore.host.inference import Inferred, Source, infer, variable
from nsstore.host.known import Known
from nsstore.host.truth import git_sources
from nsstore.root.owned import Identity, here, identity
from nsstore.scope import NA, NOT_APPLICABLE_TEXT, NotApplicable

if TYPE_CHECKING:
    from nsstore.session import OpenStore, Session, TruthSource

SESSION: Final = ("session", "conversation")
NEEDED: Final = ("user", "project", "workspace", "branch", "baseline", "agent")
NO_SESSION: Final = (
    "the session is not known: the client hands it over when its session starts, with the hook `nsstore hook"
    " {} start`, which `nsstore setup {}` installs; or its settings give --session or NSSTORE_SESSION. Tell"
    " the user"
)
NO_CLIENT: Final = (
    "the session is not known: the client's settings give --session or NSSTORE_SESSION. Tell the user"
)
NO_STORE: Final = "there is no store yet: the user makes one with `nsstore setup`{}"
LACKS: Final = (
    "the scope lacks {}: the user says what it is with `nsstore setup`, or `nsstore allow` for this"
    " checkout; `nsstore scope` shows what is known, and from where{}"
)
SWAPPED: Final = "another store was put in the place of this one just now: once more"


class Acting:
    """Opens a store when it is first needed, and binds on each call; any thread may call.

    The store too is that of the moment: where another one is named by then, it is that one that is opened,
    and nothing of what was known counts in it. A session that somebody holds goes on in its own.
    """

    def __init__(
        self,
        *,
        client: str | None,
        source_tool: str,
        flags: Mapping[str, str | None],
        handed: Callable[[str], str | None] = read_session,
    ) -> None:
        """``client`` is whose hook hands the session over; a flag or a variable for the session wins.

        A session of the user's configuration counts for nobody here: it is that of what the user types.
        With a client no other variable widens anything (:mod:`nsstore.host.carried`).
        """
        self._client = client
        self._source_tool = source_tool
        self._flags = flags
        self._handed = handed
        self._lock = RLock()
        self._stores: dict[tuple[str, Identity], OpenStore] = {}
        self._store: OpenStore | None = None
        self._place: Identity | None = None
        self._last: Session | None = None
        self._of: Inferred | None = None
        self._known = Known()

    def session(self) -> Session:
        """The session of this moment: the same object as long as its scope is the same.

        Raises :class:`nsstore.InvalidInput` naming what is not known and who can say it.
        """
        with self._lock:
            return self._bound(self._inferred())

    def at_once(self) -> tuple[Session, Sequence[TruthSource]] | None:
        """The session and the sources of this moment; ``None`` where the scope is not known whole.

        Raises as opening the store does.
        """
        with self._lock:
            known = self._inferred()
            given = known.given
            if "store" not in given or _missing(given) or not _has_session(known):
                return None
            return self._bound(known), _sources(known)

    def sources(self) -> Sequence[TruthSource]:
        """What git serves in a bound checkout of the very project; nothing elsewhere."""
        with self._lock:
            return _sources(self._inferred())

    def close(self) -> None:
        """Close each store that was opened; everything is durable then."""
        with self._lock, ExitStack() as closing:
            for store in self._stores.values():
                closing.callback(store.close)
            self._stores = {}
            self._leave()

    def _leave(self) -> None:
        """Forget what holds in one store alone; it stays open, since another thread may be at work in it."""
        self._store = self._place = self._last = self._of = None

    def _inferred(self) -> Inferred:
        flags = dict(self._flags)
        environ: Mapping[str, str] = os.environ
        if self._client is not None:
            if self._store is None:
                require_apart(here(), environ)
            if not any(flags.get(name) is not None or variable(name) in environ for name in SESSION):
                flags["session"] = self._handed(self._client)
            environ = uncarried(environ)
        if self._store is not None:
            home = self._store.trust.home.path
            known = self._known.of(flags, environ, home)
            store = known["store"]
            if store is not None and known.trust_home == home and identity(store) == self._place:
                if self._client is not None and known is not self._of:
                    require_apart(known.directory, environ)
                return known
            self._leave()
        return infer(flags, environ, None)

    def _bound(self, known: Inferred) -> Session:
        if self._last is not None and known is self._of:
            return self._last
        given = known.given
        carried: Mapping[str, str] = {} if self._client is None else os.environ
        if "store" not in given:
            raise InvalidInput(NO_STORE.format(ignored(("store",), carried)))
        if missing := _missing(given):
            raise InvalidInput(LACKS.format(", ".join(missing), ignored(missing, carried)))
        if not _has_session(known):
            raise InvalidInput(NO_CLIENT if self._client is None else NO_SESSION.format(*[self._client] * 2))
        require_same(known, self._flags, carried)
        if self._store is None:
            self._store = self._opened(given["store"], known)
        self._of, found = known, self._bind(self._store, given, known)
        if self._last is not None and self._last.envelope == found.envelope:
            return self._last
        self._last = found
        return found

    def _opened(self, path: str, known: Inferred) -> OpenStore:
        """The store at a path, which is the very one whose checkouts were looked at.

        Raises :class:`nsstore.Refused` (retryable) if another one is there by now.
        """
        import nsstore  # noqa: PLC0415 - the rooms of a store come with the first call that needs one

        place = identity(path)
        store = self._stores.get((known.trust_home or "", place)) if place is not None else None
        if store is None:
            store = nsstore.open(path)
            if place is None or identity(path) != place or store.trust.home.path != known.trust_home:
                store.close()
                raise Refused(SWAPPED, reason="swapped", retryable=True)
            self._stores[store.trust.home.path, place] = store
        self._place = place
        return store

    def _bind(self, store: OpenStore, given: Mapping[str, str], known: Inferred) -> Session:
        def one(name: str) -> str | UnsetType:
            return given.get(name, UNSET)

        return store.bind(
            tenant_id=one("tenant"),
            group_id=one("group"),
            user_id=given["user"],
            project_id=given["project"],
            session_id=one("session"),
            conversation_id=one("conversation"),
            workspace_id=_or_na(given["workspace"]),
            branch=_or_na(given["branch"]),
            baseline=_or_na(given["baseline"]),
            agent_id=given["agent"],
            tool_context=one("tool_context"),
            task_id=one("task"),
            role=one("role"),
            commit=one("commit"),
            ancestors=known.ancestors,
            clearance=given.get("clearance", DEFAULTS["clearance"]),
            purpose=given.get("purpose", DEFAULTS["purpose"]),
            source_tool=self._source_tool,
        )


def _sources(known: Inferred) -> Sequence[TruthSource]:
    return () if known.facts is None else git_sources(known.facts)


def _has_session(known: Inferred) -> bool:
    """Whether somebody named this very session: the client, a flag or a variable."""
    return any(known.values[name].source in {Source.FLAG, Source.VARIABLE} for name in SESSION)


def _missing(given: Mapping[str, str]) -> list[str]:
    tenant = [] if "tenant" in given or "group" in given else ["tenant"]
    return [*tenant, *(name for name in NEEDED if name not in given)]


def _or_na(value: str) -> str | NotApplicable:
    return NA if value == NOT_APPLICABLE_TEXT else value
