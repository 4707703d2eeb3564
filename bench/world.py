"""One small world for tests and measurements: a root, its trust home, and sessions of a typical scope."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import msgspec

import nsstore
from nsstore import OpenStore, Purpose, Sensitivity, Session
from nsstore.root import system
from nsstore.scope import NotApplicable


@contextmanager
def quick_place() -> Generator[Path]:
    """A fresh directory in memory where there is such a place: for what no disk decides. Gone afterwards."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=parent, prefix="nsstore-") as name:
        yield Path(name)


@contextmanager
def unflushed() -> Generator[None]:
    """Flushes are announced but not made: faster, and no weaker where no power fails."""
    with patch.object(system, "fsync"), patch.object(system, "syncfs"):
        yield


class World(msgspec.Struct, frozen=True, kw_only=True):
    """Where a store lies: its root and its trust home, side by side in one place."""

    place: Path

    @property
    def root(self) -> Path:
        return self.place / "root"

    @property
    def trust(self) -> Path:
        return self.place / "trust"

    def make(self) -> OpenStore:
        """A new store in this place."""
        return nsstore.open(self.root, create=True, trust_home=self.trust)

    def open(self) -> OpenStore:
        """The store of this place as a process finds it that never saw it before."""
        return nsstore.open(self.root, trust_home=self.trust)


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks: a typical scope, of which a test changes what it is about."""

    tenant: str = "acme"
    user: str = "alice"
    project: str = "shop"
    session: str = "s-1"
    agent: str = "claude"
    workspace: str | NotApplicable = "w-1"
    branch: str | NotApplicable = "main"
    baseline: str | NotApplicable = "v1"
    clearance: Sensitivity = Sensitivity.INTERNAL
    purpose: Purpose = Purpose.RECALL
    commit: str | None = None
    ancestors: tuple[str, ...] = ()

    def bind(self, store: OpenStore) -> Session:
        """A session of this scope."""
        return store.bind(
            tenant_id=self.tenant,
            user_id=self.user,
            project_id=self.project,
            session_id=self.session,
            agent_id=self.agent,
            workspace_id=self.workspace,
            branch=self.branch,
            baseline=self.baseline,
            clearance=self.clearance,
            source_tool="world",
            purpose=self.purpose,
            commit=msgspec.UNSET if self.commit is None else self.commit,
            ancestors=self.ancestors,
        )
