"""Granting: one statement that names in full to whom it opens what; nothing comes from a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import click

from nsstore.cli import printing
from nsstore.cli.flags import PURPOSES, json_option, store_option, store_path
from nsstore.cli.owner_key import KeyFlags, require_fit, why_option, with_key
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.policy import Asker, Every, Kind, Opens, Pair
    from nsstore.rights import Statement

ALLOWLIST: Final = "allowlist"
KINDS: Final = (
    "cross_session",
    "cross_workspace",
    "cross_agent",
    "group_share",
    "personal",
    "lineage",
    "state_across_sessions",
    ALLOWLIST,
)
OPTIONS: Final = (
    ("--tenant", "To whom: the tenant; this or --group.", False),
    ("--group", "To whom: the group; this or --tenant.", False),
    ("--user", "To whom: the user.", False),
    ("--project", "Inside which project it holds; may be given more than once.", True),
    ("--agent", "To which agent of the user; may be given more than once.", True),
    (
        "--open-user",
        "A user whose records are opened, in the named sessions and the one like the asker's; group_share.",
        True,
    ),
    ("--open-session", "A session that is opened.", True),
    ("--open-conversation", "A conversation that is opened.", True),
    ("--open-workspace", "A workspace that is opened, or - for records of none.", True),
    ("--open-branch", "A branch that is opened, as stale, or -.", True),
    ("--open-baseline", "A baseline that is opened, as stale, or -.", True),
    ("--open-agent", "An agent whose records are opened.", True),
    ("--open-tool-context", "A tool context that is opened.", True),
    ("--open-task", "A task that is opened.", True),
)


VALUES: Final = {
    "cross_session": ("--open-session", "--open-conversation", "--every-session"),
    "cross_workspace": ("--open-workspace", "--every-workspace"),
    "cross_agent": ("--open-agent", "--open-tool-context", "--open-task"),
    "group_share": ("--open-user",),
}
"""The flags that say what a kind opens."""
POLICIES: Final = frozenset({"personal", "lineage", "state_across_sessions"})


def _ids(command: Callable[..., None]) -> Callable[..., None]:
    for flag, words, many in reversed(OPTIONS):
        command = click.option(flag, metavar="ID", multiple=many, help=words)(command)
    return command


@click.command()
@click.argument("kinds", nargs=-1, required=True, type=click.Choice(KINDS), metavar="KIND...")
@_ids
@click.option("--every-project", is_flag=True, help="Inside each project of the user; for policies alone.")
@click.option("--every-session", is_flag=True, help="Every session of the project is opened.")
@click.option("--every-workspace", is_flag=True, help="Every workspace of the project is opened.")
@click.option(
    "--purpose",
    multiple=True,
    required=True,
    type=click.Choice(PURPOSES),
    help="What the answers may be for; may be given more than once.",
)
@click.option(
    "--days", type=click.IntRange(1, 365), required=True, metavar="N", help="For how many days: 1 to 365."
)
@why_option
@with_key
@store_option
@json_option
def grant(
    *,
    kinds: tuple[str, ...],
    days: int,
    why: str,
    key: KeyFlags,
    store: str | None,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - whatever flags name the ids
) -> None:
    """Open dimensions to one user's agents, for a time.

    KIND is one or more of cross_session, cross_workspace, cross_agent, group_share, lineage and
    state_across_sessions; or personal alone (every own session and workspace, lineage, the named
    agents); or allowlist alone (may search while the self-test is not green).
    What is not named stays closed. Nothing opens another tenant or another project.
    """
    import nsstore
    from nsstore.policy import Kind, check_kinds
    from nsstore.rights import Allowlisted, Granted, spelled_time, time_of
    from nsstore.scope import check_label

    check_label("--why", why)
    assurance = key.assurance()
    to = _asker(given)
    named = tuple(sorted({Kind(one) for one in kinds if one != ALLOWLIST}))
    opens = _opens(named, to, given)
    if ALLOWLIST in kinds:
        _require_alone(named, opens)
    else:
        _require_flags(kinds, given)
        check_kinds(named, to, opens)
    with nsstore.open(store_path(store)) as opened:
        standing = require_fit(opened.rights.standing())
        assert standing.owner is not None
        name = standing.owner.name
        _show(kinds, to, opens, days, as_json=as_json)

        def make(seq: int, at: str, prev: str) -> Statement:
            expires = spelled_time(time_of(at) + timedelta(days=days))
            if ALLOWLIST in kinds:
                return Allowlisted(
                    seq=seq, at=at, by=name, why=why, assurance=assurance, prev=prev, expires=expires, to=to
                )  # fmt: skip
            return Granted(
                seq=seq, at=at, by=name, why=why, assurance=assurance, prev=prev, expires=expires,
                kinds=named, to=to, opens=opens,
            )  # fmt: skip

        made = opened.rights.state(key.unlock(opened), to.tenant, make)
        now = opened.rights.standing().now
    assert isinstance(made, Granted | Allowlisted)
    if as_json:
        printing.emit({"number": made.seq, "expires": made.expires})
    else:
        printing.say(f"statement {made.seq}, until {made.expires}")
    if now >= made.expires:
        printing.note(
            f"it has expired already: a clock once showed {now}; `nsstore owner init --anew` forgets that"
        )


def _require_flags(kinds: tuple[str, ...], given: dict[str, Any]) -> None:
    """Require what each kind opens, and each kind of what is opened. Raises :class:`InvalidInput`."""
    typed = {flag for flags in VALUES.values() for flag in flags if given[flag[2:].replace("-", "_")]}
    if "personal" in kinds and typed:
        raise InvalidInput(
            "personal opens every own session and workspace, lineage and the agents of --agent by itself:"
            f" leave out {', '.join(sorted(typed))}"
        )
    for kind, flags in VALUES.items():
        if kind in kinds and typed.isdisjoint(flags):
            *most, last = [flag if flag.startswith("--every") else f"{flag} ID" for flag in flags]
            either = f"{', '.join(most)} or {last}" if most else last
            raise InvalidInput(f"what does {kind} open? Give {either}")
        if kind not in kinds and (without := [flag for flag in flags if flag in typed]):
            raise InvalidInput(f"{without[0]} goes with {kind}: name that as a KIND too")
    if given["every_project"] and not POLICIES.issuperset(kinds):
        raise InvalidInput(
            "--every-project goes with personal, lineage and state_across_sessions alone: give --project ID"
        )


def _asker(given: dict[str, Any]) -> Asker:
    from nsstore.policy import Asker
    from nsstore.scope import Purpose

    if (given["tenant"] is None) == (given["group"] is None):
        raise InvalidInput("exactly one of --tenant and --group must be given")
    if given["user"] is None:
        raise InvalidInput("to whom? --user is missing")
    if bool(given["project"]) == given["every_project"]:
        raise InvalidInput("--project, or --every-project for a policy, must be given")
    if not given["agent"]:
        raise InvalidInput("to which agents? --agent is missing")
    tenant = ("tenant", given["tenant"]) if given["tenant"] is not None else ("group", given["group"])
    return Asker(
        tenant=tenant,
        user=given["user"],
        projects=_every("project") if given["every_project"] else _sorted(given["project"]),
        agents=_sorted(given["agent"]),
        purposes=tuple(sorted({Purpose(one) for one in given["purpose"]})),
    )


def _opens(kinds: tuple[Kind, ...], to: Asker, given: dict[str, Any]) -> Opens:
    from nsstore.policy import Kind, Opens, personal

    sessions = [("session", one) for one in given["open_session"]]
    sessions += [("conversation", one) for one in given["open_conversation"]]
    named = Opens(
        users=_sorted(given["open_user"]),
        sessions=_either("session", tuple(sorted(set(sessions))), every=given["every_session"]),
        workspaces=_either("workspace", _sorted(given["open_workspace"]), every=given["every_workspace"]),
        branches=_sorted(given["open_branch"]),
        baselines=_sorted(given["open_baseline"]),
        agents=_sorted(given["open_agent"]),
        tool_contexts=_sorted(given["open_tool_context"]),
        tasks=_sorted(given["open_task"]),
        lineage=Kind.LINEAGE in kinds,
        state_across_sessions=Kind.STATE_ACROSS_SESSIONS in kinds,
    )
    return personal(to) if kinds == (Kind.PERSONAL,) and named == Opens() else named


_Named = TypeVar("_Named", tuple[str, ...], "tuple[Pair, ...]")


def _either(dimension: Literal["session", "workspace"], named: _Named, *, every: bool) -> _Named | Every:
    if every and named:
        raise InvalidInput(f"--every-{dimension} leaves nothing to be named")
    return _every(dimension) if every else named


def _every(dimension: Literal["session", "workspace", "project"]) -> Every:
    from nsstore.policy import Every

    return Every(every=dimension)


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))


def _require_alone(kinds: tuple[Kind, ...], opens: Opens) -> None:
    from nsstore.policy import Opens

    if kinds or opens != Opens():
        raise InvalidInput("an allowlist entry stands alone and opens no dimension")


def _show(kinds: tuple[str, ...], to: Asker, opens: Opens, days: int, *, as_json: bool) -> None:
    """Show what is about to be signed, before anybody is asked for the passphrase."""
    from nsstore.cli.statements import asker, opened

    if not as_json:
        printing.fields(
            (
                ("what", ", ".join(kinds)),
                ("to", asker(to)),
                ("opens", opened(opens) or "search"),
                ("for", printing.count(days, "day")),
            )
        )
