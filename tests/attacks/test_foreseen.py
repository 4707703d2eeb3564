"""What a reader foresaw and a writer did otherwise, and names that were added to stop reading."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

import nsstore
from nsstore.root import steps
from nsstore.root.folders import Dir
from nsstore.root.handles import READ as ONLY_READ
from nsstore.root.handles import File

pytestmark = pytest.mark.usefixtures("memory")

NA = nsstore.NA


def bound(store: nsstore.OpenStore, **other: str) -> nsstore.Session:
    """A session of one scope, but for what is said otherwise."""
    who = {"tenant_id": "acme", "user_id": "ada", "project_id": "atlas", "session_id": "monday"} | other
    return store.bind(
        **who, agent_id="h", workspace_id=NA, branch=NA, baseline=NA, source_tool="t", purpose="recall"
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a store with one record is."""
    with nsstore.open(tmp_path / "root", create=True, trust_home=tmp_path / "trust") as store:
        bound(store).remember("alpha first")
    return tmp_path


def records(place: Path) -> Path:
    """The directory of the one namespace."""
    return place / "root" / "memory" / "acme" / "ada" / "atlas" / "monday"


def test_a_reader_gives_up_an_orphan_that_never_joined(place: Path) -> None:
    """What another writer put in the place of a foreseen orphan is found, and the orphan is not."""
    with nsstore.open(place / "root", trust_home=place / "trust") as store:
        reader = bound(store)
        pid = os.fork()
        if pid == 0:
            with steps.hooked(lambda call: os.kill(os.getpid(), signal.SIGKILL) if call == "fsync" else None):
                bound(nsstore.open(place / "root", trust_home=place / "trust")).remember("orphan zebra")
            os._exit(0)
        os.waitpid(pid, 0)
        assert [hit.text for hit in reader.search("zebra").hits] == ["orphan zebra"]
        orphan = next(path for path in records(place).iterdir() if b"zebra" in path.read_bytes())
        orphan.rename(place / "aside")
        with nsstore.open(place / "root", trust_home=place / "trust") as other:
            bound(other).remember("omega acknowledged")
        assert [hit.text for hit in reader.search("omega").hits] == ["omega acknowledged"]
        assert not reader.search("zebra").hits
        (place / "aside").rename(orphan)
        assert not reader.search("zebra").hits
        assert [item.text for item in reader.list().items] == ["omega acknowledged", "alpha first"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EAGAIN])
def test_an_added_name_that_cannot_be_opened_stops_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A stray that is unreadable, or held by a lease, is kept out like any other."""
    stray = "01a22c6c-9ba4-743c-b06e-1bf12e2e574c.md"
    (records(place) / stray).touch(mode=0o600)
    opened = Dir.open

    def refuse(self: Dir, name: str, flags: int = ONLY_READ) -> File | None:
        if name.endswith(stray):
            raise nsstore.SystemFailure("opening", OSError(number, ""))
        return opened(self, name, flags)

    monkeypatch.setattr(Dir, "open", refuse)
    with nsstore.open(place / "root", trust_home=place / "trust") as store:
        assert [item.text for item in bound(store).list().items] == ["alpha first"]
        bound(store).remember("beta")
        assert bound(store).list().total == 2


def test_a_ledger_blown_up_without_a_line_end_is_not_read_whole(place: Path) -> None:
    """A hole of a terabyte behind the last line is a torn tail, and cut by the next writer."""
    ledger = place / "root" / "ledger" / "memory" / "acme" / "ada" / "atlas" / "monday.log"
    size = ledger.stat().st_size
    os.truncate(ledger, 1 << 40)
    with nsstore.open(place / "root", trust_home=place / "trust") as store:
        assert [item.text for item in bound(store).list().items] == ["alpha first"]
        bound(store).remember("beta")
        assert bound(store).list().total == 2
    assert size < ledger.stat().st_size < 1 << 16


def test_notices_are_each_sessions_own(place: Path) -> None:
    """Whether another tenant has searched before does not show in what a session is told."""
    with nsstore.open(place / "root", trust_home=place / "trust") as store:
        first = bound(store, tenant_id="other").search("x").notices
        assert first == bound(store).search("x").notices == ()


def test_a_closed_store_says_so(place: Path) -> None:
    """Every verb of a session whose store was closed is refused in the same words."""
    store = nsstore.open(place / "root", trust_home=place / "trust")
    session = bound(store)
    store.close()
    for call in (
        session.list,
        lambda: session.remember("x"),
        lambda: session.search("x"),
        session.state.list,
    ):
        with pytest.raises(nsstore.InvalidInput, match="closed"):
            call()
