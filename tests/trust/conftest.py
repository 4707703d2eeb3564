"""A store whose trust home can be lost and brought back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import nsstore
from bench.keeping import PASS
from nsstore import NA, OpenStore, Session
from nsstore.root import Root
from nsstore.trust import backup as sealing
from nsstore.trust.backup import backup
from nsstore.trust.restore import Restored, restore

REAL_N = sealing.SCRYPT_N


@pytest.fixture(autouse=True)
def _quick(quick_keys: None) -> None:
    """No test here waits for a key of the real cost."""


class House:
    """A store with its root and its trust home side by side."""

    def __init__(self, place: Path) -> None:
        self.root = place / "root"
        self.trust = place / "trust"
        with nsstore.open(self.root, create=True, trust_home=self.trust) as store:
            self.store_id = store.trust.store_id
        self.home = self.trust / self.store_id.hex()

    def open(self) -> OpenStore:
        """The store as a process finds it that never saw it before."""
        return nsstore.open(self.root, trust_home=self.trust)

    def backup(self) -> bytes:
        """A backup of the trust home as it is now."""
        with self.open() as store:
            return backup(store.trust, PASS)

    def restore(self, raw: bytes, passphrase: str = PASS) -> Restored:
        """Restore a backup for this root."""
        with Root.open(self.root) as root:
            return restore(raw, passphrase, root=root, store_id=self.store_id, trust_home=self.trust)

    def files(self) -> dict[str, bytes]:
        """Every file of the trust home with its bytes."""
        return {str(path): path.read_bytes() for path in self.home.rglob("*") if path.is_file()}


def bind(store: OpenStore, session: str = "monday") -> Session:
    """A session of the one user and project of these tests."""
    return store.bind(
        tenant_id="acme",
        user_id="ada",
        project_id="atlas",
        session_id=session,
        agent_id="human",
        workspace_id=NA,
        branch=NA,
        baseline=NA,
        source_tool="tests",
        purpose="recall",
    )


def lose(house: House) -> None:
    """Lose the whole trust home."""
    shutil.rmtree(house.trust)


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A store without a record."""
    return House(tmp_path)
