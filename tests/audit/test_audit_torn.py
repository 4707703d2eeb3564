"""What a kill, a power cut or a full disk left of the audit: closed and told, never cut away."""

from __future__ import annotations

import json
import shutil

import pytest

from nsstore.audit import AuditLog, read_events, verify
from nsstore.errors import WitnessError
from nsstore.root import system
from nsstore.root.steps import hooked
from tests.audit.conftest import ACME, DENIED, READ, Office


def kinds(office: Office) -> list[str]:
    """The kinds of all events, in order."""
    return [line.event.value for line in read_events(office.log(), ACME)]


def fill(office: Office, count: int = 3) -> AuditLog:
    """A log with some events."""
    log = office.log()
    for _ in range(count):
        log.append(ACME, DENIED)
    return log


@pytest.mark.parametrize("fresh", [True, False], ids=["another process", "the same process"])
@pytest.mark.parametrize("size", [1, 17, 200, 16_384])
def test_a_torn_tail_is_closed_and_told(
    office: Office, writes: list[tuple[str, bytes]], size: int, *, fresh: bool
) -> None:
    """What was left of a line gets a newline and a `repaired` event of its size; no byte is taken away."""
    log = fill(office)
    torn = (b'{"seq":3,"at":"' + b"x" * 20_000)[:size]
    with office.month().open("ab") as file:
        file.write(torn)
    before = office.month().read_bytes()
    assert "not ended" in verify(office.log(), ACME).faults[0]
    writes.clear()
    (office.log() if fresh else log).append(ACME, READ)
    after = office.month().read_bytes()
    assert after.startswith(before + b"\n")
    (both,) = [raw for name, raw in writes if name.endswith(".jsonl") and raw != b"\n"]
    assert both.startswith(b"\n")
    assert both.count(b"\n") == 3
    assert json.loads(both.splitlines()[1])["bytes"] == size
    assert kinds(office) == ["denied"] * 3 + ["repaired", "read"]
    verdict = verify(office.log(), ACME)
    assert verdict.whole, verdict.faults
    office.log().append(ACME, READ)
    assert kinds(office) == ["denied"] * 3 + ["repaired", "read", "read"]


@pytest.mark.usefixtures("unflushed")
def test_every_way_a_line_can_be_torn(office: Office) -> None:
    """A line cut at any byte is repaired and told; the chain verifies, with at most one event lost."""
    fill(office, 2)
    whole, last = office.month().read_bytes(), office.lines()[-1]
    begun = len(whole) - len(last)
    heads = next((office.place / "trust").rglob("audit/*.anchors"))
    for cut in (*range(begun, len(whole) - 4, 5), *range(len(whole) - 4, len(whole))):
        shutil.copy(heads, heads.with_suffix(".kept"))
        office.month().write_bytes(whole[:cut])
        office.log().append(ACME, READ)
        verdict = verify(office.log(), ACME)
        assert verdict.faults == (), cut
        expected = {
            begun: ["denied", "gap", "read"],
            len(whole) - 1: ["denied", "denied", "repaired", "read"],
        }
        assert kinds(office) == expected.get(cut, ["denied", "gap", "repaired", "read"]), cut
        assert verdict.gaps == (0 if cut == len(whole) - 1 else 1)
        heads.write_bytes(heads.with_suffix(".kept").read_bytes())
    heads.with_suffix(".kept").unlink()


def test_a_torn_tail_at_the_end_of_a_month(office: Office) -> None:
    """A tail torn in one month stays as it is, and is told by the first event of the next."""
    fill(office)
    with office.month().open("ab") as file:
        file.write(b"torn")
    office.clock.day = "2026-12-01T00:00:"
    office.log().append(ACME, READ)
    assert office.month().read_bytes().endswith(b"torn")
    assert len(office.lines("2026-12")) == 2
    assert kinds(office)[-2:] == ["repaired", "read"]
    assert verify(office.log(), ACME).whole


def test_torn_in_two_months(office: Office) -> None:
    """A month that holds nothing but a torn first line, after one with a torn last line: both are told."""
    fill(office)
    with office.month().open("ab") as file:
        file.write(b"torn")
    office.month("2026-12").touch(mode=0o600)
    office.month("2026-12").write_bytes(b"also torn")
    office.clock.day = "2026-12-01T00:00:"
    office.log().append(ACME, READ)
    assert kinds(office)[3:] == ["repaired", "repaired", "read"]
    assert verify(office.log(), ACME).whole


@pytest.mark.parametrize("lost", [1, 2, 5, 6])
def test_a_lost_tail_is_a_gap_that_the_chain_tells(office: Office, lost: int) -> None:
    """Events that the disk lost are told by number, and the chain goes on from the head that is known."""
    fill(office, 6)
    head = json.loads(office.lines()[-1])["mac"].split(":")[2]
    office.month().write_bytes(b"".join(office.lines()[: 6 - lost]))
    verdict = verify(office.log(), ACME)
    assert not verdict.whole
    assert "knows event 5" in verdict.faults[-1]
    office.log().append(ACME, READ)
    gap = json.loads(office.lines()[6 - lost])
    assert (gap["event"], gap["count"], gap["seq"], gap["prev"]) == ("gap", lost, 6, head)
    verdict = verify(office.log(), ACME)
    assert verdict.faults == ()
    assert (verdict.gaps, verdict.whole, verdict.events) == (lost, False, 8 - lost)
    office.log().append(ACME, READ)
    assert verify(office.log(), ACME).gaps == lost


def test_a_lost_tail_with_a_torn_line(office: Office) -> None:
    """After events were lost and one was torn, the gap is told first, then the repair, and both add up."""
    log = fill(office, 6)
    lines = office.lines()
    office.month().write_bytes(b"".join(lines[:3]) + lines[3][:50])
    log.append(ACME, READ)
    assert kinds(office) == ["denied"] * 3 + ["gap", "repaired", "read"]
    verdict = verify(office.log(), ACME)
    assert (verdict.faults, verdict.gaps) == ((), 3)


def test_a_whole_audit_that_is_gone(office: Office) -> None:
    """A tenant's audit that was removed altogether is a gap of all its events, not a fresh beginning."""
    fill(office, 4)
    shutil.rmtree(office.folder)
    assert verify(office.log(), ACME).faults == ("the trust home knows event 3, the last one here is -1",)
    office.log().append(ACME, READ)
    assert kinds(office) == ["gap", "read"]
    verdict = verify(office.log(), ACME)
    assert (verdict.faults, verdict.gaps) == ((), 4)


def test_a_head_that_fell_behind_is_no_fault(office: Office) -> None:
    """A head left behind by a writer that was killed is proven by its own event, then moved up."""
    heads = next((office.place / "trust").rglob("audit/*.anchors"), None)
    assert heads is None
    log = fill(office, 3)
    heads = next((office.place / "trust").rglob("audit/*.anchors"))
    behind = heads.read_bytes()
    log.append(ACME, DENIED)
    log.append(ACME, DENIED)
    log.close()
    heads.write_bytes(behind)
    assert verify(office.log(), ACME).whole
    office.log().append(ACME, READ)
    assert kinds(office) == ["denied"] * 5 + ["read"]
    assert verify(office.log(), ACME).whole
    assert heads.read_bytes() != behind


def test_a_write_that_fails_half_way(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full after some bytes the event fails, the others stay, and the next one goes on."""
    log = fill(office)
    before, pwrite, turn = office.month().read_bytes(), system.pwrite, 0

    def full(fd: int, raw: bytes, at: int) -> int:
        nonlocal turn
        turn += 1
        if turn > 1:
            raise OSError(28, "full")
        return pwrite(fd, raw[:40], at)

    monkeypatch.setattr(system, "pwrite", full)
    with pytest.raises(WitnessError):
        log.append(ACME, READ)
    monkeypatch.setattr(system, "pwrite", pwrite)
    assert office.month().read_bytes() == before
    log.append(ACME, READ)
    assert verify(office.log(), ACME).whole


def test_a_fault_at_every_call(office: Office) -> None:
    """Whatever system call fails, an event is refused or kept; the chain verifies, and goes on by itself."""
    log = fill(office)
    number, refused = 0, 0
    while True:
        number += 1
        office.clock.day = f"2026-12-{number:02}T00:00:" if number < 29 else "2027-01-01T00:00:"
        left = number

        def fail(_: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError(5, "broken")

        with hooked(fail):
            try:
                log.append(ACME, DENIED)
            except WitnessError:
                refused += 1
        if left > 0:
            break
        verdict = verify(office.log(), ACME)
        assert verdict.faults == ()
    log.append(ACME, READ)
    assert verify(office.log(), ACME).whole
    assert refused >= 5
    assert refused == number - 1
