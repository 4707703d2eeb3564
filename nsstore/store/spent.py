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
_NOBODY: Final = ("", None, None)


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


def spent_unread(keys: Keys, chain: Chain, same_key: Iterable[str]) -> tuple[str, ...]:
    """The digests to write down for keys whose records were forgotten unread, sorted.

    Who could read these is not known, so whoever could have used such a key finds its digest.
    """
    return tuple(sorted({_digest(keys, chain, keys.active, idem, *_NOBODY, None) for idem in same_key}))


def may_be_spent(keys: Keys, chain: Chain, envelope: ScopeEnvelope, same_key: Iterable[str]) -> Iterator[str]:
    """Each digest under which a forgotten record of this key would be found that the request could read.

    One that was forgotten unread could be such a record.
    """
    scope, clearance = envelope.scope, envelope.clearance
    levels = [level for level in Sensitivity if level.rank <= clearance.rank]
    contexts, tasks = {None, scope.tool_context}, {None, scope.task_id}
    same_key = tuple(same_key)
    for key_id, idem in product(keys.masters, same_key):
        yield _digest(keys, chain, key_id, idem, *_NOBODY, None)
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
    level: Sensitivity | None,
) -> str:
    key = keys.tenant(key_id, chain.tenant)
    assert key is not None
    covered = digests.lp(_MARK, idem, workspace, context or "", task or "", level.value if level else "")
    return digests.mac(key, digests.IDEM, covered).hex()
