"""Security events are durable before the answer, routine ones soon; nothing is allowed silently."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.audit import AuditEvent, EventKind, read_events, verify
from nsstore.errors import WitnessError
from nsstore.root import locks, system
from nsstore.root.steps import hooked
from tests.audit.conftest import ACME, DENIED, READ, Office

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written and flushed, in order, by file name."""
    seen: list[str] = []

    def name(fd: int) -> str:
        return Path(os.readlink(f"/proc/self/fd/{fd}")).name

    pwrite, fsync = system.pwrite, system.fsync

    def write(fd: int, raw: bytes, at: int) -> int:
        seen.append(f"write {name(fd)}")
        return pwrite(fd, raw, at)

    def flush(fd: int) -> None:
        seen.append(f"flush {name(fd)}")
        fsync(fd)

    monkeypatch.setattr(system, "pwrite", write)
    monkeypatch.setattr(system, "fsync", flush)
    return seen


@pytest.mark.parametrize("kind", list(EventKind))
def test_security_events_are_durable_before_the_answer(
    office: Office, calls: list[str], kind: EventKind
) -> None:
    """A security event waits for the flush of its line, then of its head; a routine one for neither."""
    log = office.log()
    log.append(ACME, READ)
    office.flush()
    calls.clear()
    log.append(ACME, AuditEvent(event=kind))
    line, head = "2026-11.jsonl", "acme.anchors"
    if kind.security:
        assert calls == [f"write {line}", f"flush {line}", f"write {head}", f"flush {head}"]
    else:
        assert calls == [f"write {line}", f"write {head}"]
    office.flush()
    if not kind.security:
        assert sorted(calls[2:]) == [f"flush {line}", f"flush {head}"]


def test_the_first_event_is_durable_with_every_directory(office: Office, calls: list[str]) -> None:
    """A tenant's first event is durable whatever its kind, with each directory on the way and its head."""
    office.log().append(ACME, READ)
    flushed = [call.removeprefix("flush ") for call in calls if call.startswith("flush")]
    assert {"root", "audit", "tenants", "2026-11.jsonl", "anchors", "acme.anchors"} <= set(flushed)
    assert calls.index("flush 2026-11.jsonl") < calls.index("write acme.anchors")


def test_the_first_event_of_a_month_is_durable(office: Office, calls: list[str]) -> None:
    """The first event of a month is durable with its file's name, so that no month can be missed."""
    log = office.log()
    log.append(ACME, READ)
    office.clock.day = "2026-12-01T00:00:"
    calls.clear()
    log.append(ACME, READ)
    assert "flush 2026-12.jsonl" in calls


def test_a_flush_that_fails_fails_the_operation(office: Office) -> None:
    """A security event that cannot be made durable is refused, and the next one that can is taken."""
    log = office.log()
    log.append(ACME, READ)

    def broken(call: str) -> None:
        if call == "fsync":
            raise OSError(5, "broken", "/host/path")

    with hooked(broken):
        with pytest.raises(WitnessError) as told:
            log.append(ACME, DENIED)
        assert "/host" not in str(told.value)
        with pytest.raises(WitnessError):
            log.append(ACME, DENIED)
    log.append(ACME, DENIED)
    assert verify(office.log(), ACME).whole


def in_place_of(path: Path, how: str, aside: Path) -> None:
    """Put something else in place of a file or directory of the audit."""
    if path.exists():
        path.rename(aside)
    if how == "directory":
        path.mkdir(0o700)
    elif how == "file":
        path.touch(0o600)
    elif how == "link":
        path.symlink_to(aside)
    elif how == "dangling":
        path.symlink_to("nowhere")
    elif how == "fifo":
        os.mkfifo(path, 0o600)
    elif how == "hard link":
        os.link(aside, path)
    elif how == "open to others":
        shutil.copytree(aside, path) if aside.is_dir() else shutil.copy(aside, path)
        path.chmod(0o755)


WHERE = {
    "month": "audit/tenants/acme/2026-11.jsonl",
    "lock": "audit/tenants/acme/audit.lock",
    "tenant": "audit/tenants/acme",
    "tenants": "audit/tenants",
    "audit": "audit",
}


@pytest.mark.parametrize("fresh", [True, False], ids=["another process", "the same process"])
@pytest.mark.parametrize(
    ("where", "how"),
    [
        *(
            (where, how)
            for where in ("month", "lock")
            for how in ("directory", "link", "dangling", "fifo", "hard link")
        ),
        *((where, "open to others") for where in ("month", "lock", "tenant")),
        *((where, how) for where in ("tenant", "tenants", "audit") for how in ("file", "dangling")),
        *((where, "link") for where in ("tenant", "tenants", "audit")),
    ],
)
def test_an_audit_path_that_was_replaced(
    office: Office, tmp_path: Path, where: str, how: str, *, fresh: bool
) -> None:
    """With anything else in the place of an audit path, ten denied and ten allowed calls are all refused."""
    log = office.log()
    log.append(ACME, READ)
    at, aside = Path(office.root.path, WHERE[where]), tmp_path / "aside"
    before = office.month().read_bytes()
    in_place_of(at, how, aside)
    if fresh or how in ("link", "hard link"):
        log.close()  # a kept descriptor is used only while its own path leads to it
        log = office.log()
    for event in [DENIED, READ] * 10:
        with pytest.raises(WitnessError, match="not answered"):
            log.append(ACME, event)
        if fresh:
            with pytest.raises(WitnessError):
                log.require_ready(ACME)
    kept = aside if aside.exists() else at
    assert (kept if kept.is_file() else next(kept.rglob("2026-11.jsonl"))).read_bytes() in (before, b"")
    if at.is_dir() and not at.is_symlink():
        shutil.rmtree(at)
    else:
        at.unlink()
    aside.rename(at)
    log.append(ACME, DENIED)
    assert verify(office.log(), ACME).whole
    assert len(list(read_events(office.log(), ACME))) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file immutable")
def test_an_audit_file_that_is_immutable(office: Office) -> None:
    """A file that takes no byte refuses every event, denied or allowed; nothing is answered meanwhile."""
    office.log().append(ACME, READ)
    if subprocess.run(["chattr", "+i", office.month()], capture_output=True, check=False).returncode:
        pytest.skip("this file system has no immutable files")
    try:
        log = office.log()
        for event in [DENIED, READ] * 10:
            with pytest.raises(WitnessError):
                log.append(ACME, event)
    finally:
        subprocess.run(["chattr", "-i", office.month()], check=True)
    log.append(ACME, DENIED)
    assert verify(office.log(), ACME).whole


@pytest.mark.parametrize("number", [28, 122, 5, 30], ids=["ENOSPC", "EDQUOT", "EIO", "EROFS"])
def test_a_disk_that_takes_nothing(office: Office, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """On a full, broken or read-only disk every event is refused and none is half there."""
    log = office.log()
    log.append(ACME, READ)
    before, pwrite = office.month().read_bytes(), system.pwrite

    def full(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(system, "pwrite", full)
    for event in [DENIED, READ] * 10:
        with pytest.raises(WitnessError):
            log.append(ACME, event)
    monkeypatch.setattr(system, "pwrite", pwrite)
    assert office.month().read_bytes() == before
    log.append(ACME, DENIED)
    assert verify(office.log(), ACME).whole


def test_a_lock_that_another_keeps(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process keeps the audit locked, an event is refused, and may be tried again."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.02)
    log = office.log()
    log.append(ACME, READ)
    with locks.FileLock.at(office.root, "audit/tenants/acme/audit.lock"):
        with pytest.raises(WitnessError) as told:
            log.append(ACME, DENIED)
        assert told.value.retryable
    log.append(ACME, DENIED)
    assert verify(office.log(), ACME).whole


def test_too_few_descriptors(office: Office) -> None:
    """Where the process has no descriptor left the event is refused, may be tried again, and none leaks."""
    log = office.log()
    log.append(ACME, READ)
    log.close()

    def none_left(call: str) -> None:
        if call == "open":
            raise OSError(24, "too many")

    gc.collect()  # what earlier tests dropped is closed now, and not between the two counts
    before = len(os.listdir("/proc/self/fd"))
    with hooked(none_left), pytest.raises(WitnessError) as told:
        log.append(ACME, DENIED)
    assert told.value.retryable
    assert len(os.listdir("/proc/self/fd")) == before
    log.append(ACME, DENIED)


@pytest.mark.skipif(os.geteuid() != 0, reason="as root a child can be somebody whom modes stop")
def test_a_directory_that_takes_no_file(office: Office) -> None:
    """A user whom the audit's directory stops gets a refusal, not a silent answer."""
    office.log().append(ACME, READ)
    office.flush()

    def act() -> None:
        os.setgroups([])
        os.setgid(65534)
        log = office.log()
        os.setuid(65534)
        for event in (DENIED, READ):
            with pytest.raises(WitnessError):
                log.append(ACME, event)

    run_forked(act)


def run_forked(act: Callable[[], None]) -> None:
    """Run something in a forked child and raise here what it raised there."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        told = b""
        try:
            act()
        except BaseException:  # noqa: BLE001 - all of it is raised again in the parent
            told = traceback.format_exc().encode()
        os.write(send, told[-60_000:])
        os._exit(0)
    os.close(send)
    with open(receive, "rb") as report:
        told = report.read()
    assert os.waitpid(pid, 0)[1] == 0
    assert not told, told.decode()
