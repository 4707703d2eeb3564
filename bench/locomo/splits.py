"""Ask the conversations with the line between index and tail drawn anywhere, and compare the answers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.halves import SHARES, alone, ledger_of, pair_of, weighing, whole_of
from bench.locomo.dialogues import Dialogue
from bench.locomo.memory import Tick
from nsstore.search.analyser import query_terms

LEAST_SAME: Final = 0.995


class Splits(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """How many answers were compared with those of one view in memory, and how many were the same.

    ``same`` counts those with the same first ten, ``exact`` those whose order and scores are the same too.
    """

    compared: int = 0
    same: int = 0
    exact: int = 0

    def faults(self) -> list[str]:
        """Every claim that this refutes, in words."""
        if self.same >= LEAST_SAME * self.compared and self.compared:
            return []
        return [f"only {self.same} of {self.compared} answers have the same first ten for every split"]


def ask_split(dialogues: Sequence[Dialogue], tick: Tick) -> Splits:
    """Ask each conversation's questions of its turns, split at each of :data:`~bench.halves.SHARES`."""
    found = Splits()
    for dialogue in dialogues:
        texts = [turn.text for session in dialogue.sessions.values() for turn in session]
        whole, ledger, weigh = whole_of(texts), ledger_of(len(texts)), weighing(texts)
        asked = [words for one in dialogue.questions if (words := query_terms(one.text))]
        best = [alone(whole, words, 10) for words in asked]
        with tempfile.TemporaryDirectory(prefix="nsstore-") as place:
            for share in SHARES:
                pair = pair_of(texts, int(len(texts) * share), Path(place) / f"{share}")
                for words, expected in zip(asked, best, strict=True):
                    answer = pair.search(words, ledger, 10, weigh)
                    found.compared += 1
                    found.same += {one for one, _ in answer} == {one for one, _ in expected}
                    found.exact += answer == expected
        tick(len(dialogue.questions))
    return found
