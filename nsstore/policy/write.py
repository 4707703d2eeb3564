"""Who may write which record: into the own scope only, and over nothing that could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from nsstore.policy.decide import ALLOWED, decide, denied
from nsstore.policy.reasons import Decision, Reason
from nsstore.policy.rights import NO_RIGHTS, Rights
from nsstore.record import Header
from nsstore.scope import Privacy, ScopeEnvelope


def decide_write(
    envelope: ScopeEnvelope, meta: Header, superseded: Sequence[Header], rights: Rights = NO_RIGHTS
) -> Decision:
    """Whether this request may write this record: pure, total, and a denial unless every row is satisfied.

    ``superseded`` are the headers that were found under the ids in ``meta.supersedes``; an id without
    one is denied like one that may not be read. The rows, in the order that makes a denial's reason:
    the rows of :func:`~nsstore.policy.decide.decide`, so that what is written can be read back;
    exactly the own branch, baseline, tool context and task; each superseded record readable and
    current, of the same area and key, not more sensitive, not less open; and no privacy beyond the
    own project, which needs a grant (``docs/design.md`` §4, §5). Rights open what may be superseded,
    as they open what may be read, and nothing of what is written; another user's record is never
    superseded, and of a state document they open only another session's version of the own one.
    """
    own = decide(envelope, meta)
    if not own.allowed or own.stale:
        return denied(own.reason)
    if meta.tool_context != envelope.scope.tool_context:
        return denied(Reason.OTHER_TOOL_CONTEXT)
    if meta.task_id != envelope.scope.task_id:
        return denied(Reason.OTHER_TASK)
    found = _by_id(superseded)
    for record_id in meta.supersedes or ():
        reason = _over(envelope, meta, found.get(record_id), rights)
        if reason is not None:
            return denied(reason)
    if _width(meta) > Privacy.PROJECT_ONLY.rank:
        return denied(Reason.PRIVACY_NEEDS_GRANT)
    return ALLOWED


def _over(envelope: ScopeEnvelope, new: Header, old: Header | None, rights: Rights) -> Reason | None:
    if old is None:
        return Reason.SUPERSEDES_NOT_VISIBLE
    if type(rights) is Rights and new.type == "state":
        rights = rights.of_documents()
    seen = decide(envelope, old, rights)
    if not seen.allowed:
        return Reason.SUPERSEDES_NOT_VISIBLE
    if seen.stale:
        return Reason.SUPERSEDES_STALE
    if old.user_id != new.user_id:
        return Reason.OTHER_USER
    if old.key != new.key:  # a memory record's is None, so this tells the areas apart too
        return Reason.SUPERSEDES_OTHER_KEY
    if old.sensitivity.rank > new.sensitivity.rank:
        return Reason.LOWERS_SENSITIVITY
    if _width(new) > _width(old):
        return Reason.WIDENS_PRIVACY
    return None


def _by_id(superseded: object) -> dict[str, Header]:
    if not isinstance(superseded, list | tuple):
        return {}
    candidates = cast("Sequence[object]", superseded)
    return {old.record_id: old for old in candidates if type(old) is Header}


def _width(meta: Header) -> int:
    # No privacy reads as the narrowest: the owner of a header that exists is proven.
    return (meta.privacy or Privacy.PROJECT_ONLY).rank
