"""What is open by others when one statement has ended: the same, or a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from nsstore.policy import Asker, Every, Opens
    from nsstore.rights import Standing, Statement

NAMED: Final = ("sessions", "workspaces", "branches", "baselines", "agents", "tool_contexts", "tasks")
POLICIES: Final = ("lineage", "state_across_sessions")


class StillOpen(NamedTuple):
    """The numbers of the statements that open all that another one opened, and of those that open a part."""

    whole: tuple[int, ...] = ()
    part: tuple[int, ...] = ()


def still_open(standing: Standing, ended: Statement) -> StillOpen:
    """Which statements in force open what one opened that has ended; of a setting that opens none, none."""
    from nsstore.rights import Allowlisted, Granted, in_force

    whole, part = list[int](), list[int]()
    for one in in_force(standing.listing, standing.now):
        if one.seq == ended.seq:
            continue
        if isinstance(one, Granted) and isinstance(ended, Granted):
            meets = _to_meets(one.to, ended.to) and _meets(one.opens, ended.opens)
            holds = meets and _to_holds(one.to, ended.to) and _holds(one.opens, ended.opens)
        elif isinstance(one, Allowlisted) and isinstance(ended, Allowlisted):
            meets = _to_meets(one.to, ended.to)
            holds = meets and _to_holds(one.to, ended.to)
        else:
            continue
        if meets:
            (whole if holds else part).append(one.seq)
    return StillOpen(tuple(whole), tuple(part))


Some: TypeAlias = "tuple[object, ...] | Every"


def _share(one: Some, other: Some) -> bool:
    """Whether two sets of values have one in common; every value is a set of its own."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return not {*one}.isdisjoint(other)
    return bool(one) and bool(other)


def _covers(one: Some, other: Some) -> bool:
    if isinstance(one, tuple):
        return isinstance(other, tuple) and {*other} <= {*one}
    return True


def _to_meets(one: Asker, other: Asker) -> bool:
    return (
        (one.tenant, one.user) == (other.tenant, other.user)
        and _share(one.projects, other.projects)
        and _share(one.agents, other.agents)
        and _share(one.purposes, other.purposes)
    )


def _to_holds(one: Asker, other: Asker) -> bool:
    return (
        _covers(one.projects, other.projects)
        and _covers(one.agents, other.agents)
        and _covers(one.purposes, other.purposes)
    )


def _meets(one: Opens, other: Opens) -> bool:
    """Whether both open something of the same records: of the same other users, or of the own ones."""
    if one.users or other.users:
        return _share(one.users, other.users)
    return any(_share(getattr(one, name), getattr(other, name)) for name in NAMED) or any(
        getattr(one, name) and getattr(other, name) for name in POLICIES
    )


def _holds(one: Opens, other: Opens) -> bool:
    return (
        _covers(one.users, other.users)
        and all(_covers(getattr(one, name), getattr(other, name)) for name in NAMED)
        and all(getattr(one, name) or not getattr(other, name) for name in POLICIES)
    )
