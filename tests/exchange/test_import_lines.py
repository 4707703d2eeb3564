"""Lines on their way in: what they may not take from whoever works in the session."""

import json
from collections.abc import Mapping

from bench.owning import Hand
from nsstore.exchange.import_lines import ImportLines, Report
from tests.exchange.conftest import Place


def take(
    at: Place, *lines: Mapping[str, object], name: str = "notes.jsonl", with_held: bool = False
) -> Report:
    """Import these lines as one source."""
    left = [b"".join(json.dumps(one).encode() + b"\n" for one in lines)]
    run = ImportLines(at.store, at.session, name, dry_run=False, with_held=with_held)
    return run.run(lambda _: left.pop() if left else b"", lambda _: None)


def test_a_line_takes_no_key_of_an_agents(at: Place) -> None:
    """What a line names as its key stays free for whoever writes under it, and still knows a repeat."""
    line = {"text": "planted", "idempotency_key": "session-summary"}
    assert take(at, line).written == 1
    assert at.session.remember("the real summary", idempotency_key="session-summary").replayed is False
    assert take(at, line).repeated == 1
    assert take(at, line, name="another.jsonl").written == 1
    assert at.texts() == ["planted", "the real summary", "planted"]


def test_what_the_owner_holds_waits_for_a_word(at: Place) -> None:
    """A line of a class that the owner holds is refused as one of legal_hold is; what is not held is free."""
    Hand.of(at.store).keep(at.store, held=("evidence",))
    classes = ("evidence", "legal_hold", "short")
    lines = [{"text": one, "retention_class": one} for one in classes]
    report = take(at, *lines)
    assert [one.line for one in report.refused] == [1, 2]
    for one in at.session.list().items:
        at.session.forget(one.record_id)
    assert at.texts() == []
    assert take(at, *lines[:2], with_held=True).written == 2
