"""An open store that can be bound: the way in for a host program."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable

from msgspec import UNSET, UnsetType

from nsstore.gate import UNTESTED, Gate
from nsstore.root import Root, is_free
from nsstore.scope import Purpose, Sensitivity
from nsstore.search.engine import Searcher
from nsstore.session.binding import Id, IdOrNA, envelope_of
from nsstore.session.session import Session
from nsstore.store import Store, create_root, open_root
from nsstore.trust import Trust
from nsstore.writers.template import forget_templates


class OpenStore(Store):
    """A store and its views; :meth:`bind` is the only way to a record.

    Search is closed in it until :attr:`gate` is another one.
    """

    def __init__(self, root: Root, trust: Trust) -> None:
        super().__init__(root, trust)
        self._searcher = Searcher(weakref.proxy(self))
        self.recall = self._searcher.spool.recall
        self.on_forget += [self._searcher.forget, forget_templates]

    @property
    def gate(self) -> Gate:
        """Whether search is open here: to everybody, or to whom the owner named."""
        return self._searcher.gate

    @gate.setter
    def gate(self, gate: Gate) -> None:
        self._searcher.gate = gate

    def settle(self) -> None:
        """Wait until every view that is being folded in the background is folded."""
        self._searcher.settle()

    def close(self) -> None:
        """Finish what is being folded, make every acknowledged byte durable, let go of the descriptors."""
        self._searcher.close()
        super().close()

    def bind(
        self,
        *,
        tenant_id: Id = UNSET,
        group_id: Id = UNSET,
        user_id: str,
        project_id: str,
        session_id: Id = UNSET,
        conversation_id: Id = UNSET,
        agent_id: str,
        workspace_id: IdOrNA,
        branch: IdOrNA,
        baseline: IdOrNA,
        source_tool: str,
        purpose: Purpose | str,
        tool_context: Id = UNSET,
        task_id: Id = UNSET,
        allowed_branches: Iterable[IdOrNA] | UnsetType = UNSET,
        allowed_baselines: Iterable[IdOrNA] | UnsetType = UNSET,
        clearance: Sensitivity | str = Sensitivity.INTERNAL,
        role: Id = UNSET,
        commit: Id = UNSET,
        ancestors: Iterable[str] | UnsetType = UNSET,
    ) -> Session:
        """A session of exactly this scope: what it writes lands there, what it reads comes from there.

        Exactly one of ``tenant_id``/``group_id`` and of ``session_id``/``conversation_id``;
        ``workspace_id``, ``branch`` and ``baseline`` are ids or ``NOT_APPLICABLE``. ``ancestors`` are
        commits that git proved to be ancestors of ``commit``; only a signed policy makes records of
        theirs current. Makes nothing on the disk. Raises :class:`InvalidInput` naming the field and
        the rule.
        """
        envelope = envelope_of(
            tenant_id=tenant_id,
            group_id=group_id,
            user_id=user_id,
            project_id=project_id,
            session_id=session_id,
            conversation_id=conversation_id,
            agent_id=agent_id,
            workspace_id=workspace_id,
            branch=branch,
            baseline=baseline,
            source_tool=source_tool,
            purpose=purpose,
            tool_context=tool_context,
            task_id=task_id,
            allowed_branches=allowed_branches,
            allowed_baselines=allowed_baselines,
            clearance=clearance,
            role=role,
            commit=commit,
            ancestors=ancestors,
        )
        return Session(self, self._searcher, envelope)


def open_store(
    path: str | os.PathLike[str],
    *,
    create: bool = False,
    trust_home: str | os.PathLike[str] | None = None,
    gate: Gate = UNTESTED,
) -> OpenStore:
    """Open the store at ``path``; with ``create``, make it first where the directory is absent or empty.

    Opening makes nothing, and tests nothing: search is as open as ``gate`` says. The trust home is
    ``trust_home``, else ``NSSTORE_TRUST_HOME``, else the user's state directory. Raises
    :class:`InvalidInput` if there is no store, :class:`Refused` if its keys are not here, it is bound to
    another place, or ``create`` would put an empty store in the place of one that was written to and is gone.
    """
    made = create and is_free(path)
    store = OpenStore(*(create_root if made else open_root)(path, trust_home))
    store.gate = gate
    return store
