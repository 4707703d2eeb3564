"""Who may read which record: the rows of ``docs/design.md`` §5, by equality or by the owner's rights.

The rows stand in one fixed order, so that a denial has one reason: owner and asker proven, tenant
or group, user, project, session or conversation, workspace, branch, baseline, agent, tool context,
task, sensitivity, provenance. The first row that is not satisfied is the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from nsstore.policy.readability import ReadClass, readability_class
from nsstore.policy.reasons import Decision, Reason
from nsstore.policy.rights import NO_RIGHTS, Opens, Rights
from nsstore.record import Header
from nsstore.scope import NotApplicable, Purpose, ScopeEnvelope, text_of

ALLOWED: Final = Decision(allowed=True, reason=Reason.ALLOWED, stale=False)
_STALE: Final = {
    reason: Decision(allowed=True, reason=reason, stale=True)
    for reason in (Reason.STALE_BRANCH, Reason.STALE_BASELINE)
}
_DENIED: Final = {reason: Decision(allowed=False, reason=reason, stale=False) for reason in Reason}
_REPORT: Final = Purpose.REPORT


def denied(reason: Reason) -> Decision:
    """The denial with this reason."""
    return _DENIED[reason]


def decide(envelope: ScopeEnvelope, meta: Header, rights: Rights = NO_RIGHTS) -> Decision:
    """Whether this request may read this record: pure, total, and a denial unless every row is satisfied.

    Whatever is given as an envelope, a header or rights, the answer is a :class:`Decision` and never
    an exception (redline, "Core Rule": if a dimension is unavailable, deny).
    """
    if type(meta) is not Header:
        return denied(Reason.UNPROVEN_OWNER)
    return decide_class(envelope, readability_class(meta), rights)


def decide_class(envelope: ScopeEnvelope, cls: ReadClass, rights: Rights = NO_RIGHTS) -> Decision:
    """The decision for every record of a class; :func:`decide` is this and looks at nothing else.

    Each row is satisfied by equality, or by a live grant to this very asker that names the row's
    dimension. The rows of another user's record are opened by the one grant that shares it, and by
    nothing else: two grants never add up to a record that neither opens.
    """
    if type(cls) is not ReadClass:
        return denied(Reason.UNPROVEN_OWNER)
    if type(envelope) is not ScopeEnvelope:
        return denied(Reason.UNPROVEN_ASKER)
    scope = envelope.scope
    if cls.tenant_id != scope.tenant_id or cls.group_id != scope.group_id:
        return denied(Reason.OTHER_TENANT)
    if type(rights) is not Rights:
        rights = NO_RIGHTS
    if cls.user_id == scope.user_id:
        return _rows(
            envelope, cls, rights.own(envelope), envelope.allowed_branches, envelope.allowed_baselines
        )
    best = denied(Reason.OTHER_USER)
    for shared in rights.shares(envelope, cls.user_id):
        seen = _rows(envelope, cls, (shared,), (), ())
        if (seen.allowed, not seen.stale) > (best.allowed, best.allowed and not best.stale):
            best = seen
    return best


def _rows(  # noqa: C901, PLR0912 - one return a row
    envelope: ScopeEnvelope,
    cls: ReadClass,
    opens: tuple[Opens, ...],
    branches: Iterable[str | NotApplicable],
    baselines: Iterable[str | NotApplicable],
) -> Decision:
    """The rows after the user's. ``branches`` and ``baselines`` are those the host allows as stale.

    ``report`` reads only what is current: the very branch, baseline and task of the request (a
    record of no task for a request of none), and no import of incomplete provenance.
    """
    scope = envelope.scope
    report = envelope.purpose is _REPORT
    stale: Reason | None = None

    if cls.project_id != scope.project_id:
        return denied(Reason.OTHER_PROJECT)
    if (cls.session_id != scope.session_id or cls.conversation_id != scope.conversation_id) and not any(
        one.session(cls) for one in opens
    ):
        return denied(Reason.OTHER_SESSION)
    # Where a dimension does not apply, the class says ``-`` and the scope NOT_APPLICABLE: text_of.
    if (
        cls.workspace_id != scope.workspace_id
        and cls.workspace_id != text_of(scope.workspace_id)
        and not any(one.workspace(cls) for one in opens)
    ):
        return denied(Reason.OTHER_WORKSPACE)
    current = bool(opens) and _of_lineage(envelope, cls, opens)
    if not current and cls.branch != scope.branch and cls.branch != text_of(scope.branch):
        if not (_among(cls.branch, branches) or any(cls.branch in one.branches for one in opens)):
            return denied(Reason.OTHER_BRANCH)
        if report:
            return denied(Reason.STALE_BRANCH)
        stale = Reason.STALE_BRANCH
    if not current and cls.baseline != scope.baseline and cls.baseline != text_of(scope.baseline):
        if not (_among(cls.baseline, baselines) or any(cls.baseline in one.baselines for one in opens)):
            return denied(Reason.OTHER_BASELINE)
        if report:
            return denied(Reason.STALE_BASELINE)
        stale = stale or Reason.STALE_BASELINE
    if cls.agent_id != scope.agent_id and not any(cls.agent_id in one.agents for one in opens):
        return denied(Reason.OTHER_AGENT)
    if (
        cls.tool_context is not None
        and cls.tool_context != scope.tool_context
        and not any(cls.tool_context in one.tool_contexts for one in opens)
    ):
        return denied(Reason.OTHER_TOOL_CONTEXT)
    if (
        (report or cls.task_id is not None)
        and cls.task_id != scope.task_id
        and (report or not any(cls.task_id in one.tasks for one in opens))
    ):
        return denied(Reason.OTHER_TASK)
    if cls.sensitivity is not envelope.clearance and cls.sensitivity.rank > envelope.clearance.rank:
        return denied(Reason.ABOVE_CLEARANCE)
    if report and not cls.reportable:
        return denied(Reason.INCOMPLETE_PROVENANCE)
    return ALLOWED if stale is None else _STALE[stale]


def _of_lineage(envelope: ScopeEnvelope, cls: ReadClass, opens: tuple[Opens, ...]) -> bool:
    """Whether the record is current by the code's history: of this commit, or of a proven ancestor."""
    commit = cls.commit
    return (
        commit is not None
        and (commit == envelope.commit or commit in envelope.ancestors)
        and any(one.lineage for one in opens)
    )


def _among(value: str, allowed: Iterable[str | NotApplicable]) -> bool:
    return any(value == text_of(one) for one in allowed)
