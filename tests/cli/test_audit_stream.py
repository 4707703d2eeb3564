"""An audit of any length is shown as it is read: nothing waits for its end, and little of it is kept."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Iterator

import click
import pytest

from nsstore import audit as audit_module
from nsstore.audit import AuditLine, EventKind
from nsstore.cli import printing
from tests.cli.conftest import Person

MANY = 20_000
MIB = 1024 * 1024
SCOPE = {"user_id": "ada", "project_id": "atlas", "session_id": "monday", "agent_id": "human"}


class Year:
    """A year of audit that is made line by line, and what of it was printed meanwhile."""

    def __init__(self) -> None:
        self.read = 0
        self.printed: list[int] = []
        self.lines = Counter[str]()
        self.behind = 0

    def __call__(self, *_: object) -> Iterator[AuditLine | None]:
        for seq in range(MANY):
            self.read = seq + 1
            yield AuditLine(
                seq=seq, at="2026-11-30T23:00:00.000000Z", event=EventKind.READ, verb="get", reason=None,
                scope=dict(SCOPE), records=(f"01934f2e-8b7a-7c3d-9e21-{seq:012}",), count=1, incident=None,
                digest=None, bytes=None, prev=f"{seq:064}",
            )  # fmt: skip
            if seq == MANY // 2:
                yield None

    def print(self, message: object = None, *, err: bool = False) -> None:
        """Take a line in place of the terminal, and keep its number alone."""
        text = message.decode() if isinstance(message, bytes) else str(message)
        if err:
            self.lines[text] += 1
            return
        seq = json.loads(text)["seq"] if text.startswith("{") else int(text[-12:])
        if len(self.printed) < MANY:
            self.printed.append(seq)
        self.behind = max(self.behind, self.read - 1 - seq)


@pytest.fixture
def year(person: Person, monkeypatch: pytest.MonkeyPatch) -> Year:
    """A year of somebody's audit."""
    person.remember("one")
    made = Year()
    monkeypatch.setattr(audit_module, "read_lines", made)
    monkeypatch.setattr(click, "echo", made.print)
    return made


@pytest.mark.parametrize("args", [(), ("--json",)])
def test_it_is_printed_as_it_is_read(person: Person, year: Year, args: tuple[str, ...]) -> None:
    """Each event is printed before the next one is read, in the memory of a few; the note comes last."""
    tracemalloc.start()
    try:
        person.ok("audit", *args)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert year.printed == list(range(MANY))
    assert year.behind == 0
    assert peak < 3 * MIB
    assert [text for text in year.lines if "1 line left out" in text]


def test_the_newest_are_kept_alone(person: Person, year: Year) -> None:
    """With a limit only so many events are in memory, and they are printed when the end is reached."""
    tracemalloc.start()
    try:
        person.ok("audit", "--json", "-n", "3")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert year.printed == [MANY - 3, MANY - 2, MANY - 1]
    assert peak < 3 * MIB


def test_a_terminal_gets_it_in_parts(person: Person, year: Year, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal so many rows at a time are laid out as one table, the last ones as well."""
    parts: list[int] = []

    def table(headers: object, rows: list[tuple[str, ...]], *, fold: bool = False) -> None:
        assert (headers, fold) == (("at", "event", "what"), True)
        assert len(rows) == year.read - sum(parts)
        parts.append(len(rows))

    monkeypatch.setattr(printing, "is_terminal", lambda: True)
    monkeypatch.setattr(printing, "table", table)
    person.ok("audit")
    assert sum(parts) == MANY
    assert len(parts) >= 20
    assert max(parts) <= 1000
