"""Ask whole conversations under the owner's grant of every session: what is found, and what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from bench.locomo.dialogues import Dialogue
from bench.locomo.memory import Bind, Tick
from bench.locomo.trial import DEPTHS, TENANT, Room, scope_of
from bench.owning import Hand, granted, revoking
from nsstore import OpenStore
from nsstore.policy import Asker, Every, Kind, Opens
from nsstore.scope import Purpose

# FTS5 with its porter stemmer reaches 0.558 on the same texts, stemmed tantivy without stop words 0.600.
LEAST_ACROSS: Final = 0.595
ASKING: Final = "asking"
OWNER: Final = ("tenant", TENANT)


class Across(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What the questions brought across sessions; recall as a share, by depth.

    ``closed`` counts the hits of searches without a grant, before one was made and after it was revoked.
    """

    questions: int = 0
    foreign_hits: int = 0
    closed: int = 0
    recall: dict[int, float] = msgspec.field(default_factory=lambda: dict.fromkeys(DEPTHS, 0.0))

    def faults(self) -> list[str]:
        """Every claim that this refutes, in words."""
        found: list[str] = []
        if self.foreign_hits:
            found.append(f"{self.foreign_hits} hits across sessions are not of the conversation asked")
        if self.closed:
            found.append(f"{self.closed} hits came across sessions that no grant opened")
        if self.recall[10] < LEAST_ACROSS:
            found.append(f"recall@10 across sessions is {self.recall[10]:.3f}, below {LEAST_ACROSS}")
        return found


def asker(scope: Mapping[str, str]) -> Asker:
    """Who asks a conversation: its reader, as a person, to recall."""
    return Asker(
        tenant=OWNER,
        user=scope["user_id"],
        projects=(scope["project_id"],),
        agents=("human",),
        purposes=(Purpose.RECALL,),
    )


def ask_across(
    store: OpenStore,
    bind: Bind,
    dialogues: Sequence[Dialogue],
    rooms: Sequence[Mapping[str, Room]],
    tick: Tick,
) -> Across:
    """Ask each question once in a session of its own, under a grant of every session of its conversation."""
    hand, across = Hand.of(store), Across()
    for dialogue, by_session in zip(dialogues, rooms, strict=True):
        scope = scope_of(dialogue, ASKING)
        turns = {record_id: turn for room in by_session.values() for record_id, turn in room.turns.items()}
        memory, first = bind(scope), dialogue.questions[0].text
        across.closed += len(memory.search(first, k=max(DEPTHS)).hits)
        opens = Opens(sessions=Every(every="session"))
        grant = store.rights.state(hand.signer, OWNER, granted((Kind.CROSS_SESSION,), asker(scope), opens))
        for question in dialogue.questions:
            hits = memory.search(question.text, k=max(DEPTHS)).hits
            across.foreign_hits += sum(hit.record_id not in turns for hit in hits)
            ranked = [turns[hit.record_id].turn_id for hit in hits if hit.record_id in turns]
            for depth in DEPTHS:
                seen = sum(turn_id in ranked[:depth] for turn_id in question.evidence)
                across.recall[depth] += seen / len(question.evidence)
            across.questions += 1
            tick(1)
        store.rights.state(hand.signer, OWNER, revoking(grant.seq))
        across.closed += len(memory.search(first, k=max(DEPTHS)).hits)
    across.recall = {depth: share / max(1, across.questions) for depth, share in across.recall.items()}
    return across
