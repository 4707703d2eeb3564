"""Who may read which record: the rows of ``docs/design.md`` §5 that no grant is needed for.

The rows stand in one fixed order, so that a denial has one reason: owner and asker proven, tenant
or group, user, project, session or conversation, workspace, branch, baseline, agent, tool context,
task, sensitivity, provenance. The first row that is not satisfied is the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from nsstore.policy.readability import ReadClass, readability_class
from nsstore.policy.reasons import Decision, Reason
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


def decide(envelope: ScopeEnvelope, meta: Header) -> Decision:
    """Whether this request may read this record: pure, total, and a denial unless every row is satisfied.

    Whatever is given as an envelope or a header, the answer is a :class:`Decision` and never an
    exception (redline, "Core Rule": if a dimension is unavailable, deny).
    """
    if type(meta) is not Header:
        return denied(Reason.UNPROVEN_OWNER)
    return decide_class(envelope, readability_class(meta))


def decide_class(envelope: ScopeEnvelope, cls: ReadClass) -> Decision:  # noqa: C901, PLR0912 - one return a row
    """The decision for every record of a class; :func:`decide` is this and looks at nothing else.

    ``report`` reads only what is current: the very branch, baseline and task of the request (a
    record of no task for a request of none), and no import of incomplete provenance.
    """
    if type(cls) is not ReadClass:
        return denied(Reason.UNPROVEN_OWNER)
    if type(envelope) is not ScopeEnvelope:
        return denied(Reason.UNPROVEN_ASKER)
    scope = envelope.scope
    report = envelope.purpose is _REPORT
    stale: Reason | None = None

    if cls.tenant_id != scope.tenant_id or cls.group_id != scope.group_id:
        return denied(Reason.OTHER_TENANT)
    if cls.user_id != scope.user_id:
        return denied(Reason.OTHER_USER)
    if cls.project_id != scope.project_id:
        return denied(Reason.OTHER_PROJECT)
    if cls.session_id != scope.session_id or cls.conversation_id != scope.conversation_id:
        return denied(Reason.OTHER_SESSION)
    # Where a dimension does not apply, the class says ``-`` and the scope NOT_APPLICABLE: text_of.
    if cls.workspace_id != scope.workspace_id and cls.workspace_id != text_of(scope.workspace_id):
        return denied(Reason.OTHER_WORKSPACE)
    if cls.branch != scope.branch and cls.branch != text_of(scope.branch):
        if not _among(cls.branch, envelope.allowed_branches):
            return denied(Reason.OTHER_BRANCH)
        if report:
            return denied(Reason.STALE_BRANCH)
        stale = Reason.STALE_BRANCH
    if cls.baseline != scope.baseline and cls.baseline != text_of(scope.baseline):
        if not _among(cls.baseline, envelope.allowed_baselines):
            return denied(Reason.OTHER_BASELINE)
        if report:
            return denied(Reason.STALE_BASELINE)
        stale = stale or Reason.STALE_BASELINE
    if cls.agent_id != scope.agent_id:
        return denied(Reason.OTHER_AGENT)
    if cls.tool_context is not None and cls.tool_context != scope.tool_context:
        return denied(Reason.OTHER_TOOL_CONTEXT)
    if (report or cls.task_id is not None) and cls.task_id != scope.task_id:
        return denied(Reason.OTHER_TASK)
    if cls.sensitivity is not envelope.clearance and cls.sensitivity.rank > envelope.clearance.rank:
        return denied(Reason.ABOVE_CLEARANCE)
    if report and not cls.reportable:
        return denied(Reason.INCOMPLETE_PROVENANCE)
    return ALLOWED if stale is None else _STALE[stale]


def _among(value: str, allowed: Iterable[str | NotApplicable]) -> bool:
    return any(value == text_of(one) for one in allowed)
