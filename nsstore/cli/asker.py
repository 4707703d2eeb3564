"""Who asks: every dimension from where the host found it, flags first, and none made up."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from nsstore.cli.flags import (
    BY_NAME,
    DIMENSIONS,
    NOT_APPLICABLE,
    TENANT,
    Dimension,
    json_option,
    store_option,
    store_path,
)
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from msgspec import UnsetType

    from nsstore.host import Inferred
    from nsstore.scope import NotApplicable
    from nsstore.session import OpenStore, Session
    from nsstore.store import Below

SOURCE_TOOL: Final = "nsstore-cli"
OF_CHECKOUT: Final = frozenset({"project", "workspace", "branch", "baseline"})
"""What a bound checkout, and git in it, say."""


class Asker:
    """The scope a person gave or is in, and the way to a session of it."""

    def __init__(
        self,
        given: dict[str, str],
        lists: dict[str, tuple[str, ...]],
        inferred: Inferred | None = None,
    ) -> None:
        self._store = given.get("store")
        self._given = given
        self._lists = lists
        self._inferred = inferred

    @contextmanager
    def open(self) -> Generator[OpenStore]:
        """The open store; everything is durable when the block ends."""
        import nsstore

        with nsstore.open(store_path(self._store)) as store:
            yield store

    @contextmanager
    def session(self) -> Generator[Session]:
        """A session of exactly the given scope. Raises :class:`InvalidInput` naming what is missing."""
        self.require(*DIMENSIONS)
        with self.open() as store:
            yield self.bind(store)

    def bind(self, store: OpenStore) -> Session:
        """The session of the given scope in an open store. Raises as :meth:`session`."""
        self.require(*DIMENSIONS)
        return store.bind(
            tenant_id=self._id("tenant"),
            group_id=self._id("group"),
            user_id=self._given["user"],
            project_id=self._given["project"],
            session_id=self._id("session"),
            conversation_id=self._id("conversation"),
            workspace_id=self._id_or_na("workspace"),
            branch=self._id_or_na("branch"),
            baseline=self._id_or_na("baseline"),
            agent_id=self._given["agent"],
            tool_context=self._id("tool_context"),
            task_id=self._id("task"),
            allowed_branches=self._allowed("branch"),
            allowed_baselines=self._allowed("baseline"),
            role=self._id("role"),
            commit=self._id("commit"),
            ancestors=self._inferred.ancestors if self._inferred is not None else (),
            clearance=self._given["clearance"],
            purpose=self._given["purpose"],
            source_tool=SOURCE_TOOL,
        )

    def of(self, scope: Mapping[str, str | None]) -> Asker:
        """Whoever acts in the scope of a record of the same user and project, as its provenance has it."""
        given = {name: value for name, value in self._given.items() if name not in _OF_RECORD}
        of_record = {name: scope[field] for name, field in _OF_RECORD.items()}
        given |= {name: value for name, value in of_record.items() if value is not None}
        return Asker(given, self._lists, self._inferred)

    def tenant(self) -> tuple[str, str]:
        """The tenant or group alone. Raises :class:`InvalidInput` if it is missing or no id."""
        from nsstore.scope import check_id

        self.require(*TENANT)
        kind = "tenant" if "tenant" in self._given else "group"
        return kind, check_id(f"{kind}_id", self._given[kind])

    def user(self) -> str | None:
        """The user, if anybody said who that is. Raises :class:`InvalidInput` if it is no id."""
        from nsstore.scope import check_id

        return check_id("user_id", self._given["user"]) if "user" in self._given else None

    def below(self, whole: str, *, every_user: bool, stated: bool = False) -> Below:
        """Everything of the given session, project or user of the tenant; ``every_user`` of a project.

        ``stated`` takes only what a flag or a variable says, nothing that follows from where somebody
        stands. Raises :class:`InvalidInput` for what is missing.
        """
        from nsstore.store import Below

        if every_user and whole != "project":
            raise InvalidInput("--every-user goes with --whole project")
        names = {"user": ("user",), "project": ("user", "project"), "session": ("user", "project", "session")}
        wanted = [name for name in names[whole] if not (every_user and name == "user")]
        tenant = self.tenant()
        self.require(*(BY_NAME[name] for name in wanted))
        if stated and (followed := [name for name in ("tenant", *wanted) if self._followed(name)]):
            spelled = ", ".join(BY_NAME[name].spelled for name in followed)
            raise InvalidInput(f"with --unattended a whole scope is said by flags or variables: {spelled}")
        session = "session" if "session" in self._given else "conversation"
        return Below(
            tenant=tenant,
            user=self._given["user"] if "user" in wanted else None,
            project=self._given["project"] if "project" in wanted else None,
            session=(session, self._given[session]) if "session" in wanted else None,
        )

    def _followed(self, name: str) -> bool:
        """Whether a value was said by no flag and no variable."""
        if self._inferred is None:
            return False
        from nsstore.host.inference import PAIRS, Source

        said = (Source.FLAG, Source.VARIABLE, Source.MISSING)
        values = self._inferred.values
        return any(values[one].source not in said for one in (name, PAIRS.get(name, name)) if one in values)

    def require(self, *dimensions: Dimension) -> None:
        """Require each dimension, and not both of a pair; nothing missing is made up."""
        missing = [
            one
            for one in dimensions
            if not (one.optional or one.name in self._given or one.other in self._given)
        ]
        if missing:
            raise InvalidInput(self._lacks(missing))
        for one in dimensions:
            if one.other in self._given and one.name in self._given:
                raise InvalidInput(f"only one of {one.spelled} and {BY_NAME[one.other].spelled} may be given")

    def _lacks(self, missing: Sequence[Dimension]) -> str:
        """What is missing, all of it; where a checkout would tell it, first why it does not."""
        spelled = ", ".join(
            one.spelled if one.other is None else f"{one.spelled} or {BY_NAME[one.other].spelled}"
            for one in missing
        )
        why = None
        if self._inferred is not None and OF_CHECKOUT.issuperset(one.name for one in missing):
            from nsstore.host.unknown import why_unknown

            why = why_unknown(self._inferred)
        if why is not None:
            return f"{why}. Or give {spelled}"
        return f"the scope lacks {spelled}: `nsstore scope` shows what is known"

    def _id(self, name: str) -> str | UnsetType:
        from msgspec import UNSET

        return self._given.get(name, UNSET)

    def _id_or_na(self, name: str) -> str | NotApplicable:
        return _or_na(self._given[name])

    def _allowed(self, name: str) -> tuple[str | NotApplicable, ...]:
        """The current one, and what is allowed beside it."""
        beside = self._lists.get(f"allowed_{name}", ())
        return tuple(_or_na(one) for one in dict.fromkeys((self._given[name], *beside)))


_OF_RECORD: Final = {
    "session": "session_id",
    "conversation": "conversation_id",
    "workspace": "workspace_id",
    "branch": "branch",
    "baseline": "baseline",
    "agent": "agent_id",
    "tool_context": "tool_context",
    "task": "task_id",
}


def _or_na(value: str) -> str | NotApplicable:
    from nsstore.scope import NA

    return NA if value == NOT_APPLICABLE else value


def scoped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every flag of the scope and of the store; it gets them as one :class:`Asker`."""
    return _asking(command, DIMENSIONS)


def of_tenant(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of a tenant and of the store; it gets them as one :class:`Asker`."""
    return _asking(command, TENANT)


def _asking(command: Callable[..., None], dimensions: tuple[Dimension, ...]) -> Callable[..., None]:
    @functools.wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 - whatever flags the command has
        ctx = click.get_current_context()
        lists = {one.name: _listed(ctx, one, given.pop(one.name)) for one in dimensions if one.plural}
        names = ["store", *(one.name for one in dimensions if not one.plural)]
        flags = flagged({name: given.pop(name) for name in names})
        command(_asker(flags, lists, dimensions), **given)

    return _with_flags(run, dimensions)


def scope_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every flag of the scope and of the store, each as it was typed or its variable says."""
    return _with_flags(command, tuple(one for one in DIMENSIONS if not one.plural))


def flagged(given: Mapping[str, str | None]) -> dict[str, str]:
    """Of the flags that a command was given, those that somebody typed."""
    ctx = click.get_current_context()
    return {name: value for name, value in given.items() if value is not None and _by_flag(ctx, name)}


def _with_flags(command: Callable[..., None], dimensions: tuple[Dimension, ...]) -> Callable[..., None]:
    decorated: Callable[..., None] = json_option(store_option(command))
    for one in reversed(dimensions):
        kind = click.Choice(one.choices) if one.choices else click.STRING
        metavar = None if one.choices else one.metavar
        decorated = click.option(
            one.flag,
            one.name,
            type=kind,
            metavar=metavar,
            multiple=one.plural is not None,
            envvar=one.variable,
            show_envvar=True,
            help=one.help,
        )(decorated)
    return decorated


def _asker(
    flags: dict[str, str], lists: dict[str, tuple[str, ...]], dimensions: tuple[Dimension, ...]
) -> Asker:
    """Who asks, by the flags that were typed and by what the host knows beside them."""
    from nsstore.host.inference import infer, stated

    if dimensions is TENANT:  # no checkout and no git says which tenant
        found = stated(flags, os.environ)
        return Asker({name: one.value for name, one in found.items() if one.value is not None}, lists)
    inferred = infer(flags, os.environ, None)
    defaults = {one.name: one.default for one in dimensions if one.default is not None}
    return Asker({**defaults, **inferred.given}, lists, inferred)


def _listed(ctx: click.Context, one: Dimension, values: tuple[str, ...]) -> tuple[str, ...]:
    """What holds for a dimension that may be given more than once: its flags, else its variable's list."""
    if _by_flag(ctx, one.name) or one.variable not in os.environ:
        return values
    _refuse_empty(one)
    import msgspec

    try:
        return msgspec.json.decode(os.environ[one.variable], type=tuple[str, ...])
    except (msgspec.MsgspecError, RecursionError):
        raise InvalidInput(
            f"""{one.variable} must be a JSON list of texts, as '["main", "feature/x"]'"""
        ) from None


def _refuse_empty(one: Dimension) -> None:
    if os.environ.get(one.variable) == "":
        raise InvalidInput(f"{one.variable} is set but empty: unset it, or say what it is")


def _by_flag(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
