"""By what a retry of a forgotten write is known: never revived, and nothing told to who could not read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

from nsstore import digests
from nsstore.record import Header
from nsstore.scope import ScopeEnvelope, Sensitivity, text_of
from nsstore.trust import Chain, Keys

_MARK: Final = "spent"


def spent_by(keys: Keys, chain: Chain, forgotten: Iterable[Header]) -> tuple[str, ...]:
    """The keyed digests to write down for records that an idempotency key was used for, sorted.

    They cover what of a record decides who may read it, besides what the key's own digest covers.
    """
    spent: set[str] = set()
    for one in forgotten:
        if one.idempotency is not None:
            who = (one.workspace_id, one.tool_context, one.task_id, one.sensitivity)
            spent.add(_digest(keys, chain, keys.active, one.idempotency, *who))
    return tuple(sorted(spent))


def may_be_spent(keys: Keys, chain: Chain, envelope: ScopeEnvelope, same_key: Iterable[str]) -> Iterator[str]:
    """Each digest under which a forgotten record of this key would be found that the request could read."""
    scope, clearance = envelope.scope, envelope.clearance
    levels = [level for level in Sensitivity if level.rank <= clearance.rank]
    contexts, tasks = {None, scope.tool_context}, {None, scope.task_id}
    for key_id, idem, level, context, task in product(keys.masters, same_key, levels, contexts, tasks):
        yield _digest(keys, chain, key_id, idem, text_of(scope.workspace_id), context, task, level)


def _digest(  # noqa: PLR0917 - one argument for each thing that is digested
    keys: Keys,
    chain: Chain,
    key_id: str,
    idem: str,
    workspace: str,
    context: str | None,
    task: str | None,
    level: Sensitivity,
) -> str:
    key = keys.tenant(key_id, chain.tenant)
    assert key is not None
    covered = digests.lp(_MARK, idem, workspace, context or "", task or "", level.value)
    return digests.mac(key, digests.IDEM, covered).hex()
