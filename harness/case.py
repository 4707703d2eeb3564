"""A case of the acceptance suite as data, and what came of one run of all of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

import msgspec

Ability = Literal[
    "gets", "lists", "updates", "annotates", "forgets", "shares", "stale", "advises",
    "audits", "on_files", "reopens", "guards",
]  # fmt: skip
"""What a provider can have beside: each is a protocol of ``harness/provider.py``."""


class Document(StrEnum):
    """Which document asks for it."""

    REDLINE = "redline"
    BOUNDARY = "memory-boundary-contract-v1"
    REPORTS = "reports"
    """Shapes of leaks that users of such stores reported."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that must hold: its id (``AC01``, ``RL…``, ``LK…``), whose sentence it proves, and how.

    ``probe`` names the function that tries it (``harness/probes``), ``given`` its parameters. Without an
    ability of ``needs`` it is not run; a case whose ``given["dimensions"]`` the provider does not declare
    to separate is run all the same, and fails.
    """

    id: str
    title: str
    document: Document
    sentence: str
    probe: str
    given: dict[str, str] = {}
    needs: tuple[Ability, ...] = ()
    quick: bool = True
    reason: str | None = None
    """What an audit has to say of it, where there is one."""


CRITERIA: Final = tuple(f"AC{number:02}" for number in range(1, 11))
"""The criteria of the redline: a provider is allowed only if each of them passes."""
LEAST_DRIFT: Final = 1e-6
"""By how much a score may differ from call to call and still be unmoved: a memory may weigh how old it is."""


class Outcome(StrEnum):
    """What came of a case; whatever is not proven has failed."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"
    """The provider lacks an ability that the case needs, or the machine one; it is no pass and no failure."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One case, how it ended, what was seen, and how long it took in seconds."""

    case: Case
    outcome: Outcome
    seen: str
    seconds: float


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """Figures beside pass and fail, over every answer of a run.

    ``foreign_rate`` is foreign hits by hits (0 is the only good one); ``authorised_recall`` what was found
    of what had to be (less than 1 is too strict, and a failure as well); ``hijack_rate`` how often a
    foreign record came first; ``drift`` the largest change of a score by what the asker may not read.
    """

    answers: int
    hits: int
    foreign_rate: float
    authorised_recall: float
    hijack_rate: float
    drift: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The acceptance half of a verdict: every case in the order of their ids.

    ``green`` is true only if every case that ran passed, all of ``AC01`` to ``AC10`` ran, nothing foreign
    was met and all that had to be found was.
    """

    provider: str
    suite: str
    full: bool
    green: bool
    results: tuple[Result, ...]
    metrics: Metrics
    seconds: float

    def failed(self) -> tuple[Result, ...]:
        """The cases that failed."""
        return tuple(one for one in self.results if one.outcome is Outcome.FAILED)

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return sum(one.outcome is Outcome.PASSED for one in self.results)
