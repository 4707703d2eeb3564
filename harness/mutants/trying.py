"""Letting the suite loose on a mutant: what has to notice, notices, and is content without the fault."""

from __future__ import annotations

import time

import msgspec

from nsstore.harness.case import Report
from nsstore.harness.mutants.mutant import Mutant
from nsstore.harness.running import cases, run


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What the suite saw of a mutant: the cases that failed, and those that had to and did not."""

    mutant: Mutant
    failed: tuple[str, ...]
    missed: tuple[str, ...]
    seconds: float

    @property
    def survived(self) -> bool:
        """Whether a case that is about the fault passed."""
        return bool(self.missed)


def tried(mutant: Mutant, folder: str, *, every: bool = False) -> Tried:
    """Run what has to notice a mutant, or ``every`` case, against it, in a folder for what it keeps."""
    began = time.monotonic()
    with mutant.at_work():
        report = _report(mutant, folder, every=every)
    failed = tuple(one.case.id for one in report.failed())
    return Tried(
        mutant=mutant,
        failed=failed,
        missed=tuple(sorted(mutant.ids.difference(failed))),
        seconds=time.monotonic() - began,
    )


def without(mutant: Mutant, folder: str) -> Report:
    """The report of the same cases on the same store without its faults; a plain one has nothing without."""
    return _report(mutant, folder, every=False)


def _report(mutant: Mutant, folder: str, *, every: bool) -> Report:
    chosen = mutant.ids.union(one.id for one in cases(full=mutant.full)) if every else mutant.ids
    return run(mutant.makes(folder), full=mutant.full, only=chosen)
