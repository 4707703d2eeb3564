"""Why a decision fell: a closed list, and the decision that carries one of its members."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Reason(StrEnum):
    """Every reason a decision can have; each member's docstring is what it means, and there is no other."""

    ALLOWED = "allowed"
    """Every row is satisfied and the record is current."""
    STALE_BRANCH = "stale_branch"
    """The record's branch is allowed but not the current one: apart and marked, and never in a report."""
    STALE_BASELINE = "stale_baseline"
    """The record's baseline is allowed but not the current one: apart and marked, and never in a report."""
    UNPROVEN_OWNER = "unproven_owner"
    """Whose record it is cannot be proven: what stands for its header or class is none."""
    UNPROVEN_ASKER = "unproven_asker"
    """Nobody provable asks: what stands for the envelope is none."""
    OTHER_TENANT = "other_tenant"
    """The record is another tenant's or group's; nothing opens this row."""
    OTHER_USER = "other_user"
    """The record is another user's."""
    OTHER_PROJECT = "other_project"
    """The record is another project's, whatever its privacy: a privacy opens nothing without a grant."""
    OTHER_SESSION = "other_session"
    """The record is another session's or conversation's."""
    OTHER_WORKSPACE = "other_workspace"
    """The record is another workspace's, or only one of the two has none."""
    OTHER_BRANCH = "other_branch"
    """The record's branch is neither the current one nor an allowed one."""
    OTHER_BASELINE = "other_baseline"
    """The record's baseline is neither the current one nor an allowed one."""
    OTHER_AGENT = "other_agent"
    """The record is another agent's."""
    OTHER_TOOL_CONTEXT = "other_tool_context"
    """The record belongs to a tool context that is not the request's."""
    OTHER_TASK = "other_task"
    """The record belongs to a task that is not the request's; in a report also one of no task."""
    ABOVE_CLEARANCE = "above_clearance"
    """The record is more sensitive than the envelope's clearance, read or written."""
    INCOMPLETE_PROVENANCE = "incomplete_provenance"
    """An import that does not name its source's bytes, time and place cannot be reported from."""
    SUPERSEDES_NOT_VISIBLE = "supersedes_not_visible"
    """The record would supersede one that the writer may not read, or that is not there."""
    SUPERSEDES_STALE = "supersedes_stale"
    """The record would supersede one that is not of the current branch and baseline."""
    SUPERSEDES_OTHER_KEY = "supersedes_other_key"
    """The record would supersede one of the other area or of another state key."""
    LOWERS_SENSITIVITY = "lowers_sensitivity"
    """The record would be less sensitive than one that it supersedes."""
    WIDENS_PRIVACY = "widens_privacy"
    """The record would be open to more projects than one that it supersedes."""
    PRIVACY_NEEDS_GRANT = "privacy_needs_grant"
    """A record open to other projects than its own needs a grant to be written."""
    LEGAL_HOLD = "legal_hold"
    """The record's retention class is held: it is neither forgotten nor erased when it expires."""
    HOLDS_UNKNOWN = "holds_unknown"
    """What the owner holds cannot be proven now, so nothing is forgotten or erased until it can."""


class Decision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answer to one request for one record; ``stale`` is true only of what is allowed but not current.

    A denial is this value and no exception; it becomes one at the session's edge.
    """

    allowed: bool
    reason: Reason
    stale: bool
