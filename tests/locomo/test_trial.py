"""The trial turns red for every store that loses, alters, mixes up or finds nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec
import pytest

from bench.locomo.dialogues import Dialogue, Question, Turn
from bench.locomo.memory import Memory
from bench.locomo.trial import Outcome, Trial, scope_of
from nsstore.errors import NotVisible

COUNTS = {"turns": 6, "sessions": 4, "questions": 4}


class Row(msgspec.Struct, frozen=True):
    """A kept text: a receipt, a record, a hit and its provenance at once."""

    record_id: str
    text: str
    scope: dict[str, str]

    @property
    def provenance(self) -> Row:
        """Where it is from."""
        return self


class Answer(msgspec.Struct, frozen=True):
    """Hits, and stale ones apart."""

    hits: list[Row]
    stale: list[Row]


class Honest:
    """A session over a shared list of rows that keeps to its scope; rank is the number of words shared."""

    def __init__(self, rows: list[Row], scope: Mapping[str, str]) -> None:
        self.rows, self.scope = rows, dict(scope)

    def remember_many(self, notes: Iterable[str], /) -> list[Row]:
        """Keep the texts."""
        made = [Row(f"r{number}", text, self.scope) for number, text in enumerate(notes, len(self.rows))]
        self.rows.extend(made)
        return made

    def get(self, record_id: str, /) -> Row:
        """Find a row of this scope by its id."""
        for row in self.rows:
            if (row.record_id, row.scope) == (record_id, self.scope):
                return row
        raise NotVisible(record_id)

    def mine(self) -> list[Row]:
        """The rows this session may see."""
        return [row for row in self.rows if row.scope == self.scope]

    def shown(self, row: Row) -> Row:
        """What a hit on a row looks like."""
        return row

    def search(self, text: str, /, *, k: int) -> Answer:
        """Rank what may be seen."""
        words = set(text.split())
        ranked = sorted(self.mine(), key=lambda row: -len(words & set(row.text.split())))
        return Answer([self.shown(row) for row in ranked[:k]], [])


class SeesNeighbour(Honest):
    """A filter on the project alone lets other sessions of the conversation in."""

    def mine(self) -> list[Row]:
        return [row for row in self.rows if row.scope["project_id"] == self.scope["project_id"]]


class StaleNeighbour(Honest):
    """What is foreign is put into the stale list."""

    def search(self, text: str, /, *, k: int) -> Answer:
        strange = [row for row in self.rows if row.scope != self.scope]
        return Answer(super().search(text, k=k).hits, strange[:1])


class WrongLabel(Honest):
    """A hit's provenance names another user."""

    def shown(self, row: Row) -> Row:
        return Row(row.record_id, row.text, row.scope | {"user_id": "x"})


class NoLabel(Honest):
    """A hit's provenance leaves the session out."""

    def shown(self, row: Row) -> Row:
        bare = {field: value for field, value in row.scope.items() if field != "session_id"}
        return Row(row.record_id, row.text, bare)


class OtherText(Honest):
    """A hit of the right id carries the text of another session."""

    def shown(self, row: Row) -> Row:
        return Row(row.record_id, self.rows[0].text, row.scope)


class Altering(Honest):
    """A text loses its last letter."""

    def get(self, record_id: str, /) -> Row:
        row = super().get(record_id)
        return Row(row.record_id, row.text[:-1], row.scope)


class Forgetful(Honest):
    """An acknowledged text is not there."""

    def remember_many(self, notes: Iterable[str], /) -> list[Row]:
        made = super().remember_many(notes)
        self.rows.remove(made[-1])
        return made


class Unacknowledging(Honest):
    """A text gets no receipt."""

    def remember_many(self, notes: Iterable[str], /) -> list[Row]:
        return super().remember_many(notes)[:-1]


class Mute(Honest):
    """A search finds nothing, and so nothing foreign."""

    def mine(self) -> list[Row]:
        return []


def dialogue(name: str) -> Dialogue:
    """Two sessions of one and two turns, and a question about each session."""
    return Dialogue(
        name=name,
        sessions={
            "session_1": (Turn(turn_id="D1:1", session="session_1", text=f"{name} likes tea"),),
            "session_2": (
                Turn(turn_id="D2:1", session="session_2", text=f"{name} likes trains"),
                Turn(turn_id="D2:2", session="session_2", text=f"{name} has a dog"),
            ),
        },
        questions=(
            Question(text=f"who likes tea and {name}", category=1, evidence=("D1:1", "D2:1")),
            Question(text="a dog", category=4, evidence=("D2:2",)),
        ),
    )


def run(kind: Callable[[list[Row], Mapping[str, str]], Memory], *, wide: bool = True) -> Outcome:
    """A trial of two conversations over one kind of session."""
    rows: list[Row] = []
    trial = Trial([dialogue("26"), dialogue("30")])

    def bind(scope: Mapping[str, str]) -> Memory:
        return kind(rows, scope)

    trial.remember(bind, lambda _: None)
    trial.read_back(bind, lambda _: None)
    trial.ask(bind, lambda _: None, wide=wide)
    return trial.outcome(COUNTS)


def test_an_honest_store_passes() -> None:
    """A store that keeps to its scopes has no fault, full recall, and was asked in every session."""
    outcome = run(Honest)
    assert outcome.faults == ()
    assert (outcome.turns, outcome.sessions, outcome.questions) == (6, 4, 4)
    assert (outcome.searches, outcome.hits, outcome.foreign_hits, outcome.lost_turns) == (8, 12, 0, 0)
    assert outcome.recall_at_10 == outcome.recall_at_5 == pytest.approx(1.0)


def test_only_the_evidence_sessions_are_asked_if_wished() -> None:
    """The narrow run binds each session that holds evidence of the question, once."""
    assert run(Honest, wide=False).searches == 6


@pytest.mark.parametrize("kind", [SeesNeighbour, StaleNeighbour, WrongLabel, NoLabel, OtherText])
def test_a_foreign_hit_is_a_fault(kind: type[Honest]) -> None:
    """A hit from elsewhere, by its id, its text or its provenance, fails the trial."""
    outcome = run(kind)
    assert outcome.foreign_hits > 0
    assert any("not from the session asked" in fault for fault in outcome.faults)


@pytest.mark.parametrize(("kind", "lost"), [(Altering, 6), (Forgetful, 4), (Unacknowledging, 4)])
def test_a_lost_turn_is_a_fault(kind: type[Honest], lost: int) -> None:
    """A turn that was altered, dropped or never acknowledged fails the trial, each one counted."""
    outcome = run(kind)
    assert outcome.lost_turns == lost
    assert any("do not read back" in fault for fault in outcome.faults)


def test_finding_nothing_is_a_fault() -> None:
    """A search that answers nothing leaks nothing and fails all the same."""
    outcome = run(Mute)
    assert (outcome.hits, outcome.foreign_hits, outcome.recall_at_10) == (0, 0, 0.0)
    assert any("recall@10" in fault for fault in outcome.faults)


@pytest.mark.parametrize("name", COUNTS)
def test_another_count_is_a_fault(name: str) -> None:
    """Turns, sessions or questions that are not as many as expected fail the trial."""
    trial = Trial([])
    assert any(name in fault for fault in trial.outcome(COUNTS).faults)


def test_conversations_share_nothing_but_the_tenant() -> None:
    """Each conversation has a user and a project of its own."""
    one, other = (scope_of(dialogue(name), "session_1") for name in ("26", "30"))
    assert {field for field in one if one[field] == other[field]} == {"tenant_id", "session_id"}
