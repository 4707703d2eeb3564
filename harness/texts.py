"""Made-up texts to time a memory with: the same in every run, with a vocabulary as life has it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

TEXT_BYTES: Final = 1024


def texts(batch: int, seed: int = 7) -> Iterator[list[str]]:
    """Yield batches of distinct texts of exactly 1,024 ASCII bytes, the same in every run.

    Words follow Zipf's law over 4,000 made-up ones, so an index has a life-like vocabulary to keep.
    """
    dice = random.Random(seed)  # noqa: S311 - the same words in every run, no secret
    words = ["".join(dice.choices("abcdefghijklmnoprstuvwy", k=dice.randint(2, 9))) for _ in range(4000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    number = 0
    while True:
        made: list[str] = []
        for _ in range(batch):
            number += 1
            body = " ".join([f"note{number}", *dice.choices(words, weights, k=400)])
            made.append(body[: TEXT_BYTES - 1] + ".")
        yield made
