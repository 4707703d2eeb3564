"""Import, read back, ask: what a run of the conversations through a store shows, and what refutes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Final

import msgspec

from bench.locomo.dialogues import Dialogue, Question, Turn
from bench.locomo.memory import Bind, Found, Memory, Tick
from nsstore.errors import StoreError

TENANT: Final = "locomo"
DEPTHS: Final = (10, 5)
EXPECTED: Final = {"turns": 5882, "sessions": 272, "questions": 1535}
# Plain SQLite FTS5 reaches 0.83 on the same texts, ten turns drawn blindly 0.48.
LEAST_RECALL: Final = 0.80


class Room(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One session of one conversation: its scope, and its turns by the record id that keeps each."""

    scope: dict[str, str]
    turns: dict[str, Turn]


class Score(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What the questions brought; shares are summed over questions, one number a depth."""

    questions: int = 0
    searches: int = 0
    hits: int = 0
    foreign_hits: int = 0
    shares: dict[int, float] = msgspec.field(default_factory=lambda: dict.fromkeys(DEPTHS, 0.0))


class Outcome(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run; ``faults`` is empty exactly if every claim held. Seconds by phase; recall as a share."""

    turns: int
    sessions: int
    questions: int
    searches: int
    hits: int
    foreign_hits: int
    lost_turns: int
    recall_at_10: float
    recall_at_5: float
    seconds: dict[str, float]
    faults: tuple[str, ...]


def scope_of(dialogue: Dialogue, session: str) -> dict[str, str]:
    """The ids that one session of a conversation is kept under: user and project of its own."""
    return {
        "tenant_id": TENANT,
        "user_id": f"reader-{dialogue.name}",
        "project_id": f"conversation-{dialogue.name}",
        "session_id": session,
    }


def remember(bind: Bind, dialogue: Dialogue, tick: Tick) -> dict[str, Room]:
    """Keep every turn of a conversation, a batch for each session; ``tick`` hears how many.

    A turn without a receipt is missing from its room, and so counts as lost.
    """
    rooms: dict[str, Room] = {}
    for session, turns in dialogue.sessions.items():
        scope = scope_of(dialogue, session)
        receipts = bind(scope).remember_many([turn.text for turn in turns])
        ids = [receipt.record_id for receipt in receipts]
        rooms[session] = Room(scope=scope, turns=dict(zip(ids, turns, strict=False)))
        tick(len(turns))
    return rooms


def lost(bind: Bind, dialogue: Dialogue, rooms: Mapping[str, Room], tick: Tick) -> int:
    """Count the turns that do not read back equal, each by its id from its own session."""
    missing = 0
    for session, turns in dialogue.sessions.items():
        room = rooms[session]
        memory = bind(room.scope)
        equal = sum(_reads_back(memory, kept, turn) for kept, turn in room.turns.items())
        missing += len(turns) - equal
        tick(len(turns))
    return missing


def _reads_back(memory: Memory, record_id: str, turn: Turn) -> bool:
    try:
        return memory.get(record_id).text == turn.text
    except StoreError:
        return False


def is_foreign(hit: Found, room: Room) -> bool:
    """Whether a hit is anything but a turn of the session asked: its id, its text, its provenance."""
    turn = room.turns.get(hit.record_id)
    if turn is None or turn.text != hit.text:
        return True
    return any(hit.provenance.scope.get(field) != value for field, value in room.scope.items())


def ask(
    bind: Bind, dialogue: Dialogue, rooms: Mapping[str, Room], score: Score, tick: Tick, *, wide: bool
) -> None:
    """Ask each question in its evidence's sessions, or, ``wide``, in every session of its conversation.

    A question's share at a depth is the part of its evidence among that many first hits of the
    session the evidence is from.
    """
    memories = {session: bind(room.scope) for session, room in rooms.items()}
    homes = {turn.turn_id: session for session, turns in dialogue.sessions.items() for turn in turns}
    for question in dialogue.questions:
        within = dict.fromkeys(rooms if wide else (homes[turn_id] for turn_id in question.evidence))
        ranked = {session: _ask_one(memories[session], rooms[session], question, score) for session in within}
        for depth in DEPTHS:
            seen = sum(turn_id in ranked[homes[turn_id]][:depth] for turn_id in question.evidence)
            score.shares[depth] += seen / len(question.evidence)
        score.questions += 1
        tick(1)


def _ask_one(memory: Memory, room: Room, question: Question, score: Score) -> list[str]:
    """Ask one session, count, and return the turn ids of its hits in rank order."""
    answer = memory.search(question.text, k=max(DEPTHS))
    everything = [*answer.hits, *answer.stale]
    score.searches += 1
    score.hits += len(everything)
    score.foreign_hits += sum(is_foreign(hit, room) for hit in everything)
    return [room.turns[hit.record_id].turn_id for hit in answer.hits if hit.record_id in room.turns]


class Trial:
    """A run over some conversations; phases are called in order, each with a store opened anew if wished."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self.dialogues = dialogues
        self.rooms: list[dict[str, Room]] = []
        self.score = Score()
        self.lost_turns = 0
        self.seconds: dict[str, float] = {}

    def remember(self, bind: Bind, tick: Tick) -> None:
        """Keep every turn."""
        start = perf_counter()
        self.rooms = [remember(bind, dialogue, tick) for dialogue in self.dialogues]
        self.seconds["remember"] = perf_counter() - start

    def read_back(self, bind: Bind, tick: Tick) -> None:
        """Read every turn back and compare."""
        start = perf_counter()
        pairs = zip(self.dialogues, self.rooms, strict=True)
        self.lost_turns = sum(lost(bind, dialogue, rooms, tick) for dialogue, rooms in pairs)
        self.seconds["read back"] = perf_counter() - start

    def ask(self, bind: Bind, tick: Tick, *, wide: bool) -> None:
        """Ask every question."""
        start = perf_counter()
        for dialogue, rooms in zip(self.dialogues, self.rooms, strict=True):
            ask(bind, dialogue, rooms, self.score, tick, wide=wide)
        self.seconds["ask"] = perf_counter() - start

    def outcome(self, expected: Mapping[str, int]) -> Outcome:
        """What the run showed, with every claim that it refutes named in ``faults``."""
        score = self.score
        counts = {
            "turns": sum(len(turns) for one in self.dialogues for turns in one.sessions.values()),
            "sessions": sum(len(one.sessions) for one in self.dialogues),
            "questions": score.questions,
        }
        faults = [
            f"{counts[name]} {name}, not {count}" for name, count in expected.items() if counts[name] != count
        ]
        if self.lost_turns:
            faults.append(f"{self.lost_turns} turns do not read back as they were remembered")
        if score.foreign_hits:
            faults.append(f"{score.foreign_hits} hits are not from the session asked")
        recall = {depth: share / max(1, score.questions) for depth, share in score.shares.items()}
        if recall[10] < LEAST_RECALL:
            faults.append(f"recall@10 is {recall[10]:.3f}, below {LEAST_RECALL}: the search is broken")
        return Outcome(
            **counts,
            searches=score.searches,
            hits=score.hits,
            foreign_hits=score.foreign_hits,
            lost_turns=self.lost_turns,
            recall_at_10=recall[10],
            recall_at_5=recall[5],
            seconds=self.seconds,
            faults=tuple(faults),
        )
