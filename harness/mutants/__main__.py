"""``python -m nsstore.harness.mutants``: which case catches which leaky store; 1 if one is not caught."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection, Sequence

from nsstore.harness.case import Report
from nsstore.harness.mutants import MUTANTS, Mutant
from nsstore.harness.mutants.trying import Tried, tried, without
from nsstore.root.scratch import scratch


def main(given: Sequence[str] | None = None) -> int:
    """Try the mutants that are named, or all of them, and tell what came of it."""
    asked = _asked(given)
    unknown = sorted(set(asked.names) - MUTANTS.keys())
    if unknown:
        _tell(f"there is no such mutant: {', '.join(unknown)}")
        return 2
    chosen = [MUTANTS[name] for name in asked.names or MUTANTS]
    began, survived = time.monotonic(), 0
    width = max(len(one.name) for one in chosen)
    for mutant in chosen:
        seen, after = _tried(mutant, few=asked.few)
        survived += bool(seen.survived or after)
        _tell_one(seen, after, width)
    of = f"{len(chosen)} leaky stores" if len(chosen) > 1 else "one leaky store"
    what = f"{survived} not caught as they should" if survived else "each is caught by every case that has to"
    _tell(f"{of}: {what} ({time.monotonic() - began:.0f} s)")
    return 1 if survived else 0


def _asked(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m nsstore.harness.mutants",
        description="Let the isolation suite loose on stores that leak, each by one small fault.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a mutant; all of them if none is named")
    parser.add_argument("--few", action="store_true", help="run only the cases that have to notice")
    return parser.parse_args(given)


def _tried(mutant: Mutant, *, few: bool) -> tuple[Tried, Collection[str]]:
    """What was seen of a mutant, and which cases still fail for nsstore without its faults."""
    with scratch("mutants") as folder:
        seen = tried(mutant, f"{folder}/with", every=not few)
        after: Report | None = without(mutant, f"{folder}/without") if mutant.faults else None
    return seen, [one.case.id for one in after.failed()] if after is not None else []


def _tell_one(seen: Tried, after: Collection[str], width: int) -> None:
    _tell(f"{seen.mutant.name:{width}}  {' '.join(seen.failed)}")
    if seen.missed:
        _tell(f"{'':{width}}  NOT CAUGHT BY {' '.join(seen.missed)}: {seen.mutant.breaks}")
    if after:
        _tell(f"{'':{width}}  RED WITHOUT IT: {' '.join(after)}")


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
