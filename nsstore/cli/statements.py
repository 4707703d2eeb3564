"""The owner's statements in words: what stands, to whom, until when."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from nsstore.policy import Asker, Opens
    from nsstore.rights import Kept, Revoked, Standing, Statement

WARN_DAYS: Final = 30
RETENTION: Final = "retention"
LABELS: Final = {RETENTION: "sets", "revoke": "ends", "owner": "key", "accepted": "gives up"}


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A statement as the owner's commands tell of it; ``state`` is whether it opens anything, and why not."""

    number: int
    state: str
    what: str
    to: str
    opens: str
    expires: str | None
    assurance: str
    by: str
    why: str
    at: str


def told(standing: Standing) -> list[Told]:
    """Every statement of a list, the oldest first."""
    from nsstore.rights import kept_of, revoked

    listing, gone = standing.listing, revoked(standing.listing)
    known = len(listing.known)
    newest = frozenset(one.seq for one in kept_of(listing).values())
    every = [one.statement for one in (*listing.known, *listing.beyond)]
    return [
        _told(one, _state(one, standing.now, newest, revoked=one.seq in gone, pending=at >= known))
        for at, one in enumerate(every)
    ]


def labelled(one: Told) -> tuple[str, str]:
    """What a statement does, and what it does it to: most open something."""
    label = LABELS.get(one.what, "opens")
    return label, one.opens.removeprefix("given up: ").removeprefix("key ")


def revocation(standing: Standing, number: int) -> Revoked | None:
    """The statement that ended another one, the first if there are more."""
    from nsstore.rights import Revoked

    listing = standing.listing
    every = [one.statement for one in (*listing.known, *listing.beyond)]
    return next((one for one in every if isinstance(one, Revoked) and one.number == number), None)


def soon(standing: Standing) -> list[Told]:
    """The statements in force that expire within thirty days."""
    from nsstore.rights import spelled_time, time_of

    if not standing.now:
        return []
    limit = spelled_time(time_of(standing.now) + timedelta(days=WARN_DAYS))
    return [one for one in told(standing) if one.state == "live" and one.expires and one.expires <= limit]


def _state(one: Statement, now: str, newest: frozenset[int], *, revoked: bool, pending: bool) -> str:
    from nsstore.rights import Allowlisted, Granted, Kept, Revoked

    if isinstance(one, Revoked):
        return "stands"
    if pending:
        return "pending"
    if isinstance(one, Kept):
        return "revoked" if revoked else "live" if one.seq in newest else "replaced"
    if not isinstance(one, Granted | Allowlisted):
        return "stands"
    return "revoked" if revoked else "live" if now < one.expires else "expired"


def _told(one: Statement, state: str) -> Told:
    from nsstore.rights import Accepted, Allowlisted, Granted, Kept, Revoked

    what, to, opens, expires = "owner", "", "", None
    if isinstance(one, Granted):
        what, to, opens, expires = ", ".join(one.kinds), asker(one.to), opened(one.opens), one.expires
    elif isinstance(one, Allowlisted):
        what, to, opens, expires = "allowlist", asker(one.to), "search", one.expires
    elif isinstance(one, Kept):
        what, to, opens = RETENTION, "=".join(one.tenant), kept(one)
    elif isinstance(one, Revoked):
        what, opens = "revoke", f"statement {one.number}"
    elif isinstance(one, Accepted):
        what = "accepted"
        opens = (
            f"given up: namespaces: {one.namespaces}; events: {one.events}; records: {one.records}"
            if one.namespaces
            else f"given up: events of an audit: {one.events}"
        )
    else:
        opens = f"key {one.public[:16]}"
    return Told(
        number=one.seq,
        state=state,
        what=what,
        to=to,
        opens=opens,
        expires=expires,
        assurance=one.assurance.value,
        by=one.by,
        why=one.why,
        at=one.at,
    )


def asker(to: Asker) -> str:
    """To whom, in words."""
    from nsstore.policy import Every

    projects = "each with itself" if isinstance(to.projects, Every) else ", ".join(to.projects)
    return (
        f"{'='.join(to.tenant)} user={to.user} projects: {projects}"
        f" agents: {', '.join(to.agents)} purposes: {', '.join(to.purposes)}"
    )


def kept(one: Kept) -> str:
    """What a statement of retention sets, in words."""
    from nsstore.cli.printing import count
    from nsstore.policy import LEGAL_HOLD

    words = [f"{name}: {count(days, 'day')}" for name, days in one.days]
    words.append(f"held: {', '.join((LEGAL_HOLD, *one.held))}")
    words += [f"released: {', '.join(one.released)}"] if one.released else []
    words += [f"times trusted until {one.trusted_until}"] if one.trusted_until else []
    return "; ".join(words)


def opened(opens: Opens) -> str:
    """What is open, in words; what is not named is closed."""
    from nsstore.policy import Every

    sessions, workspaces = opens.sessions, opens.workspaces
    parts = {
        "users": ", ".join(opens.users),
        "sessions": "every one" if isinstance(sessions, Every) else ", ".join(map("=".join, sessions)),
        "workspaces": "every one" if isinstance(workspaces, Every) else ", ".join(workspaces),
        "branches": ", ".join(opens.branches),
        "baselines": ", ".join(opens.baselines),
        "agents": ", ".join(opens.agents),
        "tool contexts": ", ".join(opens.tool_contexts),
        "tasks": ", ".join(opens.tasks),
    }
    words = [f"{name}: {value}" for name, value in parts.items() if value]
    words += ["lineage"] if opens.lineage else []
    words += ["state across sessions"] if opens.state_across_sessions else []
    return "; ".join(words)
