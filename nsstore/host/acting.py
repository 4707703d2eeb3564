"""Acting for an agent: its session, bound anew on each call from what the host knows at that moment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Final

from msgspec import UNSET, UnsetType

from nsstore.errors import InvalidInput
from nsstore.host.handover import read_session
from nsstore.host.inference import Inferred, infer, variable
from nsstore.host.known import Known
from nsstore.host.truth import git_sources
from nsstore.scope import NA, NOT_APPLICABLE_TEXT, NotApplicable

if TYPE_CHECKING:
    from nsstore.session import OpenStore, Session, TruthSource

SESSION: Final = ("session", "conversation")
NEEDED: Final = ("user", "project", "workspace", "branch", "baseline", "agent")
NO_SESSION: Final = (
    "the session is not known: the client hands it over when its session starts, with the hook `nsstore hook"
    " {} start`, which `nsstore setup {}` installs; or the host sets NSSTORE_SESSION. Tell the user"
)
NO_CLIENT: Final = "the session is not known: the host sets NSSTORE_SESSION. Tell the user"
LACKS: Final = (
    "the scope lacks {}: the user says what it is with `nsstore setup`, or `nsstore allow` for this"
    " checkout; `nsstore scope` shows what is known, and from where"
)


class Acting:
    """Opens the store when it is first needed, and binds on each call; any thread may call."""

    def __init__(
        self,
        *,
        client: str | None,
        source_tool: str,
        flags: Mapping[str, str | None],
        handed: Callable[[str], str | None] = read_session,
    ) -> None:
        """``client`` is whose hook hands the session over; a flag or a variable for the session wins."""
        self._client = client
        self._source_tool = source_tool
        self._flags = flags
        self._handed = handed
        self._lock = RLock()
        self._store: OpenStore | None = None
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
            if "store" not in given or _missing(given) or not any(name in given for name in SESSION):
                return None
            return self._bound(known), _sources(known)

    def sources(self) -> Sequence[TruthSource]:
        """What git serves in a bound checkout of the very project; nothing elsewhere."""
        with self._lock:
            return _sources(self._inferred())

    def close(self) -> None:
        """Close the store, if it was opened; everything is durable then."""
        with self._lock:
            store, self._store, self._last = self._store, None, None
            if store is not None:
                store.close()

    def _inferred(self) -> Inferred:
        flags = dict(self._flags)
        said = any(flags.get(name) is not None or variable(name) in os.environ for name in SESSION)
        if not said and self._client is not None:
            flags["session"] = self._handed(self._client)
        if self._store is None:
            return infer(flags, os.environ, None)
        return self._known.of(flags, os.environ, self._store.trust.home.path)

    def _bound(self, known: Inferred) -> Session:
        if self._last is not None and known is self._of:
            return self._last
        given = known.given
        if "store" not in given:
            raise InvalidInput("there is no store yet: the user makes one with `nsstore setup`")
        if missing := _missing(given):
            raise InvalidInput(LACKS.format(", ".join(missing)))
        if not any(name in given for name in SESSION):
            raise InvalidInput(NO_CLIENT if self._client is None else NO_SESSION.format(*[self._client] * 2))
        if self._store is None:
            import nsstore  # noqa: PLC0415 - the rooms of a store come with the first call that needs one

            self._store = nsstore.open(given["store"])
        self._of, found = known, self._bind(self._store, given, known)
        if self._last is not None and self._last.envelope == found.envelope:
            return self._last
        self._last = found
        return found

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
            clearance=given.get("clearance", "internal"),
            purpose=given.get("purpose", "recall"),
            source_tool=self._source_tool,
        )


def _sources(known: Inferred) -> Sequence[TruthSource]:
    return () if known.facts is None else git_sources(known.facts)


def _missing(given: Mapping[str, str]) -> list[str]:
    tenant = [] if "tenant" in given or "group" in given else ["tenant"]
    return [*tenant, *(name for name in NEEDED if name not in given)]


def _or_na(value: str) -> str | NotApplicable:
    return NA if value == NOT_APPLICABLE_TEXT else value
