"""One tenant's audit in a fresh store, with a clock that a test sets."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from nsstore.audit import AuditEvent, AuditLog, EventKind
from nsstore.audit import ending as ending_module
from nsstore.audit import log as log_module
from nsstore.root import Root, flusher, system
from nsstore.trust import create_trust, open_trust

ACME = ("tenant", "acme")
READ = AuditEvent(event=EventKind.READ, verb="get")
DENIED = AuditEvent(event=EventKind.DENIED, verb="get", reason="foreign_user")


class Clock:
    """The time that audited events get; it goes on a second with each event."""

    def __init__(self) -> None:
        self.day = "2026-11-30T23:00:"
        self.second = 0

    def __call__(self) -> str:
        self.second += 1
        return f"{self.day}{self.second % 60:02}.000000Z"


class Office:
    """A store's audit as one process after the other finds it, and the clock on its wall."""

    def __init__(self, place: Path, clock: Clock) -> None:
        self.place = place
        self.clock = clock
        self.root = Root.make(place / "root")
        self.trust = create_trust(self.root, place / "trust")
        self.folder = place / "root" / "audit" / "tenants" / "acme"

    def log(self) -> AuditLog:
        """The audit as a process that just started has it; dropped, it lets go of everything."""
        root = Root.open(self.root.path)
        return AuditLog(root, open_trust(root, self.trust.store_id, self.place / "trust"))

    def month(self, name: str = "2026-11") -> Path:
        """The file of a month."""
        return self.folder / f"{name}.jsonl"

    def lines(self, name: str = "2026-11") -> list[bytes]:
        """The lines of a month, each with its newline."""
        return self.month(name).read_bytes().splitlines(keepends=True)

    def flush(self) -> None:
        """Make everything that was noted durable."""
        flusher.flush()

    def close(self) -> None:
        """Let go of everything."""
        self.flush()
        self.trust.close()
        self.root.close()


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Office]:
    """A fresh store's audit, in the last hour of November 2026 until a test moves the clock."""
    clock = Clock()
    for module in (log_module, ending_module):
        monkeypatch.setattr(module, "utc_now", clock)
    made = Office(tmp_path, clock)
    yield made
    made.close()


@pytest.fixture
def unflushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for the disk: what a power cut takes is not the subject."""

    def skip(_: int) -> None:
        pass

    monkeypatch.setattr(system, "fsync", skip)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """Every write that this process makes: the name of the file, and the bytes."""
    seen: list[tuple[str, bytes]] = []

    def watched(real: Callable[..., int]) -> Callable[..., int]:
        def write(fd: int, raw: bytes, *at: int) -> int:
            seen.append((Path(os.readlink(f"/proc/self/fd/{fd}")).name, bytes(raw)))
            return real(fd, raw, *at)

        return write

    monkeypatch.setattr(os, "write", watched(os.write))
    monkeypatch.setattr(system, "pwrite", watched(system.pwrite))
    return seen
